import { setOwn } from "./own.ts"
import { isSecretField, isSecretName } from "./secret-names.ts"

/** Replaces a secret. */
const MASK = "***"

// Each pattern keeps the name of the secret and masks its value.
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic|Digest)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,256}:[^\s/@]{0,256}@/gi, `$1${MASK}@`],
  [/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][\w-]{12,}/g, MASK],
]

// A JSON Web Token, or only the start of one: searching within that again would take quadratic time.
const TOKEN = /\beyJ[\w-]{8,}(\.[\w-]{8,}\.[\w-]*)?/g

// The name before a value, and the value: the scheme of a credential stays, and is followed by a mask.
const NAME = /(?<![\w-])([A-Za-z][\w.-]{0,63})["']?\s{0,8}[=:]\s{0,8}/g
const VALUE = /(?!Bearer |Basic |Digest )["']?[^\s"'&,;]+/y

const MAX_DEPTH = 32
const MAX_NODES = 10_000
const MAX_TEXT = 16_384

/** Masks credentials in a text, and cuts the text to the size of a log line. */
export function redactText(text: string): string {
  let out = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  for (const [pattern, replacement] of SECRET_TEXT) out = out.replace(pattern, replacement)
  out = out.replace(TOKEN, (all, rest?: string) => (rest === undefined ? all : MASK))
  return maskNamed(out)
}

/** Masks the values of secret names. A value is read only once, so this takes linear time. */
function maskNamed(text: string): string {
  let out = ""
  let done = 0
  for (const { 0: all, 1: name = "", index } of text.matchAll(NAME)) {
    VALUE.lastIndex = index + all.length
    if (index < done || !isSecretName(name, "text") || !VALUE.test(text)) continue
    out += `${text.slice(done, index + all.length)}${MASK}`
    done = VALUE.lastIndex
  }
  return out + text.slice(done)
}

/**
 * A JSON copy of any value: secrets masked, size bounded, never throwing.
 *
 * Values without a JSON form become text ("[circular]", "[function]"), and an `Error` its name and message.
 */
export function redact(value: unknown): unknown {
  return copy(value, { nodes: 0, path: [] })
}

interface State {
  nodes: number
  readonly path: object[]
}

function copy(value: unknown, state: State): unknown {
  if (++state.nodes > MAX_NODES) return "[too large]"
  if (typeof value === "string") return redactText(value)
  if (typeof value === "number" || typeof value === "bigint") {
    return Number.isFinite(value) ? value : String(value)
  }
  if (typeof value === "boolean" || value === undefined || value === null) return value
  return typeof value === "object" ? copyObject(value, state) : `[${typeof value}]`
}

function copyObject(value: object, state: State): unknown {
  if (state.path.includes(value)) return "[circular]"
  if (state.path.length >= MAX_DEPTH) return "[too deep]"
  state.path.push(value)
  try {
    if (value instanceof Error) return { name: value.name, message: redactText(value.message) }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      return `[${value.byteLength} bytes]`
    }
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value as unknown[]) {
        items.push(copy(item, state) ?? null)
        if (state.nodes > MAX_NODES) break
      }
      return items
    }
    const out: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      if (state.nodes > MAX_NODES) break
      const member = (value as Record<string, unknown>)[key]
      const item = isSecretField(key, member) ? MASK : copy(member, state)
      if (item !== undefined) setOwn(out, key, item)
    }
    return out
  } catch {
    // A getter or a Proxy trap threw, which must not fail an error report.
    return "[unreadable]"
  } finally {
    state.path.pop()
  }
}
