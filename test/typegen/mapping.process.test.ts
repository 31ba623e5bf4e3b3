import { describe, expect, test } from "vitest"
import { FromSchema } from "../../src/index.ts"
import { declarationsOf, inputOf, outputOf, specOf, typesOf } from "./specs.ts"

const object = (properties: object, more: object = {}): object => ({
  type: "object",
  properties,
  ...more,
})

describe("plain types", () => {
  test.each<[schema: unknown, type: string]>([
    [{}, "unknown"],
    [{ type: "string" }, "string"],
    [{ type: "string", format: "date-time", minLength: 3 }, "string"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "null" }, "null"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ not: {} }, "never"],
    [{ const: "a" }, '"a"'],
    [{ const: null }, "null"],
    [{ const: -1.5 }, "-1.5"],
    [{ const: { a: [1, "x"], b: {} } }, '{ a: [1, "x"]; b: { [key: string]: never } }'],
    [{ enum: ["a", 1, true, null] }, '"a" | 1 | true | null'],
    [{ type: "string", enum: ["a", null, 3] }, '"a"'],
    [{ type: ["string", "null"], enum: ["a", null] }, '"a" | null'],
    [{ enum: ["a", "a"] }, '"a"'],
    [{ format: "binary", "x-operation-file": "bytes" }, "Uint8Array"],
    [{ format: "binary", "x-operation-file": "stream" }, "FileLike"],
    [{ type: "array", items: { "x-operation-file": "stream" } }, "FileLike[]"],
    [{ format: "binary" }, "unknown"],
    [{ "x-operation-file": "else" }, "unknown"],
    [{ type: "string", contentEncoding: "base64" }, "string"],
    [{ type: "string", enum: ['quote " and \\ and \n'] }, '"quote \\" and \\\\ and \\n"'],
  ])("%j is %s", (schema, type) => {
    expect(outputOf(schema)).toBe(type)
  })

  test("an enum of thousands becomes the type of its values", () => {
    const values = Array.from({ length: 1001 }, (_, at) => (at === 0 ? 1 : `v${at}`))
    expect(outputOf({ enum: values })).toBe("number | string")
  })

  test("a long union goes over several lines", () => {
    const values = Array.from({ length: 12 }, (_, at) => `a value ${at}`)
    expect(outputOf({ enum: values })).toMatch(/^\| "a value 0"\n {2}\| "a value 1"\n/)
  })

  test("suggested strings are kept next to string", () => {
    expect(outputOf({ anyOf: [{ type: "string" }, { enum: ["a", "b"] }] })).toBe(
      '(string & {}) | "a" | "b"',
    )
  })
})

describe("arrays", () => {
  const a = { type: "string" }
  const b = { type: "number" }

  test.each<[schema: unknown, type: string]>([
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", items: a, minItems: 2 }, "string[]"],
    [{ type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    [{ type: "array", items: false }, "never[]"],
    [{ type: "array", prefixItems: [a, b] }, "[string?, number?, ...unknown[]]"],
    [{ type: "array", prefixItems: [a, b], items: false }, "[string?, number?]"],
    [{ type: "array", prefixItems: [a, b], items: false, minItems: 2 }, "[string, number]"],
    [
      { type: "array", prefixItems: [a, b], items: b, minItems: 1 },
      "[string, number?, ...number[]]",
    ],
    [{ type: "array", prefixItems: [a, b], maxItems: 1 }, "[string?]"],
    [{ type: "array", prefixItems: [a, b], maxItems: 2 }, "[string?, number?]"],
    [{ type: "array", prefixItems: [a], maxItems: 0 }, "never[]"],
    [
      { type: "array", prefixItems: [{ type: ["string", "null"] }], items: false },
      "[(string | null)?]",
    ],
  ])("%j is %s", (schema, type) => {
    expect(outputOf(schema)).toBe(type)
  })

  test("a tuple of hundreds becomes an array", () => {
    const prefixItems = Array.from({ length: 101 }, () => a)
    expect(outputOf({ type: "array", prefixItems })).toBe("unknown[]")
  })
})

describe("objects", () => {
  test.each<[schema: unknown, type: string]>([
    [{ type: "object" }, "{ [key: string]: unknown }"],
    [{ type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    [{ type: "object", additionalProperties: { type: "string" } }, "{ [key: string]: string }"],
    [object({ a: { type: "string" } }), "{ a?: string | undefined }"],
    [object({ a: { type: "string" } }, { required: ["a"] }), "{ a: string }"],
    [object({ a: {} }), "{ a?: unknown }"],
    [object({ a: false }), "{ a?: undefined }"],
    [object({}, { required: ["x"] }), "{ x: unknown }"],
    [
      object({}, { required: ["x"], additionalProperties: { type: "number" } }),
      "{ x: number; [key: string]: number }",
    ],
    [
      object({ a: { type: "string" } }, { additionalProperties: true }),
      "{ a?: string | undefined; [key: string]: unknown }",
    ],
    [
      object({ a: { type: "string" } }, { additionalProperties: { type: "number" } }),
      "{ a?: string | undefined; [key: string]: number | string | undefined }",
    ],
    [
      object({}, { patternProperties: { "^x-": { type: "string" } }, additionalProperties: false }),
      "{ [key: `x-${string}`]: string }",
    ],
    [
      object({}, { patternProperties: { "^x-": { type: "string" } } }),
      "{ [key: string]: unknown }",
    ],
    [
      object(
        {},
        { patternProperties: { "[0-9]+": { type: "string" } }, additionalProperties: false },
      ),
      "{ [key: string]: string }",
    ],
    [
      object({}, { propertyNames: { enum: ["a", "b"] }, additionalProperties: { type: "number" } }),
      "{ a?: number | undefined; b?: number | undefined }",
    ],
    [{ properties: { a: { type: "string" } } }, "{ a?: string | undefined }"],
    [
      object({ "a-b": {}, "1": {}, $x: {}, class: {} }),
      '{ "1"?: unknown; "a-b"?: unknown; $x?: unknown; class?: unknown }',
    ],
  ])("%j is %s", (schema, type) => {
    expect(outputOf(schema)).toBe(type)
  })

  test.each([
    ["^a?", "string"],
    ["^ab*", "string"],
    ["^a|^b", "string"],
    ["^ab(c|d)", "string"],
    ["^ab", "`ab${string}`"],
    ["^ab[0-9]$", "`ab${string}`"],
    ["ab", "string"],
  ])("keys of the pattern %s are a %s", (pattern, key) => {
    const schema = {
      type: "object",
      patternProperties: { [pattern]: {} },
      additionalProperties: false,
    }
    expect(outputOf(schema)).toBe(`{ [key: ${key}]: unknown }`)
  })

  test("descriptions of properties become comments", () => {
    const schema = object({
      a: { type: "string", description: "What it is.\n\n\nAnd more.", default: "x" },
      b: { type: "number", deprecated: true },
    })
    expect(outputOf(schema)).toBe(`{
  /**
   * What it is.
   *
   * And more.
   * @default "x"
   */
  a?: string | undefined
  /** @deprecated */
  b?: number | undefined
}`)
    expect(outputOf(schema, { comments: false })).toBe(
      "{ a?: string | undefined; b?: number | undefined }",
    )
  })
})

describe("combinations", () => {
  const a = object({ a: { type: "string" } }, { required: ["a"] })
  const b = object({ b: { type: "number" } })

  test.each<[schema: unknown, type: string]>([
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ oneOf: [a, { type: "string" }] }, "{ a: string } | string"],
    [{ anyOf: [{ type: "string" }, {}] }, "unknown"],
    [{ allOf: [a, b] }, "{ a: string; b?: number | undefined }"],
    [{ allOf: [a, { required: ["b"] }] }, "{ a: string; b: unknown }"],
    [{ allOf: [{ type: "string" }, { minLength: 1 }] }, "string"],
    [{ type: "object", allOf: [a] }, "{ a: string }"],
    [{ type: "object", anyOf: [a, b] }, "{ a: string } | { b?: number | undefined }"],
    [
      { ...b, anyOf: [{ required: ["b"] }, { required: ["c"] }] },
      "({ b: unknown } | { c: unknown }) & { b?: number | undefined }",
    ],
    [{ if: { required: ["a"] }, then: a, else: b }, "{ a: string } | { b?: number | undefined }"],
    [{ ...a, if: { required: ["b"] }, then: b }, "{ a: string }"],
    [{ type: "string", not: { const: "x" } }, "string"],
  ])("%j is %s", (schema, type) => {
    expect(outputOf(schema)).toBe(type)
  })

  test("an intersection of unions that is too large for the compiler is widened", () => {
    const choice = (letter: string): object => ({
      anyOf: Array.from({ length: 60 }, (_, at) => object({ [`${letter}${at}`]: { const: at } })),
    })
    const type = outputOf({ allOf: [choice("a"), choice("b"), choice("c")] })
    expect(type).toContain("a59")
    expect(type).not.toContain("b0")
  })
})

describe("inputs", () => {
  const schema = object(
    { size: { type: "number", default: 20 }, name: { type: "string" } },
    { required: ["size", "name"], additionalProperties: false },
  )

  test("inputs may omit properties with a default; outputs have them", () => {
    expect(inputOf(schema)).toContain("size?: number | undefined")
    expect(outputOf(schema)).toContain("size: number")
  })

  test("inputs of imported operations require all required properties, since the server fills in defaults", () => {
    expect(inputOf(schema, { _meta: { openapi: {} } })).toContain("size: number")
  })

  test("inputs may be omitted where an imported operation requires nothing", () => {
    const empty = object({ a: { type: "string" } })
    expect(inputOf(empty)).toBe("{ a?: string | undefined }")
    expect(inputOf(empty, { _meta: { mcp: {} } })).toBe("{ a?: string | undefined } | undefined")
    expect(inputOf(schema, { _meta: { mcp: {} } })).not.toContain("} | undefined")
  })

  test("inputs and outputs share a definition only if it means the same", () => {
    const $defs = {
      Page: object({ size: { type: "number", default: 20 } }, { required: ["size"] }),
      Tag: object({ name: { type: "string" } }),
    }
    const both = FromSchema({
      ...object({ page: { $ref: "#/$defs/Page" }, tag: { $ref: "#/$defs/Tag" } }),
      $defs,
    })
    const text = typesOf([specOf({ inputSchema: both, outputSchema: both })], { comments: false })
    expect(text).toContain(
      "input: { page?: Demo.PageInput | undefined; tag?: Demo.Tag | undefined }",
    )
    expect(text).toContain("output: { page?: Demo.Page | undefined; tag?: Demo.Tag | undefined }")
    expect(declarationsOf(text)).toBe(`type Page = { size: number }

type PageInput = { size?: number | undefined }

type Tag = { name?: string | undefined }`)
  })
})
