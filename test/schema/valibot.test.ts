import { toJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { compileSchema } from "../../src/schema/compiled.ts"
import { valibotJsonSchema } from "../../src/schema/valibot.ts"
import type { ValibotNode } from "../../src/schema/valibot/actions.ts"

const input = (schema: unknown): unknown => valibotJsonSchema(schema as ValibotNode, "input")
const output = (schema: unknown): unknown => valibotJsonSchema(schema as ValibotNode, "output")

type Category = { name: string; parts: Category[] }
const category: v.GenericSchema<Category> = v.object({
  name: v.string(),
  parts: v.array(v.lazy(() => category)),
})

describe("valibotJsonSchema", () => {
  test.each([
    ["string", v.string(), { type: "string" }],
    ["number", v.number(), { type: "number" }],
    ["boolean", v.boolean(), { type: "boolean" }],
    ["null", v.null(), { type: "null" }],
    ["any", v.any(), {}],
    ["unknown", v.unknown(), {}],
    ["never", v.never(), { not: {} }],
    ["literal", v.literal("a"), { const: "a" }],
    ["picklist", v.picklist(["a", 1]), { enum: ["a", 1] }],
    ["enum", v.enum({ A: "a", B: 2 }), { enum: ["a", 2] }],
    ["array", v.array(v.string()), { type: "array", items: { type: "string" } }],
    [
      "loose tuple",
      v.looseTuple([v.string()]),
      { type: "array", prefixItems: [{ type: "string" }], minItems: 1 },
    ],
    [
      "strict tuple",
      v.strictTuple([v.string()]),
      { type: "array", prefixItems: [{ type: "string" }], minItems: 1, maxItems: 1 },
    ],
    [
      "tuple with rest",
      v.tupleWithRest([v.string()], v.number()),
      {
        type: "array",
        prefixItems: [{ type: "string" }],
        minItems: 1,
        items: { type: "number" },
      },
    ],
    [
      "strict object",
      v.strictObject({ a: v.string() }),
      {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        additionalProperties: false,
      },
    ],
    [
      "loose object",
      v.looseObject({}),
      { type: "object", properties: {}, required: [], additionalProperties: true },
    ],
    [
      "object with rest",
      v.objectWithRest({}, v.number()),
      { type: "object", properties: {}, required: [], additionalProperties: { type: "number" } },
    ],
    [
      "record",
      v.record(v.string(), v.number()),
      { type: "object", additionalProperties: { type: "number" } },
    ],
    [
      "record of some keys",
      v.record(v.picklist(["a", "b"]), v.number()),
      {
        type: "object",
        additionalProperties: { type: "number" },
        propertyNames: { enum: ["a", "b"] },
      },
    ],
    [
      "union",
      v.union([v.string(), v.number()]),
      { anyOf: [{ type: "string" }, { type: "number" }] },
    ],
    ["intersect", v.intersect([v.string(), v.any()]), { allOf: [{ type: "string" }, {}] }],
    ["nullable", v.nullable(v.string()), { anyOf: [{ type: "string" }, { type: "null" }] }],
    [
      "non-nullable",
      v.nonNullable(v.nullable(v.string())),
      { allOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }], not: { type: "null" } },
    ],
    ["non-optional", v.nonOptional(v.optional(v.string())), { type: "string" }],
    ["fallback", v.fallback(v.string(), "x"), { type: "string" }],
  ])("describes %s on both sides alike", (_, schema, expected) => {
    expect(input(schema)).toEqual(expected)
    expect(output(schema)).toEqual(expected)
  })

  test("a plain tuple takes more members than it gives", () => {
    const pair = v.tuple([v.string()])

    expect(input(pair)).not.toHaveProperty("maxItems")
    expect(output(pair)).toMatchObject({ maxItems: 1 })
  })

  test("a variant is described by its options", () => {
    const shape = v.variant("kind", [
      v.object({ kind: v.literal("circle"), radius: v.number() }),
      v.object({ kind: v.literal("square"), side: v.number() }),
    ])

    const check = checker(input(shape))

    expect(check({ kind: "circle", radius: 1 })).toBe(true)
    expect(check({ kind: "square", radius: 1 })).toBe(false)
  })

  test("keys with a default are optional in inputs and required in outputs", () => {
    const schema = v.object({
      plain: v.string(),
      optional: v.optional(v.string()),
      exact: v.exactOptional(v.string()),
      nullish: v.nullish(v.string()),
      undefinedable: v.undefinedable(v.string()),
      filled: v.optional(v.string(), "x"),
      made: v.optional(v.string(), () => "x"),
      replaced: v.nullish(v.string(), "x"),
      emptied: v.nullish(v.string(), null),
    })

    expect(input(schema)).toMatchObject({
      required: ["plain", "undefinedable"],
      properties: {
        filled: { type: "string", default: "x" },
        replaced: { anyOf: [{ type: "string" }, { type: "null" }], default: "x" },
        emptied: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      },
    })
    expect(input(schema)).not.toHaveProperty("properties.made.default")
    expect(output(schema)).toMatchObject({
      required: ["plain", "undefinedable", "filled", "made", "replaced", "emptied"],
      properties: {
        filled: { type: "string" },
        replaced: { type: "string" },
        emptied: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
    })
  })

  test("a default that JSON does not have is left out", () => {
    const schema = v.object({ when: v.optional(v.any(), new Date(0)) })

    expect(input(schema)).toMatchObject({ properties: { when: {} }, required: [] })
    expect(input(schema)).not.toHaveProperty("properties.when.default")
  })

  test("a key named __proto__ is a key", () => {
    const entries = Object.fromEntries([["__proto__", v.string()]])

    const json = input(v.object(entries)) as { properties: object; required: string[] }

    expect(Object.keys(json.properties)).toEqual(["__proto__"])
    expect(json.required).toEqual(["__proto__"])
  })

  test("a recursive schema is written with references", () => {
    const check = checker(input(category))

    expect(check({ name: "a", parts: [{ name: "b", parts: [] }] })).toBe(true)
    expect(check({ name: "a", parts: [{ name: 1, parts: [] }] })).toBe(false)
    expect(check({ name: "a", parts: [{ name: "b", parts: [{ name: "c" }] }] })).toBe(false)
  })

  test("a lazy schema that is made anew each time ends in an error", () => {
    const endless = (): v.GenericSchema => v.object({ next: v.lazy(() => endless()) })

    expect(() => input(endless())).toThrow("nested deeper than 200 levels")
  })

  test("a lazy schema that needs an input gives an error that says so", () => {
    const picky = v.lazy((value) =>
      (value as { kind: string }).kind === "a" ? v.string() : v.any(),
    )

    expect(() => input(picky)).toThrow("failed without an input")
  })
})

describe("Valibot pipes", () => {
  test.each([
    ["minLength", v.pipe(v.string(), v.minLength(1)), { type: "string", minLength: 1 }],
    ["maxLength", v.pipe(v.string(), v.maxLength(2)), { type: "string", maxLength: 2 }],
    ["length", v.pipe(v.string(), v.length(2)), { type: "string", minLength: 2, maxLength: 2 }],
    ["nonEmpty", v.pipe(v.string(), v.nonEmpty()), { type: "string", minLength: 1 }],
    ["empty", v.pipe(v.string(), v.empty()), { type: "string", maxLength: 0 }],
    [
      "minLength of an array",
      v.pipe(v.array(v.any()), v.minLength(1)),
      { type: "array", items: {}, minItems: 1 },
    ],
    ["length of either", v.pipe(v.any(), v.minLength(1)), { minLength: 1, minItems: 1 }],
    ["code points", v.pipe(v.string(), v.maxCodePoints(3)), { type: "string", maxLength: 3 }],
    [
      "values",
      v.pipe(v.number(), v.minValue(1), v.maxValue(2), v.gtValue(0), v.ltValue(3), v.multipleOf(1)),
      {
        type: "number",
        minimum: 1,
        maximum: 2,
        exclusiveMinimum: 0,
        exclusiveMaximum: 3,
        multipleOf: 1,
      },
    ],
    [
      "the same twice",
      v.pipe(v.number(), v.minValue(1), v.minValue(2), v.minValue(3)),
      { type: "number", minimum: 1, allOf: [{ minimum: 2 }, { minimum: 3 }] },
    ],
    ["integer", v.pipe(v.number(), v.integer()), { type: "integer" }],
    [
      "integer, twice",
      v.pipe(v.number(), v.integer(), v.integer()),
      { type: "integer", allOf: [{ type: "integer" }] },
    ],
    [
      "safe integer",
      v.pipe(v.number(), v.safeInteger()),
      { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    ],
    [
      "entries",
      v.pipe(v.record(v.string(), v.any()), v.entries(2)),
      { type: "object", additionalProperties: {}, minProperties: 2, maxProperties: 2 },
    ],
    ["regex", v.pipe(v.string(), v.regex(/^a+$/)), { type: "string", pattern: "^a+$" }],
    ["regex with a flag", v.pipe(v.string(), v.regex(/^a+$/i)), { type: "string" }],
    ["digits", v.pipe(v.string(), v.digits()), { type: "string", pattern: "^\\d+$" }],
    ["email", v.pipe(v.string(), v.email()), { type: "string", format: "email" }],
    ["url", v.pipe(v.string(), v.url()), { type: "string", format: "uri" }],
    ["uuid", v.pipe(v.string(), v.uuid()), { type: "string", format: "uuid" }],
    ["date", v.pipe(v.string(), v.isoDate()), { type: "string", format: "date" }],
    ["timestamp", v.pipe(v.string(), v.isoTimestamp()), { type: "string", format: "date-time" }],
    ["base64", v.pipe(v.string(), v.base64()), { type: "string", contentEncoding: "base64" }],
    ["starts with", v.pipe(v.string(), v.startsWith("a.")), { type: "string", pattern: "^a\\." }],
    ["ends with", v.pipe(v.string(), v.endsWith("$")), { type: "string", pattern: "\\$$" }],
    ["includes", v.pipe(v.string(), v.includes("a/b")), { type: "string", pattern: "a\\/b" }],
    ["excludes", v.pipe(v.string(), v.excludes("x")), { type: "string", not: { pattern: "x" } }],
    ["value", v.pipe(v.string(), v.value("x")), { type: "string", const: "x" }],
    ["values", v.pipe(v.string(), v.values(["x"])), { type: "string", enum: ["x"] }],
    ["not value", v.pipe(v.string(), v.notValue("x")), { type: "string", not: { const: "x" } }],
    [
      "not values",
      v.pipe(v.string(), v.notValues(["x"])),
      { type: "string", not: { enum: ["x"] } },
    ],
    [
      "words about it",
      v.pipe(v.string(), v.title("T"), v.description("D"), v.examples(["a", new Date(0) as never])),
      { type: "string", title: "T", description: "D", examples: ["a"] },
    ],
    [
      "metadata",
      v.pipe(
        v.string(),
        v.examples(["a"]),
        v.metadata({ title: "T", examples: ["b"], $ref: "#/x" }),
      ),
      { type: "string", title: "T", examples: ["a", "b"] },
    ],
    [
      "a check",
      v.pipe(
        v.string(),
        v.check((text) => text !== "x"),
      ),
      { type: "string" },
    ],
    ["bytes", v.pipe(v.string(), v.maxBytes(3)), { type: "string" }],
    [
      "a brand",
      v.pipe(v.string(), v.brand("Id"), v.minLength(1)),
      { type: "string", minLength: 1 },
    ],
    [
      "a pipe in a pipe",
      v.pipe(v.pipe(v.string(), v.minLength(1)), v.maxLength(2)),
      { type: "string", minLength: 1, maxLength: 2 },
    ],
  ])("%s holds on both sides", (_, schema, expected) => {
    expect(input(schema)).toEqual(expected)
    expect(output(schema)).toEqual(expected)
  })

  test.each([
    [v.pipe(v.string(), v.minValue("b"))],
    [v.pipe(v.any(), v.value(1n))],
    [v.pipe(v.any(), v.values([1n]))],
    [v.pipe(v.any(), v.notValue(1n))],
    [v.pipe(v.any(), v.notValues([1n]))],
    [v.pipe(v.array(v.any()), v.includes(5))],
    [v.pipe(v.array(v.any()), v.excludes(5))],
    [v.pipe(v.any(), v.minLength(Number.NaN))],
    [v.pipe(v.any(), v.minLength(Number.POSITIVE_INFINITY))],
    [{ ...v.string(), pipe: [v.string(), { kind: "validation", type: "starts_with" }] }],
    [{ ...v.string(), pipe: [v.string(), { kind: "validation", type: "ends_with" }] }],
    [{ ...v.string(), pipe: [v.string(), { kind: "metadata", type: "metadata" }] }],
  ])("what no keyword can say is left out (%#)", (schema) => {
    expect(
      Object.keys(input(schema) as object).filter((key) => !["type", "items"].includes(key)),
    ).toEqual([])
  })

  test("a transform ends what is known of the input, and the last schema begins the output", () => {
    const schema = v.pipe(
      v.string(),
      v.minLength(1),
      v.transform(Number),
      v.number(),
      v.minValue(3),
    )

    expect(input(schema)).toEqual({ type: "string", minLength: 1 })
    expect(output(schema)).toEqual({ type: "number", minimum: 3 })
  })

  test.each([
    [
      "trim",
      v.pipe(v.string(), v.description("D"), v.minLength(3), v.trim()),
      { type: "string", description: "D" },
    ],
    ["toNumber", v.pipe(v.string(), v.title("T"), v.toNumber()), { type: "number", title: "T" }],
    ["toBoolean", v.pipe(v.string(), v.toBoolean()), { type: "boolean" }],
    ["toString", v.pipe(v.number(), v.toString()), { type: "string" }],
    ["parseJson", v.pipe(v.string(), v.parseJson()), {}],
    ["toMinValue", v.pipe(v.number(), v.toMinValue(3)), { type: "number" }],
    ["toMaxValue of anything", v.pipe(v.any(), v.toMaxValue(3)), {}],
    [
      "filterItems",
      v.pipe(
        v.array(v.string()),
        v.minLength(2),
        v.filterItems((item) => item !== ""),
      ),
      { type: "array", items: { type: "string" } },
    ],
    ["sortItems of anything", v.pipe(v.any(), v.sortItems()), { type: "array" }],
    ["mapItems", v.pipe(v.array(v.string()), v.mapItems(Number)), { type: "array" }],
  ])("%s gives what its name says", (_, schema, expected) => {
    expect(output(schema)).toEqual(expected)
  })

  test("whether a key may be absent follows the same side of its pipe", () => {
    const schema = v.object({
      name: v.pipe(
        v.optional(v.string()),
        v.transform((name) => name ?? "x"),
        v.string(),
      ),
    })

    expect(input(schema)).toMatchObject({ required: [] })
    expect(output(schema)).toMatchObject({ required: ["name"] })
  })
})

describe("Valibot types without a JSON Schema form", () => {
  test.each([
    ["date", v.date()],
    ["bigint", v.bigint()],
    ["map", v.map(v.string(), v.string())],
    ["set", v.set(v.string())],
    ["undefined", v.undefined()],
    ["instance", v.instance(Date)],
    ["custom", v.custom(() => true)],
    ["literal", v.literal(1n)],
    ["literal", v.literal(Symbol("x"))],
    ["picklist", v.picklist([1n])],
    ["date", v.object({ list: v.array(v.nullable(v.date())) })],
  ])("names %s and the cure", (type, schema) => {
    expect(() => input(schema)).toThrow(`Valibot's "${type}"`)
    expect(() => input(schema)).toThrow("@valibot/to-json-schema")
  })

  test.each([
    ["transform", v.pipe(v.string(), v.transform(Number))],
    ["to_date", v.pipe(v.string(), v.toDate())],
    ["to_bigint", v.pipe(v.string(), v.toBigint())],
    [
      "raw_transform",
      v.pipe(
        v.string(),
        v.rawTransform(() => 1),
      ),
    ],
    [
      "find_item",
      v.pipe(
        v.array(v.string()),
        v.findItem(() => true),
      ),
    ],
  ])("names the %s that gives it", (type, schema) => {
    expect(() => output(schema)).toThrow(`Valibot's "${type}"`)
  })

  test.each([
    [{ kind: "schema", type: "array" }, "A Valibot schema was expected, got undefined"],
    [{ kind: "schema", type: "union" }, "has no list of options"],
    [{ kind: "schema", type: "lazy", getter: () => 5 }, "A Valibot schema was expected, got 5"],
  ])("says what is wrong with something that only looks like a schema", (schema, message) => {
    expect(() => input(schema)).toThrow(message)
  })
})

describe("the converter and @valibot/to-json-schema", () => {
  const schemas = {
    object: v.object({ a: v.string(), b: v.optional(v.number(), 1), c: v.nullable(v.boolean()) }),
    strict: v.strictObject({ a: v.pipe(v.string(), v.minLength(2)) }),
    tuple: v.strictTuple([v.string(), v.number()]),
    union: v.union([v.string(), v.object({ a: v.literal(1) })]),
    record: v.record(v.string(), v.pipe(v.number(), v.integer())),
    picklist: v.array(v.picklist(["a", "b"])),
    recursive: category,
  }
  const values = [
    "a",
    1,
    null,
    {},
    { a: "xx" },
    { a: "x" },
    { a: 1 },
    { a: "x", c: true },
    { a: "x", b: 2, c: null },
    { a: "x", b: "2", c: null },
    { a: "xx", more: 1 },
    ["a", 1],
    ["a", 1, 2],
    ["a", "b"],
    ["c"],
    { x: 1.5 },
    { x: 2 },
    { name: "n", parts: [] },
    { name: "n", parts: [{ name: "m" }] },
  ]

  test.each(Object.entries(schemas))("agree on %s, and with Valibot itself", (_, schema) => {
    const ours = checker(input(schema))
    const theirs = checker(toJsonSchema(schema, { typeMode: "input", target: "draft-2020-12" }))

    for (const value of values) {
      expect(ours(value), JSON.stringify(value)).toBe(theirs(value))
      expect(ours(value), JSON.stringify(value)).toBe(v.is(schema, value))
    }
  })
})

function checker(schema: unknown): (value: unknown) => boolean {
  const compiled = compileSchema(schema)
  return (value) => compiled.check(value)
}
