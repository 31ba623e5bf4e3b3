/** A JSON-RPC message. */
export type JSONRPCObject = Readonly<Record<string, unknown>>

/**
 * Parses the messages of one line; `undefined` when it is not a message.
 *
 * An array is a batch, which one revision of the protocol allows. JSON without `jsonrpc` is a log line.
 */
export function messagesOf(line: string): readonly JSONRPCObject[] | undefined {
  // Cheaper than a parser exception, for servers that print a lot.
  if (!line.startsWith("{") && !line.startsWith("[")) return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (isMessage(value)) return [value]
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.every(isMessage) ? value : undefined
}

function isMessage(value: unknown): value is JSONRPCObject {
  if (typeof value !== "object" || value === null) return false
  return (value as JSONRPCObject)["jsonrpc"] === "2.0"
}
