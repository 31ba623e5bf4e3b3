/** Names of sensitive values: in any spelling, as a whole word or the end of one. */
const SENSITIVE =
  /(?:^|[^a-z])(?:pass(?:word|phrase|code|wd)?|pwd|secrets?|tokens?|api[^a-z]?keys?|access[^a-z]?keys?|private[^a-z]?keys?|credentials?|authorization|auth|cookies?|session(?:[^a-z]?id)?|signature|pin|cvv|cvc|otp|ssn)(?:$|[^a-z])/

/** Whether a property of this name is likely to hold a secret. */
export function isSensitiveName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
  return SENSITIVE.test(words.toLowerCase())
}

/** Whether a property is likely to hold a secret: `pin: 1234` does, `max_tokens: 100` does not. */
export function isSensitive(name: string, value: unknown): boolean {
  return isSensitiveName(name) && !isPlain(value, name)
}

function isPlain(value: unknown, name: string): boolean {
  if (typeof value === "boolean" || value === null) return true
  return typeof value === "number" && !/pin|cvv|cvc|otp|ssn|code/i.test(name)
}
