import { describe, expect, test } from "vitest"
import { closingOf, isPunctuation, nameIn, tokensOf } from "../../src/config/script-tokens.ts"
import type { Token } from "../../src/config/script-tokens.ts"

function sources(text: string): string[] {
  return tokensOf(text).tokens.map(({ source }) => source)
}

describe("tokensOf", () => {
  test("skips comments, also within what a template holds", () => {
    expect(sources("a // b\n/* } */ c")).toEqual(["a", "c"])
    expect(sources("`x${ /* } */ { a: `y${1}` } }z`,b")).toEqual([
      "`x${ /* } */ { a: `y${1}` } }z`",
      ",",
      "b",
    ])
  })

  test("knows what is escaped", () => {
    expect(sources(String.raw`"a\"b" 'c\'d'`)).toEqual([String.raw`"a\"b"`, String.raw`'c\'d'`])
    expect(sources("`a\\`b\\${c` d")).toEqual(["`a\\`b\\${c`", "d"])
    expect(sources("`$` `$a`")).toEqual(["`$`", "`$a`"])
  })

  test.each([
    ["a text without an end", `"abc`],
    ["a text over two lines", `"a\nb"`],
    ["a text that ends in a backslash", `"a\\`],
    ["a template without an end", "`abc"],
    ["a template whose insertion has no end", "`a${b`"],
    ["an insertion that only opens", "`a${"],
    ["an insertion with a broken text", "`a${'b\n'}`"],
    ["an insertion with a bracket too many", "`a${{}`"],
    ["a bracket that nobody opened", "a)"],
    ["a bracket of another kind", "(a]"],
    ["a bracket that stays open", "[a"],
    ["a comment without an end", "a /* b"],
    ["a comment that only opens", "a /*/"],
  ])("is not complete for %s", (_, text) => {
    expect(tokensOf(text).isComplete).toBe(false)
  })

  test("tells a regular expression from a division", () => {
    expect(sources(`{ a: /[{"/]/g, b: 1 / 2 }`)).toContain(`/[{"/]/g`)
    expect(tokensOf(`{ a: /[{"/]/g, b: 1 / 2 }`).isComplete).toBe(true)
  })

  test("tokens have names where they can be keys", () => {
    const [word, text, mark] = tokensOf(`a "b c" :`).tokens as [Token, Token, Token]

    expect([nameIn(word), nameIn(text), nameIn(mark)]).toEqual(["a", "b c", undefined])
    expect(isPunctuation(undefined, "{")).toBe(false)
    expect(isPunctuation(word, "a")).toBe(false)
  })

  test("a bracket is closed by the one of its depth", () => {
    const tokens = tokensOf("{ a: { b: [] }, c }").tokens

    expect(closingOf(tokens, 0)).toBe(tokens.length - 1)
    expect(tokens[closingOf(tokens, 3)]?.start).toBe(13)
  })
})
