/**
 * Where a name appears. A `setting` is part of a configuration: a variable, a flag, a header to send. `text` is
 * `name: value` or `name=value` in a sentence.
 */
export type NameKind = "header" | "query" | "field" | "setting" | "text"

/** Words that are secret in every name, and endings of words written together: `sessiontoken`. */
const WORDS =
  /^(?:authorization|cookies?|jwt|pwd|passcode|credentials?)$|(?:secret|password|passwd|passphrase|(?:api|access|auth|private|secret)key)s?$/

/** Further words that are secret in some places. */
const FURTHER: Readonly<Record<NameKind, readonly string[]>> = {
  header: ["authentication", "signature"],
  query: ["auth", "sig", "signature"],
  field: ["auth", "session", "signature", "pass", "pin", "cvv", "cvc", "otp", "ssn"],
  setting: ["auth", "oauth", "authentication", "signature", "pass", "pat", "bearer", "dpop"],
  text: [],
}

/** A `key` after one of these is secret; a primary key and an idempotency key are not. */
const KEYS: ReadonlySet<string> = new Set(
  "api access auth private secret subscription function functions signing encryption master account".split(
    " ",
  ),
)

/** A `token` after one of these is a position in a list, which callers need. */
const CURSORS: ReadonlySet<string> = new Set(
  "continuation page next prev previous sync cursor".split(" "),
)

/** `tokens` are a number, as in `max_tokens`, unless they are alone or after one of these. */
const TOKEN_KINDS: ReadonlySet<string> = new Set([
  "",
  ..."access refresh id auth api bearer session device".split(" "),
])

/** A name that ends with one of these describes a secret and has none: `token_type`. */
const DESCRIPTIONS: ReadonlySet<string> = new Set(
  "type url uri endpoint server servers name count limit length remaining usage expiry at in".split(
    " ",
  ),
)

/** Whether a value of this name is likely to be a secret, in any spelling. Takes linear time. */
export function isSecretName(name: string, kind: NameKind): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "")
  const last = words.at(-1) ?? ""
  if (DESCRIPTIONS.has(last)) return false
  if (last === "key" && kind === "setting") return words.at(-2) !== "idempotency"
  if (last === "key" && kind === "query" && words.length === 1) return true
  return words.some((word, at) => isSecretWord(word, words[at - 1] ?? "", kind))
}

function isSecretWord(word: string, before: string, kind: NameKind): boolean {
  if (word === "key" || word === "keys") return KEYS.has(before)
  if (word.endsWith("token")) return !CURSORS.has(word.slice(0, -5) || before)
  if (word.endsWith("tokens")) return TOKEN_KINDS.has(word.slice(0, -6) || before)
  return WORDS.test(word) || FURTHER[kind].includes(word)
}

/** Names whose numbers are counts. */
const COUNTED = /(?:tokens?|cookies?|secrets|credentials|sessions?|pass)$/i

/** Whether a property is likely to hold a secret: `pin: 1234` does, `tokens: 100` does not. */
export function isSecretField(name: string, value: unknown): boolean {
  if (typeof value === "boolean" || value === null || value === undefined) return false
  if (typeof value === "number" && COUNTED.test(name)) return false
  return isSecretName(name, "field")
}
