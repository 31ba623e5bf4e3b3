import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import { Type } from "typebox"
import type { TObject } from "typebox"
import { Compile as CompileType } from "typebox/compile"
import { Compile } from "typebox/schema"
import * as Value from "typebox/value"
import * as v from "valibot"
import { afterEach, describe, expect, test, vi } from "vitest"
import { z } from "zod"
import { FromSchema, schemaDiagnostics } from "../../src/schema/from-schema.ts"

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe("FromSchema", () => {
  test("gives a schema that both compilers of TypeBox take", () => {
    const schema = FromSchema(
      {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", nullable: true }, parent: { $ref: "#" } },
      },
      { dialect: "openapi-3.0" },
    )
    for (const compiled of [Compile(schema), CompileType(schema)]) {
      expect(compiled.Check({ name: null, parent: { name: "a" } })).toBe(true)
      expect(compiled.Check({ name: "a", parent: {} })).toBe(false)
    }
  })

  test("is idempotent, and a TypeBox type passes the same door", () => {
    const schema = FromSchema(Type.Object({ a: Type.String() }))
    expect(schema).toEqual({
      type: "object",
      required: ["a"],
      properties: { a: { type: "string" } },
    })
    expect(FromSchema(schema)).toBe(schema)
  })

  test("reports each diagnostic once to onDiagnostic", () => {
    const codes: string[] = []
    const schema = FromSchema(
      { $ref: "#/nowhere", minimum: "x" },
      { onDiagnostic: ({ code }) => codes.push(code) },
    )
    expect(codes).toEqual(["malformed-keyword", "unresolved-ref"])
    FromSchema(schema, { onDiagnostic: ({ code }) => codes.push(code) })
    expect(codes).toHaveLength(2)
    expect(schemaDiagnostics(schema).map(({ code }) => code)).toEqual(codes)
  })

  test("warns on the console in a plain sentence otherwise", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined)
    FromSchema({ properties: { a: { $ref: "#/nowhere" } } })
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      'Schema at /properties/a/$ref: Reference "#/nowhere" does not exist in this schema and is ignored. Add its target, under $defs for example.',
    )
    FromSchema(
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no")
          },
        },
      ),
    )
    expect(warn.mock.lastCall?.[0]).toMatch(/^Schema at its root: /)
  })

  test("does without a console", () => {
    vi.stubGlobal("console", undefined)
    expect(() => FromSchema({ type: "strnig" })).not.toThrow()
  })

  test("throws for values that are not schemas", () => {
    expect(() => FromSchema("string")).toThrow(TypeError)
    expect(() => FromSchema(() => 1)).toThrow("got a function")
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error("trap")
        },
      },
    )
    expect(() => FromSchema(trap)).toThrow("cannot be read: trap")
  })
})

describe("schemas of other libraries", () => {
  test.each([
    ["Zod", z.object({ name: z.string(), age: z.number().optional() })],
    ["ArkType", type({ name: "string", "age?": "number" })],
    ["Valibot", toStandardJsonSchema(v.object({ name: v.string(), age: v.optional(v.number()) }))],
  ])("%s", (_, source) => {
    const schema = FromSchema(source)
    expect(Compile(schema).Check({ name: "Ada", age: 36 })).toBe(true)
    expect(Compile(schema).Check({ age: 36 })).toBe(false)
  })

  test("without a JSON Schema form are refused with what to do", () => {
    expect(FromSchema(v.string())).toMatchObject({ type: "string" })
    expect(() => FromSchema(v.date())).toThrow("Use a type that JSON has")
    const bare = { "~standard": { version: 1, vendor: "other", validate: () => ({ value: 1 }) } }
    expect(() => FromSchema(bare)).toThrow("This other schema carries no JSON Schema form")
    expect(() => FromSchema(z.date())).toThrow(
      "The input of this zod schema has no JSON Schema form",
    )
  })

  test("a ~standard that is no object is a keyword like any other", () => {
    expect(FromSchema({ "~standard": 1, type: "string" })).toEqual({
      "~standard": 1,
      type: "string",
    })
  })
})

test("schemaDiagnostics is empty for other values", () => {
  expect(schemaDiagnostics({})).toEqual([])
  expect(schemaDiagnostics(undefined)).toEqual([])
})

describe("TypeBox's own functions on results of FromSchema", () => {
  const schema = FromSchema({
    type: "object",
    properties: {
      a: { type: "string" },
      b: { type: "integer", default: 3 },
      c: {
        type: "array",
        items: { type: "object", properties: { d: { type: "boolean", default: true } } },
      },
      e: { anyOf: [{ type: "null" }, { const: "x" }] },
      f: { enum: ["p", "q"] },
    },
    required: ["a", "b"],
  }) as unknown as TObject

  test("Type.Partial lets every property out, and keeps what each of them is", () => {
    const check = CompileType(Type.Partial(schema))

    expect(check.Check({})).toBe(true)
    expect(check.Check({ a: "x" })).toBe(true)
    expect(check.Check({ a: 1 })).toBe(false)
    expect(check.Check({ f: "r" })).toBe(false)
  })

  test("Type.Pick, Omit, Required and KeyOf see the properties", () => {
    expect(Type.Pick(schema, ["a", "e"])).toEqual({
      type: "object",
      properties: { a: { type: "string" }, e: { anyOf: [{ type: "null" }, { const: "x" }] } },
      required: ["a"],
    })
    expect(Object.keys(Type.Omit(schema, ["a"]).properties)).toEqual(["b", "c", "e", "f"])
    expect(Type.Required(schema).required).toEqual(["a", "b", "c", "e", "f"])
    expect(CompileType(Type.KeyOf(schema)).Check("c")).toBe(true)
  })

  test("Value.Default fills defaults at every level", () => {
    expect(Value.Default(schema, { a: "x", c: [{}] })).toEqual({ a: "x", b: 3, c: [{ d: true }] })
    expect(Value.Clean(schema, { a: "x", b: 1, z: 1 })).toEqual({ a: "x", b: 1 })
  })

  test("see the object behind a schema that is only a reference", () => {
    const definition = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer", default: 3 } },
      required: ["a"],
    }
    const json = { $ref: "#/$defs/Task", $defs: { Task: definition } }
    const reference = FromSchema(json) as unknown as TObject

    expect(JSON.parse(JSON.stringify(reference))).toEqual(json)
    expect(Object.keys(reference)).toEqual(["$ref", "$defs"])
    const partial = CompileType(Type.Partial(reference))
    expect(partial.Check({})).toBe(true)
    expect(partial.Check({ a: 1 })).toBe(false)
    expect(Object.keys(Type.Pick(reference, ["a"]).properties)).toEqual(["a"])
    expect(Value.Default(reference, {})).toEqual({ b: 3 })
    expect(Compile(reference).Check({ a: "x" })).toBe(true)
    expect(Compile(reference).Check({})).toBe(false)
  })

  test("reject what a property refers to when its definitions were left behind", () => {
    const referring = FromSchema({
      type: "object",
      properties: { a: { type: "string" }, b: { $ref: "#/$defs/B" } },
      $defs: { B: { type: "string" } },
    }) as unknown as TObject
    const partial = CompileType(Type.Partial(referring))

    expect(partial.Check({ a: "x" })).toBe(true)
    expect(partial.Check({ b: "x" })).toBe(false)
    expect(CompileType(Type.Pick(referring, ["a"])).Check({ a: "x" })).toBe(true)
  })

  test("the marks are not seen in JSON, by keys or in a registered spec", () => {
    expect(JSON.stringify(schema)).not.toContain("~")
    expect(Object.keys(schema)).toEqual(["type", "properties", "required"])
    expect(FromSchema(schema)).toBe(schema)
  })
})
