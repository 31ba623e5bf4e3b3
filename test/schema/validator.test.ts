import { Settings } from "typebox/system"
import { Type } from "typebox"
import { afterEach, describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"
import { type SchemaValidator, compileValidator } from "../../src/schema/validator.ts"

const compile = (source: unknown, options?: { formats?: boolean }): SchemaValidator =>
  compileValidator(admitSchema(source).schema, options?.formats)

const agree = (validator: SchemaValidator, value: unknown): boolean => {
  const answer = validator.check(value)
  const errors = validator.errors(value)
  expect(errors.length === 0).toBe(answer)
  if (!answer) expect(validator.explain(value)).toEqual(errors)
  return answer
}

describe("SchemaValidator.check", () => {
  test("formats are annotations unless asked for", () => {
    const schema = { type: "string", format: "email" }
    expect(agree(compile(schema), "no")).toBe(true)
    expect(agree(compile(schema, { formats: true }), "no")).toBe(false)
    expect(agree(compile(schema, { formats: true }), "a@example.com")).toBe(true)
    expect(compile(schema, { formats: true }).errors("no")[0]?.message).toBe(
      "must be a valid email",
    )
    expect(agree(compile({ properties: { format: { type: "string" } } }), { format: 1 })).toBe(
      false,
    )
  })

  test("a bigint among the values is compared as one", () => {
    expect(agree(compile({ const: 1n }), 1n)).toBe(true)
    expect(agree(compile({ const: 1n }), 1)).toBe(false)
    expect(agree(compile({ enum: [1n, "a"] }), "a")).toBe(true)
    expect(compile({ enum: [1n, "a"] }).errors(2n)[0]?.message).toBe('must be one of 1n, "a"')
  })

  test("a schema too long a chain for the code generator is interpreted", () => {
    const $defs: Record<string, unknown> = {}
    for (let i = 0; i < 12_000; i++)
      $defs[`d${i}`] = { properties: { n: { $ref: `#/$defs/d${i + 1}` } } }
    $defs["d12000"] = true
    const validator = compile({ $ref: "#/$defs/d0", properties: { a: { type: "string" } }, $defs })
    expect(agree(validator, { n: { n: {} } })).toBe(true)
    expect(agree(validator, { a: 1 })).toBe(false)
  })
})

describe("values that throw when they are read", () => {
  const tree = compile({ properties: { next: { $ref: "#" }, list: { items: { $ref: "#" } } } })

  test("deep and cyclic data", () => {
    const cyclic: Record<string, unknown> = {}
    cyclic["next"] = cyclic
    expect(tree.check(cyclic)).toBe(false)
    expect(tree.errors(cyclic)).toEqual([
      { path: "", keyword: "depth", message: "is nested too deeply, or contains itself" },
    ])
    let deep: unknown = {}
    for (let level = 0; level < 200_000; level++) deep = { next: deep }
    expect(agree(tree, deep)).toBe(false)
  })

  test("getters and proxies that throw", () => {
    const validator = compile({ type: "object", properties: { a: { type: "string" } } })
    const getter = Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        throw new Error("trap")
      },
    })
    expect(agree(validator, getter)).toBe(false)
    expect(validator.errors(getter)).toEqual([
      { path: "", keyword: "access", message: "cannot be read: trap" },
    ])
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    expect(agree(validator, revoked.proxy)).toBe(false)
  })

  test("a value that is more expensive to explain than to check", () => {
    const wide = {
      anyOf: Array.from({ length: 5 }, (_, i) => ({ items: { $ref: "#" }, minItems: i })),
    }
    let value: unknown = 5
    for (let level = 0; level < 8; level++) value = [value]
    const validator = compile({ ...wide, not: { const: 7 }, type: "array" })
    expect(agree(validator, value)).toBe(false)
  })

  test.each([Symbol("s"), 1n, () => 1, undefined, Number.NaN, new Map(), new Date(0)])(
    "%o is refused with a message",
    (value) => {
      const validator = compile({ type: "string", enum: ["a"] })
      expect(agree(validator, value)).toBe(false)
    },
  )
})

describe("a required key", () => {
  test.each([
    ["typed", { required: ["a"], properties: { a: { type: "string" } } }],
    ["open", { required: ["a"], properties: { a: {} } }],
    ["undeclared", { required: ["a"] }],
    ["never", { required: ["a"], properties: { a: false } }],
    [
      "by reference",
      { required: ["a"], properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: {} } },
    ],
    ["through a union", { required: ["a"], properties: { a: { anyOf: [{}, { type: "null" }] } } }],
    ["Type.Unknown", Type.Object({ a: Type.Unknown() })],
  ])("that holds undefined is missing: %s", (_, schema) => {
    const validator = compile(schema)
    expect(agree(validator, { a: undefined })).toBe(false)
    expect(validator.errors({ a: undefined })).toEqual([
      { path: "/a", keyword: "required", message: "is required" },
    ])
    expect(validator.errors({})).toEqual(validator.errors({ a: undefined }))
    expect(agree(validator, [])).toBe(!("type" in schema))
  })

  test.each<{ schema: unknown }>([
    { schema: Type.Object({ a: Type.Undefined() }) },
    { schema: Type.Object({ a: Type.Union([Type.String(), Type.Void()]) }) },
    { schema: { required: ["a"], properties: { a: { type: ["string", "undefined"] } } } },
    {
      schema: {
        required: ["a"],
        properties: { a: { $ref: "#/$defs/x" } },
        $defs: { x: { type: "undefined" } },
      },
    },
    {
      schema: {
        required: ["toString"],
        properties: { toString: { type: "undefined" }, a: true },
      },
    },
  ])("may hold it where its schema says so", ({ schema }) => {
    const key = JSON.stringify(schema).includes("toString") ? "toString" : "a"
    expect(agree(compile(schema), { [key]: undefined })).toBe(true)
    expect(agree(compile(schema), {})).toBe(false)
  })

  test("an optional key that holds undefined is absent", () => {
    expect(agree(compile({ properties: { a: { type: "string" } } }), { a: undefined })).toBe(true)
  })
})

describe("names that every object inherits", () => {
  const names = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"]

  test.each(names)("%s", (name) => {
    const own = (value: unknown): object =>
      JSON.parse(`{"${name}":${JSON.stringify(value)}}`) as object
    const optional = compile({ properties: own({ type: "string" }) })
    expect(agree(optional, {})).toBe(true)
    expect(agree(optional, own("x"))).toBe(true)
    expect(agree(optional, own(1))).toBe(false)
    const required = compile({ required: [name], properties: own({ type: "string" }) })
    expect(agree(required, {})).toBe(false)
    expect(agree(required, own("x"))).toBe(true)
    expect(agree(compile({ required: [name] }), {})).toBe(false)
    expect(agree(compile({ required: [name] }), own(1))).toBe(true)
    const closed = compile({ properties: own(true), additionalProperties: false })
    expect(agree(closed, own(1))).toBe(true)
    expect(agree(closed, { other: 1 })).toBe(false)
    const rule = compile({ dependentRequired: own(["b"]) })
    expect(agree(rule, {})).toBe(true)
    expect(agree(rule, own(1))).toBe(false)
    expect(agree(compile({ dependentRequired: { b: [name] } }), { b: 1 })).toBe(false)
    const schemas = compile({ dependentSchemas: own({ required: ["b"] }) })
    expect(agree(schemas, {})).toBe(true)
    expect(agree(schemas, own(1))).toBe(false)
    expect(agree(schemas, { ...own(1), b: 1 })).toBe(true)
  })

  test("keep their place beside patterns and combinations", () => {
    const validator = compile({
      properties: { toString: { type: "string" }, valueOf: { type: "string" } },
      patternProperties: { "^toString$": { minLength: 2 } },
      allOf: [{ maxProperties: 2 }],
      dependentSchemas: { toString: { required: ["b"] } },
    })
    expect(agree(validator, { toString: "ab", b: 1 })).toBe(true)
    expect(agree(validator, { toString: "a", b: 1 })).toBe(false)
    expect(agree(validator, { toString: "ab" })).toBe(false)
    expect(agree(validator, { toString: undefined, b: 1 })).toBe(true)
    expect(agree(validator, { valueOf: undefined })).toBe(true)
  })
})

describe("unevaluated properties and items", () => {
  test.each<[string, object, unknown[], unknown[]]>([
    ["say nothing about arrays", { unevaluatedProperties: false }, [[1], {}, 1], [{ a: 1 }]],
    [
      "do not count a declared property that holds undefined",
      { properties: { a: true }, unevaluatedProperties: false },
      [{ a: undefined }],
      [{ a: undefined, b: 1 }],
    ],
    [
      "do not count what items of an item were seen by",
      { unevaluatedItems: { additionalProperties: false, $ref: "#" } },
      [[[0, 1], {}]],
      [[[0, 1], { a: 1 }]],
    ],
    [
      "do not count what a failed condition saw",
      { if: { additionalProperties: true, not: {} }, unevaluatedProperties: false },
      [{}],
      [{ a: 1 }],
    ],
    [
      "count what a condition and its consequence saw",
      {
        if: { properties: { a: { const: 1 } }, required: ["a"] },
        then: { properties: { b: true } },
        else: { properties: { c: true } },
        allOf: [true],
        unevaluatedProperties: false,
      },
      [{ a: 1, b: 1 }, { c: 1 }],
      [{ a: 1, c: 1 }, { b: 1 }, { a: 2 }],
    ],
    [
      "may have a schema",
      {
        type: ["object", "array"],
        contains: { $ref: "#/$defs/n" },
        unevaluatedItems: { type: "string" },
        $defs: { n: { type: "number" } },
      },
      [[1, "a"]],
      [[1, null], ["a"]],
    ],
  ])("%s", (_, schema, good, bad) => {
    for (const value of good) expect(agree(compile(schema), value)).toBe(true)
    for (const value of bad) expect(agree(compile(schema), value)).toBe(false)
  })
})

describe("without code generation", () => {
  const before = Settings.Get().useAcceleration
  afterEach(() => Settings.Set({ useAcceleration: before }))

  test("checks are stateless", () => {
    Settings.Set({ useAcceleration: false })
    const validator = compile({
      allOf: [{ properties: { a: true } }],
      unevaluatedProperties: false,
      properties: { child: { $ref: "#" } },
    })
    expect(agree(validator, { a: 1, child: { a: 1 } })).toBe(true)
    expect(agree(validator, { b: 1 })).toBe(false)
    expect(agree(validator, { a: 1 })).toBe(true)
    expect(agree(validator, { b: 1 })).toBe(false)
  })
})

test("global settings of TypeBox are left alone", () => {
  const before = structuredClone(Settings.Get())
  compile({ type: "array", items: { type: "string" } }).errors(Array.from({ length: 500 }, () => 1))
  expect(Settings.Get()).toEqual(before)
})
