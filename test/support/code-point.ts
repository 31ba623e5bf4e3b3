import fc from "fast-check"

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * A character of Unicode, for `fc.string({ unit: codePoint })`.
 *
 * Stands in for the unit "binary", for which fast-check fills a table of a million characters in each process.
 */
export const codePoint: fc.Arbitrary<string> = fc.nat(0x10_ffff - SURROGATES.count).map(
  (at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count),
  (text) => {
    const code = typeof text === "string" ? text.codePointAt(0) : undefined
    if (code === undefined || String.fromCodePoint(code) !== text)
      throw new Error("not a character")
    const isSurrogate = code >= SURROGATES.first && code < SURROGATES.first + SURROGATES.count
    if (isSurrogate) throw new Error("half a character")
    return code < SURROGATES.first ? code : code - SURROGATES.count
  },
)
