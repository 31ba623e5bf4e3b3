import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import { Type } from "typebox"
import * as v from "valibot"
import { afterEach, describe, expect, test, vi } from "vitest"
import { z } from "zod"
import { fromStandardSchema } from "../../src/schema/from-schema.ts"
import type { StandardSchemaLike } from "../../src/schema/standard.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import { jsonSchemaOf, standardProps } from "../../src/schema/standard.ts"
import { collectErrors } from "../../src/core/validation.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

const tasks: Record<string, StandardSchemaLike> = {
  zod: z.object({
    title: z.string().min(1),
    tags: z.array(z.string()).optional(),
    state: z.union([z.literal("open"), z.literal("done")]).default("open"),
    due: z.string().nullable(),
  }),
  valibot: v.object({
    title: v.pipe(v.string(), v.minLength(1)),
    tags: v.optional(v.array(v.string())),
    state: v.optional(v.picklist(["open", "done"]), "open"),
    due: v.nullable(v.string()),
  }),
  "valibot, wrapped": toStandardJsonSchema(
    v.object({
      title: v.pipe(v.string(), v.minLength(1)),
      tags: v.optional(v.array(v.string())),
      state: v.optional(v.picklist(["open", "done"]), "open"),
      due: v.nullable(v.string()),
    }),
  ),
  arktype: type({
    title: "string >= 1",
    "tags?": "string[]",
    state: "'open' | 'done' = 'open'",
    due: "string | null",
  }),
  "our own": compileSchema(
    Type.Object({
      title: Type.String({ minLength: 1 }),
      tags: Type.Optional(Type.Array(Type.String())),
      state: Type.Optional(
        Type.Union([Type.Literal("open"), Type.Literal("done")], { default: "open" }),
      ),
      due: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
}

describe.each(Object.entries(tasks))("fromStandardSchema with %s", (_, schema) => {
  test("gives a schema that checks the same", () => {
    const json = fromStandardSchema(schema)

    expect(collectErrors(json, { title: "x", due: null })).toEqual([])
    expect(collectErrors(json, { title: "x", due: null, tags: ["a"], state: "done" })).toEqual([])
    expect(
      collectErrors(json, { title: "", tags: [1], state: "lost" }).map(({ path }) => path),
    ).toEqual(expect.arrayContaining(["/due", "/title", "/tags/0", "/state"]))
  })

  test("gives plain, frozen data", () => {
    const json = fromStandardSchema(schema)

    expect(Object.isFrozen(json)).toBe(true)
    expect(JSON.parse(JSON.stringify(json))).toEqual(json)
    expect(json).not.toHaveProperty("~standard")
  })
})

// ArkType's own JSON Schema form of an input leaves defaults out.
describe.each(Object.entries(tasks).filter(([name]) => name !== "arktype"))(
  "a default of %s",
  (_, schema) => {
    test("is one of the schema", () => {
      const { value } = compileSchema(fromStandardSchema(schema))
        .normalizer("defaults")
        .normalize({ title: "x", due: null })

      expect(value).toMatchObject({ state: "open" })
    })
  },
)

describe("sides", () => {
  const counts: Record<string, StandardSchemaLike> = {
    zod: z.string().transform(Number).pipe(z.number()),
    valibot: v.pipe(v.string(), v.transform(Number), v.number()),
    arktype: type("string").pipe(Number, type("number")),
  }

  test.each(Object.entries(counts))("%s: each side of a transform has its own", (_, schema) => {
    expect(fromStandardSchema(schema)).toMatchObject({ type: "string" })
    expect(fromStandardSchema(schema, { side: "output" })).toMatchObject({ type: "number" })
  })

  test("the output of Zod is not taken for its input", () => {
    const schema = z.object({ a: z.string().default("x") })

    expect(fromStandardSchema(schema)).not.toHaveProperty("required")
    expect(fromStandardSchema(schema, { side: "output" })).toMatchObject({ required: ["a"] })
  })

  test("a side that does not exist is a TypeError", () => {
    expect(() => fromStandardSchema(z.string(), { side: "inside" as "input" })).toThrow(
      new TypeError(`fromStandardSchema(): side must be "input" or "output", got "inside".`),
    )
  })
})

describe("what cannot be converted", () => {
  test.each([
    ["zod", z.object({ at: z.date() }), `unrepresentable: "any"`],
    ["zod", z.bigint(), `unrepresentable: "any"`],
    ["valibot", v.object({ at: v.date() }), "Use a type that JSON has"],
    [
      "arktype",
      standard({ vendor: "arktype", jsonSchema: { input: () => fail("no form for Date") } }),
      "fallback",
    ],
  ])("a type of %s that JSON does not have names the cure (%#)", (vendor, schema, cure) => {
    const convert = (): unknown => fromStandardSchema(schema as StandardSchemaLike)

    expect(convert).toThrow(TypeError)
    expect(convert).toThrow(`The input of this ${vendor} schema has no JSON Schema form`)
    expect(convert).toThrow(cure)
  })

  test("ArkType describes what JSON does not have as anything", () => {
    const json = fromStandardSchema(type({ at: "Date", name: "string" }))

    expect(json).toMatchObject({ properties: { at: {}, name: { type: "string" } } })
  })

  test("a transform without a schema after it has no output form", () => {
    const zod = z.string().transform(Number)
    const valibot = v.pipe(v.string(), v.transform(Number))

    expect(() => fromStandardSchema(zod, { side: "output" })).toThrow("The output of this zod")
    expect(() => fromStandardSchema(valibot, { side: "output" })).toThrow(`"transform" action`)
  })

  test.each([
    ["JSON Schema", { type: "string" }],
    ["a TypeBox type", Type.String()],
    ["nothing", undefined],
    ["null", null],
    ["a string", "string"],
    ["half a schema", { "~standard": { vendor: "x" } }],
    ["a schema of another kind", { "~standard": true }],
  ])("%s belongs to FromSchema", (_, schema) => {
    const convert = (): unknown => fromStandardSchema(schema as unknown as StandardSchemaLike)

    expect(convert).toThrow(TypeError)
    expect(convert).toThrow("FromSchema()")
  })

  test("a vendor without a JSON Schema form gives an error with advice", () => {
    const plain = standard({ jsonSchema: undefined })

    expect(() => fromStandardSchema(plain)).toThrow(
      "This acme schema carries no JSON Schema form. Pass its JSON Schema through FromSchema instead",
    )
  })
})

describe("hostile schemas", () => {
  test("a ~standard that throws when it is read", () => {
    const schema = {
      get "~standard"(): never {
        throw new Error("no")
      },
    }

    expect(() => fromStandardSchema(schema)).toThrow(
      `"~standard" of this schema cannot be read: no`,
    )
    expect(() => compileSchema(schema)).toThrow(TypeError)
  })

  test.each([
    [
      "a getter that throws",
      {
        get jsonSchema(): never {
          throw new Error("no")
        },
      },
    ],
    [
      "a form that throws",
      {
        jsonSchema: {
          input: () => {
            throw new Error("no")
          },
        },
      },
    ],
    [
      "a form that throws no error",
      {
        jsonSchema: {
          input: () => {
            throw "no"
          },
        },
      },
    ],
  ])("%s", (_, props) => {
    expect(() => fromStandardSchema(standard(props))).toThrow(TypeError)
    expect(() => fromStandardSchema(standard(props))).toThrow(/no/)
  })

  test.each([
    ["a number", 5, "gave 5 where JSON Schema was expected"],
    ["nothing", undefined, "gave undefined where"],
    ["null", null, "gave null where"],
    ["a list", [1], "gave [1] where"],
    ["a promise", Promise.resolve({}), "gave a promise where"],
  ])("a form that gives %s", (_, given, message) => {
    expect(() => fromStandardSchema(standard({ jsonSchema: { input: () => given } }))).toThrow(
      message,
    )
  })

  test("a form that is no function, or is missing on one side", () => {
    expect(() => fromStandardSchema(standard({ jsonSchema: { input: {} } }))).toThrow(
      "no JSON Schema form",
    )
    expect(() => fromStandardSchema(standard({ jsonSchema: {} }), { side: "output" })).toThrow(
      "no JSON Schema form",
    )
  })

  test("true and false are schemas", () => {
    const anything = standard({ jsonSchema: { input: () => true } })
    const nothing = standard({ jsonSchema: { input: () => false } })

    expect(collectErrors(fromStandardSchema(anything), 5)).toEqual([])
    expect(collectErrors(fromStandardSchema(nothing), 5)).toHaveLength(1)
  })

  test("a vendor that is no text, or has the name of something else", () => {
    expect(() => fromStandardSchema(standard({ vendor: 5, jsonSchema: undefined }))).toThrow(
      "This unknown schema",
    )
    expect(() => fromStandardSchema(standard({ vendor: "toString", jsonSchema: {} }))).toThrow(
      "This toString schema",
    )
    expect(() =>
      fromStandardSchema(standard({ vendor: "valibot", jsonSchema: undefined })),
    ).toThrow("Use a type that JSON has")
  })

  test("broken places are diagnosed, and accept anything", () => {
    const onDiagnostic = vi.fn()
    const schema = standard({ jsonSchema: { input: () => ({ $ref: "#/$defs/lost" }) } })

    const json = fromStandardSchema(schema, { onDiagnostic })

    expect(onDiagnostic).toHaveBeenCalledWith(expect.objectContaining({ code: "unresolved-ref" }))
    expect(collectErrors(json, 5)).toEqual([])
  })
})

describe("standardProps and jsonSchemaOf", () => {
  test("a schema without ~standard is returned as it is", () => {
    const schema = { type: "string" }

    expect(jsonSchemaOf(schema, "input")).toBe(schema)
    expect(standardProps(schema)).toBeUndefined()
  })

  test("what z.toJSONSchema gave is JSON Schema, and not the schema it came from", () => {
    const open = z.toJSONSchema(z.object({ at: z.date() }), { unrepresentable: "any" })
    const output = z.toJSONSchema(z.string().transform(Number).pipe(z.number()), { io: "output" })

    expect(standardProps(open)).toBeUndefined()
    expect(compileSchema(open).check({ at: "today" })).toBe(true)
    expect(compileSchema(open).check({})).toBe(false)
    expect(compileSchema(output).check(5)).toBe(true)
  })

  test("a raw Valibot schema validates as ever and has a JSON Schema form", () => {
    const schema = v.pipe(v.string(), v.toUpperCase())

    expect(standardProps(schema)?.validate("a")).toMatchObject({ value: "A" })
    expect(jsonSchemaOf(schema, "input")).toMatchObject({ type: "string" })
    expect(jsonSchemaOf(schema, "output")).toMatchObject({ type: "string" })
  })

  test("compileSchema takes a raw Valibot schema", () => {
    expect(compileSchema(v.number()).check(1)).toBe(true)
    expect(compileSchema(v.number()).check("1")).toBe(false)
  })

  test("our own schemas are returned as the same object", () => {
    const compiled = compileSchema(Type.String())

    expect(fromStandardSchema(compiled)).toBe(compiled.schema)
  })
})

function fail(message: string): never {
  throw new Error(message)
}

function standard(props: object): StandardSchemaLike {
  const base = { version: 1, vendor: "acme", validate: (value: unknown) => ({ value }) }
  const all = Object.defineProperties(base, Object.getOwnPropertyDescriptors(props))
  return { "~standard": all } as unknown as StandardSchemaLike
}
