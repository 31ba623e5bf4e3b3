import { fromBase64 } from "../../internal/base64.ts"
import { valueAt } from "../../internal/pointer.ts"
import { isRecord } from "../../internal/guards.ts"
import { perObject } from "../../internal/per-object.ts"
import type { HTTPIncoming } from "../exchange.ts"

/** A parameter of a tool that clients repeat in a header. */
interface HeaderDeclaration {
  readonly path: readonly string[]
  readonly header: string
}

/** A header that contradicts the body of a request. */
export interface HeaderMismatch {
  readonly header: string
  readonly reason: string
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ["string", "integer", "number", "boolean"]
const SENTINEL = /^=\?base64\?(.*)\?=$/s
const CANONICAL_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DECIMAL = /^-?\d+(\.\d+)?$/
const MAX_DEPTH = 32

/**
 * Compares the `Mcp-Param-*` headers of a call with its arguments; `undefined` when they agree.
 *
 * Proxies route and refuse by these headers: a contradicting body would bypass them.
 */
export function paramMismatch(
  inputSchema: unknown,
  input: unknown,
  incoming: Pick<HTTPIncoming, "header">,
): HeaderMismatch | undefined {
  if (!isRecord(inputSchema)) return undefined
  for (const { path, header } of declarationsOf(inputSchema)) {
    const issue = mismatch(valueAt(input, path), incoming.header(header.toLowerCase()))
    if (issue !== undefined) return { header, reason: `${path.join(".")}: ${issue}` }
  }
  return undefined
}

function mismatch(value: unknown, header: string | undefined): string | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  if (header === undefined) return "the body has it and the header is missing"
  const decoded = decodeHeader(header)
  if (decoded === undefined) return "the header is not valid Base64"
  const isSame =
    typeof value === "number" && DECIMAL.test(decoded)
      ? Number(decoded) === value
      : decoded === text
  return isSame ? undefined : "the header and the body have different values"
}

/** The header text of a value; `undefined` for values without a header. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value
  if (typeof value === "boolean") return String(value)
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value)
}

/** The text of a header, which may be in Base64; `undefined` when that is not valid. */
export function decodeHeader(header: string): string | undefined {
  const encoded = SENTINEL.exec(header)?.[1]
  if (encoded === undefined) return header
  const bytes = CANONICAL_BASE64.test(encoded) ? fromBase64(encoded) : undefined
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const declarationsOf = perObject((schema: object) => [...declared(schema, [])])

/** Finds declarations under `properties`; clients drop tools that declare them elsewhere. */
function* declared(schema: unknown, path: readonly string[]): Generator<HeaderDeclaration> {
  if (!isRecord(schema) || path.length > MAX_DEPTH) return
  const name = schema["x-mcp-header"]
  if (typeof name === "string" && TOKEN.test(name) && TYPES.includes(schema["type"])) {
    yield { path, header: `Mcp-Param-${name}` }
  }
  if (!isRecord(schema["properties"])) return
  for (const [key, property] of Object.entries(schema["properties"])) {
    yield* declared(property, [...path, key])
  }
}
