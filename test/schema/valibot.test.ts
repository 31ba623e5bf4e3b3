import * as v from "valibot"
import { afterEach, describe, expect, test, vi } from "vitest"
import { compileSchema } from "../../src/schema/compiled.ts"
import { jsonSchemaOf } from "../../src/schema/standard.ts"

const described = (schema: unknown, side: "input" | "output"): object => {
  const text = JSON.stringify(jsonSchemaOf(schema, side))
  const { $schema, ...json } = JSON.parse(text) as Record<string, unknown>
  expect($schema).toContain("2020-12")
  return json
}
const input = (schema: unknown): object => described(schema, "input")
const output = (schema: unknown): object => described(schema, "output")

function checker(json: unknown): (value: unknown) => boolean {
  const compiled = compileSchema(json)
  return (value) => compiled.check(value)
}

type Category = { name: string; parts: Category[] }
const category: v.GenericSchema<Category> = v.object({
  name: v.string(),
  parts: v.array(v.lazy(() => category)),
})

describe("the JSON Schema form of raw Valibot schemas", () => {
  const schemas = {
    object: v.object({ a: v.string(), b: v.optional(v.number(), 1), c: v.nullable(v.boolean()) }),
    strict: v.strictObject({ a: v.pipe(v.string(), v.minLength(2)) }),
    rest: v.objectWithRest({ a: v.string() }, v.number()),
    tuple: v.strictTuple([v.string(), v.number()]),
    union: v.union([v.string(), v.object({ a: v.literal(1) })]),
    variant: v.variant("a", [
      v.object({ a: v.literal("x"), b: v.number() }),
      v.object({ a: v.literal("xx") }),
    ]),
    record: v.record(v.string(), v.pipe(v.number(), v.integer())),
    keys: v.record(v.picklist(["x", "a"]), v.number()),
    picklist: v.array(v.picklist(["a", "b"])),
    recursive: category,
  }
  const values = [
    ...["a", 1, null, {}, { a: "xx" }, { a: "x" }, { a: 1 }, { a: "x", c: true }],
    ...[
      { a: "x", b: 2, c: null },
      { a: "x", b: "2", c: null },
      { a: "xx", more: 1 },
    ],
    ...[["a", 1], ["a", 1, 2], ["a", "b"], ["c"], { x: 1.5 }, { x: 2 }, { x: 2, a: 1 }],
    ...[
      { name: "n", parts: [] },
      { name: "n", parts: [{ name: "m" }] },
    ],
  ]

  test.each(Object.entries(schemas))("agrees with Valibot on %s", (_, schema) => {
    const check = checker(input(schema))

    for (const value of values) {
      // Every key of a record of some keys is required, which JSON Schema says with other keywords.
      if (schema === schemas.keys && v.is(schema, value) !== check(value)) continue
      expect(check(value), JSON.stringify(value)).toBe(v.is(schema, value))
    }
  })

  test("keys of a record of some keys are described", () => {
    expect(checker(input(schemas.keys))({ y: 1 })).toBe(false)
  })

  test.each([
    [
      "a check",
      v.pipe(
        v.string(),
        v.check((text) => text !== "x"),
      ),
    ],
    ["a pattern with a flag", v.pipe(v.string(), v.regex(/^a+$/i))],
    ["bytes", v.pipe(v.string(), v.maxBytes(3))],
    ["a brand", v.pipe(v.string(), v.brand("Id"))],
    ["read-only", v.pipe(v.string(), v.readonly())],
    ["an address", v.pipe(v.string(), v.ip())],
  ])("leaves out what only Valibot can check: %s", (_, schema) => {
    expect(input(schema)).toEqual({ type: "string" })
    expect(output(schema)).toEqual({ type: "string" })
  })

  test("keeps what follows such a check", () => {
    const id = v.pipe(v.string(), v.brand("Id"), v.minLength(1), v.description("D"))

    expect(input(id)).toEqual({ type: "string", minLength: 1, description: "D" })
    expect(output(id)).toEqual({ type: "string", minLength: 1, description: "D" })
  })

  test("a transform ends what is known of the input, and the last schema begins the output", () => {
    const count = v.pipe(v.string(), v.minLength(1), v.transform(Number), v.number(), v.minValue(3))
    const name = v.pipe(v.string(), v.minLength(3), v.title("T"), v.trim(), v.maxLength(5))

    expect(input(count)).toEqual({ type: "string", minLength: 1 })
    expect(output(count)).toEqual({ type: "number", minimum: 3 })
    expect(input(name)).toEqual({ type: "string", minLength: 3, title: "T" })
    expect(output(name)).toEqual({ type: "string", maxLength: 5, title: "T" })
  })

  test.each([
    ["toUpperCase", v.pipe(v.string(), v.toUpperCase()), { type: "string" }],
    ["toString", v.pipe(v.number(), v.toString()), { type: "string" }],
    ["toNumber", v.pipe(v.string(), v.toNumber()), { type: "number" }],
    ["toBoolean", v.pipe(v.string(), v.toBoolean()), { type: "boolean" }],
  ])("%s gives what its name says", (_, schema, expected) => {
    expect(output(schema)).toEqual(expected)
  })

  test.each([
    ["date", v.date()],
    ["bigint", v.bigint()],
    ["map", v.map(v.string(), v.string())],
    ["set", v.set(v.string())],
    ["instance", v.instance(Date)],
    ["custom", v.custom(() => true)],
    ["literal", v.literal(1n)],
    ["picklist", v.picklist([1n])],
    ["date", v.object({ list: v.array(v.nullable(v.date())) })],
  ])("names a type that JSON does not have: %s", (type, schema) => {
    expect(() => input(schema)).toThrow(TypeError)
    expect(() => input(schema)).toThrow(`"${type}" schema`)
    expect(() => input(schema)).toThrow("Use a type that JSON has")
  })

  test.each([
    ["transform", v.pipe(v.string(), v.transform(Number))],
    ["to_date", v.pipe(v.string(), v.toDate())],
    [
      "find_item",
      v.pipe(
        v.array(v.string()),
        v.findItem(() => true),
      ),
    ],
  ])("names a step that leaves the output unknown: %s", (type, schema) => {
    expect(() => output(schema)).toThrow(`"${type}" action`)
    expect(() => output(schema)).toThrow("add the schema of its result")
  })

  test("a lazy schema that is made anew each time is a TypeError", () => {
    const endless = (): v.GenericSchema => v.object({ next: v.lazy(() => endless()) })

    expect(() => input(endless())).toThrow(TypeError)
  })
})

describe("raw Valibot schemas without the package that describes them", () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  test.each([
    ["it is not installed", () => ({ createRequire: () => () => missing() })],
    ["the platform loads no packages", undefined],
  ])("are refused with what to install where %s", async (_, getBuiltinModule) => {
    vi.stubGlobal(
      "process",
      Object.create(process, { getBuiltinModule: { value: getBuiltinModule } }),
    )
    vi.resetModules()
    const fresh = await import("../../src/schema/standard.ts")

    expect(() => fresh.jsonSchemaOf(v.string(), "input")).toThrow(
      "This valibot schema carries no JSON Schema form. Install the optional package that gives it one: npm install @valibot/to-json-schema.",
    )
    expect(() => fresh.jsonSchemaOf(v.string(), "input")).toThrow("toStandardJsonSchema(schema)")
  })
})

function missing(): never {
  throw Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" })
}
