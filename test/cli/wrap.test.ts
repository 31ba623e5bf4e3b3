import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { widthOf } from "../../src/cli/wrap.ts"
import { unbroken, wrap, wrapFor } from "../../src/cli/wrap.ts"
import { run } from "./support/run.ts"

describe("wrap", () => {
  test.each([
    ["breaks between words", "one two three", 8, "one two\nthree"],
    ["keeps lines that fit, spaces included", "one  two\n\n three", 20, "one  two\n\n three"],
    ["indents the rest as the line is", "  one two three", 9, "  one two\n  three"],
    ["indents behind a mark", "✗ one two three", 9, "✗ one two\n  three"],
    ["repeats the sign of a comment", "  # one two three", 11, "  # one two\n  # three"],
    ["keeps a column", "  a=1   one two three", 16, "  a=1   one two\n        three"],
    [
      "leaves a long word whole",
      "see https://a.example/b now",
      10,
      "see\nhttps://a.example/b\nnow",
    ],
    ["counts wide characters twice", "你好世界，再见", 8, "你好世\n界，再见"],
    ["does not count colours", "\u001B[31mone\u001B[39m two", 7, "\u001B[31mone\u001B[39m two"],
  ])("%s", (_what, text, columns, expected) => {
    expect(wrap(text, columns)).toBe(expected)
  })

  test("loses no word, and no line is too wide unless it is one word", () => {
    const word = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 })
    // A mark at the start stays with the first word, and the sign of a comment is repeated on every line.
    const plain = word.filter((one) => !/[\s#]|^[!?-]$/.test(one))
    const text = fc.array(plain).map((words) => words.join(" "))
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (given, columns) => {
        const lines = wrap(given, columns).split("\n")
        expect(lines.join(" ").split(/\s+/)).toEqual(given.split(/\s+/))
        const several = lines.filter((line) => /\S\s+\S/.test(line))
        expect(several.filter((line) => widthOf(line) > columns)).toEqual([])
      }),
    )
  })

  test("a command stays whole, and is printed with plain spaces", () => {
    const text = `See: ${unbroken("operations list --hub x")}`
    expect(wrapFor({ write: () => true, isTTY: true, columns: 12 }, text)).toBe(
      "See:\noperations list --hub x",
    )
    expect(wrapFor({ write: () => true }, text)).toBe("See: operations list --hub x")
  })
})

describe("on a terminal of 60 columns", () => {
  const env = { NO_COLOR: "1" }

  test.each(["init", "list", "search", "describe", "call", "watch", "serve", "import", "doctor"])(
    "help of %s fits, commands aside",
    async (command) => {
      const { stdout } = await run([command, "--help"], { columns: 60, env })
      const wide = stdout.split("\n").filter((line) => widthOf(line) > 60)
      expect(wide.filter((line) => !line.startsWith("  operations "))).toEqual([])
    },
  )

  test.each(["calls", "audit", "hash-key", "doctor", "serve"])(
    "help of %s fills its lines",
    async (command) => {
      const { stdout } = await run([command, "--help"], { columns: 60, env })
      const lines = stdout.split("\n\n")[1]?.split("\n") ?? []
      // The next word would have had room.
      const short = lines.filter((line, at) => {
        const [word = ""] = lines[at + 1]?.split(" ") ?? []
        return word !== "" && widthOf(`${line} ${word}`) <= 60
      })
      expect(short).toEqual([])
    },
  )

  test("an error is broken between words, and the command to copy is whole", async () => {
    const { stderr } = await run(["call", "--no-such-option-at-all", "x"], { columns: 40, env })
    expect(stderr.split("\n").filter((line) => widthOf(line) > 40)).toEqual([])
    expect(stderr).toContain("\noperations call --help\n")
  })

  test("an error for a program stays on one line", async () => {
    const { stderr } = await run(["call", "--no-such-option-at-all", "--json"], {
      columns: 40,
      env,
    })
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "USAGE_ERROR" } })
    expect(stderr.trimEnd()).not.toContain("\n")
  })
})
