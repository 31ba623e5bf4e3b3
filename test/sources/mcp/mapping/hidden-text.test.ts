import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  hiddenCharacters,
  hiddenTextOf,
  withoutHiddenText,
} from "../../../../src/mcp/hidden-text.ts"
import { codePoint } from "../../../support/code-point.ts"

const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom("a", "ا", "葛", "😀", "1", "\u0301"),
      fc.constantFrom("\u200B", "\u200C", "\u200D", "\uFE0F", "\u034F", "\u3164", "\u{E0100}"),
      fc.string({ unit: codePoint, minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""))

describe("hidden text", () => {
  test.each([
    ["zero width", "a\u200Bb", ["U+200B"], "ab"],
    ["a mark of byte order", "\uFEFFa", ["U+FEFF"], "a"],
    ["direction", "a\u202Eb\u2066c\u2069", ["U+202E", "U+2066", "U+2069"], "abc"],
    ["tags", "a\u{E0001}\u{E0068}\u{E0069}", ["U+E0001", "U+E0068", "U+E0069"], "a"],
    ["an escape sequence", "a\u001B[8mb", ["U+001B"], "a[8mb"],
    ["NUL and DEL", "a\0\u007F", ["U+0000", "U+007F"], "a"],
    ["a joiner between Latin letters", "a\u200Db", ["U+200D"], "ab"],
    ["selectors that carry bytes", "a\uFE01\u{E0121}", ["U+FE01", "U+E0121"], "a"],
    ["a soft hyphen", "pay\u00ADpal", ["U+00AD"], "paypal"],
    ["a filler", "a\u3164", ["U+3164"], "a"],
  ])("finds and removes %s", (_, text, characters, rest) => {
    expect(hiddenCharacters(text)).toEqual(characters)
    expect(withoutHiddenText(text)).toBe(rest)
  })

  test.each([
    ["lines and tabs", "a\tb\r\nc"],
    ["a family", "👨‍👩‍👧‍👦"],
    ["a heart on fire", "❤️‍🔥"],
    ["a flag with a rainbow", "🏳️‍🌈"],
    ["a key", "1️⃣"],
    ["Persian", "می‌خواهم"],
    ["Hindi", "क्‍ष"],
    ["a variant of an ideograph", "葛\u{E0100}"],
    ["accents", "naïve café"],
  ])("leaves %s alone", (_, text) => {
    expect(hiddenCharacters(text)).toEqual([])
    expect(withoutHiddenText(text)).toBe(text)
  })

  test("says where in a definition, names of properties included", () => {
    const found = hiddenTextOf({
      name: "a\u200Bb",
      title: "fine",
      description: "x\u200By\u200B\u202E",
      annotations: { title: "\u2060" },
      inputSchema: {
        properties: { "a/\u200B": { enum: ["ok", "\u{E0041}"] } },
      },
      _meta: { unseen: "\u200B" },
    })

    expect(found).toEqual([
      { path: "/name", characters: ["U+200B"] },
      { path: "/description", characters: ["U+200B", "U+202E"] },
      { path: "/annotations/title", characters: ["U+2060"] },
      { path: "/inputSchema/properties/a~1\u200B", characters: ["U+200B"] },
      { path: "/inputSchema/properties/a~1\u200B/enum/1", characters: ["U+E0041"] },
    ])
  })

  test("nothing of ten thousand places is lost in memory", () => {
    const many = Array.from({ length: 10_000 }, () => "\u200B")

    expect(hiddenTextOf({ name: "a", inputSchema: { enum: many } })).toHaveLength(100)
  })

  test("what is left has nothing to remove, and visible text is never lost", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const rest = withoutHiddenText(text)
        const visible = (value: string) => value.replaceAll(/[^A-Za-z0-9]/g, "")
        expect(visible(rest)).toBe(visible(text))
        expect(hiddenCharacters(rest)).toEqual([])
      }),
    )
  })
})
