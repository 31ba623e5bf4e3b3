import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, it } from "vitest"
import { parseExact } from "../../src/http-client/exact-json.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import { parseQuery, queryForm, readQueryInput } from "../../src/serve/query-input.ts"

const read = (query: string, schema: object): unknown =>
  readQueryInput(query, schema as JsonSchema, JSON.parse)

const object = (properties: Record<string, unknown>, more: object = {}): object => ({
  type: "object",
  properties,
  ...more,
})

describe("the input in a query", () => {
  it("takes lists of lists without end as JSON", () => {
    const one = { type: "array", items: { $ref: "#/$defs/one" } }
    const schema = {
      type: "object",
      properties: { tree: { type: "array", items: { $ref: "#/$defs/one" } } },
      $defs: { one },
    }
    expect(queryForm(schema).parameters[0]?.kind).toBe("json")
    expect(read("tree=[[],[[]]]", schema)).toEqual({ tree: [[], [[]]] })
  })

  it("has scalars of the types of the schema", () => {
    const schema = object({
      text: { type: "string" },
      count: { type: "integer" },
      ratio: { type: "number" },
      open: { type: "boolean" },
      none: { type: ["number", "null"] },
    })
    expect(read("text=12&count=12&ratio=-1.5e3&open=true&none=null", schema)).toEqual({
      text: "12",
      count: 12,
      ratio: -1500,
      open: true,
      none: null,
    })
  })

  it("leaves what is no number as it is, for validation to say", () => {
    const schema = object({ n: { type: "number" } })
    for (const text of ["", "%2012", "0x10", "1_000", "Infinity", "NaN", "1e9999", "012", "1,5"]) {
      const { n } = read(`n=${text}`, schema) as { n: unknown }
      expect(typeof n, text).toBe("string")
    }
    // As a number it would be its neighbour.
    const exact = (text: string): unknown =>
      readQueryInput(`n=${text}`, schema as JsonSchema, parseExact)
    expect(exact("9007199254740993")).toEqual({ n: 9007199254740993n })
    expect(exact("9".repeat(60))).toEqual({ n: "9".repeat(60) })
  })

  it("repeats the items of a list", () => {
    const schema = object({
      ids: { type: "array", items: { type: "integer" } },
      tags: { type: "array", items: { type: "string" } },
    })
    expect(read("ids=1&tags=a&ids=2", schema)).toEqual({ ids: [1, 2], tags: ["a"] })
    expect(read("tags=", schema)).toEqual({ tags: [""] })
    const tags = { type: "array", items: { type: "string" } }
    const indirect = {
      $defs: { tags },
      ...object({ a: { $ref: "#/$defs/tags" }, b: { anyOf: [tags, { type: "null" }] } }),
    }
    expect(read("a=1&b=2&b=null", indirect)).toEqual({ a: ["1"], b: ["2", "null"] })
  })

  it("takes objects, and lists of them, as JSON", () => {
    const point = object({ x: { type: "number" } })
    const schema = object({ at: point, points: { type: "array", items: point } })
    const json = (value: unknown): string => encodeURIComponent(JSON.stringify(value))
    expect(read(`at=${json({ x: 1 })}&points=${json([{ x: 2 }])}`, schema)).toEqual({
      at: { x: 1 },
      points: [{ x: 2 }],
    })
    expect(read(`points=${json({ x: 1 })}`, schema)).toEqual({ points: [{ x: 1 }] })
    expect(read(`points=${json({ x: 1 })}&points=${json({ x: 2 })}`, schema)).toEqual({
      points: [{ x: 1 }, { x: 2 }],
    })
    expect(read("at=%7Bbroken", schema)).toEqual({ at: "{broken" })
  })

  it("takes what may be text or something else as JSON, or else as text", () => {
    const schema = object({
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      any: {},
      name: { type: ["string", "null"] },
    })
    expect(read("either=12&any=true", schema)).toEqual({ either: 12, any: true })
    expect(read("either=%2212%22&any=hello", schema)).toEqual({ either: "12", any: "hello" })
    expect(readQueryInput("any=", schema as JsonSchema, () => undefined)).toEqual({ any: "" })
    expect(read("either=true", schema)).toEqual({ either: "true" })
    expect(read("name=null", schema)).toEqual({ name: "null" })
  })

  it("follows references, unions and parts", () => {
    const schema = {
      $defs: { id: { type: "integer" } },
      allOf: [
        object({ id: { $ref: "#/$defs/id" } }, { required: ["id"] }),
        {
          oneOf: [
            object({ kind: { const: 1 }, size: { enum: [1, 2] } }, { required: ["kind", "size"] }),
            object({ kind: { const: 2 } }, { required: ["kind"] }),
          ],
        },
      ],
    }
    expect(read("id=5&kind=2&size=1", schema)).toEqual({ id: 5, kind: 2, size: 1 })
    const required = queryForm(schema).parameters.filter((one) => one.isRequired)
    expect(required.map(({ name }) => name)).toEqual(["id", "kind"])
  })

  it("ends with schemas that refer to themselves", () => {
    const loop = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }
    expect(read("x=1", loop)).toEqual({ x: 1 })
    const tree = object({ child: { $ref: "#" } })
    expect(read("child=%7B%22child%22:%7B%7D%7D", tree)).toEqual({ child: { child: {} } })
  })

  it("gives names that are special to JavaScript no power", () => {
    const schema = object({ a: { type: "string" } })
    const input = read("__proto__=x&constructor=y&a=z&toString=t", schema) as object
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
    expect(Object.keys(input)).toEqual(["__proto__", "constructor", "a", "toString"])
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined()
  })

  it("is nothing for an operation that takes nothing, and an object for one that takes objects", () => {
    expect(read("", Type.Void())).toBeUndefined()
    expect(read("", {})).toBeUndefined()
    expect(read("", object({}))).toEqual({})
    expect(read("", { type: "null" })).toBeNull()
  })

  it("is JSON as a whole where it is no object", () => {
    const schema = { type: "array", items: { type: "number" } }
    expect(queryForm(schema)).toEqual({ parameters: [], isWhole: true })
    expect(read("input=[1,2]", schema)).toEqual([1, 2])
    expect(read("other=1", schema)).toBeUndefined()
    expect(() => read("input=[1", schema)).toThrow(SyntaxError)
  })

  it("uses the schema for names that are not mentioned", () => {
    const schema = { type: "object", additionalProperties: { type: "integer" } }
    expect(read("a=1&b=2", schema)).toEqual({ a: 1, b: 2 })
  })

  it("refuses broken percent-encoding", () => {
    expect(() => parseQuery("a=%zz")).toThrow(/percent-encoding/)
    expect(() => parseQuery("%c3%28=1")).toThrow(/percent-encoding/)
    expect(parseQuery("a+b=c%2Bd&&=x&flag")).toEqual(
      new Map([
        ["a b", ["c+d"]],
        ["", ["x"]],
        ["flag", [""]],
      ]),
    )
  })

  it("brings back what was sent in its documented form", () => {
    const schema = object({
      text: { type: "string" },
      count: { type: "integer" },
      open: { type: "boolean" },
      tags: { type: "array", items: { type: "string" } },
      more: { type: "object" },
      mixed: { type: ["string", "number", "boolean", "null"] },
    })
    const kinds = new Map(queryForm(schema as JsonSchema).parameters.map((p) => [p.name, p.kind]))
    const inputs = fc.record(
      {
        text: fc.string({ unit: "grapheme" }),
        count: fc.maxSafeInteger(),
        open: fc.boolean(),
        tags: fc.array(fc.string(), { minLength: 1 }),
        more: fc.dictionary(fc.string(), fc.jsonValue()),
        mixed: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(inputs, (input) => {
        const query = new URLSearchParams()
        for (const [name, value] of Object.entries(input)) {
          const isText = typeof value === "string" && kinds.get(name) === "text"
          if (kinds.get(name) === "list") {
            for (const item of value as string[]) query.append(name, item)
          } else query.append(name, isText ? value : JSON.stringify(value))
        }
        // Through JSON, which has no negative zero.
        expect(read(query.toString(), schema)).toEqual(JSON.parse(JSON.stringify(input)))
      }),
    )
  })
})
