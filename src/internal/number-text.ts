const NUMBER = /^-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/

/** The number that a text writes as JSON does; `undefined` for other text, and if parsing would change it. */
export function numberIn(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined
  const value = Number(text)
  const isChanged = /^-?\d+$/.test(text) && !Number.isSafeInteger(value)
  return isChanged || !Number.isFinite(value) ? undefined : value
}
