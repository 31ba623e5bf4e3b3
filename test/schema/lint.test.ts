import { describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"

describe("malformed keywords", () => {
  test.each([
    ["type", "strnig"],
    ["type", ["string", "strnig"]],
    ["type", []],
    ["type", 5],
    ["enum", "a"],
    ["required", "x"],
    ["required", [1]],
    ["required", true],
    ["properties", 5],
    ["properties", []],
    ["$defs", "x"],
    ["minimum", "3"],
    ["exclusiveMinimum", true],
    ["multipleOf", 0],
    ["minLength", -1],
    ["maxItems", 1.5],
    ["uniqueItems", "yes"],
    ["pattern", 5],
    ["format", {}],
    ["$ref", 1],
    ["$id", null],
    ["items", 7],
    ["additionalProperties", "no"],
    ["not", []],
    ["anyOf", []],
    ["allOf", {}],
    ["dependentRequired", { a: "b" }],
    ["dependentRequired", 1],
    ["dependencies", 1],
  ])("%s: %o is reported and dropped", (keyword, value) => {
    const { schema, diagnostics } = admitSchema({ title: "t", [keyword]: value })
    expect(schema).toEqual({ title: "t" })
    expect(diagnostics).toHaveLength(1)
    expect(diagnostics[0]).toMatchObject({ code: "malformed-keyword", path: `/${keyword}` })
    expect(diagnostics[0]?.message).toMatch(`"${keyword}" must be `)
    expect(diagnostics[0]?.message).toMatch(", got ")
  })

  test("names the value and the expected one", () => {
    const { diagnostics } = admitSchema({ properties: { age: { minimum: "3" } } })
    expect(diagnostics).toEqual([
      {
        code: "malformed-keyword",
        path: "/properties/age/minimum",
        message: '"minimum" must be a number, got "3".',
      },
    ])
  })

  test("a member that is no schema opens only that member", () => {
    const { schema, diagnostics } = admitSchema({
      properties: { a: 5, b: { type: "string" } },
      anyOf: [7, { type: "object" }],
      items: [null],
      dependencies: { a: 1, b: ["c"] },
    })
    expect(schema).toEqual({
      properties: { a: true, b: { type: "string" } },
      anyOf: [true, { type: "object" }],
      prefixItems: [true],
      dependentRequired: { b: ["c"] },
      dependentSchemas: { a: true },
    })
    expect(diagnostics.map(({ path }) => path).toSorted()).toEqual([
      "/anyOf/0",
      "/dependencies/a",
      "/items/0",
      "/properties/a",
    ])
  })

  test("annotations and unknown keywords are not checked", () => {
    const source = {
      title: 5,
      default: Symbol.iterator.description,
      "x-type": "strnig",
      readOnly: "no",
    }
    expect(admitSchema(source)).toMatchObject({ schema: source, diagnostics: [] })
  })

  test("properties named like keywords are not keywords", () => {
    expect(
      admitSchema({ properties: { type: {}, required: {}, pattern: {} } }).diagnostics,
    ).toEqual([])
  })
})
