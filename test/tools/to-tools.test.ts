import { getEventListeners, once } from "node:events"
import { describe, expect, test } from "vitest"
import { Type } from "typebox"
import { defineOperation, type AnyOperation } from "../../src/index.ts"
import { toAISDK, toAnthropic, toOpenAIResponses, toTools } from "../../src/tools.ts"
import type { ToolOutcome, ToolsOptions } from "../../src/tools.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { silentLogger } from "../../src/testing.ts"
import { quietRegistry } from "../support/operations.ts"

const add = defineOperation({
  name: "add",
  namespace: "math",
  type: "query",
  description: "Adds two numbers.",
  inputSchema: Type.Object({ a: Type.Number(), b: Type.Optional(Type.Number()) }),
  outputSchema: Type.Object({ sum: Type.Number() }),
  accessControl: { requiredScopes: [] },
  handler: ({ a, b = 1 }) => ({ sum: a + b }),
})

const secret = defineOperation({
  name: "secret",
  namespace: "math",
  type: "query",
  description: "Only for those who may.",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: ["secret"] },
  handler: (_input, { identity }) => identity?.id ?? "",
})

const list = defineOperation({
  name: "list",
  namespace: "item",
  type: "query",
  description: "Lists items.",
  inputSchema: Type.Object({}),
  outputSchema: Type.Array(Type.Object({ id: Type.Number(), text: Type.String() })),
  accessControl: { requiredScopes: [] },
  handler: () => Array.from({ length: 100 }, (_, id) => ({ id, text: "x".repeat(100) })),
})

const picture = defineOperation({
  name: "picture",
  namespace: "item",
  type: "query",
  description: "A picture.",
  inputSchema: Type.Object({}),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: () => Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]),
})

const ticks = defineOperation({
  name: "ticks",
  namespace: "item",
  type: "subscription",
  description: "Counts.",
  inputSchema: Type.Object({}),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: async function* () {
    for (let count = 0; ; count++) yield count
  },
})

const slow = defineOperation({
  name: "slow",
  namespace: "item",
  type: "mutation",
  description: "Waits, and reports progress.",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: async (_input, { progress, signal }) => {
    progress({ progress: 1, total: 2, message: "half" })
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error))
    })
    return "never"
  },
})

const ALL: readonly AnyOperation[] = [add, secret, list, picture, ticks, slow]

function toolsOf(options: ToolsOptions = {}, operations = ALL) {
  const registry = quietRegistry(operations)
  return { registry, tools: toTools(registry, { logger: silentLogger, ...options }) }
}

const textOf = ({ parts }: ToolOutcome): string =>
  parts.map((part) => (part.type === "text" ? part.text : part.type)).join("\n")

describe("toTools", () => {
  test("lists what the caller may use, with the names and schemas of MCP serving", () => {
    const { registry, tools } = toolsOf()
    const names = tools.definitions.map(({ name }) => name)

    expect(names).toEqual([
      ...["item_list", "item_picture", "item_slow", "item_ticks", "math_add", "read_result"],
    ])
    const mcp = toMCP(registry, { logger: silentLogger, schemaProfile: "portable" })
    expect(mcp.cost().all.tools).toBe(5)
    expect(tools.definitions[4]).toMatchObject({
      description: "Adds two numbers.",
      parameters: { type: "object", required: ["a"] },
      strict: false,
    })
  })

  test("calls with an object, its JSON text, or nothing, and gives data and text", async () => {
    const { tools } = toolsOf()

    for (const args of [{ a: 2 }, '{"a":2}']) {
      expect(await tools.call("math_add", args)).toEqual({
        isError: false,
        parts: [{ type: "text", text: '{"sum":3}' }],
        data: { sum: 3 },
      })
    }
    for (const args of ["", null, undefined, {}]) {
      expect((await tools.call("item_list", args)).isError).toBe(false)
    }
  })

  test.each([
    ["math_add", "{a: 2", "VALIDATION_ERROR", "not valid JSON"],
    ["math_add", "[1]", "VALIDATION_ERROR", "must be an object"],
    ["math_add", { a: "two" }, "VALIDATION_ERROR", "/a"],
    ["math_ad", { a: 2 }, "OPERATION_NOT_FOUND", 'Did you mean "math_add"?'],
    ["math_secret", {}, "OPERATION_NOT_FOUND", "There is no tool"],
    ["__proto__", {}, "OPERATION_NOT_FOUND", "There is no tool"],
    ["read_result", { id: "x" }, "OPERATION_NOT_FOUND", "There is no result"],
  ])("answers a wrong call of %s with %j", async (name, args, code, words) => {
    const { tools } = toolsOf()
    const outcome = await tools.call(name, args)

    expect(outcome).toMatchObject({ isError: true, code })
    expect(textOf(outcome)).toContain(words)
  })

  test("cuts a long result, and reads on with the same set", async () => {
    const { tools } = toolsOf({ maxResultLength: 1000 })
    const cut = textOf(await tools.call("item_list", {}))
    const id = /"id":"(\w+)"/.exec(cut)?.[1]

    expect(cut.length).toBeLessThan(2000)
    const rest = textOf(await tools.call("read_result", { id, from: 90 }))
    expect(rest).toContain('"id":90')
    const some = await tools.call("item_list", { select: ["id"] })
    expect(some.data).toHaveLength(100)
    expect(toolsOf({ maxResultLength: Infinity }).tools.definitions).toHaveLength(5)
  })

  test("serves another caller through withContext, who reads no result of the first", async () => {
    const { tools } = toolsOf({ maxResultLength: 1000 })
    const ada = tools.withContext({ identity: { id: "ada", scopes: ["secret"] } })
    const id = /"id":"(\w+)"/.exec(textOf(await tools.call("item_list", {})))?.[1]

    expect(ada.definitions.map(({ name }) => name)).toContain("math_secret")
    expect(textOf(await ada.call("math_secret", {}))).toBe("ada")
    expect((await ada.call("read_result", { id })).code).toBe("OPERATION_NOT_FOUND")
  })

  test("gives a file as base64, and the items of a subscription up to a limit", async () => {
    const { tools } = toolsOf()

    expect((await tools.call("item_picture", {})).parts).toEqual([
      { type: "image", data: "iVBORw0KGgoAAA==", mimeType: "image/png" },
    ])
    expect((await tools.call("item_ticks", { limit: 2 })).data).toEqual({
      items: [0, 1],
      isComplete: false,
    })
  })

  test("throws only when it is aborted, before or during the call, and reports progress", async () => {
    const updates: unknown[] = []
    const { tools } = toolsOf({ onProgress: (update, call) => updates.push([update, call]) })
    const stop = new AbortController()
    const call = tools.call("item_slow", {}, { signal: stop.signal, callId: "c1" })
    await expect.poll(() => updates.length).toBe(1)
    stop.abort(new Error("enough"))

    await expect(call).rejects.toThrow("enough")
    await expect(tools.call("math_add", { a: 1 }, { signal: stop.signal })).rejects.toThrow(
      "enough",
    )
    expect(updates).toEqual([
      [
        { progress: 1, total: 2, message: "half" },
        { name: "item_slow", callId: "c1" },
      ],
    ])
  })

  test("answers a call that takes longer than its timeout", async () => {
    const { tools } = toolsOf({ timeout: 20 })
    const outcome = await tools.call("item_slow", {})

    expect(outcome).toMatchObject({ isError: true, code: "TIMEOUT" })
  })

  test("searches above the threshold, with instructions, and calls operations through it", async () => {
    const { tools } = toolsOf({ expose: { mode: "search" } })

    expect(tools.mode).toBe("search")
    expect(tools.instructions).toContain("search_operations")
    expect(tools.definitions.map(({ name }) => name)).toEqual([
      ...["search_operations", "describe_operation", "call_operation", "read_result"],
    ])
    const called = await tools.call("call_operation", { id: "math.add", input: { a: 4 } })
    expect(textOf(called)).toBe('{"sum":5}')
  })

  test("says once that the tools have changed, and keeps names from those that come later", async () => {
    const { registry, tools } = toolsOf()
    const before = tools.definitions.map(({ name }) => name)
    let changes = 0
    tools.onChange(() => changes++)
    registry.unregister("math.add")
    registry.register({ ...add, namespace: "math_add", name: "x" })

    await expect.poll(() => changes).toBe(1)
    expect(tools.definitions.map(({ name }) => name)).not.toEqual(before)
    expect((await tools.call("math_add", { a: 1 })).code).toBe("OPERATION_NOT_FOUND")
  })
})

describe("formats", () => {
  test("of OpenAI and Anthropic answer every call once, in order, twice with the same id", async () => {
    const { tools } = toolsOf()
    const openai = toOpenAIResponses(tools)
    const calls = [
      { type: "function_call", call_id: "1", name: "math_add", arguments: '{"a":1}' },
      { type: "message", content: [] },
      { type: "function_call", call_id: "1", name: "nothing", arguments: "" },
      { type: "function_call", call_id: "2", name: "item_picture", arguments: "{}" },
    ]
    expect(await openai.run({ output: calls })).toEqual([
      { type: "function_call_output", call_id: "1", output: '{"sum":2}' },
      { type: "function_call_output", call_id: "1", output: expect.stringContaining("no tool") },
      {
        type: "function_call_output",
        call_id: "2",
        output: [
          {
            type: "input_image",
            image_url: "data:image/png;base64,iVBORw0KGgoAAA==",
            detail: "auto",
          },
        ],
      },
    ])
    expect(openai.tools.every((tool) => !tool.strict)).toBe(true)

    const uses = [
      { type: "text", text: "Let me see." },
      { type: "tool_use", id: "1", name: "math_add", input: { a: "x" } },
      { type: "tool_use", id: "2", name: "item_picture", input: {} },
    ]
    expect(await toAnthropic(tools).run({ content: uses })).toMatchObject([
      { type: "tool_result", tool_use_id: "1", is_error: true },
      { tool_use_id: "2", is_error: false, content: [{ type: "image" }] },
    ])
    expect(await toAnthropic(tools).run({ content: [] })).toEqual([])
  })

  test("have no empty texts, which Anthropic refuses, and say how many bytes are not shown", async () => {
    const returning = (value: unknown): AnyOperation => ({ ...picture, handler: () => value })
    const answered = async (value: unknown): Promise<unknown> => {
      const { tools } = toolsOf({}, [returning(value)])
      const use = { type: "tool_use", id: "1", name: "item_picture", input: {} }
      const [answer] = await toAnthropic(tools).run({ content: [use] })
      return answer?.content
    }

    expect(await answered("")).toEqual([])
    const text = "[file of type application/octet-stream, 4 bytes, not shown]"
    expect(await answered(Uint8Array.of(0, 1, 2, 3))).toEqual([{ type: "text", text }])
  })

  test("of the AI SDK give progress first, and errors as text", async () => {
    const { tools } = toolsOf({ timeout: 50 })
    const { item_slow: slowTool } = toAISDK(tools, { jsonSchema: (schema) => schema })
    const outcomes: ToolOutcome[] = []
    for await (const one of slowTool?.execute({}, { toolCallId: "1" }) ?? []) outcomes.push(one)

    expect(outcomes.map(textOf)).toEqual(["half (1 of 2)", expect.stringContaining("TIMEOUT")])
    const [, last] = outcomes as [ToolOutcome, ToolOutcome]
    expect(slowTool?.toModelOutput({ output: last })).toMatchObject({ type: "error-text" })
  })

  test("of the AI SDK end a call whose reader stops, between two steps or while it waits for one", async () => {
    let ends = 0
    const waits = defineOperation({
      ...{ ...slow, name: "waits", namespace: "item" },
      handler: async (_input, { progress, signal }) => {
        progress({ progress: 1 })
        await once(signal, "abort")
        ends++
        return ""
      },
    })
    const { tools } = toolsOf({}, [waits])
    const { item_waits: tool } = toAISDK(tools, { jsonSchema: (schema) => schema })
    const stop = new AbortController()
    for await (const _ of tool?.execute({}, { toolCallId: "1", abortSignal: stop.signal }) ?? [])
      break
    await expect.poll(() => ends).toBe(1)

    const steps = tool?.execute({}, { toolCallId: "2", abortSignal: stop.signal })
    await steps?.next()
    const next = steps?.next()
    const end = steps?.return()
    await expect(next).rejects.toThrow("abort")
    expect(await end).toEqual({ done: true, value: undefined })
    await expect.poll(() => ends).toBe(2)
    expect(getEventListeners(stop.signal, "abort")).toEqual([])
  })
})
