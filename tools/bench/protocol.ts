/** Calls and streams through the call protocol, within one process. */
import { Quote, quote, QuoteInput, quoteInputs } from "./cases.ts"
import { quotes, StreamInput } from "./contenders/socket.ts"
import type { Library } from "./library.ts"
import { callLoop, streamLoop, waveLoop } from "./measure.ts"
import type { Workload } from "./measure.ts"

/** The rows, and what closes what they call. */
export interface ProtocolRows {
  /** One call after the other. */
  readonly calls: readonly Workload[]
  /** Many calls at the same time. */
  readonly inFlight: readonly Workload[]
  /** A stream with any number of items. */
  readonly stream: (count: number) => AsyncIterable<unknown>
  close(): Promise<void>
}

const FEW = 100
const MANY = 10_000

export const LOOPBACK = "call, in process"
export const IN_FLIGHT = "calls in flight"

/** Rows of the protocol next to what they cost without it. */
export function protocol(library: Library): ProtocolRows {
  const { createRegistry, PendingRequestMap, serveCalls } = library
  const registry = createRegistry(served(library))
  const loopback = new PendingRequestMap()
  const target = new EventTarget()
  const overTarget = new PendingRequestMap(target)
  const servers = [
    serveCalls(registry, { callMap: loopback }),
    serveCalls(registry, { transport: target }),
  ]
  const execute = (input: QuoteInput): Promise<unknown> => registry.execute("shop.quote", input)
  const call = (input: QuoteInput): Promise<unknown> => loopback.call("shop.quote", input)
  const stream = (count: number): AsyncIterable<unknown> =>
    loopback.subscribe("shop.quotes", { count })
  const { signal } = new AbortController()

  return {
    calls: [
      { name: "execute", run: callLoop("execute", execute, quoteInputs) },
      { name: LOOPBACK, run: callLoop(LOOPBACK, call, quoteInputs) },
      row("call, in process, signal given", (input) =>
        loopback.call("shop.quote", input, { signal }),
      ),
      row("call, over an EventTarget", (input) => overTarget.call("shop.quote", input)),
      {
        name: "subscribe, per item",
        run: streamLoop("subscribe", (count) => registry.subscribe("shop.quotes", { count })),
      },
      {
        name: "subscribe through the protocol, per item",
        against: "subscribe, per item",
        run: streamLoop("protocol", stream),
      },
    ],
    inFlight: [
      waves(`${format(FEW)} ${IN_FLIGHT}`, FEW, call),
      waves(`${format(MANY)} ${IN_FLIGHT}`, MANY, call),
      waves(`${format(FEW)} executed at once`, FEW, execute),
      {
        ...waves(`${format(MANY)} executed at once`, MANY, execute),
        against: `${format(FEW)} executed at once`,
      },
    ],
    stream,
    async close() {
      for (const server of servers) await server.close()
      await loopback.close()
      await overTarget.close()
      await registry.close()
    },
  }
}

/** The operations that are called over the protocol. */
// No return type: it is what the registry's types are made of, and follows from the definitions.
export function served({ defineOperation }: Pick<Library, "defineOperation">) {
  const shop = {
    namespace: "shop",
    description: "",
    accessControl: { requiredScopes: [] },
    outputSchema: Quote,
  } as const
  return [
    defineOperation({
      ...shop,
      name: "quote",
      type: "query",
      inputSchema: QuoteInput,
      handler: quote,
    }),
    defineOperation({
      ...shop,
      name: "quotes",
      type: "subscription",
      inputSchema: StreamInput,
      handler: ({ count }) => quotes(count),
    }),
  ] as const
}

function row(name: string, call: (input: QuoteInput) => Promise<unknown>): Workload {
  return { name, run: callLoop(name, call, quoteInputs) }
}

function waves(
  name: string,
  width: number,
  call: (input: QuoteInput) => Promise<unknown>,
): Workload {
  return { name, step: MANY, run: waveLoop(name, call, quoteInputs, width) }
}

function format(count: number): string {
  return count.toLocaleString("en")
}
