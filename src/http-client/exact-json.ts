import { MAX_BIGINT_LENGTH, parseJson } from "./json.ts"
import { refusal, type CallError } from "../core/errors.ts"

/** Accepts all depths, and still looks for large integers. */
const ANY_DEPTH = { maxDepth: Number.MAX_SAFE_INTEGER }

/**
 * Parses JSON whose reader is not known yet: if a number would change an integer's digits, integers become `BigInt`s,
 * which a schema of numbers refuses and an imported API is sent unchanged.
 *
 * Throws `VALIDATION_ERROR` for an integer that is too long for that, and a `SyntaxError` for other text.
 */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  const parsed = parseJson(text, ANY_DEPTH)
  const rounded = parsed.is === "value" ? parsed.bigIntegers?.filter(isRounded) : undefined
  if (rounded === undefined || rounded.length === 0) return JSON.parse(text)
  const long = rounded.find((digits) => digits.length > MAX_BIGINT_LENGTH)
  if (long !== undefined) throw roundedError(long)
  const exact = parseJson(text, { ...ANY_DEPTH, bigint: "exact" })
  return exact.is === "value" ? exact.value : JSON.parse(text)
}

/** Whether a number changes the digits of an integer: an id would become another one. */
export function isRounded(digits: string): boolean {
  // JavaScript writes 2 ** 60 as 1152921504606847000, which stands for that number.
  return (
    digits.length > MAX_BIGINT_LENGTH ||
    (String(Number(digits)) !== digits && BigInt(digits) !== BigInt(Number(digits)))
  )
}

/** The refusal of an integer that a number would change. */
export function roundedError(digits: string): CallError {
  return refusal(
    "VALIDATION_ERROR",
    `The integer ${digits.slice(0, 40)} is beyond those that a number keeps exactly, up to 9007199254740991. Send it as a text, where the schema allows one.`,
  )
}
