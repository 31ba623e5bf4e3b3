// What is known of a thrown value, read without knowing the classes of any SDK.

/** An error as a server answers it. */
export interface JsonRpcFault {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** What can be read of anything that was thrown. */
export interface ErrorParts {
  readonly name: string
  readonly message: string
  /** A code of the SDK, or of the system, such as `ECONNREFUSED`; also of a cause. */
  readonly code: string | undefined
  readonly status: number | undefined
  readonly fault: JsonRpcFault | undefined
  /** Scopes that a server asked for. */
  readonly scope: string | undefined
}

/** What can be read of anything that was thrown; never throws. */
export function errorPartsOf(thrown: unknown): ErrorParts {
  const code = read(thrown, "code")
  const data = read(thrown, "data")
  const message = textOf(read(thrown, "message")) ?? ""
  return {
    name: textOf(read(thrown, "name")) ?? "",
    message,
    code: codeIn(thrown),
    status: statusOf(read(thrown, "status")) ?? statusOf(read(data, "status")) ?? statusOf(code),
    fault: faultOf(code, message, data) ?? faultIn(read(data, "text")),
    scope: textOf(read(thrown, "requiredScope")),
  }
}

/** A property of anything; `undefined` when reading it fails. */
function read(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

/** A code of the SDK that says only that connecting failed; why is in the cause. */
const CONNECTING_FAILED = "ERA_NEGOTIATION_FAILED"

/** The first code that is a text and says why, of an error or of what caused it: `fetch` hides it inside. */
function codeIn(thrown: unknown): string | undefined {
  let current = thrown
  let outer: string | undefined
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth++) {
    const code = textOf(read(current, "code"))
    if (code !== undefined && code !== CONNECTING_FAILED) return code
    outer ??= code
    // Several addresses of one name were tried.
    const errors = read(current, "errors")
    current = (Array.isArray(errors) ? errors[0] : undefined) ?? read(current, "cause")
  }
  return outer
}

/** Codes of JSON-RPC are negative by rule; some servers take others, but none that is a status. */
function faultOf(code: unknown, message: string, data: unknown): JsonRpcFault | undefined {
  if (typeof code !== "number" || !Number.isInteger(code) || statusOf(code) !== undefined) {
    return undefined
  }
  return { code, message: withoutPrefix(message, code), ...(data !== undefined && { data }) }
}

/** The error in the body of an HTTP answer. */
function faultIn(body: unknown): JsonRpcFault | undefined {
  if (typeof body !== "string" || body.length > 1_000_000 || !body.includes('"error"')) {
    return undefined
  }
  try {
    const error = read(JSON.parse(body), "error")
    const message = textOf(read(error, "message")) ?? ""
    return faultOf(read(error, "code"), message, read(error, "data"))
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

/** Some servers and SDKs put the number in front of their own words. */
function withoutPrefix(message: string, code: number): string {
  const prefix = `MCP error ${code}: `
  let text = message
  while (text.startsWith(prefix)) text = text.slice(prefix.length)
  return text
}
