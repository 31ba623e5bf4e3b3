import { describe, expect, test } from "vitest"
import { exampleInputs } from "../../../../src/schema/read/sample/example-input.ts"
import { textLike } from "../../../../src/schema/read/sample/pattern-text.ts"
import { sampleOf } from "../../../../src/schema/read/sample/sample.ts"
import { scopeOf } from "../../../../src/schema/read/resolve-ref.ts"
import { FromSchema } from "../../../../src/schema/from-schema.ts"
import { collectErrors } from "../../../../src/index.ts"

const sample = (schema: unknown): unknown => sampleOf({ schema, scope: scopeOf(schema) })

const inputsOf = (inputSchema: unknown, examples?: readonly unknown[]): readonly unknown[] =>
  exampleInputs({ inputSchema, examples })

describe("an input that is made from a schema", () => {
  test.each<[unknown, unknown]>([
    [{ type: "object", properties: { a: { type: "string" } } }, {}],
    [
      { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a"] },
      { a: "example" },
    ],
    [{ type: "object", required: ["undeclared"] }, { undeclared: "…" }],
    [{ type: "string", examples: ["shown"], default: "fallback" }, "shown"],
    [{ type: "integer", examples: ["wrong"], default: 7 }, 7],
    [{ enum: ["first", "second"] }, "first"],
    [{ const: { a: [1] } }, { a: [1] }],
    [{ type: "boolean" }, true],
    [{ type: "null" }, null],
    [{ type: ["null", "integer"], minimum: 5 }, 5],
    [{ type: "integer", minimum: 10, multipleOf: 7 }, 14],
    [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: "integer", maximum: -3 }, -3],
    [{ type: "string", minLength: 10 }, "exampleexa"],
    [{ type: "string", maxLength: 3 }, "exa"],
    [{ type: "string", maxLength: 0 }, ""],
    [{ type: "string", format: "date" }, "2026-01-31"],
    [{ type: "string", pattern: "^[A-Z]{2}-\\d{3}$" }, "AA-111"],
    [{ type: "array", items: { type: "string" } }, []],
    [{ type: "array", items: { type: "integer" }, minItems: 2, uniqueItems: true }, [1, 2]],
    [
      { type: "array", prefixItems: [{ const: 1 }, { type: "string" }], minItems: 2 },
      [1, "example"],
    ],
    [
      {
        oneOf: [
          { type: "object", required: ["a"], properties: { a: { const: 1 } } },
          { type: "string" },
        ],
      },
      { a: 1 },
    ],
    [{ anyOf: [{ type: "null" }, { type: "integer" }] }, 1],
    [
      {
        type: "object",
        properties: { a: { type: "integer" }, b: { type: "integer" } },
        anyOf: [{ required: ["b"] }, { required: ["a"] }],
      },
      { b: 1 },
    ],
    [
      {
        allOf: [
          { type: "object", required: ["a"], properties: { a: { type: "integer" } } },
          { properties: { a: { minimum: 4 } } },
        ],
      },
      { a: 4 },
    ],
    [{ format: "binary" }, "example"],
    [{}, {}],
    [true, {}],
  ])("%j gives %j", (schema, value) => {
    expect(sample(schema)).toEqual(value)
    expect(collectErrors(FromSchema(schema as object), sample(schema))).toEqual([])
  })

  test("what must hold itself without an end comes to one", () => {
    const endless = { type: "object", required: ["next"], properties: { next: { $ref: "#" } } }
    expect(JSON.stringify(sample(endless)).length).toBeLessThan(300)
    expect(sample({ $ref: "#" })).toEqual({})
    expect(sample({ oneOf: [{ $ref: "#" }, { type: "string" }] })).toBeDefined()
  })

  test("a property called __proto__ is one", () => {
    const schema = JSON.parse(
      '{"type":"object","required":["__proto__"],"properties":{"__proto__":{"const":1}}}',
    ) as unknown
    expect(JSON.stringify(sample(schema))).toBe('{"__proto__":1}')
  })
})

describe("the inputs that snippets show", () => {
  const schema = { type: "object", properties: { a: { type: "integer" } } }

  test("are the examples of the operation, else one that is made", () => {
    expect(inputsOf(schema, [{ a: 1 }, { a: 2 }])).toEqual([{ a: 1 }, { a: 2 }])
    expect(inputsOf(schema)).toEqual([{}])
    expect(inputsOf(schema, [])).toEqual([{}])
    expect(inputsOf({ type: "void" })).toEqual([undefined])
    expect(inputsOf({ type: "string" }, ["x"])).toEqual(["x"])
  })

  test("an example with input and output is its input, unless that is what the operation takes", () => {
    expect(inputsOf(schema, [{ input: { a: 1 }, output: 2, description: "x" }])).toEqual([{ a: 1 }])
    const own = { type: "object", properties: { input: {} } }
    expect(inputsOf(own, [{ input: 1 }])).toEqual([{ input: 1 }])
    expect(inputsOf(schema, [{ input: 1, a: 2 }])).toEqual([{ input: 1, a: 2 }])
  })
})

describe("a text for a pattern", () => {
  test.each([
    "^[a-z0-9-]+$",
    "^\\d{4}-\\d{2}$",
    "^(?:foo|bar)_\\w+$",
    "^[^/]+/[^/]+$",
    "^v?\\d+\\.\\d+(\\.\\d+)?$",
    "^(?<name>[A-Z])x{0,2}$",
    "^\\p{L}+$",
    "^#[0-9a-fA-F]{6}$",
    "^(?!no)[a-z]{2,}$",
    "^arn:aws:[a-z]+:.*$",
    "^.{3}$",
    "^$|^[a-z]$",
    "abc",
  ])("%s", (pattern) => {
    expect(textLike(pattern)).toMatch(new RegExp(pattern, "u"))
  })

  test("what has none, is none, or is meant to hang, is left", () => {
    for (const pattern of [
      "[",
      "(?=a)b(?<!b)",
      "^a{500}$",
      "(((((",
      "\\",
      "(a+)+$b",
      `${"(".repeat(5000)}a`,
    ]) {
      expect(textLike(pattern) ?? "none").toBeTypeOf("string")
    }
    expect(textLike("^[a-z]{3}$", 5, 9)).toBeUndefined()
    expect(textLike("^[a-z]+$", 5, 9)).toHaveLength(7)
  })
})
