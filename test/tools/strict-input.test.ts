import fc from "fast-check"
import { expect, test } from "vitest"
import { portableInput } from "../../src/tools/portable-input.ts"
import { strictInput, type StrictInput } from "../../src/tools/strict-input.ts"
import type { JsonSchema } from "../../src/schema/json.ts"

const strictOf = (schema: JsonSchema): StrictInput =>
  strictInput(portableInput({ schema, toInput: (args) => args, pointer: "" }).schema)

test("A strict schema closes objects, and requires all members: optional ones may be null", () => {
  const { schema, reasons } = strictOf({
    type: "object",
    properties: {
      id: { type: "integer", minimum: 1 },
      state: { enum: ["open", "closed"], description: "Which." },
      note: { type: ["string", "null"], maxLength: 5, format: "x" },
      cleared: { anyOf: [{ type: "integer" }, { type: "null" }] },
      owner: { $ref: "#/$defs/owner" },
      tags: { type: "array", items: { oneOf: [{ type: "string" }, { type: "number" }] } },
    },
    required: ["id"],
    $defs: {
      owner: {
        allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { const: 1 } } }],
      },
    },
  })

  expect(reasons).toEqual([])
  expect(schema).toEqual({
    type: "object",
    properties: {
      id: { type: "integer", minimum: 1 },
      state: { description: "Which.", anyOf: [{ enum: ["open", "closed"] }, { type: "null" }] },
      note: { type: ["string", "null"] },
      cleared: { anyOf: [{ type: "integer" }, { type: "null" }] },
      owner: {
        type: ["object", "null"],
        properties: {
          a: { type: ["string", "null"] },
          b: { anyOf: [{ const: 1 }, { type: "null" }] },
        },
        required: ["a", "b"],
        additionalProperties: false,
      },
      tags: { type: ["array", "null"], items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    },
    required: ["id", "state", "note", "cleared", "owner", "tags"],
    additionalProperties: false,
  })
})

test("A strict schema joins parts that only describe, and parts of parts", () => {
  const id = { properties: { id: { type: "string" } }, required: ["id"] }
  const more = { allOf: [id, { properties: { name: { type: "string" } } }] }
  const { schema, reasons, restore } = strictOf({
    type: "object",
    properties: {
      parent: { allOf: [{ type: "object", ...id }, { description: "The parent." }] },
      whole: { type: "object", allOf: [more, { properties: {} }] },
      either: { allOf: [{ anyOf: [{ type: "string" }, { type: "number" }] }, { title: "Either" }] },
    },
  })

  expect(reasons).toEqual([])
  expect(schema["properties"]).toMatchObject({
    parent: { type: ["object", "null"], description: "The parent.", required: ["id"] },
    whole: { properties: { name: { type: ["string", "null"] } }, required: ["id", "name"] },
    either: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
  })
  expect(restore({ parent: null, whole: { id: "1", name: null }, either: 1 })).toEqual({
    whole: { id: "1" },
    either: 1,
  })
  const clash = { allOf: [{ type: "string" }, { enum: ["a", "b"] }] }
  expect(strictOf({ type: "object", properties: { clash } }).reasons).toEqual(['"allOf"'])
})

test.each<[string, JsonSchema]>([
  ["a value of any type", {}],
  [
    "an object with members of any name",
    { type: "object", additionalProperties: { type: "string" } },
  ],
  ["an object with any members", { type: "object" }],
  ["a value of any type", { type: "array" }],
])("A schema has no strict form because of %s", (reason, member) => {
  expect(strictOf({ type: "object", properties: { member } }).reasons).toContain(reason)
})

test("A strict schema leaves out a null that had to be there, and keeps one that means something", () => {
  const { restore } = strictOf({
    type: "object",
    properties: {
      cleared: { type: ["string", "null"] },
      left: { type: "string" },
      list: {
        type: "array",
        items: {
          anyOf: [
            {
              type: "object",
              properties: { a: { type: "string" }, b: { type: "string" } },
              required: ["a"],
            },
            { type: "object", properties: { c: { type: "null" } }, required: ["c"] },
          ],
        },
      },
      needed: { type: "string" },
    },
    required: ["needed"],
  })
  const list = [{ a: "x", b: null }, { c: null }]

  expect(restore({ cleared: null, left: null, list, needed: null, other: null })).toEqual({
    ...{ cleared: null, list: [{ a: "x" }, { c: null }], needed: null, other: null },
  })
})

test("A strict input comes back as it was, whatever is left out", () => {
  const member = { anyOf: [{ type: "integer" }, { type: "array", items: { type: "string" } }] }
  const inner = {
    type: "object",
    properties: { x: member, y: { type: "boolean" } },
    required: ["y"],
  }
  const source = {
    type: "object",
    properties: { a: member, b: inner, c: { type: ["string", "null"] } },
  }
  const { restore, schema } = strictOf(source)
  const value = fc.oneof(fc.integer(), fc.array(fc.string()))
  const given = fc.record(
    {
      a: value,
      b: fc.record({ x: value, y: fc.boolean() }, { requiredKeys: ["y"] }),
      c: fc.option(fc.string()),
    },
    { requiredKeys: ["c"] },
  )
  fc.assert(
    fc.property(given, (input) => {
      expect(restore(filled(input, schema) as object as JsonSchema)).toEqual(input)
    }),
  )
})

/** What a model writes in strict mode: null for each member that is left out. */
function filled(value: unknown, schema: JsonSchema): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>
  const given = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(properties).map(([key, member]) => [
      key,
      key in given ? filled(given[key], member) : null,
    ]),
  )
}
