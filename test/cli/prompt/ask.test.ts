import { describe, expect, test } from "vitest"
import { askFields } from "../../../src/cli/prompt/complete.ts"
import { formFields, missingFields } from "../../../src/cli/prompt/fields.ts"
import { viewOf } from "../../../src/schema/read/view.ts"
import type { CommandIO } from "../../../src/cli/model.ts"
import type { AskOptions, Terminal } from "../../../src/cli/prompt/terminal.ts"

/** Answers from a list, and keeps what was said. */
class Script implements Terminal {
  readonly said: string[] = []
  readonly asked: AskOptions[] = []
  readonly #answers: string[]

  constructor(answers: readonly string[]) {
    this.#answers = [...answers]
  }

  print(text: string): void {
    this.said.push(text)
  }

  ask(_prompt: string, options: AskOptions = {}): Promise<string> {
    this.asked.push(options)
    const answer = this.#answers.shift()
    return answer === undefined
      ? Promise.reject(new Error("There are no more answers."))
      : Promise.resolve(answer)
  }
}

const io = {
  stdout: { write: () => true },
  stderr: { write: () => true },
  env: {},
  cwd: import.meta.dirname,
  signal: new AbortController().signal,
} as unknown as CommandIO

async function ask(
  schema: unknown,
  answers: readonly string[],
  value: unknown = {},
  fields = missingFields(value, viewOf(schema)),
) {
  const script = new Script(answers)
  return { value: await askFields(value, fields, schema, script, io), script, fields }
}

function one(schema: unknown) {
  return { type: "object", properties: { x: schema }, required: ["x"] }
}

describe("missingFields", () => {
  const labels = (schema: unknown, value: unknown = {}): string[] =>
    missingFields(value, viewOf(schema)).map(({ label }) => label)

  test("finds what is required and not there, in the order of the schema", () => {
    const schema = {
      properties: { a: {}, b: { properties: { c: {}, d: {} }, required: ["d"] }, e: {} },
      required: ["e", "b", "a", "undeclared"],
    }
    expect(labels(schema)).toEqual(["a", "b.d", "e", "undeclared"])
    expect(labels(schema, { a: null, b: { c: 1 }, e: 0 })).toEqual(["b.d", "undeclared"])
    expect(labels(schema, { a: 1, b: "no object", e: 1, undeclared: 1 })).toEqual([])
    expect(labels(schema, undefined)).toEqual(["a", "b.d", "e", "undeclared"])
    expect(labels(schema, [])).toEqual([])
    expect(labels({})).toEqual([])
  })

  test("looks into an optional object that was begun", () => {
    const schema = { properties: { a: { properties: { b: {} }, required: ["b"] } } }
    expect(labels(schema)).toEqual([])
    expect(labels(schema, { a: {} })).toEqual(["a.b"])
  })

  test("ends where a schema requires itself", () => {
    const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] }
    expect(labels(schema).length).toBeLessThan(3)
  })

  test("is not led astray by names of Object.prototype", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}},"required":["__proto__","toString"]}',
    ) as unknown
    expect(labels(schema)).toEqual(["__proto__", "toString"])
  })
})

describe("askFields", () => {
  test("what can be only one thing is not asked for", async () => {
    const schema = {
      properties: { kind: { const: "task" }, options: { properties: { a: {} } } },
      required: ["kind", "options"],
    }
    const { value, script } = await ask(schema, [])
    expect(value).toEqual({ kind: "task", options: {} })
    expect(script.said).toEqual([])
  })

  test.each([
    ["a text keeps its spaces", { type: "string" }, [" a "], " a "],
    ["a number is read", { type: "number" }, [" 1.5 "], 1.5],
    ["null where texts are not allowed", { type: ["number", "null"] }, ["null"], null],
    ["a choice by its number", { enum: ["a", "b"] }, ["2"], "b"],
    ["by its value", { enum: ["a", "b"] }, ["a"], "a"],
    ["by how it begins", { enum: ["Open", "closed"] }, ["op"], "Open"],
    ["a value before a number", { enum: [3, 1, 2] }, ["1"], 1],
    ["not by how two begin", { enum: ["open", "opaque"] }, ["op", "2"], "opaque"],
    ["yes", { type: "boolean" }, ["maybe", "YES"], true],
    ["no", { type: "boolean" }, ["n"], false],
    ["once more at an empty line", { type: "string" }, ["", "y"], "y"],
    ["a list of numbers", { type: "array", items: { type: "number" } }, ["1", "2", ""], [1, 2]],
    ["a list as JSON", { type: "array", items: { type: "number" } }, ["[1,2]"], [1, 2]],
    [
      "a list again when an item is wrong",
      { type: "array", items: { type: "number" } },
      ["a", "", "1", ""],
      [1],
    ],
    ["an empty list at an empty line", { type: "array" }, [""], []],
    ["an empty list as JSON", { type: "array" }, ["[]"], []],
    ["no empty list where it must have items", { type: "array", minItems: 1 }, ["", "1", ""], [1]],
    ["an object as JSON", { type: "object" }, ["{x}", '{"x":1}'], { x: 1 }],
    ["anything", {}, ["[1]"], [1]],
  ])("%s", async (_what, schema, answers, expected) => {
    expect((await ask(one(schema), answers)).value).toEqual({ x: expected })
  })

  test("a default is taken without asking, of an object as well", async () => {
    const schema = {
      type: "object",
      properties: {
        sort: { type: "string", default: "price" },
        page: { type: "object", properties: { size: { type: "integer" } }, default: { size: 5 } },
        near: { type: "object", properties: { km: { default: null } }, required: ["km"] },
        name: { type: "string" },
      },
      required: ["sort", "page", "near", "name"],
    }
    const { value, script } = await ask(schema, ["Ada"])
    expect(value).toEqual({ sort: "price", page: { size: 5 }, near: { km: null }, name: "Ada" })
    expect(script.said).toEqual(["name: (text)"])
    expect((await ask(schema, ["Ada"], { sort: "name" })).value).toMatchObject({ sort: "name" })
  })

  test.each([
    ["the default at an empty line", { type: "string", default: "x" }, [""], "x"],
    ["an empty list as JSON", { type: "array", default: ["a"] }, ["[]"], []],
    ["the default of a list at an empty line", { type: "array", default: ["a"] }, [""], ["a"]],
  ])("a form takes %s", async (_what, schema, answers, expected) => {
    const fields = formFields(viewOf(one(schema)))
    expect((await ask(one(schema), answers, {}, fields)).value).toEqual({ x: expected })
  })

  test("hides what has the format password, and its default", async () => {
    const schema = one({ type: "string", format: "password", default: "canary" })
    const { script, value } = await ask(schema, ["5"], {}, formFields(viewOf(schema)))
    expect(value).toEqual({ x: "5" })
    expect(script.asked).toMatchObject([{ isHidden: true }])
    expect(script.said.join()).not.toContain("canary")
  })

  test("a file is asked for where bytes are wanted, until there is one", async () => {
    const { value, script } = await ask(one({ format: "binary" }), ["none.bin", "ask.test.ts"])
    expect((value as { x: Uint8Array }).x).toBeInstanceOf(Uint8Array)
    expect(script.said.join("\n")).toContain("there is no such file")
  })

  test("texts of a schema are shown with control characters escaped", async () => {
    const schema = one({ type: "string", description: "one\ntwo \u001B[2J\u202E" })
    const { script } = await ask(schema, ["x"])
    expect(script.said).toEqual([String.raw`x: one two \u001b[2J\u202e (text)`])
  })

  test("many choices are typed, not listed", async () => {
    const values = Array.from({ length: 100 }, (_, at) => `value-${at}`)
    const { value, script } = await ask(one({ enum: values }), ["value-77"])
    expect(value).toEqual({ x: "value-77" })
    expect(script.said).toHaveLength(1)
    expect(script.asked[0]?.complete).toEqual(values)
  })

  test("the value that was given is left as it was", async () => {
    const given = Object.freeze({ y: Object.freeze({ z: 1 }) })
    const { value } = await ask(one({ type: "string" }), ["a"], given)
    expect(value).toEqual({ y: { z: 1 }, x: "a" })
    expect(given).toEqual({ y: { z: 1 } })
  })

  test("names of Object.prototype are names", async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
    ) as unknown
    const { value } = await ask(schema, ["x"])
    expect(JSON.stringify(value)).toBe('{"__proto__":"x"}')
  })

  test("a list that may be left out says how to give an empty one", async () => {
    const schema = { type: "object", properties: { tags: { type: "array" } } }
    const fields = formFields(viewOf(schema))
    const script = new Script(["", "[]"])
    expect(await askFields({}, fields, schema, script, io)).toEqual({})
    expect(await askFields({}, fields, schema, script, io)).toEqual({ tags: [] })
    expect(script.said[0]).toContain("an empty line ends, [] for an empty list, optional")
  })

  test("a form asks for everything, and leaves out what is left out", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer", default: 3 }, c: { const: 1 } },
      required: ["a"],
    }
    const fields = formFields(viewOf(schema))
    expect(fields.map(({ isRequired }) => isRequired)).toEqual([true, false, false])
    const script = new Script(["x", "", ""])
    expect(await askFields({}, fields, schema, script, io)).toEqual({ a: "x", b: 3 })
  })
})
