import { describe, expect, test } from "vitest"
import { changesOf, normalize, normalizerOf } from "./normalize-support.ts"

describe("filling in defaults", () => {
  test.each([
    ["an absent property", { properties: { a: { default: 1 } } }, {}, { a: 1 }],
    ["an undefined property", { properties: { a: { default: 1 } } }, { a: undefined }, { a: 1 }],
    [
      "a default behind a reference",
      { properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: { default: 1 } } },
      {},
      { a: 1 },
    ],
    [
      "the nearest of two defaults",
      { properties: { a: { $ref: "#/$defs/x", default: 2 } }, $defs: { x: { default: 1 } } },
      {},
      { a: 2 },
    ],
    ["a default of null", { properties: { a: { default: null } } }, {}, { a: null }],
    [
      "a default that two members agree on",
      { allOf: [{ properties: { a: { default: [1] } } }, { properties: { a: { default: [1] } } }] },
      {},
      { a: [1] },
    ],
    [
      "defaults inside a default",
      { properties: { a: { default: {}, properties: { b: { default: 1 } } } } },
      {},
      { a: { b: 1 } },
    ],
    [
      "the only branch that fits",
      {
        oneOf: [
          { properties: { k: { const: 1 }, a: { default: 1 } }, required: ["k"] },
          { properties: { a: { default: 2 } }, required: ["j"] },
        ],
      },
      { j: 0 },
      { j: 0, a: 2 },
    ],
    [
      "a chain of conditions",
      {
        properties: { a: { default: 1 } },
        if: { required: ["a"] },
        then: { properties: { b: { default: 2 } } },
      },
      {},
      { a: 1, b: 2 },
    ],
    [
      "what a present key asks for",
      { properties: { a: {} }, dependentSchemas: { a: { properties: { b: { default: 2 } } } } },
      { a: 1 },
      { a: 1, b: 2 },
    ],
    ["inside elements", { items: { properties: { a: { default: 1 } } } }, [{}], [{ a: 1 }]],
    [
      "inside tuples",
      { prefixItems: [{ properties: { a: { default: 1 } } }] },
      [{}, {}],
      [{ a: 1 }, {}],
    ],
    [
      "inside records",
      { additionalProperties: { properties: { a: { default: 1 } } } },
      { x: {} },
      { x: { a: 1 } },
    ],
    [
      "beside a closed sibling that names it",
      {
        allOf: [
          { properties: { a: {} }, additionalProperties: false },
          { properties: { a: { default: 1 } } },
        ],
      },
      {},
      { a: 1 },
    ],
    ["the whole value", { default: { b: 1 } }, undefined, { b: 1 }],
    [
      "the whole value, with what it lacks",
      { default: {}, properties: { a: { default: 1 } } },
      undefined,
      { a: 1 },
    ],
  ])("fill %s", (_, schema, value, expected) => {
    expect(normalize(schema, value)).toEqual(expected)
  })

  test.each([
    ["null is a value", { properties: { a: { default: 1 } } }, { a: null }],
    ["it fails its own schema", { properties: { a: { type: "string", default: 1 } } }, {}],
    [
      "it fails a rule for keys of its form",
      { properties: { a: { default: 1 } }, patternProperties: { a: { type: "string" } } },
      {},
    ],
    [
      "a sibling forbids the key",
      {
        allOf: [
          { properties: { b: {} }, additionalProperties: false },
          { properties: { a: { default: 1 } } },
        ],
      },
      {},
    ],
    [
      "two members disagree",
      { allOf: [{ properties: { a: { default: 1 } } }, { properties: { a: { default: 2 } } }] },
      {},
    ],
    [
      "two branches fit",
      { anyOf: [{ properties: { a: { default: 1 } } }, { properties: { b: {} } }] },
      {},
    ],
    [
      "two branches fit, one level down",
      { anyOf: [{ properties: { o: { properties: { a: { default: 1 } } } } }, {}] },
      { o: {} },
    ],
    [
      "no branch fits",
      {
        oneOf: [
          { properties: { a: { default: 1 } }, required: ["z"] },
          { properties: { a: { default: 1 } }, required: ["y"] },
        ],
      },
      {},
    ],
    ["only the condition has it", { if: { properties: { a: { default: 1 } } } }, {}],
    ["the object is absent", { properties: { o: { properties: { a: { default: 1 } } } } }, {}],
    ["it would be too many", { properties: { a: { default: 1 } }, maxProperties: 0 }, {}],
    [
      "its name is not allowed",
      { properties: { a: { default: 1 } }, propertyNames: { pattern: "^b" } },
      {},
    ],
    [
      "it would ask for another key",
      { properties: { a: { default: 1 } }, dependentRequired: { a: ["b"] } },
      {},
    ],
    [
      "it would make `oneOf` ambiguous",
      { properties: { a: { default: 1 } }, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      { b: 1 },
    ],
    ["it belongs to elements", { items: { default: 1 } }, [undefined]],
    ["it belongs to other keys", { additionalProperties: { default: 1 } }, { a: undefined }],
    ["the value is there", { default: 1 }, null],
    ["the whole default is invalid", { type: "string", default: 1 }, undefined],
    ["a reference leads nowhere", { $ref: "#/gone", properties: { a: { default: 1 } } }, {}],
    ["it holds itself without end", { properties: { next: { $ref: "#", default: {} } } }, {}],
    [
      "it would change the choice again and again",
      { properties: { a: { default: 1 } }, not: { required: ["a"] } },
      {},
    ],
  ])("stay out when %s", (_, schema, value) => {
    expect(normalize(schema, value)).toBe(value)
  })

  test("are fresh and mutable each time", () => {
    const normalizer = normalizerOf({ properties: { a: { default: { list: [{}] } } } })
    const one = normalizer.normalize({}).value as { a: { list: object[] } }
    const two = normalizer.normalize({}).value as { a: { list: object[] } }
    one.a.list.push({})
    expect(two.a.list).toHaveLength(1)
    expect(Object.isFrozen(two.a.list[0])).toBe(false)
  })

  test("two defaults that contain each other end, and the result is stable", () => {
    const schema = {
      properties: { b: { $ref: "#/$defs/b", default: {} } },
      $defs: {
        a: { properties: { b: { $ref: "#/$defs/b", default: {} } } },
        b: { properties: { a: { $ref: "#/$defs/a", default: {} } } },
      },
    }
    const normalizer = normalizerOf(schema)
    const { value } = normalizer.normalize({})
    expect(normalizer.normalize(value).value).toBe(value)
    expect(normalizer.isClean(value)).toBe(true)
  })

  test("that cause each other level by level are not filled in", () => {
    const schema = {
      properties: { b: { $ref: "#" } },
      default: {},
      oneOf: [
        { oneOf: [{}, { type: "object", propertyNames: { pattern: "^a" } }] },
        { additionalProperties: { properties: { b: {} } } },
      ],
    }
    const normalizer = normalizerOf(schema)
    const value = {}
    expect(normalizer.normalize(value).value).toBe(value)
    expect(normalizer.isClean(value)).toBe(true)
  })

  test("keep the place of an undefined key and come last otherwise", () => {
    const schema = { properties: { c: { default: 3 }, a: { default: 1 }, b: {} } }
    const value = normalize(schema, { a: undefined, b: 2 }) as object
    expect(Object.keys(value)).toEqual(["a", "b", "c"])
    expect(changesOf(schema, { a: undefined, b: 2 })).toEqual(["default /a", "default /c"])
    expect(changesOf({ default: 1 }, undefined)).toEqual(["default "])
  })

  test("a default whose check cannot be compiled is not used", () => {
    const schema = { properties: { a: { pattern: "(", default: "x" }, b: {} } }
    expect(normalize(schema, { b: 1, z: 1 })).toEqual({ b: 1 })
  })

  test("are left out where they are not wanted", () => {
    const value = {}
    const schema = { default: 1, properties: { a: { default: 1 } } }
    expect(normalize(schema, value, { defaults: false })).toBe(value)
    expect(normalize(schema, undefined, { defaults: false })).toBe(undefined)
  })
})

describe("conversion of values", () => {
  const number = { type: "number" }
  const integer = { type: "integer" }
  const string = { type: "string" }
  const boolean = { type: "boolean" }
  const date = new Date(0)

  test.each<[unknown, object, unknown]>([
    ["12", number, 12],
    ["12", integer, 12],
    ["-1.5", number, -1.5],
    ["1e-7", number, 1e-7],
    ["9007199254740991", integer, 9007199254740991],
    ["true", boolean, true],
    ["false", boolean, false],
    [5n, integer, 5],
    [-9007199254740991n, number, -9007199254740991],
    [5n, string, "5"],
    [9007199254740993n, { type: ["integer", "string"] }, "9007199254740993"],
    [1.5, string, "1.5"],
    [1e21, string, "1e+21"],
    [true, string, "true"],
    [date, string, "1970-01-01T00:00:00.000Z"],
    ["12", { type: ["number", "null"] }, 12],
    ["12", { type: ["number", "boolean"] }, 12],
    ["12", { anyOf: [number, { type: "null" }] }, 12],
    ["12", { anyOf: [integer, number] }, 12],
    [
      "12",
      {
        oneOf: [
          { type: "integer", minimum: 10 },
          { type: "integer", maximum: 9 },
        ],
      },
      12,
    ],
    ["12", { enum: [1, 12] }, 12],
    ["12", { const: 12 }, 12],
    ["12", { allOf: [number, { minimum: 10 }] }, 12],
    ["12", { $ref: "#/$defs/n", $defs: { n: number } }, 12],
    [7, { type: "string", pattern: "^7$" }, "7"],
  ])("turns %o into %o's type", (value, schema, expected) => {
    expect(normalize({ ...schema }, value)).toBe(expected)
  })

  test.each<[unknown, object]>([
    ["", number],
    [" 1", number],
    ["1.50", number],
    ["01", number],
    ["1e3", number],
    ["-0", number],
    ["0x10", number],
    ["NaN", number],
    ["Infinity", number],
    ["9007199254740993", number],
    ["1e+21", number],
    ["1.5", integer],
    [1.5, integer],
    ["yes", boolean],
    ["True", boolean],
    ["true", number],
    [1, boolean],
    ["1", boolean],
    [true, number],
    [null, number],
    [null, string],
    [null, boolean],
    [undefined, string],
    [Symbol.iterator, string],
    [-0, string],
    [Number.NaN, string],
    [Number.POSITIVE_INFINITY, string],
    [9007199254740993n, integer],
    [5n, { type: ["integer", "string"] }],
    [5n, {}],
    [new Date(Number.NaN), string],
    [date, number],
    [date, { type: ["object", "string"] }],
    [["1"], number],
    [1, { type: "array", items: number }],
    ["1", { type: ["number", "string"] }],
    ["1", { anyOf: [number, string] }],
    ["12", { type: "number", maximum: 10 }],
    ["12", { enum: [1, 2] }],
    ["12", { const: 13 }],
    ["12", { type: "integer", multipleOf: 5 }],
    [7, { type: "string", minLength: 2 }],
    ["12", { anyOf: [{ type: "number" }, { type: "string", maxLength: 1 }] }],
    ["1", { allOf: [number, string] }],
    ["1", { type: "no such type" }],
    ["1", { $ref: "#/gone" }],
    [{ a: 1 }, string],
    [new Map(), string],
  ])("leaves %o as it is", (value, schema) => {
    expect(normalize({ ...schema }, value)).toBe(value)
  })

  test("names the place", () => {
    const schema = { properties: { a: { items: number } } }
    expect(changesOf(schema, { a: [1, "2"] })).toEqual(["convert /a/1"])
    expect(changesOf(number, "2")).toEqual(["convert "])
  })

  test("is left out where it is not wanted", () => {
    expect(normalize(number, "12", { convert: false })).toBe("12")
  })
})
