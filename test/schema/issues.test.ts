import { describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"
import { type SchemaIssue, compileValidator } from "../../src/schema/validator.ts"

const errors = (source: unknown, value: unknown, max?: number): SchemaIssue[] => {
  const validator = compileValidator(admitSchema(source).schema)
  expect(validator.check(value)).toBe(false)
  return validator.errors(value, max)
}

/** "path message", as it is read. */
const messagesFor = (source: unknown, value: unknown): string[] =>
  errors(source, value).map(({ path, message }) => `${path} ${message}`.trim())

describe("the message about", () => {
  test.each([
    ["type", { type: "string" }, 1, "must be string, got number"],
    ["several types", { type: ["string", "null"] }, [], "must be string or null, got array"],
    ["integer", { type: "integer" }, 1.5, "must be integer, got 1.5"],
    ["number", { type: "number" }, Number.NaN, "must be number, got NaN"],
    ["enum", { enum: ["a", "b"] }, "c", 'must be one of "a", "b"'],
    ["const", { const: { a: 1 } }, 1, 'must be {"a":1}'],
    ["empty enum", { enum: [] }, 1, "has no allowed value"],
    ["minLength", { minLength: 3 }, "ab", "must be at least 3 characters"],
    ["maxLength", { maxLength: 1 }, "ab", "must be at most 1 character"],
    ["minimum", { minimum: 1 }, 0, "must be >= 1"],
    ["maximum", { maximum: 1 }, 2, "must be <= 1"],
    ["exclusiveMinimum", { exclusiveMinimum: 1 }, 1, "must be > 1"],
    ["exclusiveMaximum", { exclusiveMaximum: 1 }, 1, "must be < 1"],
    ["multipleOf", { multipleOf: 2 }, 3, "must be a multiple of 2"],
    ["bigint limit", { minimum: 5n }, 4n, "must be >= 5n"],
    ["pattern", { pattern: "^a" }, "b", 'must match the pattern "^a"'],
    ["minItems", { minItems: 2 }, [1], "must have at least 2 items"],
    ["maxItems", { maxItems: 0 }, [1], "must have at most 0 items"],
    ["uniqueItems", { uniqueItems: true }, [1, 1], "must not have duplicate items"],
    [
      "contains",
      { contains: { type: "null" } },
      [1],
      "must contain at least 1 matching item, has 0",
    ],
    [
      "minContains",
      { contains: { type: "null" }, minContains: 2 },
      [null],
      "must contain at least 2 matching items, has 1",
    ],
    [
      "maxContains",
      { contains: { type: "null" }, maxContains: 1 },
      [null, null],
      "must contain at most 1 matching item, has 2",
    ],
    ["minProperties", { minProperties: 1 }, {}, "must have at least 1 property"],
    ["maxProperties", { maxProperties: 0 }, { a: 1 }, "must have at most 0 properties"],
    ["required", { required: ["title"] }, {}, "/title is required"],
    [
      "properties",
      { properties: { a: { type: "null" } } },
      { a: 1 },
      "/a must be null, got number",
    ],
    ["items", { items: { type: "string" } }, ["a", 1], "/1 must be string, got number"],
    ["prefixItems", { prefixItems: [{ type: "null" }] }, [1], "/0 must be null, got number"],
    ["additionalProperties", { additionalProperties: false }, { "a/b": 1 }, "/a~1b is not allowed"],
    [
      "additionalProperties with a schema",
      { additionalProperties: { type: "null" } },
      { a: 1 },
      "/a must be null, got number",
    ],
    [
      "patternProperties",
      { patternProperties: { "^a": { type: "null" } } },
      { a: 1 },
      "/a must be null, got number",
    ],
    [
      "propertyNames",
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      "/ab has a name that must be at most 1 character",
    ],
    ["no names", { propertyNames: false }, { ab: 1 }, "/ab is not allowed"],
    [
      "dependentRequired",
      { dependentRequired: { a: ["b"] } },
      { a: 1 },
      '/b is required when "a" is present',
    ],
    [
      "dependentSchemas",
      { dependentSchemas: { a: { required: ["b"] } } },
      { a: 1 },
      "/b is required",
    ],
    [
      "unevaluatedProperties",
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 1 },
      "/b is not allowed",
    ],
    [
      "unevaluatedProperties with a schema",
      { unevaluatedProperties: { type: "null" } },
      { b: 1 },
      "/b must be null, got number",
    ],
    [
      "unevaluatedItems",
      { prefixItems: [true], unevaluatedItems: false },
      [1, 2],
      "/1 is not allowed",
    ],
    ["not", { not: { type: "string" } }, "a", "must not match what the schema excludes"],
    ["nothing", false, 1, "is not allowed"],
    ["a false property", { properties: { a: false } }, { a: 1 }, "/a is not allowed"],
    ["then", { if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 }, "/b is required"],
    ["else", { if: { required: ["a"] }, else: { required: ["b"] } }, {}, "/b is required"],
    [
      "allOf",
      { allOf: [{ minLength: 2 }, { minLength: 2 }] },
      "a",
      "must be at least 2 characters",
    ],
    ["$ref", { $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, 1, "must be null, got number"],
  ])("%s", (_, schema, value, message) => {
    expect(messagesFor(schema, value)).toEqual([message])
  })

  test("many things at once, each with its path", () => {
    const schema = {
      type: "object",
      required: ["title", "done"],
      properties: { title: { type: "string" }, tags: { items: { type: "string" } } },
    }
    expect(messagesFor(schema, { tags: [1, "a", null] })).toEqual([
      "/title is required",
      "/done is required",
      "/tags/0 must be string, got number",
      "/tags/2 must be string, got null",
    ])
  })

  test("more issues than the limit", () => {
    const schema = { items: { type: "string" } }
    const value = Array.from({ length: 500 }, () => 1)
    expect(errors(schema, [...value, ...value, ...value])).toHaveLength(1000)
    expect(errors(schema, value, 3)).toHaveLength(3)
    expect(errors(schema, value, 0)).toHaveLength(1)
    expect(errors(schema, value, 1000)).toHaveLength(500)
  })

  test("a long list of values is cut", () => {
    const [message] = messagesFor({ enum: Array.from({ length: 300 }, (_, i) => i) }, "x")
    expect(message).toMatch(/^must be one of 0, 1, .*, 9, … \(300 in all\)$/)
  })

  test("a value has the keyword in its issue", () => {
    expect(errors({ required: ["a"] }, {})[0]?.keyword).toBe("required")
    expect(errors({ contains: true, maxContains: 0 }, [1])[0]?.keyword).toBe("maxContains")
  })
})

describe("issues of unions", () => {
  const shapes = {
    oneOf: [
      {
        properties: { kind: { const: "circle" }, radius: { type: "number" } },
        required: ["kind", "radius"],
      },
      {
        properties: { kind: { enum: ["square", "box"] }, side: { type: "number" } },
        required: ["kind", "side"],
      },
    ],
  }

  test("are those of the branch that a constant property selects", () => {
    expect(messagesFor(shapes, { kind: "box", side: "x" })).toEqual([
      "/side must be number, got string",
    ])
    expect(messagesFor(shapes, { kind: "circle" })).toEqual(["/radius is required"])
  })

  test("whose discriminator has none of the values", () => {
    expect(messagesFor(shapes, { kind: "star" })).toEqual([
      '/kind must be one of "circle", "square", "box"',
    ])
  })

  test("are those of the branch of the same type", () => {
    const schema = { anyOf: [{ type: "null" }, { type: "object", required: ["a"] }] }
    expect(messagesFor(schema, {})).toEqual(["/a is required"])
    expect(messagesFor(schema, 1)).toEqual(["must be null or object, got number"])
  })

  test("of constants are joined", () => {
    expect(messagesFor({ anyOf: [{ const: "a" }, { enum: ["b", "c"] }] }, "x")).toEqual([
      'must be one of "a", "b", "c"',
    ])
  })

  test("of different things, none close", () => {
    expect(messagesFor({ anyOf: [{ const: "a" }, { type: "null" }] }, 1)).toEqual([
      'must match one of the 2 alternatives (must be "a", or must be null, got number)',
    ])
    expect(messagesFor({ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, {})).toEqual([
      "must match one of the 2 alternatives (/a is required, or /b is required)",
    ])
    const many = { anyOf: ["a", "b", "c", "d"].map((key) => ({ required: [key] })) }
    expect(messagesFor(many, {})[0]).toMatch(/4 alternatives .*, …\)$/)
  })

  test("are those of the branch with the fewest or deepest issues", () => {
    expect(messagesFor({ anyOf: [{ required: ["a", "b"] }, { required: ["c"] }] }, {})).toEqual([
      "/c is required",
    ])
    const nested = {
      anyOf: [{ required: ["a"] }, { properties: { x: { properties: { y: { type: "null" } } } } }],
    }
    expect(messagesFor(nested, { x: { y: 1 } })).toEqual(["/x/y must be null, got number"])
  })

  test("whose branches are distinguished by different properties", () => {
    const schema = {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ["z"] },
        { properties: { b: { const: 1 } } },
      ],
    }
    expect(messagesFor(schema, { a: 2, b: 2 })).toEqual(["/b must be 1"])
  })

  test("inside unions", () => {
    const schema = { anyOf: [{ type: "null" }, { items: shapes, type: "array" }] }
    expect(messagesFor(schema, [{ kind: "circle", radius: "r" }])).toEqual([
      "/0/radius must be number, got string",
    ])
  })

  test("that match more than one of oneOf", () => {
    expect(
      messagesFor({ oneOf: [{ minLength: 1 }, { maxLength: 9 }, { const: "x" }] }, "ab"),
    ).toEqual(["must match exactly one alternative, but matches 2 (numbers 1, 2)"])
  })
})
