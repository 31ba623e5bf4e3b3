// Reads the properties of thrown values without depending on the classes of an SDK.

import { nonEmpty } from "../internal/guards.ts"
import { readProperty } from "../internal/error-text.ts"

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
  const code = readProperty(thrown, "code")
  const data = readProperty(thrown, "data")
  const message = nonEmpty(readProperty(thrown, "message")) ?? ""
  return {
    name: nonEmpty(readProperty(thrown, "name")) ?? "",
    message,
    code: codeIn(thrown),
    status:
      statusOf(readProperty(thrown, "status")) ??
      statusOf(readProperty(data, "status")) ??
      statusOf(code),
    rpcError: toRpcError(code, message, data) ?? rpcErrorInBody(readProperty(data, "text")),
    scope: nonEmpty(readProperty(thrown, "requiredScope")),
  }
}

/** A generic code of the SDK for a failed connection; the reason is in the cause. */
const CONNECTING_FAILED = "ERA_NEGOTIATION_FAILED"

/** The first specific code in the chain of causes: `fetch` hides it there. */
function codeIn(thrown: unknown): string | undefined {
  let current = thrown
  let outer: string | undefined
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth++) {
    const code = nonEmpty(readProperty(current, "code"))
    if (code !== undefined && code !== CONNECTING_FAILED) return code
    outer ??= code
    // An aggregate error: several addresses of a name were tried.
    const errors = readProperty(current, "errors")
    current = (Array.isArray(errors) ? errors[0] : undefined) ?? readProperty(current, "cause")
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
    const error = readProperty(JSON.parse(body), "error")
    const message = nonEmpty(readProperty(error, "message")) ?? ""
    return toRpcError(readProperty(error, "code"), message, readProperty(error, "data"))
  } catch {
    return undefined
  }
}

function statusOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 100 && value <= 599 ? value : undefined
}

/** Removes the "MCP error <code>: " that some servers and SDKs add. */
function withoutPrefix(message: string, code: number): string {
  const prefix = `MCP error ${code}: `
  let text = message
  while (text.startsWith(prefix)) text = text.slice(prefix.length)
  return text
}
