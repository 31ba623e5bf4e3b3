import { inspect } from "node:util"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/core/errors.ts"
import { parseDocument, parseText } from "../../../src/sources/openapi/parse.ts"
import { TOO_LONG } from "../../support/patience.ts"
import { runs } from "../../support/nightly.ts"

/** The error that reading a source ends with. */
function failure(source: unknown, options = {}): CallError<string, Record<string, unknown>> {
  try {
    parseDocument(source, options)
  } catch (thrown) {
    return thrown as CallError<string, Record<string, unknown>>
  }
  throw new Error("It was read.")
}

function outcomeOf(text: string): string {
  try {
    return typeof parseDocument(text).document === "object" ? "read" : "something else"
  } catch (thrown) {
    return (thrown as Error).name
  }
}

function milliseconds(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

describe("parseDocument", () => {
  test("returns an object as it is, and changes nothing", () => {
    const document = Object.freeze({ openapi: "3.1.0", paths: Object.freeze({}) })

    const parsed = parseDocument(document)

    expect(parsed.document).toBe(document)
    expect(parsed.warnings).toEqual([])
  })

  test.each([
    ["JSON", '{"openapi":"3.0.3","paths":{}}'],
    ["JSON after a byte order mark and white space", '\uFEFF \n\t{"openapi":"3.0.3","paths":{}}'],
    ["YAML", "openapi: 3.0.3\npaths: {}\n"],
    ["YAML after a byte order mark", "\uFEFFopenapi: 3.0.3\npaths: {}\n"],
    ["YAML with Windows' line ends", "---\r\nopenapi: 3.0.3\r\npaths: {}\r\n"],
    ["bytes", new TextEncoder().encode('{"openapi":"3.0.3","paths":{}}')],
  ])("reads %s", (_name, source) => {
    expect(parseDocument(source).document).toEqual({ openapi: "3.0.3", paths: {} })
  })

  test("reads YAML 1.2: dates and words stay text, numbers as keys become text", () => {
    const { document } = parseDocument(
      "openapi: 3.1\nx: { day: 2024-01-31, no: no, on: on, 200: ok, time: 12:30:00, o: 0o17 }\n",
    )

    expect(document["x"]).toEqual({
      day: "2024-01-31",
      no: "no",
      on: "on",
      "200": "ok",
      time: "12:30:00",
      o: 15,
    })
  })

  test("merges `<<`, one and several, own keys first", () => {
    const { document } = parseDocument(
      "openapi: 3.0.0\na: &a { x: 1, y: 1 }\nb: &b { y: 2, z: 2 }\nc: { <<: [*a, *b], x: 3 }\n",
    )

    expect(document["c"]).toEqual({ x: 3, y: 1, z: 2 })
  })

  test("reads brackets and quotes that are not indented, as Docker writes them, with one warning", () => {
    const { document, warnings } = parseDocument(
      'openapi: 3.0.0\nx:\n  a: {\n    "80": {}\n  }\n  b: [\n1,\n  2\n]\n  c: "one\ntwo"\n',
    )

    expect(document["x"]).toEqual({ a: { "80": {} }, b: [1, 2], c: "one two" })
    expect(warnings).toEqual([expect.stringContaining("the first at line 5")])
  })

  test("warns of a key that stands twice, and takes the last as JSON does", () => {
    const { document, warnings } = parseDocument("openapi: 3.0.0\ninfo:\n  a: 1\n  a: 2\n")

    expect(document["info"]).toEqual({ a: 2 })
    expect(warnings).toEqual([expect.stringContaining("at line 4, column 3")])
  })

  test("reads JSON with a comma too many as YAML, with a warning", () => {
    const { document, warnings } = parseDocument('{"openapi": "3.0.0", "paths": {},}')

    expect(document).toEqual({ openapi: "3.0.0", paths: {} })
    expect(warnings).toEqual([expect.stringContaining("is not valid JSON")])
  })

  test.each([
    ['{"openapi": "3.0.0", "__proto__": {"isAdmin": true}}'],
    ["openapi: 3.0.0\n__proto__: { isAdmin: true }\n"],
    ["openapi: 3.0.0\na: &a { __proto__: { isAdmin: true } }\nb: { <<: *a }\n"],
  ])("keeps `__proto__` as a plain name: %s", (text) => {
    const { document } = parseDocument(text)

    expect(JSON.stringify(document)).toContain('"__proto__":{"isAdmin":true}')
    expect(Object.getPrototypeOf(document)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined()
  })
})

describe("parseDocument, given something else", () => {
  test.each([
    ["", "is empty"],
    [" \n\t", "is empty"],
    ["# only a comment\n", "is empty"],
    ["<!DOCTYPE html><html></html>", "is an HTML page"],
    ['<?xml version="1.0"?><a/>', "neither JSON nor YAML"],
    ["./openapi.yaml", "FromOpenAPIFile"],
    ["https://api.test/openapi.json", "FromOpenAPIUrl"],
    ["[1, 2]", "it is array"],
    ["null", "it is null"],
    ["{}", 'neither "openapi"'],
    ["a: 1", 'neither "openapi"'],
    ["asyncapi: 3.0.0", "AsyncAPI"],
    ['swaggerVersion: "1.2"', "Swagger 1"],
    ["openapi: 4.0.0", "Versions 3.0, 3.1 and 3.2"],
    ["openapi: 1", "Versions 3.0, 3.1 and 3.2"],
    ["openapi: { a: 1 }", "Versions 3.0, 3.1 and 3.2"],
    ['swagger: "1.2"', 'only "2.0"'],
    ["openapi: 3.0.0\n---\nopenapi: 3.0.0\n", "2 YAML documents"],
    ["openapi: 3.0.0\nx: !!js/function 'alert(1)'\n", "unknown scalar tag"],
    ["openapi: 3.0.0\nx: !include other.yaml\n", "unknown scalar tag"],
    ["openapi: 3.0.0\nx: *nowhere\n", 'unidentified alias "nowhere"'],
    ["openapi: 3.0.0\nx: &x { y: *x }\n", "would never end"],
    ["openapi: 3.0.0\n? { a: 1 }\n: b\n", "complex keys"],
  ])("says what %j is", (text, message) => {
    const error = failure(text, { what: `"api.yaml"` })

    expect(error).toBeInstanceOf(CallError)
    expect(error.code).toBe("VALIDATION_ERROR")
    expect(error.message).toContain(message)
    expect(error.message).toContain(`"api.yaml"`)
  })

  test.each([[undefined], [null], [5], [true], [() => {}]])("refuses %s as a source", (source) => {
    expect(() => parseDocument(source)).toThrow(TypeError)
  })

  test("refuses an object that cannot be read", () => {
    const document = {
      get openapi(): string {
        throw new RangeError("no")
      },
    }
    expect(() => parseDocument(document)).toThrow("cannot be read")
  })

  test("names the line and column of broken YAML", () => {
    const error = failure("openapi: 3.0.0\ninfo:\n  title: a: b\n")

    expect(error.message).toMatch(/line 3, column \d+ \(title: a: b\)/)
    expect(error.details).toMatchObject({ line: 3 })
  })

  test.each([
    ['{\n  "openapi": "3.0.0",\n  "info": {\n', 4],
    ['{\n  "openapi": "3.0.0",\n  "info": {]\n}', 3],
  ])("names the line of broken JSON", (text, line) => {
    const error = failure(text)

    expect(error.message).toContain("is not valid JSON")
    expect(error.details).toMatchObject({ line })
  })

  test("shows little of a long line", () => {
    const error = failure(`openapi: 3.0.0\nx: "${"a".repeat(100_000)}`)
    expect(inspect(error).length).toBeLessThan(3000)
    expect(failure(`{"openapi":"3.0.0","x":"${"a".repeat(100_000)}`).message.length).toBeLessThan(
      400,
    )
  })

  test.each(["3.0.0", "3.1.0", "3.2.0", "3.0.4-rc", "v3.1"])("accepts version %s", (version) => {
    expect(parseDocument({ openapi: version }).warnings).toEqual([])
  })

  test("reads a newer minor version, with a warning", () => {
    expect(parseDocument({ openapi: "3.7.1" }).warnings).toEqual([
      expect.stringContaining("newer than 3.2"),
    ])
    expect(parseDocument({ openapi: 3.1 }).warnings).toEqual([])
    expect(parseDocument({ openapi: 3 }).warnings).toEqual([])
    expect(parseDocument({ openapi: "3" }).warnings).toHaveLength(1)
    expect(parseDocument({ swagger: 2 }).warnings).toEqual([])
  })
})

describe("parseDocument, attacked", () => {
  test("refuses a text that is too large before it reads any of it", () => {
    const text = " ".repeat(50 * 1024 * 1024)
    const time = milliseconds(() => {
      const error = failure(text, { maxBytes: 10 * 1024 * 1024 })
      expect(error.code).toBe("PAYLOAD_TOO_LARGE")
    })
    expect(time).toBeLessThan(TOO_LONG)
  })

  test.each([
    ["lists", (name: string) => `[${Array(9).fill(name).join(", ")}]`],
    [
      "mappings",
      (name: string) =>
        `{ ${Array.from("abcdefghi")
          .map((k) => `${k}: ${name}`)
          .join(", ")} }`,
    ],
  ])("refuses an alias bomb of %s at once", (_name, repeat) => {
    let text = `openapi: 3.0.0\na0: &a0 ${repeat("lol")}\n`
    for (let at = 1; at < 30; at++) text += `a${at}: &a${at} ${repeat(`*a${at - 1}`)}\n`

    const time = milliseconds(() => expect(failure(text).message).toContain("YAML aliases"))
    expect(time).toBeLessThan(TOO_LONG)
  })

  test("refuses many aliases of one large list", () => {
    const large = `[${Array(10_000).fill("1").join(",")}]`
    const text = `openapi: 3.0.0\na: &a ${large}\nb: [${Array(10_000).fill("*a").join(",")}]\n`

    const time = milliseconds(() => expect(failure(text).message).toContain("YAML aliases"))
    expect(time).toBeLessThan(TOO_LONG)
  })

  test("refuses merge keys that multiply", () => {
    const keys = Array.from({ length: 1000 }, (_, at) => `k${at}: 1`).join(", ")
    const uses = Array.from({ length: 1000 }, (_, at) => `u${at}: { <<: *a }`).join("\n")

    const time = milliseconds(() => {
      const error = failure(`openapi: 3.0.0\na: &a { ${keys} }\n${uses}\n`)
      expect(error.message).toContain("merge keys")
    })
    expect(time).toBeLessThan(TOO_LONG)
  })

  test("lets a part be shared that is used a few times", () => {
    const { document } = parseDocument("openapi: 3.0.0\na: &a { x: 1 }\nb: [*a, *a, *a]\n")

    expect(document["b"]).toEqual([{ x: 1 }, { x: 1 }, { x: 1 }])
  })

  test.each([
    [
      "JSON lists",
      "[".repeat(20_000) + "]".repeat(20_000),
      (value: string) => `{"openapi":"3.0.0","x":${value}}`,
    ],
    [
      "JSON objects",
      `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
      (value: string) => `{"openapi":"3.0.0","x":${value}}`,
    ],
    [
      "YAML flow",
      "[".repeat(200_000) + "]".repeat(200_000),
      (value: string) => `openapi: 3.0.0\nx: ${value}`,
    ],
    [
      "YAML sequences",
      `${"- ".repeat(20_000)}1`,
      (value: string) => `openapi: 3.0.0\nx:\n  ${value}`,
    ],
  ])("refuses nesting without end: %s", (_name, value, wrap) => {
    expect(failure(wrap(value)).message).toContain("nested deeper than")
  })

  test("refuses nesting that only aliases make deep", () => {
    let text = "openapi: 3.0.0\na0: &a0 [1]\n"
    for (let at = 1; at < 1100; at++) text += `a${at}: &a${at} [*a${at - 1}]\n`

    expect(failure(text).message).toContain("nested deeper than")
  })

  test("refuses an object that contains itself", () => {
    const document: Record<string, unknown> = { openapi: "3.0.0" }
    document["components"] = { schemas: { a: document } }

    expect(failure(document).message).toContain("as it was published")
  })

  test("gives a document or a clean error for any text", () => {
    const piece = fc.constantFrom(
      ...Array.from("{}[]:,-\n &*!|>'\"#%@`?<a1~\u0000\uFEFF\u00e9\u{1F600}"),
      "openapi: 3.0.0\n",
      '"openapi":"3.1.0"',
      "<<: ",
      "&a ",
      "*a",
      "  ",
      "---\n",
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(outcomeOf(pieces.join(""))).toMatch(/^(?:read|CallError)$/)
      }),
      { numRuns: runs(500) },
    )
  })

  test("reads any JSON value as JSON.parse does, also as YAML", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify({ value })
        expect(JSON.stringify(parseText(text).value)).toBe(text)
        expect(JSON.stringify(parseText(`---\n${text}`).value)).toBe(text)
      }),
      { numRuns: 300 },
    )
  })
})
