// A discriminator selects an alternative, and never excludes what an alternative accepts.
import { describe, expect, test } from "vitest"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { importOne, oneOperation } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const T = { type: "string" }
const ref = (name: string): Raw => ({ $ref: `#/components/schemas/${name}` })
const object = (properties: Raw, ...required: string[]): Raw => ({
  type: "object",
  properties,
  required,
})
const union = (members: readonly string[], more: Raw = {}, keyword = "oneOf"): Raw => ({
  [keyword]: members.map(ref),
  discriminator: { propertyName: "t", ...more },
})

/** What is wrong with a value as the body of a request, and as the result. */
function problems(schemas: Raw, value: unknown): { input: string[]; output: string[] } {
  const content = { "application/json": { schema: ref("P") } }
  const { inputSchema, outputSchema } = importOne(
    oneOperation(
      "/x",
      "post",
      {
        requestBody: { required: true, content },
        responses: { 200: { description: "", content } },
      },
      { components: { schemas } },
    ),
  )
  const texts = (schema: object, checked: unknown): string[] =>
    compileSchema(schema)
      .errors(checked)
      .map(({ path, message }) => `${path} ${message}`)
  return { input: texts(inputSchema, { body: value }), output: texts(outputSchema, value) }
}

const A = object({ t: { type: "string", enum: ["a"] }, x: { type: "integer" } }, "t", "x")
const B = object({ t: { type: "string", enum: ["b"] } }, "t")
const D = object({ t: T, y: { type: "integer" } }, "t", "y")
const CAT = object({ t: T, name: T }, "t", "name")
const DOG = object({ t: T, bark: { type: "integer" } }, "t", "bark")

describe("a discriminator accepts", () => {
  test.each<[string, Raw, readonly unknown[]]>([
    [
      "the values of a nested union",
      { A, B, D, U: union(["B", "D"]), P: union(["A", "U"]) },
      [{ t: "a", x: 1 }, { t: "b" }, { t: "D", y: 1 }, { t: "U", y: 1 }, { t: "other", y: 1 }],
    ],
    [
      "the values of a nested union beside others that declare nothing",
      { A: CAT, B, D, U: union(["B", "D"]), P: union(["A", "U"]) },
      [{ t: "b" }, { t: "D", y: 1 }, { t: "A", name: "n" }, { t: "cat", name: "n" }],
    ],
    [
      "a value that is declared beside null",
      { A, D: object({ t: { anyOf: [{ enum: ["d"] }, { type: "null" }] } }), P: union(["A", "D"]) },
      [{ t: "d" }, { t: null }, { t: "a", x: 1 }, {}],
    ],
    [
      "values outside of the mapping",
      {
        C: CAT,
        D: DOG,
        P: union(["C", "D"], { mapping: { cat: "C", dog: "#/components/schemas/D" } }),
      },
      [
        { t: "cat", name: "n" },
        { t: "lion", name: "n" },
        { t: "wolf", bark: 1 },
      ],
    ],
    [
      "values that are not the names of the schemas",
      { Cat: CAT, Dog: DOG, P: union(["Cat", "Dog"]) },
      [
        { t: "cat", name: "n" },
        { t: "dog", bark: 1 },
        { t: "Cat", name: "n" },
      ],
    ],
    [
      "the name of one schema that is the value of another",
      { a: DOG, A, P: union(["a", "A"]) },
      [
        { t: "a", x: 1 },
        { t: "dog", bark: 1 },
      ],
    ],
    [
      "names of subtypes that the document does not know",
      {
        P: { ...object({ t: T }, "t"), discriminator: { propertyName: "t" } },
        Cat: { allOf: [ref("P"), object({ name: T }, "name")] },
        Dog: { allOf: [ref("P"), { properties: { t: { const: "woof" } }, required: ["bark"] }] },
      },
      [{ t: "lion" }, { t: "Cat", name: "n" }, { t: "woof", bark: 1 }, { t: "P" }],
    ],
    [
      "alternatives that contain themselves",
      { A, P: { ...union(["A", "P"]), type: "object" } },
      [{ t: "a", x: 1 }],
    ],
    [
      "names that objects have by nature",
      {
        ["constructor"]: CAT,
        D: DOG,
        P: union(["constructor", "D"], { propertyName: "__proto__" }),
      },
      [JSON.parse(`{ "__proto__": "constructor", "t": "x", "name": "n" }`)],
    ],
  ])("%s", (_what, schemas, values) => {
    for (const value of values) {
      expect(problems(schemas, value), JSON.stringify(value)).toMatchObject({ input: [] })
    }
  })
})

describe("a discriminator selects", () => {
  const mapping = { cat: "Cat", dog: "Dog" }

  test.each<[string, Raw, unknown, string]>([
    [
      "by the mapping",
      { Cat: CAT, Dog: DOG, P: union(["Cat", "Dog"], { mapping }) },
      { t: "dog", name: "n" },
      "/body/bark is required",
    ],
    [
      "by names",
      { Cat: CAT, Dog: DOG, P: union(["Cat", "Dog"]) },
      { t: "Dog", name: "n" },
      "/body/bark is required",
    ],
    ["by declared values", { A, D, P: union(["A", "D"]) }, { t: "a", y: 1 }, "/body/x is required"],
    [
      "by values of a nested union",
      { A: CAT, B: { ...B, required: ["t", "z"] }, U: union(["B"]), P: union(["A", "U"]) },
      { t: "b", name: "n" },
      "/body/z is required",
    ],
    [
      "subtypes by declared values",
      {
        P: { ...object({ t: T }, "t"), discriminator: { propertyName: "t" } },
        Dog: { allOf: [ref("P"), { properties: { t: { const: "woof" } }, required: ["bark"] }] },
      },
      { t: "woof" },
      "/body/bark is required",
    ],
  ])("%s, and an error is about that alternative", (_what, schemas, value, expected) => {
    expect(problems(schemas, value).input).toEqual([expected])
  })

  test("and an unknown value is reported with each known one once", () => {
    const kinds = (name: string): Raw => object({ t: { enum: ["cat", "dog", name] } }, "t")
    const schemas = { A: kinds("fish"), B: kinds("fly"), P: union(["A", "B"]) }

    expect(problems(schemas, { t: "x" }).input).toEqual([
      '/body/t must be one of "cat", "dog", "fish", "fly"',
    ])
  })
})

describe("a result", () => {
  test("of a union with a discriminator may match several alternatives", () => {
    const schemas = { Cat: object({ t: T }), Dog: object({ t: T }), P: union(["Cat", "Dog"]) }

    expect(problems(schemas, { t: "Dog" }).output).toEqual([])
    expect(problems(schemas, { t: "else" }).output).toEqual([])
    expect(problems(schemas, { t: 5 }).output).not.toEqual([])
  })
})
