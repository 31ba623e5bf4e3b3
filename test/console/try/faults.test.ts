import { describe, expect, it } from "vitest"
import { createCheck } from "../../../console/src/try/schema/issues.ts"
import type { JsonSchema } from "../../../console/src/try/schema/json.ts"
import { isSafePattern } from "../../../console/src/try/schema/pattern-guard.ts"

const faults = (schema: JsonSchema, value: unknown): readonly string[] =>
  createCheck(schema)(value).map(({ pointer, message }) => `${pointer} ${message}`)

describe("a check of an input", () => {
  it("reports what is wrong, and where", () => {
    const schema = {
      type: "object",
      required: ["name", "a/b"],
      properties: { name: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
      additionalProperties: false,
    }
    expect(faults(schema, { name: "x", "a/b": 1 })).toEqual(["/a~1b is not allowed here"])
    expect(faults(schema, { tags: ["a", 2] })).toEqual([
      "/name is required",
      "/a~1b is required",
      "/tags/1 must be string, not number",
    ])
  })

  it("reports only the nearest choice of a union", () => {
    const schema = {
      oneOf: [
        {
          type: "object",
          required: ["kind"],
          properties: { kind: { const: "cat" }, lives: { type: "integer" } },
        },
        {
          type: "object",
          required: ["kind"],
          properties: { kind: { const: "dog" }, name: { type: "string" } },
        },
      ],
    }
    expect(faults(schema, { kind: "cat", lives: "nine" })).toEqual([
      "/lives must be integer, not string",
    ])
    expect(faults(schema, { kind: "cow" })).toEqual([" fits none of the choices"])
    expect(faults(schema, 7)).toEqual([" fits none of the choices"])
    const both = { oneOf: [{ type: "number" }, { minimum: 1 }, { type: "string" }] }
    expect(faults(both, 7)).toEqual([" fits several of the choices, and must fit exactly one"])
  })

  it("follows references, also with odd names and in circles", () => {
    const tree = {
      $ref: "#/$defs/T%20x",
      $defs: {
        "T x": {
          type: "object",
          properties: { next: { $ref: "#/$defs/T%20x" } },
          additionalProperties: false,
        },
      },
    }
    expect(faults(tree, { next: { next: {} } })).toEqual([])
    expect(faults(tree, { next: { nxt: {} } })).toEqual(["/next/nxt is not allowed here"])
  })

  it.each([
    ["a loop", { $ref: "#" }],
    ["a reference to nowhere", { $ref: "#/$defs/none" }],
    ["a reference to elsewhere", { $ref: "https://example.com/x" }],
    ["a pattern that does not compile", { type: "string", pattern: "(" }],
    ["a pattern that hangs", { type: "string", pattern: "^(a+)+$" }],
    ["keywords of wrong types", { allOf: 3, required: "x", properties: [] }],
  ])("leaves %s to the hub", (_, schema) => {
    expect(faults(schema, `${"a".repeat(40)}!`)).toEqual([])
  })

  it("ignores the engine's internal names in a schema", () => {
    const schema = { $ref: "#/$defs/a", __absolute_ref__: "#/x", $defs: { a: { type: "string" } } }
    expect(faults(schema, 1)).toEqual([" must be string, not number"])
  })

  it("leaves frozen schemas as they are", () => {
    const schema = Object.freeze({ type: "object", properties: Object.freeze({}) })
    expect(faults(schema, [])).toEqual([" must be object, not array"])
    expect(Object.getOwnPropertyNames(schema)).toEqual(["type", "properties"])
  })

  it("limits the number of issues", () => {
    const schema = {
      type: "array",
      items: { enum: Array.from({ length: 500 }, (_, at) => `value ${at}`) },
    }
    const found = faults(
      schema,
      Array.from({ length: 500 }, () => "other"),
    )
    expect(found).toHaveLength(100)
    expect(found.every((one) => one.length < 300)).toBe(true)
  })
})

describe("the guard of patterns", () => {
  it.each([
    "^[a-z]+$",
    "^\\d{4}-\\d{2}$",
    "(?:a|b)c",
    "^(foo|bar){1,3}$",
    "[(+]+",
    "^[^@]+@[^@]+$",
    "\\s+$",
    "",
  ])("%s is run", (pattern) => {
    expect(isSafePattern(pattern)).toBe(true)
  })
  it.each([
    "(a+)+",
    "(a|aa)*",
    "((a*)b)+",
    "(",
    "(a{2,})*",
    "x".repeat(500),
    "a*".repeat(20),
    "^a*a*a*b$",
    "a*a*b",
    "^x|a*b*c",
  ])("%s is not", (pattern) => {
    expect(isSafePattern(pattern)).toBe(false)
  })
})
