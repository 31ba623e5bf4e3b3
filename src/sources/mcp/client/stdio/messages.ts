/** A message of JSON-RPC, as far as a transport looks at it. */
export type JSONRPCObject = Readonly<Record<string, unknown>>

/**
 * The messages of one line; `undefined` when it is none.
 *
 * An array is a batch, which one revision of the protocol has. JSON that does not say `jsonrpc` is
 * a line of somebody's log.
 */
export function messagesOf(line: string): readonly JSONRPCObject[] | undefined {
  // Cheaper than a parser that throws, for servers that print a lot.
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
