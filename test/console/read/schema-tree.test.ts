// What a reader is shown of each thing that a schema can say.
import { describe, expect, test } from "vitest"
import { schemaTree } from "../../../console/src/read/schema/node.ts"
import type { SchemaNode } from "../../../console/src/read/schema/node.ts"

function childOf(node: SchemaNode, ...path: readonly string[]): SchemaNode {
  return path.reduce((at, label) => {
    const found = at.children().find((child) => child.label === label)
    if (found === undefined) {
      const labels = at.children().map((child) => child.label)
      throw new Error(`There is no "${label}" among ${JSON.stringify(labels)}.`)
    }
    return found
  }, node)
}

function typeOf(schema: unknown): string {
  return schemaTree(schema).facts.type
}

function labelsOf(node: SchemaNode): readonly string[] {
  return node.children().map(({ label }) => label)
}

const USER = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 20, description: "What **she** is called" },
    age: { type: ["integer", "null"], minimum: 0, default: null },
    friends: { type: "array", items: { $ref: "#/$defs/user" } },
  },
}

describe("the tree of a schema", () => {
  test("has the properties of an object, in their order, with what is required", () => {
    const tree = schemaTree(USER)
    expect(labelsOf(tree)).toEqual(["name", "age", "friends"])
    expect(tree.children().map(({ isRequired }) => isRequired)).toEqual([true, false, false])
    expect(childOf(tree, "name").facts).toMatchObject({
      type: "string",
      description: "What **she** is called",
      constraints: ["1 to 20 characters"],
    })
    expect(childOf(tree, "age").facts).toMatchObject({
      type: "integer | null",
      default: "null",
      constraints: ["at least 0"],
    })
  })

  test("follows references where they are opened, also when they never end", () => {
    const tree = schemaTree({ $ref: "#/$defs/user", $defs: { user: USER } })
    expect(tree.facts.type).toBe("user")
    const friends = childOf(tree, "friends")
    expect(friends.facts.type).toBe("user[]")
    const item = childOf(friends, "each item")
    expect(item.isRecursive).toBe(true)
    let at: SchemaNode = tree
    for (let depth = 0; depth < 50; depth++) at = childOf(at, "friends", "each item")
    expect(labelsOf(at)).toEqual(["name", "age", "friends"])
  })

  test("a schema that is itself everywhere is known again without a name", () => {
    const tree = schemaTree({ type: "object", properties: { next: { $ref: "#" } } })
    expect(tree.isRecursive).toBe(false)
    expect(childOf(tree, "next").isRecursive).toBe(true)
  })

  test("references that are loops, or lead nowhere, do no harm", () => {
    const loop = {
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
      $ref: "#/$defs/a",
    }
    expect(schemaTree(loop).hasChildren).toBe(false)
    expect(schemaTree({ $ref: "#/$defs/gone" }).facts.constraints).toEqual([
      "#/$defs/gone is not part of this schema",
    ])
    expect(schemaTree({ $ref: "https://elsewhere.example/schema" }).facts.constraints).toHaveLength(
      1,
    )
    expect(schemaTree({ $ref: "#/toString/call" }).facts.constraints).toHaveLength(1)
  })

  test("finds references by $id, by $anchor, and within what has an $id", () => {
    const tree = schemaTree({
      properties: {
        a: { $ref: "https://x.example/part" },
        b: { $ref: "#here" },
        c: { $ref: "https://x.example/part#/$defs/inner" },
      },
      $defs: {
        part: {
          $id: "https://x.example/part",
          properties: { own: { $ref: "#/$defs/inner" } },
          $defs: { inner: { type: "boolean" } },
        },
        anchored: { $anchor: "here", type: "integer" },
      },
    })
    expect(childOf(tree, "a", "own").facts.type).toBe("boolean")
    expect(childOf(tree, "b").facts.type).toBe("integer")
    expect(childOf(tree, "c").facts.type).toBe("boolean")
  })

  test("follows references with escaped names", () => {
    const $defs = { "a/b~c d": { type: "string", format: "uuid" } }
    const { facts } = schemaTree({ $ref: "#/$defs/a~1b~0c%20d", $defs })
    expect(facts).toMatchObject({ type: "string", format: "uuid" })
  })

  test("lays the parts of allOf together", () => {
    const tree = schemaTree({
      allOf: [
        { $ref: "#/$defs/base" },
        { properties: { id: { minimum: 1 }, extra: { type: "string" } }, required: ["extra"] },
      ],
      description: "Mine",
      $defs: {
        base: {
          description: "Base",
          required: ["id"],
          properties: { id: { type: "integer", description: "Number" } },
        },
      },
    })
    expect(tree.facts.description).toBe("Mine")
    expect(labelsOf(tree)).toEqual(["id", "extra"])
    expect(tree.children().every(({ isRequired }) => isRequired)).toBe(true)
    expect(childOf(tree, "id").facts).toMatchObject({
      type: "integer",
      description: "Number",
      constraints: ["at least 1"],
    })
  })

  test("shows a choice as options, named by what distinguishes them", () => {
    const tree = schemaTree({
      oneOf: [
        { title: "A cat", type: "object", properties: { purrs: { type: "boolean" } } },
        { $ref: "#/$defs/dog" },
        { type: "object", properties: { kind: { const: "bird" } } },
        { type: "string" },
        { type: "integer" },
      ],
      $defs: { dog: { type: "object", properties: { barks: {} } } },
    })
    expect(tree.facts.type).toBe("one of 5")
    expect(labelsOf(tree)).toEqual([
      "option 1: A cat",
      "option 2",
      'option 3: kind is "bird"',
      "option 4",
      "option 5",
    ])
    expect(childOf(tree, "option 2").facts.type).toBe("dog")
    expect(labelsOf(childOf(tree, "option 2"))).toEqual(["barks"])
  })

  test("a choice among a few plain types needs no options", () => {
    const plain = { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] }
    expect(schemaTree(plain).facts.type).toBe("string | integer | null")
    expect(schemaTree(plain).hasChildren).toBe(false)
    const bounded = { anyOf: [{ type: "string", minLength: 1 }, { type: "integer" }] }
    expect(labelsOf(schemaTree(bounded))).toEqual(["option 1", "option 2"])
  })

  test("several choices at once are apart, and a choice beside properties comes after them", () => {
    const either = (name: string) => [
      { properties: { [name]: { type: "string" } } },
      { properties: { [`${name}2`]: { type: "integer" } } },
    ]
    const tree = schemaTree({
      properties: { own: {} },
      oneOf: either("a"),
      anyOf: either("b"),
    })
    expect(labelsOf(tree)).toEqual(["own", "one of", "any of"])
    expect(childOf(tree, "any of").children()).toHaveLength(2)
  })

  test("something or null is that something", () => {
    const tree = schemaTree({
      anyOf: [{ $ref: "#/$defs/u" }, { type: "null" }],
      $defs: { u: USER },
    })
    expect(tree.facts.type).toBe("u | null")
    expect(labelsOf(tree)).toEqual(["name", "age", "friends"])
  })

  test("a choice among literals is a list of values", () => {
    const literals = ["low", "high"].map((value) => ({ const: value, type: "string" }))
    expect(schemaTree({ anyOf: literals }).facts).toMatchObject({
      type: "string",
      values: ['"low"', '"high"'],
    })
    expect(schemaTree({ anyOf: literals }).hasChildren).toBe(false)
    const described = [{ const: 1, description: "One" }, { const: 2 }]
    expect(schemaTree({ oneOf: described }).children()).toHaveLength(2)
  })

  test("members that only list required names become a rule in words", () => {
    const tree = schemaTree({
      properties: { a: {}, b: {}, c: {} },
      anyOf: [{ required: ["a"] }, { required: ["b", "c"] }],
    })
    expect(tree.facts.constraints).toEqual(["needs a, or b and c"])
    expect(labelsOf(tree)).toEqual(["a", "b", "c"])
  })

  test.each([
    [{ type: "array", items: { type: "string" } }, "string[]", []],
    [{ items: { type: ["string", "null"] } }, "(string | null)[]", []],
    [{ type: "array" }, "array", []],
    [{ prefixItems: [{ type: "string" }, {}] }, "[string, anything]", ["item 1", "item 2"]],
    [
      { type: "object", additionalProperties: { type: "integer" } },
      "map of integer",
      ["other names"],
    ],
    [{ patternProperties: { "^x-": true } }, "anything", ["names like ^x-"]],
    [{ type: "array", items: { enum: ["a"] } }, "string[]", ["each item"]],
    [{ not: { type: "string" } }, "anything", ["must not be"]],
    [{ if: { type: "string" }, then: { minLength: 1 } }, "anything", ["if it is", "then it is"]],
    [{ dependentSchemas: { a: { required: ["b"] } } }, "anything", ["with a"]],
    [{ format: "binary" }, "bytes", []],
    [{ type: "null" }, "null", []],
    [true, "anything", []],
    [false, "nothing", []],
    [{ not: {} }, "nothing", []],
    [undefined, "anything", []],
    [[1], "anything", []],
    ["no schema", "anything", []],
  ] as const)("%j is %s", (schema, type, labels) => {
    expect(typeOf(schema)).toBe(type)
    expect(labelsOf(schemaTree(schema))).toEqual(labels)
  })

  test("shows formats, flags, examples and every kind of bound", () => {
    const { facts } = schemaTree({
      type: "string",
      format: "date-time",
      pattern: "^a$",
      deprecated: true,
      readOnly: true,
      writeOnly: true,
      examples: ["a", "a", "b"],
      contentEncoding: "base64",
      contentMediaType: "image/png",
    })
    expect(facts).toMatchObject({
      format: "date-time",
      isDeprecated: true,
      isReadOnly: true,
      isWriteOnly: true,
      examples: ['"a"', '"b"'],
      constraints: ["matches ^a$", "encoded as base64", "holds image/png"],
    })
    const bounds = {
      minimum: 1,
      exclusiveMinimum: 0,
      maximum: 9,
      exclusiveMaximum: 10,
      multipleOf: 2,
      minItems: 1,
      maxItems: 1,
      uniqueItems: true,
      minProperties: 2,
      maxLength: 1,
      additionalProperties: false,
      dependentRequired: { a: ["b", "c"] },
    }
    expect(schemaTree(bounds).facts.constraints).toEqual([
      ...["1 to 9", "more than 0", "less than 10", "a multiple of 2"],
      "at most 1 character",
      "exactly 1 item",
      "at least 2 properties",
      "no duplicates",
      "no other properties",
      "a needs b, c",
    ])
  })

  test("limits of another type say nothing", () => {
    const odd = { type: "string", uniqueItems: true, minimum: 1, minItems: 2, maxLength: 3 }
    expect(schemaTree(odd).facts.constraints).toEqual(["at most 3 characters"])
  })

  test("names from hell are names", () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{"type":"integer"},"":{"type":"null"},"💥":{}}',
    ) as object
    const tree = schemaTree({ type: "object", properties, required: ["__proto__"] })
    expect(labelsOf(tree)).toEqual(["__proto__", "constructor", "", "💥"])
    expect(childOf(tree, "__proto__")).toMatchObject({ isRequired: true })
    expect(childOf(tree, "__proto__").facts.type).toBe("string")
  })

  test("keywords that are nonsense are passed over", () => {
    const { facts } = schemaTree({
      type: { not: "a type" },
      enum: "abc",
      required: "name",
      properties: ["x"],
      minLength: "long",
      examples: { a: 1 },
      anyOf: {},
      $ref: 5,
      description: 7,
    })
    expect(facts).toMatchObject({
      type: "anything",
      values: undefined,
      constraints: [],
      examples: [],
    })
  })

  test("a huge schema is made only where it is opened", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`p${at}`, { $ref: "#" }]),
    )
    const tree = schemaTree({ type: "object", properties })
    expect(tree.children()).toHaveLength(10_000)
    expect(childOf(tree, "p9999", "p1", "p2").isRecursive).toBe(true)
  })

  test("a chain of references without an end in sight ends", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]),
    )
    expect(schemaTree({ $ref: "#/$defs/d0", $defs }).facts.type).toBeTypeOf("string")
  })
})
