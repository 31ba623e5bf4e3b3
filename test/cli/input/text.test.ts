import { describe, expect, test } from "vitest"
import fc from "fast-check"
import { viewOf } from "../../../src/schema/read/view.ts"
import { readText } from "../../../src/cli/input/text.ts"
import { codePoint } from "../../support/code-point.ts"

function read(text: string, schema: unknown): unknown {
  return readText(text, viewOf(schema))
}

describe("readText", () => {
  test("text stays text where the schema wants text", () => {
    for (const text of ["", "5", "true", "null", "[1]", "{}", " a ", "007", "日本", "\u0000"]) {
      expect(read(text, { type: "string" })).toBe(text)
      expect(read(text, { type: ["string", "null"] })).toBe(text)
    }
  })

  test.each([
    ["5", { type: "integer" }, 5],
    ["-1.5e3", { type: "number" }, -1500],
    ["1.5", { type: "integer" }, "1.5"],
    ["05", { type: "integer" }, "05"],
    ["0x10", { type: "number" }, "0x10"],
    ["Infinity", { type: "number" }, "Infinity"],
    ["1e999", { type: "number" }, "1e999"],
    ["", { type: "number" }, ""],
    ["9007199254740993", { type: "integer" }, 9007199254740993n],
    ["-9007199254740993", { type: ["number", "null"] }, -9007199254740993n],
    ["9007199254740993", { type: ["integer", "string"] }, "9007199254740993"],
    ["9007199254740993", {}, "9007199254740993"],
    ["[9007199254740993]", { type: "array" }, [9007199254740993n]],
    ["9".repeat(60), { type: "integer" }, "9".repeat(60)],
    ["true", { type: "boolean" }, true],
    ["TRUE", { type: "boolean" }, "TRUE"],
    ["null", { type: "null" }, null],
    ["null", { type: ["integer", "null"] }, null],
    ["x", { type: "array", items: { type: "string" } }, ["x"]],
    ["5", { type: "array", items: { type: "string" } }, ["5"]],
    ["5", { type: "array", items: { type: "number" } }, [5]],
    ['["a","b"]', { type: "array", items: { type: "string" } }, ["a", "b"]],
    ["[broken", { type: "array", items: { type: "string" } }, ["[broken"]],
    ['{"a":1}', { type: "object" }, { a: 1 }],
    ["{a:1}", { type: "object" }, "{a:1}"],
  ])("reads %j by %j", (text, schema, value) => {
    expect(read(text, schema)).toEqual(value)
  })

  test("takes an allowed value as it is written", () => {
    const schema = { enum: ["1", 2, true, null] }
    const read_ = (text: string): unknown => read(text, schema)
    expect(["1", "2", "true", "null", "x"].map(read_)).toEqual(["1", 2, true, null, "x"])
    expect(read("5", { const: "5" })).toBe("5")
    expect(read("5", { anyOf: [{ const: 5 }, { type: "string" }] })).toBe(5)
  })

  test("looks through references and unions", () => {
    const root = {
      $defs: {
        Id: { oneOf: [{ type: "integer" }, { type: "string" }] },
        Flag: { type: "boolean" },
      },
      properties: {
        id: { $ref: "#/$defs/Id" },
        flag: { allOf: [{ $ref: "#/$defs/Flag" }, { description: "x" }] },
        maybe: { anyOf: [{ $ref: "#/$defs/Id" }, { type: "null" }] },
        loop: { $ref: "#/properties/loop" },
        lost: { $ref: "#/$defs/None" },
      },
    }
    const view = viewOf(root)
    expect(readText("5", view.property("id"))).toBe(5)
    expect(readText("five", view.property("id"))).toBe("five")
    expect(readText("true", view.property("flag"))).toBe(true)
    expect(readText("null", view.property("maybe"))).toBe("null")
    expect(readText("5", view.property("loop"))).toBe(5)
    expect(readText("5", view.property("lost"))).toBe(5)
  })

  test("without a schema it is what JSON would take it for, or text", () => {
    for (const schema of [{}, true, undefined, { description: "anything" }]) {
      expect(["5", "true", "null", "[1]", "{", "a b", ""].map((one) => read(one, schema))).toEqual([
        5,
        true,
        null,
        [1],
        "{",
        "a b",
        "",
      ])
    }
  })

  test("numbers come back as they were written", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = JSON.stringify(number)
        const value = read(text, { type: "number" })
        return Object.is(value, number === 0 ? 0 : number)
      }),
    )
  })

  test("never fails, whatever is typed", () => {
    const schemas = [{}, { type: "array" }, { type: ["integer", "array"] }, { enum: [1, "a"] }]
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.constantFrom(...schemas), (text, schema) => {
        read(text, schema)
      }),
    )
  })
})

describe("SchemaView", () => {
  test("is not led astray by names of Object.prototype", () => {
    const view = viewOf(
      JSON.parse(
        '{"allOf":[{"properties":{"__proto__":{"type":"integer"}}},{"properties":{"__proto__":{"minimum":1},"a":{}}}]}',
      ),
    )
    expect(view.declared("toString")).toBeUndefined()
    expect(view.declared("constructor")).toBeUndefined()
    expect(readText("5", view.property("__proto__"))).toBe(5)
    expect(view.names).toContain("__proto__")
  })

  test("only what every alternative requires is required", () => {
    const view = viewOf({
      required: ["id"],
      anyOf: [{ required: ["a", "b"] }, { required: ["b"] }, { type: "string" }],
    })
    expect(view.required).toEqual(["id", "b"])
  })

  test("ends where a reference leads to itself", () => {
    expect(viewOf({ $ref: "#" }).types).toEqual(new Set())
    const twice = { $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }] } } }
    expect(viewOf({ ...twice, $ref: "#/$defs/A" }).types).toEqual(new Set())
  })
})
