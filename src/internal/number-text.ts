const NUMBER = /^-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/

/** An integer that a number may change, of at most 40 characters. */
export const LARGE_INTEGER: RegExp = /^-?[1-9]\d{15,38}$/

/** The number that a text writes as JSON does; `undefined` for other text, and if parsing would change it. */
export function numberIn(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined
  const value = Number(text)
  const isChanged = /^-?\d+$/.test(text) && !Number.isSafeInteger(value)
  return isChanged || !Number.isFinite(value) ? undefined : value
}
