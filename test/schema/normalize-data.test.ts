import { runInNewContext } from "node:vm"
import { afterEach, describe, expect, test, vi } from "vitest"
import { Normalizer } from "../../src/schema/normalize/index.ts"
import { changesOf, isClean, normalize, normalizerOf } from "./normalize-support.ts"

const A = { properties: { a: { default: 1 } } }

describe("data that is left as it is", () => {
  class Point {
    a = 1
    z = 2
  }
  class List extends Array<unknown> {}
  const hidden = Object.defineProperty({ z: 1 }, "a", { value: 1 })
  const secret = Object.defineProperty({ z: 1 }, "secret", { value: 1 })
  const sparse = Array.from<unknown>({ length: 1 }).concat([{ z: 1 }])
  Reflect.deleteProperty(sparse, 0)
  const labelled = Object.assign([{ z: 1 }], { label: "x" })
  const balanced = Object.assign(sparse.slice(), { label: "x" })

  test.each<[string, unknown]>([
    ["a class instance", new Point()],
    ["an object with a made-up prototype", Object.create({ z: 1 })],
    ["an object with a bare prototype", Object.create(Object.create(null))],
    ["an object with a hidden declared key", hidden],
    ["an object with a hidden key", secret],
    ["a Map", new Map([["z", 1]])],
    ["a Date", new Date(0)],
    ["bytes", new Uint8Array(2)],
    ["a sparse array", sparse],
    ["an array with further properties", labelled],
    ["an array with both", balanced],
    ["an array of another class", List.from([{ z: 1 }])],
    ["a function", () => 1],
    ["a bigint", 5n],
    ["NaN", Number.NaN],
    ["null", null],
  ])("%s", (_, value) => {
    const normalizer = normalizerOf({ ...A, items: A })
    expect(normalizer.normalize(value)).toEqual({ value, changes: [] })
    expect(normalizer.normalize(value).value).toBe(value)
    expect(normalizer.isClean(value)).toBe(true)
    const below = { a: value }
    const outer = normalizerOf({ properties: { a: { ...A, items: A } } })
    expect(outer.normalize(below).value).toBe(below)
    expect(outer.isClean(below)).toBe(true)
  })

  test("cyclic data", () => {
    const value: Record<string, unknown> = { z: 1 }
    value["next"] = value
    const normalizer = normalizerOf({ properties: { next: { $ref: "#" } } })
    expect(normalizer.normalize(value).value).toBe(value)
    expect(normalizer.normalize(value).changes).toEqual([])
    expect(normalizer.isClean(value)).toBe(true)
  })

  test("data of a hundred thousand levels", () => {
    let value: unknown = { z: 1 }
    for (let level = 0; level < 100_000; level++) value = level % 2 ? { next: value } : [value]
    const normalizer = normalizerOf({ properties: { next: { $ref: "#" } }, items: { $ref: "#" } })
    const result = normalizer.normalize(value)
    expect(result.value === value).toBe(true)
    expect(result.changes).toEqual([])
    expect(normalizer.isClean(value)).toBe(true)
    expect(normalizer.normalize({ z: 1 }).value).toEqual({})
  })

  test("a default that is first missed at the end of the stack is still filled later", () => {
    let value: unknown = {}
    for (let level = 0; level < 100_000; level++) value = { next: value, a: 1 }
    const normalizer = normalizerOf({
      properties: { next: { $ref: "#" }, a: { type: "integer", minimum: 1, default: 1 } },
    })
    expect(normalizer.normalize(value).value === value).toBe(true)
    expect(normalizer.normalize({}).value).toEqual({ a: 1 })
  })

  test.each([
    { oneOf: [{ $ref: "#" }, { properties: { a: {} } }] },
    {
      properties: { b: {} },
      anyOf: [{ anyOf: [{ $ref: "#" }] }, { oneOf: [{ $ref: "#" }, { required: ["a"] }] }],
    },
    {
      allOf: [{ $ref: "#" }],
      properties: { a: {} },
      if: { $ref: "#" },
      then: { properties: { b: {} } },
    },
  ])("data under a schema that goes in circles: %j", (schema) => {
    const normalizer = normalizerOf(schema)
    const value = { a: 1, z: 1 }
    expect(normalizer.normalize(value).value).toBe(value)
    expect(normalizer.isClean(value)).toBe(true)
  })

  test("data that throws when it is read", () => {
    const value = {
      get a(): number {
        throw new Error("not now")
      },
      z: 1,
    }
    const normalizer = normalizerOf(A)
    expect(normalizer.normalize(value).value).toBe(value)
    expect(normalizer.isClean(value)).toBe(true)
  })
})

describe("data that is copied", () => {
  test("shares what did not change and keeps the order of keys", () => {
    const schema = { properties: { b: A, a: {}, c: A } }
    const value = { c: { a: 1 }, z: 1, b: { z: 1 }, a: [1] }
    const result = normalize(schema, value) as typeof value
    expect(Object.keys(result)).toEqual(["c", "b", "a"])
    expect(result.c).toBe(value.c)
    expect(result.a).toBe(value.a)
    expect(value).toEqual({ c: { a: 1 }, z: 1, b: { z: 1 }, a: [1] })
  })

  test("keeps symbols, a missing prototype and objects of another realm", () => {
    const mark = Symbol("mark")
    expect(normalize(A, { a: 1, z: 1, [mark]: 2 })).toEqual({ a: 1, [mark]: 2 })
    const bare = normalize(A, Object.assign(Object.create(null), { z: 1 })) as object
    expect(Object.getPrototypeOf(bare)).toBe(null)
    expect(Object.keys(bare)).toEqual(["a"])
    expect(normalize(A, runInNewContext("({ z: 1 })"))).toEqual({ a: 1 })
    expect(normalize({ items: A }, runInNewContext("[{ z: 1 }]"))).toEqual([{ a: 1 }])
  })

  test("NaN and -0 are no change", () => {
    const value = { a: Number.NaN, b: -0, list: [Number.NaN] }
    expect(normalize({ properties: { a: {}, b: {}, list: { items: {} } } }, value)).toBe(value)
  })

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"])(
    "%s is a name like any other",
    (name) => {
      const own = (value: unknown) => JSON.parse(JSON.stringify({ "?": value }).replace("?", name))
      const schema = { properties: own({ default: { x: 1 }, properties: { x: {} } }) }
      const normalizer = normalizerOf(schema)
      const filled = normalizer.normalize({}).value as object
      expect(Object.entries(filled)).toEqual([[name, { x: 1 }]])
      expect(normalizer.isClean({})).toBe(false)
      expect(normalizer.isClean(filled)).toBe(true)
      const cleaned = normalizer.normalize(own({ x: 1, z: 1 })).value as object
      expect(Object.entries(cleaned)).toEqual([[name, { x: 1 }]])
      expect(normalizer.isClean(own({ x: 1, z: 1 }))).toBe(false)
      const other = normalizerOf({ properties: { a: {} } })
      expect(Object.keys(other.normalize(own({})).value as object)).toEqual([])
      expect(other.isClean(own({}))).toBe(false)
      expect(other.isClean({ a: 1 })).toBe(true)
      expect(({} as Record<string, unknown>)["x"]).toBe(undefined)
      const required = normalizerOf({ properties: { a: {} }, required: [name] })
      expect(required.isClean(own(1))).toBe(true)
      expect(required.isClean({ ...own(1), z: 1 })).toBe(false)
    },
  )

  test("a default with a key called __proto__ keeps it as data", () => {
    const value = JSON.parse('{"__proto__":{"x":1}}')
    const result = normalize({ properties: { a: { default: value } } }, {}) as { a: object }
    expect(Object.keys(result.a)).toEqual(["__proto__"])
    expect(Object.getPrototypeOf(result.a)).toBe(Object.prototype)
  })
})

describe("the report of a normaliser", () => {
  test("names a hundred changes and makes them all", () => {
    const value = Array.from({ length: 150 }, () => ({ z: 1 }))
    const { value: result, changes } = normalizerOf({ items: A }).normalize(value)
    expect(changes).toHaveLength(100)
    expect(changes[99]).toEqual({ kind: "default", path: "/49/a" })
    expect(result).toEqual(Array.from({ length: 150 }, () => ({ a: 1 })))
  })

  test("forgets what was taken back", () => {
    const schema = { properties: { list: { items: A, uniqueItems: true }, b: {} } }
    const value = { list: [{ a: 1, y: 1 }, { a: 1 }], z: 1 }
    expect(changesOf(schema, value)).toEqual(["strip /z"])
  })
})

describe("the probe of a normaliser", () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test("is not needed where nothing can be found", () => {
    for (const schema of [
      {},
      { type: "string" },
      { type: "object" },
      { items: { items: {} } },
      { properties: { a: {} }, additionalProperties: true },
      { items: { default: 1 } },
      { anyOf: [{ type: "number" }, { $ref: "#" }] },
      { $ref: "#/gone" },
    ]) {
      const normalizer = normalizerOf(schema)
      expect(normalizer.isNoop).toBe(true)
      expect(normalizer.hasProbe).toBe(true)
      expect(normalizer.isClean({ anything: 1 })).toBe(true)
    }
    expect(normalizerOf({ default: 1 }).isNoop).toBe(false)
    expect(normalizerOf({ properties: { a: {} } }).isNoop).toBe(false)
    expect(normalizerOf({ properties: { a: {} } }, { strip: false }).isNoop).toBe(true)
    expect(normalizerOf(A, { strip: false }).isNoop).toBe(false)
    expect(normalizerOf(A, { strip: false, defaults: false }).isNoop).toBe(true)
    const shared = {
      $defs: { x: { items: {} } },
      items: { $ref: "#/$defs/x" },
      prefixItems: [{ $ref: "#/$defs/x" }],
    }
    expect(normalizerOf(shared).isNoop).toBe(true)
  })

  test("is missing where code may not be generated, and the rest works", () => {
    vi.stubGlobal("Function", function forbidden() {
      throw new EvalError("Code generation from strings disallowed for this context")
    })
    const normalizer = normalizerOf(A)
    expect(normalizer.hasProbe).toBe(false)
    expect(normalizer.isClean({ a: 1 })).toBe(false)
    expect(normalizer.normalize({ z: 1 }).value).toEqual({ a: 1 })
  })

  test("nothing is compiled before it is needed", () => {
    const check = vi.fn(() => () => true)
    const schema = { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }
    const normalizer = new Normalizer(schema, {
      strip: true,
      defaults: true,
      convert: true,
      check,
    })
    expect(normalizer.probe()).not.toBeNull()
    expect(check).not.toHaveBeenCalled()
    expect(isClean(normalizer, { a: 1 })).toBe(true)
    expect(check).toHaveBeenCalledTimes(2)
  })

  test("sees a missing whole", () => {
    const normalizer = normalizerOf({ default: 1 })
    expect(normalizer.isClean(undefined)).toBe(false)
    expect(normalizer.isClean(1)).toBe(true)
    expect(normalizerOf({ type: "number", default: "x" }).isClean(undefined)).toBe(true)
  })

  test("knows undefined keys, and keys on the prototype of all objects", () => {
    const normalizer = normalizerOf({ properties: { a: {}, b: {} }, required: ["b"] })
    expect(normalizer.isClean({ a: undefined, b: undefined })).toBe(true)
    expect(normalizer.isClean({ b: 1, z: undefined })).toBe(false)
    const prototype = Object.prototype as Record<string, unknown>
    try {
      prototype["a"] = 1
      expect(normalizer.isClean({ b: 1, z: 1 })).toBe(false)
      expect(normalizer.normalize({ b: 1, z: 1 }).value).toEqual({ b: 1 })
    } finally {
      delete prototype["a"]
    }
  })

  test.each([1, 20])("sees %i defaulted keys put on the prototype of all objects", (count) => {
    const names = Array.from({ length: count }, (_, index) => `k${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { default: 1 }]))
    const normalizer = normalizerOf({ properties })
    const full = Object.fromEntries(names.map((name) => [name, 1]))
    expect(normalizer.isClean(full)).toBe(true)
    const prototype = Object.prototype as Record<string, unknown>
    try {
      prototype["k0"] = 2
      expect(normalizer.isClean({ ...full, k0: undefined })).toBe(false)
      expect(normalizer.isClean({})).toBe(false)
      expect(normalizer.normalize({}).value).toEqual(full)
    } finally {
      delete prototype["k0"]
    }
    expect(normalizer.isClean(full)).toBe(true)
  })

  test("hostile names and constants stay data", () => {
    const evil = `"];globalThis.pwned=1;["\u2028\u2029\\\n\`\${globalThis.pwned=1}*/`
    const schema = {
      properties: {
        [evil]: { properties: { x: { default: evil } } },
        u: {
          oneOf: [
            { properties: { [evil]: { const: evil }, a: {} }, required: [evil] },
            { properties: { [evil]: { const: "\ud800" }, b: {} }, required: [evil] },
          ],
        },
      },
      patternProperties: { "^\u2028\"'`": { properties: {} } },
      dependentSchemas: { [evil]: { properties: { c: {} } } },
    }
    const normalizer = normalizerOf(schema)
    expect(normalizer.hasProbe).toBe(true)
    expect(normalizer.isClean({ [evil]: { x: 1 }, u: { [evil]: evil, a: 1 }, c: 1 })).toBe(true)
    expect(normalizer.isClean({ [evil]: { x: 1 }, u: { [evil]: evil, b: 1 } })).toBe(false)
    expect(normalizer.isClean({ u: { [evil]: "\ud800", b: 1 }, c: 1 })).toBe(false)
    expect("pwned" in globalThis).toBe(false)
  })

  test("asks the plan past a number of functions", () => {
    const properties: Record<string, unknown> = {}
    for (let index = 0; index < 600; index++) {
      properties[`k${index}`] = { properties: { [`a${index}`]: {} } }
    }
    const normalizer = normalizerOf({ properties })
    expect(normalizer.isClean({ k599: { a599: 1 } })).toBe(true)
    expect(normalizer.isClean({ k599: { z: 1 } })).toBe(false)
  })

  test.each<[string, object, unknown, unknown]>([
    ["patterns", { patternProperties: { "^x": A } }, { x1: { a: 1 } }, { x1: {} }],
    [
      "patterns beside names",
      { properties: { y: {} }, patternProperties: { "^x": {} } },
      { x1: 1, y: 1 },
      { z: 1 },
    ],
    [
      "two patterns",
      { patternProperties: { "^x": A, y$: A } },
      { xy: { a: 1 } },
      { xy: { a: 1, z: 1 } },
    ],
    [
      "two patterns, excess",
      { patternProperties: { "^x": A, y$: {} } },
      { xy: { a: 1 } },
      { z: 1 },
    ],
    ["records", { additionalProperties: A }, { z: { a: 1 } }, { z: {} }],
    [
      "records with names",
      { properties: { b: {} }, additionalProperties: A },
      { b: {}, z: { a: 1 } },
      { z: {} },
    ],
    ["tuples", { prefixItems: [A, {}], items: A }, [{ a: 1 }, {}, { a: 1 }], [{ a: 1 }, {}, {}]],
    ["short tuples", { prefixItems: [{}, A] }, [{}], [{}, {}]],
    ["nullable", { anyOf: [A, { type: "null" }] }, null, {}],
    [
      "keys that bring schemas",
      { dependentSchemas: { b: A }, properties: { b: {} } },
      {},
      { b: 1 },
    ],
    ["conditions", { if: { required: ["b"] }, then: A }, { c: 1 }, { b: 1 }],
    ["delicate places", { ...A, minProperties: 1 }, { a: 1 }, { a: 1, z: 1 }],
    ["delicate arrays", { items: A, uniqueItems: true }, [{ a: 1 }], [{}]],
    ["what cannot change", { properties: { b: {} }, minProperties: 1 }, { z: 1 }, { b: 1, z: 1 }],
    [
      "recursion",
      { properties: { next: { $ref: "#" } } },
      { next: { next: {} } },
      { next: { z: 1 } },
    ],
    [
      "arrays in unions",
      {
        anyOf: [
          { type: "array", items: A },
          { type: "object", ...A },
        ],
      },
      [{ a: 1 }],
      [{}],
    ],
    [
      "arrays distinguished by checks",
      {
        oneOf: [
          { type: "array", items: A },
          { type: "array", items: { type: "string" } },
        ],
      },
      [{ a: 1 }],
      [{}],
    ],
    [
      "unused defaults",
      { properties: { a: { type: "string", default: 1 }, b: {} } },
      { b: 1 },
      { z: 1 },
    ],
  ])("covers %s", (_, schema, clean, dirty) => {
    const normalizer = normalizerOf({ ...schema })
    expect(normalizer.isClean(clean)).toBe(true)
    expect(normalizer.normalize(clean).value).toBe(clean)
    expect(normalizer.isClean(dirty)).toBe(false)
    expect(normalizer.normalize(dirty).value).not.toBe(dirty)
  })
})
