import { describe, expect, test } from "vitest"
import {
  printError,
  jsonText,
  note,
  oneLine,
  print,
  printJson,
  escapeForTerminal,
  styled,
  table,
} from "../../src/cli/output.ts"
import { widthOf } from "../../src/cli/wrap.ts"
import { testIO } from "./support/run.ts"

describe("output", () => {
  test("results go to standard output, remarks to standard error", () => {
    const io = testIO()
    print(io, "result")
    note(io, "remark")
    printError(io, "fault")

    expect(io.stdout.text).toBe("result\n")
    expect(io.stderr.text).toBe("remark\nfault\n")
  })

  test("--quiet suppresses notes, not errors", () => {
    const io = testIO()
    note({ ...io, quiet: true }, "remark")
    printError({ ...io, quiet: true }, "fault")

    expect(io.stderr.text).toBe("fault\n")
  })

  test("JSON is one line for a program and several for a person", () => {
    const piped = testIO()
    printJson(piped, { a: [1] })
    const terminal = testIO({ columns: 80 })
    printJson(terminal, { a: [1] })

    expect(piped.stdout.text).toBe('{"a":[1]}\n')
    expect(terminal.stdout.text).toBe('{\n  "a": [\n    1\n  ]\n}\n')
  })

  test("JSON of nothing is null, and control characters are escaped so that it stays the same value", () => {
    expect(jsonText(undefined)).toBe("null")
    const value = { text: "\u001B[31m\u009B31m\u007F" }

    expect(jsonText(value)).not.toMatch(/[\u007F-\u009F]/)
    expect(JSON.parse(jsonText(value))).toEqual(value)
  })

  test("escapeForTerminal escapes control sequences", () => {
    expect(escapeForTerminal("a\u001B[2Jb\u009Bc\u202Ed\re")).toBe(
      "a\\u001b[2Jb\\u009bc\\u202ed\\u000de",
    )
    expect(escapeForTerminal("a\r\n\tb\n")).toBe("a\n\tb\n")
  })

  test.each([
    ...["\u00AD", "\u061C", "\u180E", "\u200B", "\u200C", "\u200D", "\u200E", "\u200F", "\u2028"],
    ...[
      "\u202A",
      "\u202E",
      "\u2060",
      "\u2066",
      "\u2069",
      "\u3164",
      "\uFE0F",
      "\uFEFF",
      "\u{E0041}",
    ],
  ])("what is not seen, or turns a line around, is shown in texts and in JSON: %j", (character) => {
    const code = [...new Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join("")
    expect(escapeForTerminal(`a${character}b`)).toBe(`a${code}b`)
    expect(oneLine(`a${character}b`)).toMatch(
      character === "\u2028" || character === "\uFEFF" ? /^a b$/ : `a${code}b`,
    )
    expect(jsonText({ a: `a${character}b` })).toBe(`{"a":"a${code}b"}`)
    expect(JSON.parse(jsonText(`a${character}b`))).toBe(`a${character}b`)
  })

  test("joined pictures and the letters of Persian stay as they are", () => {
    for (const text of ["👩‍👩‍👧 ❤️", "می‌خواهم", "日本語", "e\u0301"])
      expect(escapeForTerminal(text)).toBe(text)
    expect(oneLine("  a\n\n b\tc ")).toBe("a b c")
  })

  test("cuts a line to its room, never to less than is of use", () => {
    expect(oneLine("x".repeat(100), 30)).toBe(`${"x".repeat(29)}…`)
    expect(oneLine("x".repeat(100), 1)).toHaveLength(20)
    expect(oneLine("日本語".repeat(20), 21)).toBe(`${"日本語".repeat(3)}日…`)
  })

  test("aligns columns by what is seen", () => {
    const text = table([
      ["\u001B[1ma\u001B[22m", "b"],
      ["日本", "c"],
      ["e\u0301x", "d"],
    ])

    expect(text.split("\n")).toEqual(["\u001B[1ma\u001B[22m     b", "日本  c", "e\u0301x    d"])
    expect(widthOf("\u001B[31m🙂\u001B[39m")).toBe(2)
    expect(table([])).toBe("")
    expect(table([["only"], []])).toBe("only\n")
  })

  test("cuts the last column to a width, and puts it below the first where there is no room", () => {
    const rows = [
      ["a.long.name.of.an.operation", "mutation", "What it does, in more words than fit"],
      ["b", "query", ""],
    ]
    expect(table(rows, 70).split("\n")).toEqual([
      "a.long.name.of.an.operation  mutation  What it does, in more words th…",
      "b                            query",
    ])
    expect(table(rows, 40).split("\n")).toEqual([
      "a.long.name.of.an.operation",
      "  mutation  What it does, in more words…",
      "b",
      "  query",
    ])
    expect(table([], 40)).toBe("")
  })

  test("keeps its columns where few rows have no room in them", () => {
    const rows = ["list", "add", "remove"].map((name) => [`task.${name}`, "query", "What it does"])
    const long = ["task.with-a-name-that-goes-on-and-on", "mutation", "What it does"]
    expect(table([...rows, long], 50).split("\n")).toEqual([
      "task.list    query  What it does",
      "task.add     query  What it does",
      "task.remove  query  What it does",
      "task.with-a-name-that-goes-on-and-on",
      "  mutation  What it does",
    ])
  })
})

describe("styled", () => {
  test.each([
    ["a terminal", 80, {}, true],
    ["a pipe", undefined, {}, false],
    ["NO_COLOR", 80, { NO_COLOR: "1" }, false],
    ["an empty NO_COLOR, which means nothing", 80, { NO_COLOR: "" }, true],
    ["a dumb terminal", 80, { TERM: "dumb" }, false],
  ])("%s", (_, columns, env, isColoured) => {
    const { red } = styled(testIO({ columns, env }))

    expect(red("x")).toBe(isColoured ? "\u001B[31mx\u001B[39m" : "x")
    expect(red("")).toBe("")
  })

  test("goes by where a text is written", () => {
    const io = testIO({ columns: 80 })

    expect(styled(io, { write: () => true }).bold("x")).toBe("x")
    expect(styled(io, io.stderr).bold("x")).not.toBe("x")
  })
})
