import { describe, expect, test } from "vitest"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import type { MCPClientConfig } from "../../../../src/sources/mcp/config.ts"
import { fingerprintOf } from "../../../../src/sources/mcp/pins.ts"
import type { MCPOrigin, MCPToolDefinition } from "../../../../src/mcp/model.ts"
import { toolEnvelope } from "../../../../src/sources/mcp/result.ts"
import { readTool } from "../../../../src/sources/mcp/read-tool.ts"
import { toolOperation } from "../../../../src/sources/mcp/tool-operation.ts"
import type { LazyOperation } from "../../../../src/core/lazy-operation.ts"
import { quietRegistry, rejection } from "../../../support/operations.ts"

function tool(fields: Record<string, unknown>): MCPToolDefinition {
  const read = readTool({ name: "echo", ...fields })
  if (typeof read === "string") throw new Error(read)
  return read
}

function operation(
  fields: Record<string, unknown> = {},
  config: MCPClientConfig = {},
  handler: (input: unknown) => unknown = (input) => input,
): LazyOperation {
  const server = resolveServer("demo", { command: "x", ...config })
  return toolOperation(tool(fields), server, handler)
}

function originOf({ _meta }: LazyOperation): MCPOrigin {
  return _meta?.["mcp"] as MCPOrigin
}

describe("readTool", () => {
  test.each([
    ["null", null, "not an object"],
    ["a list", [], "not an object"],
    ["no name", {}, "no name"],
    ["an empty name", { name: "" }, "no name"],
    ["a name that is a number", { name: 1 }, "no name"],
    ["a definition past a million", { name: "a", description: "x".repeat(1e6) }, "1000000"],
    ["a cycle", cyclic(), "not JSON"],
    ["a million levels", { name: "a", inputSchema: deep(100_000) }, "nested"],
  ])("refuses %s", (_, value, why) => {
    expect(readTool(value)).toEqual(expect.stringContaining(why))
  })

  test("keeps every field as it came, in its order, and frozen", () => {
    const text = JSON.stringify({
      vendor: 1,
      name: "a b",
      inputSchema: { z: 1, type: "object", properties: { b: {}, a: {} }, $defs: {} },
      annotations: { readOnlyHint: true, ours: "x" },
      execution: { taskSupport: "required" },
      outputSchema: { type: "array" },
      icons: [{ src: "a:b" }],
      _meta: { ui: 1 },
    })

    const read = readTool(JSON.parse(text)) as MCPToolDefinition

    expect(JSON.stringify(read)).toBe(text)
    expect(Object.isFrozen(read.inputSchema)).toBe(true)
  })

  test("a key named __proto__ is data", () => {
    const source = '{"name":"a","__proto__":{"x":1},"inputSchema":{"__proto__":{"polluted":1}}}'

    const read = readTool(JSON.parse(source)) as MCPToolDefinition

    expect(JSON.stringify(read.inputSchema)).toBe('{"__proto__":{"polluted":1}}')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })

  test("fields of the wrong type are left out, the tool is not", () => {
    const read = tool({
      title: 1,
      description: null,
      annotations: { readOnlyHint: "true", idempotentHint: true, title: 3 },
      icons: {},
      _meta: "x",
      execution: [],
    })

    expect(read).toEqual({ name: "echo", annotations: { idempotentHint: true } })
  })

  test("tells of a large one", () => {
    const warnings: string[] = []

    const read = readTool({ name: "a", description: "x".repeat(300_000) }, (one) =>
      warnings.push(one),
    )

    expect(read).toMatchObject({ name: "a" })
    expect(warnings).toEqual([expect.stringContaining("characters")])
  })
})

describe("toolOperation", () => {
  test("says what the server says, and where it is from", () => {
    const fields = {
      title: "Echo",
      description: "Says it again",
      inputSchema: { type: "object", properties: { text: { type: "string" } } },
      _meta: { ui: { a: 1 } },
    }

    const made = operation(fields, { version: "2.1.0", visibility: "internal" })

    expect(made).toMatchObject({
      namespace: "demo",
      name: "echo",
      version: "2.1.0",
      type: "mutation",
      title: "Echo",
      description: "Says it again",
      accessControl: { requiredScopes: [] },
      visibility: "internal",
    })
    expect(made._meta).toMatchObject({ ui: { a: 1 } })
    expect(JSON.parse(JSON.stringify(originOf(made)))).toEqual({
      server: "demo",
      kind: "tool",
      tool: { name: "echo", ...fields },
      fingerprint: fingerprintOf(tool(fields)),
    })
  })

  test.each<[string, MCPClientConfig, object, string]>([
    ["nobody says anything", {}, {}, "mutation"],
    ["a stranger says it reads", {}, { readOnlyHint: true }, "mutation"],
    ["a trusted server says it reads", { trust: true }, { readOnlyHint: true }, "query"],
    ["a trusted server says nothing", { trust: true }, {}, "mutation"],
    ["the user says it reads", { tools: { echo: { type: "query" } } }, {}, "query"],
    [
      "the user says it does not",
      { trust: true, tools: { echo: { type: "mutation" } } },
      { readOnlyHint: true },
      "mutation",
    ],
  ])("when %s", (_, config, annotations, type) => {
    expect(operation({ annotations }, config).type).toBe(type)
  })

  test("hints are kept; that calls may be repeated is believed of trusted servers only", () => {
    const annotations = {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    }

    expect(operation({ annotations }).annotations).toEqual({
      readOnly: false,
      destructive: true,
      openWorld: false,
    })
    expect(operation({ annotations }, { trust: true }).annotations).toMatchObject({
      idempotent: true,
    })
    expect(originOf(operation({ annotations })).tool?.annotations).toEqual(annotations)
  })

  test("who may call one tool can be said of that tool", () => {
    const config = {
      accessControl: { requiredScopes: ["all"] },
      tools: { echo: { accessControl: { requiredScopes: ["one"] } } },
    }

    expect(operation({}, config).accessControl).toEqual({ requiredScopes: ["one"] })
    expect(operation({ name: "other" }, config).accessControl).toEqual({ requiredScopes: ["all"] })
  })

  test.each(
    ["a b", "größe", "a/b", "", "__proto__", "x".repeat(300)].filter((name) => name !== ""),
  )("registers and runs a tool called %s", async (name) => {
    const made = operation({ name }, {}, () => "ran")
    const registry = quietRegistry([made])

    const { data } = await registry.execute(`demo.${made.name}`, {})

    expect(data).toBe("ran")
    expect(originOf(made).tool?.name).toBe(name)
  })

  test("shows characters that nobody sees, and changes nothing", () => {
    const description = "Adds\u200B numbers"

    const made = operation({ description })

    expect(made.description).toBe(description)
    expect(originOf(made).hiddenText).toEqual([{ path: "/description", characters: ["U+200B"] }])
  })

  test("has words for a tool without any", () => {
    expect(operation().description).toBe('Tool "echo" of the MCP server "demo".')
    expect(operation({ annotations: { title: "T" } })).toMatchObject({
      title: "T",
      description: "T",
    })
  })
})

describe("schemas of a tool", () => {
  test("input is checked, sent untouched, and defaults are left to the server", async () => {
    const inputSchema = {
      type: "object",
      properties: { n: { type: "number" }, mode: { type: "string", default: "fast" } },
      required: ["n"],
    }
    const registry = quietRegistry([operation({ inputSchema })])

    const { data } = await registry.execute("demo.echo", { n: 1, more: [1] })
    const error = await rejection(registry.execute("demo.echo", { n: "x" }))

    expect(data).toEqual({ n: 1, more: [1] })
    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
  })

  test.each([
    ["missing", undefined],
    ["null", null],
    ["true", true],
    ["a list", []],
    ["of a text", { type: "string" }],
    ["of several types", { type: ["object", "null"] }],
  ])("an input schema that is %s takes any object, and nothing else", async (_, inputSchema) => {
    const made = operation({ inputSchema })
    const registry = quietRegistry([made])

    expect((await registry.execute("demo.echo", { any: 1 })).data).toEqual({ any: 1 })
    expect(await rejection(registry.execute("demo.echo", "text"))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(originOf(made).diagnostics).toHaveLength(1)
  })

  test("an input schema that does not say object is one all the same", async () => {
    const made = operation({ inputSchema: { properties: { n: { type: "number" } } } })
    const registry = quietRegistry([made])

    expect(await rejection(registry.execute("demo.echo", { n: "x" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(await rejection(registry.execute("demo.echo", []))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(made.inputSchema).toMatchObject({ type: "object" })
  })

  test.each([
    ["a reference to the network", { $ref: "https://evil.example/schema.json" }],
    ["a pattern that is none", { type: "string", pattern: "(" }],
    ["a pattern that hangs", { type: "string", pattern: "^(a+)+$" }],
    ["a keyword that is malformed", { type: "string", minLength: "x" }],
    ["a reference to nowhere", { $ref: "#/$defs/none" }],
  ])("%s opens its place, says so, and keeps the rest", async (_, broken) => {
    const made = operation({
      inputSchema: {
        type: "object",
        properties: { broken, n: { type: "number" } },
        required: ["n"],
      },
    })
    const registry = quietRegistry([made])

    expect((await registry.execute("demo.echo", { broken: "aaa", n: 1 })).data).toBeDefined()
    expect(await rejection(registry.execute("demo.echo", { broken: "a" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(originOf(made).diagnostics?.[0]).toMatch(/^inputSchema\/properties\/broken/)
  })

  test.each([
    ["not", { not: { properties: { a: { $ref: "https://x.example/" } } } }],
    ["oneOf", { oneOf: [{ $ref: "https://x.example/" }, { properties: { a: { const: 1 } } }] }],
    ["unevaluated", { $ref: "https://x.example/", unevaluatedProperties: false }],
  ])(
    "an open place under %s would refuse what is right, so nothing is checked",
    async (_, part) => {
      const made = operation({ inputSchema: { type: "object", ...part } })
      const registry = quietRegistry([made])

      expect((await registry.execute("demo.echo", { a: 1 })).data).toEqual({ a: 1 })
      expect(originOf(made).diagnostics?.join()).toContain("is not checked at all")
    },
  )

  test("one side that cannot be checked leaves the other as it is", async () => {
    const made = operation({
      inputSchema: { type: "object", properties: { n: { type: "number" } } },
      outputSchema: 7,
    })

    expect(made.outputSchema).toEqual({})
    expect(originOf(made).diagnostics).toEqual([expect.stringMatching(/^outputSchema/)])
    expect(await rejection(quietRegistry([made]).execute("demo.echo", { n: "x" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test.each([{ type: "array", items: { type: "number" } }, { type: "string" }, { not: {} }])(
    "output of any type is checked: %j",
    async (outputSchema) => {
      const made = operation({ outputSchema }, { output: "strict" }, () => ({ odd: true }))

      expect(await rejection(quietRegistry([made]).execute("demo.echo", {}))).toMatchObject({
        code: "OUTPUT_VALIDATION_ERROR",
      })
    },
  )

  test.each([undefined, true, {}])("output that may be anything is: %j", async (outputSchema) => {
    const made = operation({ outputSchema }, { output: "strict" }, () => ({ odd: true }))

    expect((await quietRegistry([made]).execute("demo.echo", {})).data).toEqual({ odd: true })
  })

  test("recursion and older dialects work", async () => {
    const made = operation({
      inputSchema: {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        definitions: {
          node: { properties: { next: { $ref: "#/definitions/node" } }, required: ["v"] },
        },
        properties: { node: { $ref: "#/definitions/node" } },
      },
    })
    const registry = quietRegistry([made])

    expect(
      (await registry.execute("demo.echo", { node: { v: 1, next: { v: 2 } } })).data,
    ).toBeDefined()
    expect(
      await rejection(registry.execute("demo.echo", { node: { v: 1, next: {} } })),
    ).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(originOf(made).diagnostics).toBeUndefined()
  })

  test("failures are not checked, and what was structured stays raw in the envelope", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
    const definition = tool({ outputSchema })
    const isOutput = (): boolean => false
    const about = { server: "demo", tool: definition, peer: undefined, durationMs: 1, isOutput }
    const results = [
      { structuredContent: { n: "12", extra: 1 }, content: [] },
      { structuredContent: { why: 1 }, content: [], isError: true },
    ]
    const made = operation({ outputSchema }, { output: "strict" }, () =>
      toolEnvelope(results.shift() ?? {}, about),
    )
    const registry = quietRegistry([made])

    const good = await registry.execute("demo.echo", {})
    const bad = await registry.execute("demo.echo", {})

    expect(good.data).toEqual({ n: 12, extra: 1 })
    expect(good.meta).toMatchObject({ structuredContent: { n: "12", extra: 1 } })
    expect(bad).toMatchObject({ data: { why: 1 }, meta: { isError: true } })
  })
})

function cyclic(): unknown {
  const value: Record<string, unknown> = { name: "a" }
  value["self"] = value
  return value
}

function deep(levels: number): unknown {
  let value: unknown = {}
  for (let i = 0; i < levels; i++) value = { not: value }
  return value
}
