import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Compile } from "typebox/schema"
import Type from "typebox"
import { quoteInputs, quoteNow } from "../cases.ts"
import type { Quote, QuoteInput } from "../cases.ts"

/** One way to call the small case over a WebSocket, and to read a stream of its results. */
export interface SocketContender {
  readonly name: string
  readonly call: (input: QuoteInput) => Promise<unknown>
  /** Reads a stream to its end; returns the number of items. */
  readonly stream: (count: number) => Promise<number>
  /** Extracts the handler's result from the result of a call. */
  readonly data: (result: unknown) => unknown
  close(): Promise<void>
}

export const StreamInput = Type.Object({ count: Type.Integer({ minimum: 0 }) })
export type StreamInput = Type.Static<typeof StreamInput>

/** The handler of the stream. */
export async function* quotes(count: number): AsyncGenerator<Quote, void, undefined> {
  for (let index = 0; index < count; index++) yield quoteNow(quoteInputs[index & 7] as QuoteInput)
}

/** A parser over a compiled check. */
export function parser<TValue>(schema: object): (value: unknown) => TValue {
  const compiled = Compile(schema)
  return (value) => {
    if (!compiled.Check(value)) throw new TypeError("The value is invalid.")
    return value as TValue
  }
}

/** A server on a free port of the loop-back interface, and what closes it. */
export async function listen(): Promise<{
  readonly server: Server
  readonly url: string
  readonly close: () => Promise<void>
}> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    server,
    url: `ws://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
