// Reads the properties of thrown values without depending on the classes of an SDK.

/** A JSON-RPC error of a server. */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The known properties of a thrown value. */
export interface ErrorParts {
  readonly name: string
  readonly message: string
  /** A code of the SDK or the system, such as `ECONNREFUSED`; may come from a cause. */
  readonly code: string | undefined
  readonly status: number | undefined
  readonly rpcError: JsonRpcError | undefined
  /** The scopes that a server requires. */
  readonly scope: string | undefined
}

/** Reads the known properties of a thrown value; never throws. */
export function readErrorParts(thrown: unknown): ErrorParts {
  const code = read(thrown, "code")
  const data = read(thrown, "data")
  const message = textOf(read(thrown, "message")) ?? ""
  return {
    name: textOf(read(thrown, "name")) ?? "",
    message,
    code: codeIn(thrown),
    status: statusOf(read(thrown, "status")) ?? statusOf(read(data, "status")) ?? statusOf(code),
    rpcError: toRpcError(code, message, data) ?? rpcErrorInBody(read(data, "text")),
    scope: textOf(read(thrown, "requiredScope")),
  }
}

/** Reads a property of any value; `undefined` when reading it fails. */
function read(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

/** A generic code of the SDK for a failed connection; the reason is in the cause. */
const CONNECTING_FAILED = "ERA_NEGOTIATION_FAILED"

/** The first specific code in the chain of causes: `fetch` hides it there. */
function codeIn(thrown: unknown): string | undefined {
  let current = thrown
  let outer: string | undefined
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth++) {
    const code = textOf(read(current, "code"))
    if (code !== undefined && code !== CONNECTING_FAILED) return code
    outer ??= code
    // An aggregate error: several addresses of a name were tried.
    const errors = read(current, "errors")
    current = (Array.isArray(errors) ? errors[0] : undefined) ?? read(current, "cause")
  }
  return outer
}

/** JSON-RPC codes should be negative; other integers are accepted unless they look like an HTTP status. */
function toRpcError(code: unknown, message: string, data: unknown): JsonRpcError | undefined {
  if (typeof code !== "number" || !Number.isInteger(code) || statusOf(code) !== undefined) {
    return undefined
  }
  return { code, message: withoutPrefix(message, code), ...(data !== undefined && { data }) }
}

/** The JSON-RPC error in the body of an HTTP response. */
function rpcErrorInBody(body: unknown): JsonRpcError | undefined {
  if (typeof body !== "string" || body.length > 1_000_000 || !body.includes('"error"')) {
    return undefined
  }
  try {
    const error = read(JSON.parse(body), "error")
    const message = textOf(read(error, "message")) ?? ""
    return toRpcError(read(error, "code"), message, read(error, "data"))
  } catch {
    return undefined
  }
}

function statusOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 100 && value <= 599 ? value : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined
}

/** Removes the "MCP error <code>: " that some servers and SDKs add. */
function withoutPrefix(message: string, code: number): string {
  const prefix = `MCP error ${code}: `
  let text = message
  while (text.startsWith(prefix)) text = text.slice(prefix.length)
  return text
}
