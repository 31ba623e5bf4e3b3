import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { compileSchema } from "../../src/schema/compiled.ts"
import { changesOf, normalize, normalizerOf } from "./normalize-support.ts"

const A = { properties: { a: {} } }
const X = { a: 1, b: 2 }

describe("stripping of undeclared properties", () => {
  test.each([
    ["a key that nothing mentions", A, { a: 1 }],
    [
      "a key that `additionalProperties: false` forbids",
      { ...A, additionalProperties: false },
      { a: 1 },
    ],
    [
      "a key that `unevaluatedProperties: false` forbids",
      { ...A, unevaluatedProperties: false },
      { a: 1 },
    ],
    ["everything, where nothing is allowed", { additionalProperties: false }, {}],
    ["a key that no pattern matches", { patternProperties: { "^a": {} } }, { a: 1 }],
    [
      "beside an open member of `allOf`",
      { allOf: [A, {}, { required: ["a"] }, { type: "object" }] },
      { a: 1 },
    ],
    ["behind a reference", { $ref: "#/$defs/x", $defs: { x: A } }, { a: 1 }],
    ["behind an anchor", { $ref: "#x", $defs: { x: { $anchor: "x", ...A } } }, { a: 1 }],
    ["behind an identifier", { $ref: "x.json", $defs: { x: { $id: "x.json", ...A } } }, { a: 1 }],
    [
      "behind the only dynamic anchor",
      { $dynamicRef: "#x", $defs: { x: { $dynamicAnchor: "x", ...A } } },
      { a: 1 },
    ],
    [
      "behind a dynamic reference to an anchor",
      { $dynamicRef: "#x", $defs: { x: { $anchor: "x", ...A } } },
      { a: 1 },
    ],
    ["in a nullable object", { anyOf: [A, { type: "null" }] }, { a: 1 }],
    [
      "beside a union of scalars",
      { ...A, anyOf: [{ type: "string" }, { type: "object" }] },
      { a: 1 },
    ],
    [
      "where only one of two branches fits",
      {
        oneOf: [
          { ...A, required: ["a"] },
          { properties: { b: { const: 9 } }, required: ["c"] },
        ],
      },
      { a: 1 },
    ],
    [
      "with a condition that does not hold",
      { ...A, if: { required: ["z"] }, then: { properties: { b: {} } } },
      { a: 1 },
    ],
    [
      "without the key that a schema depends on",
      { ...A, dependentSchemas: { z: { properties: { b: {} } } } },
      { a: 1 },
    ],
  ])("removes %s", (_, schema, expected) => {
    expect(normalize(schema, { ...X })).toEqual(expected)
  })

  test.each([
    ["a free-form object", { type: "object" }],
    ["an object described by an empty `properties`", { type: "object", properties: {} }],
    ["`additionalProperties: true`", { ...A, additionalProperties: true }],
    ["`additionalProperties: {}`", { ...A, additionalProperties: {} }],
    ["a schema for additional properties", { ...A, additionalProperties: { type: "number" } }],
    ["`unevaluatedProperties: true`", { ...A, unevaluatedProperties: true }],
    ["a schema for unevaluated properties", { ...A, unevaluatedProperties: { type: "number" } }],
    ["one open member of `allOf`", { allOf: [A, { additionalProperties: true }] }],
    ["a required key", { ...A, required: ["b"] }],
    ["a key that another depends on", { ...A, dependentRequired: { a: ["b"] } }],
    ["a key on which another depends", { ...A, dependentRequired: { b: ["a"] } }],
    ["a key on which a schema depends", { ...A, dependentSchemas: { b: { required: ["a"] } } }],
    ["a key required by a branch", { ...A, anyOf: [{ required: ["a"] }, { required: ["b"] }] }],
    ["a key required deep in a branch", { ...A, anyOf: [{ anyOf: [{ required: ["b"] }] }, true] }],
    ["keys of two members", { allOf: [A, { properties: { b: {} } }] }],
    [
      "keys of the referrer and its target",
      { properties: { b: {} }, $ref: "#/$defs/x", $defs: { x: A } },
    ],
    [
      "keys of a branch that fits",
      {
        ...A,
        anyOf: [
          { properties: { b: { type: "number" } } },
          { properties: { b: { type: "string" } } },
        ],
      },
    ],
    ["keys of every branch that fits", { anyOf: [A, { properties: { b: {} } }] }],
    ["keys of a nested branch", { ...A, anyOf: [{ oneOf: [{ properties: { b: {} } }] }] }],
    ["keys of a condition that holds", { ...A, if: { properties: { b: {} } } }],
    ["keys of `then`", { ...A, if: { required: ["a"] }, then: { properties: { b: {} } } }],
    ["keys of `else`", { ...A, if: { required: ["z"] }, else: { properties: { b: {} } } }],
    [
      "keys of a schema that applies with a key",
      { ...A, dependentSchemas: { a: { properties: { b: {} } } } },
    ],
    ["keys beside `not`", { ...A, not: { required: ["c"] } }],
    ["keys beside an unresolvable reference", { ...A, $ref: "#/$defs/gone" }],
    ["keys beside an unknown anchor", { ...A, $ref: "#gone" }],
    ["keys beside a foreign document", { ...A, $ref: "https://example.com/x" }],
    ["keys beside a broken pointer", { ...A, $ref: "#/%" }],
    ["keys beside a broken address", { ...A, $ref: "https://%" }],
    ["keys beside a reference to no schema", { ...A, $ref: "#/title", title: "x" }],
    ["keys beside `$recursiveRef`", { ...A, $recursiveRef: "#" }],
    ["keys beside a reference that is no string", { ...A, $ref: 7 }],
    [
      "keys beside a dynamic reference with two anchors",
      {
        ...A,
        $dynamicRef: "#x",
        $defs: { x: { $dynamicAnchor: "x" }, y: { $id: "y", $dynamicAnchor: "x" } },
      },
    ],
    [
      "keys that no branch explains",
      {
        ...A,
        oneOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { const: 3 } } }],
      },
    ],
    [
      "keys that two of `oneOf` explain",
      { ...A, oneOf: [{ properties: { a: {} } }, { properties: { a: { const: 1 } } }] },
    ],
    ["keys that `minProperties` asks for", { ...A, minProperties: 2 }],
    ["keys of a constant", { ...A, const: { a: 1, b: 2 } }],
    ["keys that keep `oneOf` exclusive", { ...A, oneOf: [A, { properties: { b: { const: 9 } } }] }],
    [
      "a key declared beside a closed sibling",
      { allOf: [{ ...A, additionalProperties: false }, { properties: { b: {} } }] },
    ],
  ])("keeps %s", (_, schema) => {
    const value = { ...X }
    expect(normalize(schema, value)).toBe(value)
  })

  test("reads references relative to the resource they stand in", () => {
    const schema = {
      $id: "https://example.com/root",
      properties: { inner: { $ref: "/inner" } },
      $defs: {
        x: { properties: { wrong: {} } },
        inner: { $id: "/inner", $ref: "#/$defs/x", $defs: { x: A } },
      },
    }
    expect(normalize(schema, { inner: { a: 1, wrong: 1 } })).toEqual({ inner: { a: 1 } })
  })

  test("resolves the references of a part that two resources share in each of them", () => {
    const shared = { $ref: "#/$defs/x" }
    const schema = {
      properties: { one: { $ref: "one" }, two: { $ref: "two" } },
      $defs: {
        one: { $id: "one", allOf: [shared], $defs: { x: A } },
        two: { $id: "two", allOf: [shared], $defs: { x: { properties: { b: {} } } } },
      },
    }
    const value = { one: { a: 1, b: 2 }, two: { a: 1, b: 2 } }
    const { value: stripped } = compileSchema(schema).normalizer("strip").normalize(value)
    expect(stripped).toEqual({ one: { a: 1 }, two: { b: 2 } })
  })

  test("strips at every level and names the paths", () => {
    const schema = {
      properties: { list: { items: { properties: { "a/b": A } } }, "~": A },
      patternProperties: { "^x": A },
    }
    const value = { list: [{ "a/b": { a: 1, z: 1 } }], "~": { z: 1 }, x1: { z: 1 }, z: 1 }
    expect(normalize(schema, value)).toEqual({ list: [{ "a/b": { a: 1 } }], "~": {}, x1: {} })
    expect(changesOf(schema, value)).toEqual([
      "strip /list/0/a~1b/z",
      "strip /~0/z",
      "strip /x1/z",
      "strip /z",
    ])
  })

  test("merges everything that applies to a key", () => {
    const schema = {
      allOf: [
        { properties: { o: A } },
        {
          patternProperties: { "^o": { properties: { b: {} } }, "^oo": { properties: { c: {} } } },
        },
        { properties: { q: {} }, additionalProperties: { properties: { d: {} } } },
      ],
    }
    const all = { a: 1, b: 1, c: 1, d: 1, e: 1 }
    expect(normalize(schema, { o: all, oo: all, q: all, r: all })).toEqual({
      o: { a: 1, b: 1, d: 1 },
      oo: { b: 1, c: 1, d: 1 },
      q: all,
      r: { d: 1 },
    })
  })

  test("does not strip below a place where no branch fits", () => {
    const branch = (type: string) => ({ properties: { o: { properties: { b: {} } }, t: { type } } })
    const schema = {
      properties: { o: A, n: { type: "number" } },
      oneOf: [branch("null"), branch("string")],
    }
    const value = { o: { a: 1, b: 2 }, t: 5, n: "1" }
    expect(normalize(schema, value)).toEqual({ ...value, n: 1 })
  })

  test("follows a recursive schema", () => {
    const schema = { properties: { next: { $ref: "#" }, a: {} } }
    expect(normalize(schema, { next: { next: { a: 1, z: 1 } } })).toEqual({
      next: { next: { a: 1 } },
    })
  })

  test("follows tuples, their rest, and two tuples at once", () => {
    const schema = { prefixItems: [A, true], items: A }
    const value = [{ a: 1, z: 1 }, { z: 1 }, { z: 1 }]
    expect(normalize(schema, value)).toEqual([{ a: 1 }, { z: 1 }, {}])
    const two = {
      allOf: [{ prefixItems: [A], items: { properties: { b: {} } } }, { prefixItems: [{}, A] }],
    }
    expect(
      normalize(two, [
        { a: 1, b: 1 },
        { a: 1, b: 1, c: 1 },
      ]),
    ).toEqual([{ a: 1 }, { a: 1, b: 1 }])
    expect(normalize({ prefixItems: [A] }, [{ a: 1 }, { z: 1 }])).toEqual([{ a: 1 }, { z: 1 }])
    const short = [{ a: 1 }]
    expect(normalize(two, short)).toBe(short)
  })

  test("leaves duplicates alone that would only arise by stripping", () => {
    const value = [
      { a: 1, b: 1 },
      { a: 1, b: 2 },
    ]
    expect(normalize({ items: A, uniqueItems: true }, value)).toBe(value)
    expect(normalize({ items: A, uniqueItems: true }, [value[0]])).toEqual([{ a: 1 }])
  })

  test("reads a pattern without the `u` flag where that is the only way", () => {
    expect(normalize({ patternProperties: { "^[\\w-\\.]$": {} } }, { a: 1, bb: 2 })).toEqual({
      a: 1,
    })
  })

  test("leaves data alone under a pattern that cannot be read", () => {
    const value = { a: 1, z: 1 }
    const normalizer = normalizerOf({ patternProperties: { "(": {} } })
    expect(normalizer.normalize(value)).toEqual({ value, changes: [] })
    expect(normalizer.isClean(value)).toBe(false)
  })

  test("keeps unknown properties if strip is off", () => {
    const value = { a: 1, b: 2 }
    expect(normalize({ ...A, additionalProperties: false }, value, { strip: false })).toBe(value)
  })
})

describe("stripping in unions", () => {
  const cat = { type: "object", properties: { kind: { const: "cat" }, a: { type: "number" } } }
  const dog = {
    type: "object",
    properties: { kind: { enum: ["dog", "wolf", null] }, b: { default: 1 } },
  }

  test.each(["anyOf", "oneOf"])("%s: a constant selects the branch, valid or not", (keyword) => {
    const schema = { [keyword]: [cat, dog, { type: "string" }, { type: "array", items: A }] }
    expect(normalize(schema, { kind: "cat", a: "1", z: 1 })).toEqual({ kind: "cat", a: 1 })
    expect(normalize(schema, { kind: "wolf", z: 1 })).toEqual({ kind: "wolf", b: 1 })
    expect(normalize(schema, { kind: null, z: 1 })).toEqual({ kind: null, b: 1 })
    expect(normalize(schema, [{ z: 1 }])).toEqual([{}])
    const unknown = { kind: "cow", z: 1 }
    expect(normalize(schema, unknown)).toBe(unknown)
  })

  test("finds the constant in nested unions, references and the second property", () => {
    const schema = {
      oneOf: [{ anyOf: [{ $ref: "#/$defs/cat" }, { oneOf: [dog] }] }, { $ref: "#/$defs/cow" }],
      $defs: {
        cat: { allOf: [{ properties: { a: { type: "number" }, kind: { $ref: "#/$defs/kind" } } }] },
        kind: { const: "cat" },
        cow: { properties: { kind: { const: "cow" }, c: {} } },
      },
    }
    expect(normalize(schema, { kind: "cow", a: 1, c: 1 })).toEqual({ kind: "cow", c: 1 })
    expect(normalize(schema, { kind: "cat", a: "1", c: 1 })).toEqual({ kind: "cat", a: 1 })
    expect(normalize(schema, { kind: "dog", a: "1", c: 1 })).toEqual({ kind: "dog", b: 1 })
  })

  test("is not misled by inherited names, shared constants or constants that are objects", () => {
    const tricky = (name: string, one: unknown, two: unknown) => ({
      oneOf: [
        { properties: { [name]: { const: one }, a: {} }, required: [name] },
        { properties: { [name]: { const: two }, b: {} }, required: [name] },
      ],
    })
    expect(normalize(tricky("constructor", "x", "y"), { constructor: "y", a: 1, b: 1 })).toEqual({
      constructor: "y",
      b: 1,
    })
    const none = { a: 1, b: 1 }
    expect(normalize(tricky("toString", "x", "y"), none)).toBe(none)
    const shared = { k: 1, a: 1, b: 1 }
    expect(normalize(tricky("k", 1, 1), shared)).toBe(shared)
    expect(normalize(tricky("k", { x: 1 }, { x: 2 }), { k: { x: 2 }, a: 1, b: 1 })).toEqual({
      k: { x: 2 },
      b: 1,
    })
  })

  test("takes an OpenAPI discriminator as a hint and verifies it", () => {
    const $defs = {
      Cat: { properties: { pet: { type: "string" }, a: { type: "number" } }, required: ["pet"] },
      Dog: { properties: { pet: { type: "string" }, b: { type: "number" } }, required: ["pet"] },
    }
    const branches = [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }]
    const schema = (keyword: string, mapping?: unknown) => ({
      [keyword]: branches,
      discriminator: { propertyName: "pet", ...(mapping === undefined ? {} : { mapping }) },
      $defs,
    })
    expect(normalize(schema("anyOf"), { pet: "Dog", a: 1, b: 1 })).toEqual({ pet: "Dog", b: 1 })
    expect(normalize(schema("oneOf"), { pet: "Dog", a: 1, b: 1 })).toEqual({ pet: "Dog", b: 1 })
    const mapped = schema("anyOf", { dog: "#/components/schemas/Dog", odd: 7, gone: "Cow" })
    expect(normalize(mapped, { pet: "dog", a: 1, b: 1 })).toEqual({ pet: "dog", b: 1 })
    for (const pet of ["odd", "gone", "Cow"]) {
      const value = { pet, a: 1, b: 1 }
      expect(normalize(mapped, value)).toBe(value)
    }
    const confused = { pet: "Dog", a: 1, b: "x", z: 1 }
    expect(normalize(schema("anyOf"), confused)).toBe(confused)
    const unfit = { pet: 5, a: 1 }
    expect(normalize(schema("anyOf"), unfit)).toBe(unfit)
    const without = { a: 1 }
    expect(normalize(schema("anyOf"), without)).toBe(without)
  })

  test("a hint that is no hint is ignored", () => {
    const branches = [{ properties: { a: {} } }, { properties: { b: { type: "string" } } }]
    for (const discriminator of [7, {}, { propertyName: 7 }]) {
      expect(normalize({ anyOf: branches, discriminator }, { a: 1, b: 2 })).toEqual({ a: 1 })
    }
  })

  test("no branch of the value's type leaves it alone", () => {
    const schema = { anyOf: [{ type: "array", items: A }, { type: "string" }] }
    const value = { a: 1, z: 1 }
    expect(normalize(schema, value)).toBe(value)
  })

  test("distinguishes arrays by checks", () => {
    const schema = {
      anyOf: [
        { type: "array", items: { properties: { a: { type: "number" } }, required: ["a"] } },
        { type: "array", items: { properties: { b: {} }, required: ["b"] } },
      ],
    }
    expect(normalize(schema, [{ a: "1", b: 1 }])).toEqual([{ b: 1 }])
  })

  test("branches that are `true` or `false` are branches too", () => {
    const value = { a: 1, z: 1 }
    expect(normalize({ anyOf: [false, A] }, value)).toEqual({ a: 1 })
    expect(normalize({ anyOf: [true, A] }, value)).toEqual({ a: 1 })
    expect(normalize({ oneOf: [true, A] }, value)).toBe(value)
  })
})

test.each(["a\nb", "\r", "\u2028", ""])("a record of TypeBox has the key %j", (key) => {
  const record = Type.Record(Type.String(), Type.String())
  expect(normalize({ ...record }, { [key]: "x" })).toEqual({ [key]: "x" })
  const compiled = compileSchema(record)
  expect(compiled.check({ [key]: "x" })).toBe(true)
  expect(compiled.check({ [key]: 1 })).toBe(false)
  expect(compiled.errors({ [key]: 1 })).toMatchObject([{ message: "must be string, got number" }])
  const old = { patternProperties: { "^(.*)$": { type: "string" } }, additionalProperties: false }
  expect(compileSchema(old).check({ [key]: "x" })).toBe(true)
  expect(compileSchema(old).check({ [key]: 1 })).toBe(false)
})
