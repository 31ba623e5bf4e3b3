import { Type } from "typebox"
import type { TSchema } from "typebox"
import { describe, expect, test } from "vitest"
import { collectErrors } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { Logger } from "../../src/index.ts"
import { operation } from "../support/operations.ts"
import { allTools, callOf, caller, surfaceOf, textsOf, toolOf } from "./surface-support.ts"

function taking(inputSchema: unknown, handler: (input: never) => unknown = (input) => input) {
  return operation("a.b", { inputSchema: inputSchema as TSchema, handler })
}

function giving(outputSchema: unknown, data?: unknown) {
  return operation("a.b", { outputSchema: outputSchema as TSchema, handler: () => data })
}

describe("the input schema of a tool", () => {
  const full = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string", "x-mcp-header": "Name" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["name"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["name"] },
    additionalProperties: false,
  }

  test("is what the operation says, every keyword, in the same order", () => {
    expect(JSON.stringify(toolOf(taking(full)).inputSchema)).toBe(JSON.stringify(full))
  })

  test("is plain data, whatever library it was written with", () => {
    const schema = toolOf(taking(Type.Object({ a: Type.Optional(Type.String()) }))).inputSchema
    expect(schema).toEqual({ type: "object", properties: { a: { type: "string" } } })
    expect(Object.getOwnPropertySymbols(schema as object)).toEqual([])
    expect(Object.getOwnPropertyNames(schema as object)).toEqual(Object.keys(schema as object))
  })

  test("is closed and empty for operations without an input, which get none", async () => {
    for (const [schema, expected] of [
      [Type.Void(), undefined],
      [Type.Undefined(), undefined],
      [Type.Null(), null],
    ] as const) {
      let got: unknown = "nothing"
      const one = taking(schema, (input) => {
        got = input
      })
      expect(toolOf(one).inputSchema).toEqual({ type: "object", additionalProperties: false })
      expect(await callOf(one, { placeholder: "some clients send one" })).toEqual({ content: [] })
      expect(got).toBe(expected)
    }
  })

  test("is an open object where anything goes", async () => {
    expect(toolOf(taking(Type.Unknown())).inputSchema).toEqual({ type: "object" })
    expect(textsOf(await callOf(taking(Type.Unknown()), { any: 1 }))).toBe('{"any":1}')
  })

  test("puts an input that is no object into one, and the handler gets it bare", async () => {
    const one = taking(Type.Array(Type.Number()))
    expect(toolOf(one).inputSchema).toEqual({
      type: "object",
      properties: { input: { type: "array", items: { type: "number" } } },
      required: ["input"],
      additionalProperties: false,
    })
    expect(textsOf(await callOf(one, { input: [1, 2] }))).toBe("[1,2]")
    expect(textsOf(await callOf(one, { input: [1, "2"] }))).toContain("- /input/1: must be number")
    expect(textsOf(await callOf(one, {}))).toContain("- /input: ")
  })

  test("lets an input be left out that may be", async () => {
    const one = taking(Type.Union([Type.Undefined(), Type.String()]), (input) => [input ?? "none"])
    expect(toolOf(one).inputSchema).toEqual({
      type: "object",
      properties: { input: { type: "string" } },
      additionalProperties: false,
    })
    expect(textsOf(await callOf(one, {}))).toBe('["none"]')
    expect(textsOf(await callOf(one, { input: "x" }))).toBe('["x"]')
  })

  test("says that it is an object where all its alternatives are", () => {
    const schema = toolOf(
      taking({
        $defs: { A: { type: "object" } },
        oneOf: [{ $ref: "#/$defs/A" }, { type: "object" }],
      }),
    ).inputSchema
    expect(schema).toMatchObject({ type: "object", oneOf: [{ $ref: "#/$defs/A" }, {}] })
    expect(
      toolOf(taking({ anyOf: [{ type: "object" }, { type: "string" }] })).inputSchema,
    ).toMatchObject({
      properties: { input: { anyOf: [{ type: "object" }, { type: "string" }] } },
    })
  })

  test("keeps its references working where it was moved", () => {
    const tree = {
      $defs: { Node: { type: "array", items: { $ref: "#/$defs/Node" } } },
      $ref: "#/$defs/Node",
    }
    const schema = toolOf(taking(tree)).inputSchema as object
    const check = (value: unknown): boolean => collectErrors(schema, value).length === 0
    expect(check({ input: [[], [[]]] })).toBe(true)
    expect(check({ input: [[], ["no"]] })).toBe(false)
  })

  test("has no types that JSON does not have", () => {
    const schema = toolOf(
      taking(Type.Object({ a: Type.Union([Type.Undefined(), Type.String(), Type.Number()]) })),
    ).inputSchema
    expect(schema).toEqual({
      type: "object",
      required: ["a"],
      properties: { a: { anyOf: [{ type: "string" }, { type: "number" }] } },
    })
  })
})

describe("the output schema of a tool", () => {
  test("is what the operation says where that is an object", () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
    for (const era of ["legacy", "modern"] as const) {
      expect(toolOf(giving(schema), {}, era).outputSchema).toEqual(schema)
    }
  })

  test("is put into an object for those who know nothing else, and so is the result", async () => {
    const list = giving(
      { $defs: { N: { type: "number" } }, type: "array", items: { $ref: "#/$defs/N" } },
      [0],
    )
    expect(toolOf(list, {}, "modern").outputSchema).toMatchObject({ type: "array" })
    const legacy = toolOf(list, {}, "legacy").outputSchema as object
    const check = (value: unknown): boolean => collectErrors(legacy, value).length === 0
    const result = await callOf(list, {}, {}, caller("legacy"))
    expect(result.structuredContent).toEqual({ result: [0] })
    expect(check(result.structuredContent)).toBe(true)
    expect(check({ result: ["0"] })).toBe(false)
    expect((await callOf(list)).structuredContent).toEqual([0])
  })

  test("is absent where nothing is known, or nothing comes", () => {
    for (const schema of [
      Type.Unknown(),
      Type.Void(),
      Type.Undefined(),
      Type.Null(),
      Type.Union([Type.Undefined(), Type.Object({})]),
      { format: "binary" },
      { description: "anything" },
    ]) {
      expect(toolOf(giving(schema))).not.toHaveProperty("outputSchema")
    }
  })
})

describe("schemas that are too much", () => {
  const words = { description: "x".repeat(40_000) }

  test("of results are left out; the result is a text then", async () => {
    const one = giving({ type: "object", properties: { a: words } }, { a: 1 })
    expect(toolOf(one)).not.toHaveProperty("outputSchema")
    expect(await callOf(one)).toEqual({ content: [{ type: "text", text: '{"a":1}' }] })
  })

  test("of inputs make pages shorter", () => {
    const list = Array.from({ length: 150 }, (_, index) =>
      operation(`n.op${index}`, {
        inputSchema: { type: "object", properties: { a: words } },
        handler: () => 1,
      }),
    )
    const surface = surfaceOf(list, { expose: { mode: "all" } })
    const { tools } = surface.list(caller(), undefined)
    expect(JSON.stringify(tools).length).toBeLessThan(3 * 1024 * 1024)
    expect(allTools(surface)).toHaveLength(150)
    expect(
      surfaceOf(list.slice(0, 1), { pageSize: 1 }).list(caller(), undefined).tools,
    ).toHaveLength(1)
  })

  test("require nothing twice", () => {
    const twice = { type: "object", properties: { a: {} }, required: ["a", "a"] }
    expect(toolOf(taking(twice)).inputSchema).toMatchObject({ required: ["a"] })
  })
})

describe("what a tool says it does", () => {
  const hints = (parts: Parameters<typeof operation>[1]) =>
    toolOf(operation("a.b", { handler: () => 1, ...parts })).annotations

  test("follows from its type, and is careful", () => {
    expect(hints({ type: "query" })).toEqual({ readOnlyHint: true, openWorldHint: false })
    expect(hints({ type: "mutation" })).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: false,
    })
  })

  test("is what the operation says, where it says something", () => {
    expect(
      hints({ annotations: { destructive: false, idempotent: true, openWorld: true } }),
    ).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    })
    expect(hints({ annotations: { readOnly: true } })).toMatchObject({ readOnlyHint: true })
    expect(hints({ type: "query", annotations: { readOnly: false } })).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    })
  })

  test("marks tools whose results come from outside", () => {
    expect(hints({ _meta: { openapi: { method: "GET" } } })).toMatchObject({ openWorldHint: true })
  })

  test("has title and description as a person sees them, and says what is deprecated", () => {
    const one = operation("a.b", {
      title: "T\u200Bitle",
      description: "Reads.\u{E0041}\u{E0042}\u202E",
      deprecated: true,
      inputSchema: Type.Object({ a: Type.String({ description: "x\u200By" }) }),
      handler: () => 1,
    })
    expect(toolOf(one)).toMatchObject({
      title: "Title",
      description: "Deprecated. Reads.",
      inputSchema: { properties: { a: { description: "xy" } } },
    })
    const deprecation = { replacedBy: "a.c" }
    const handler = (): number => 1
    const replaced = operation("a.b", { description: "Reads.", deprecation, handler })
    expect(toolOf(replaced)).toMatchObject({ description: "Deprecated. Reads." })
  })

  test.each([
    ["is served", {}, 'Deprecated. Use "a_c" instead. Reads.'],
    ["is internal", { visibility: "internal" }, "Deprecated. Reads."],
    ["needs more", { accessControl: { requiredScopes: ["c"] } }, "Deprecated. Reads."],
  ] as const)("a deprecated tool names its successor if that %s", (_why, more, description) => {
    const deprecation = { replacedBy: "a.c" }
    const handler = (): number => 1
    const old = operation("a.b", { description: "Reads.", deprecation, handler })
    const next = operation("a.c", { handler, ...more })
    const [tool] = allTools(surfaceOf([old, next]), caller())
    expect(tool?.description).toBe(description)
  })
})

describe("lint", () => {
  test("an unportable schema is logged once, with the tools and the reasons", () => {
    const lines: unknown[] = []
    const logger: Logger = { ...silentLogger, warn: (...line) => void lines.push(line) }
    const union = { anyOf: [{ type: "object" }, { type: "object" }] }
    const surface = surfaceOf([taking(union)], { logger })
    allTools(surface)
    allTools(surface)
    expect(lines).toEqual([
      [
        expect.stringContaining('schemaProfile: "portable"'),
        { count: 1, tools: [{ tool: "a.b", reasons: ['"anyOf" at the root'] }] },
      ],
    ])
  })
})
