import { schemasAt } from "../schema/at-path.ts"
import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema, setOwn } from "../../../../src/schema/json.ts"
import { own } from "../schema/json.ts"
import type { Path } from "../schema/json.ts"
import { toPointer } from "../schema/pointer.ts"

/** A value without its sensitive parts, and the pointers of those. */
export interface Masked {
  readonly value: unknown
  readonly removed: readonly string[]
}

/** Names of sensitive values: in any spelling, as a whole word or the end of one. */
const SENSITIVE =
  /(?:^|[^a-z])(?:pass(?:word|phrase|code|wd)?|pwd|secrets?|tokens?|api[^a-z]?keys?|access[^a-z]?keys?|private[^a-z]?keys?|credentials?|authorization|auth|cookies?|session(?:[^a-z]?id)?|signature|pin|cvv|cvc|otp|ssn)(?:$|[^a-z])/

/** Longer texts are files; what history is for is not to keep those. */
const MAX_TEXT = 8192
const MAX_DEPTH = 60

/** Whether a property of this name is likely to hold a secret. */
export function isSensitiveName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
  return SENSITIVE.test(words.toLowerCase())
}

/** Takes out what looks like a secret, by its name or its schema, and texts as long as files. */
export function withoutSecrets(value: unknown, schema?: unknown): Masked {
  const removed: string[] = []
  const root = isSchema(schema) ? schema : undefined
  const isSecret = (current: unknown, path: Path): boolean => {
    const last = path.at(-1)
    if (typeof last === "string" && isSensitiveName(last) && !isPlain(current, last)) return true
    if (root === undefined) return false
    return schemasAt(root, path).some(
      (one) => own(one, "writeOnly") === true || own(one, "format") === "password",
    )
  }
  const copy = (current: unknown, path: Path): unknown => {
    if (isTooLong(current) || path.length > MAX_DEPTH || isSecret(current, path)) {
      removed.push(toPointer(path))
      return undefined
    }
    if (Array.isArray(current)) {
      return current.map((item: unknown, at) => copy(item, [...path, at]) ?? null)
    }
    if (!isRecord(current)) return current
    const kept = {}
    for (const [key, item] of Object.entries(current)) {
      const masked = copy(item, [...path, key])
      if (masked !== undefined) setOwn(kept, key, masked)
    }
    return kept
  }
  return { value: copy(value, []), removed }
}

/** `max_tokens: 100` is not sensitive; `pin: 1234` is. */
function isPlain(value: unknown, name: string): boolean {
  if (typeof value === "boolean" || value === null) return true
  return typeof value === "number" && !/pin|cvv|cvc|otp|ssn|code/i.test(name)
}

function isTooLong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_TEXT
}
