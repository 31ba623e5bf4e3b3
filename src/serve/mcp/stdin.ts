import { isCallError } from "../../core/errors.ts"
import { parseExact } from "../exact-json.ts"
import type { SDKTransport } from "./sdk.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- as in the types of Node
type Listener = (value: any) => void

/** The part of standard input that is used here. */
export interface InputLike {
  readonly readableEnded: boolean
  readonly destroyed: boolean
  on(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
  listenerCount(type: string): number
  pause(): unknown
}

/** Standard input for a transport that gets messages instead of bytes: its own parser changes large integers. */
export function exactInput(
  stdin: InputLike,
  maxMessageBytes: number,
  transport: () => SDKTransport,
): InputLike {
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  const read = (chunk: Uint8Array): void => {
    bytes += chunk.length
    if (bytes > maxMessageBytes) {
      transport().onerror?.(new Error(`A message has more than ${maxMessageBytes} bytes.`))
      void transport().close()
      return
    }
    text += decoder.decode(chunk, { stream: true })
    const end = chunk.lastIndexOf(0x0a)
    if (end === -1) return
    bytes = chunk.length - end - 1
    const lines = text.split("\n")
    text = lines.pop() ?? ""
    for (const line of lines) receive(line, transport())
  }
  return {
    readableEnded: stdin.readableEnded,
    destroyed: stdin.destroyed,
    on: (type, listener) => stdin.on(type, type === "data" ? read : listener),
    off: (type, listener) => stdin.off(type, type === "data" ? read : listener),
    listenerCount: (type) => stdin.listenerCount(type),
    pause: () => stdin.pause(),
  }
}

function receive(line: string, transport: SDKTransport): void {
  try {
    transport.onmessage?.(parseExact(line))
  } catch (error) {
    transport.onerror?.(error as Error)
    const { id } = isCallError(error) ? (JSON.parse(line) as { id?: unknown }) : {}
    if (id === undefined) return
    const refused = { code: -32602, message: `Invalid params: ${(error as Error).message}` }
    // A client that is gone needs no answer.
    transport.send({ jsonrpc: "2.0", id, error: refused }).catch(() => undefined)
  }
}
