import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { defineOperation } from "../../src/index.ts"
import { toAISDK, toAnthropic, toOpenAIResponses, toTools } from "../../src/tools.ts"
import { silentLogger } from "../../src/testing.ts"
import { isRecord } from "../../src/internal/guards.ts"
import { provideClients } from "../sources/mcp/interop/install.ts"
import { quietRegistry } from "../support/operations.ts"

const { folder, reason } = await provideClients()

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0])

const operations = [
  defineOperation({
    name: "create",
    namespace: "task",
    type: "mutation",
    description: "Creates a task.",
    inputSchema: Type.Object({ title: Type.String(), owner: Type.Optional(Type.String()) }),
    outputSchema: Type.Object({ keys: Type.Array(Type.String()) }),
    accessControl: { requiredScopes: [] },
    handler: (input, { progress }) => {
      progress({ progress: 1, total: 1 })
      return { keys: Object.keys(input) }
    },
  }),
  defineOperation({
    name: "picture",
    namespace: "task",
    type: "query",
    description: "A picture.",
    inputSchema: Type.Object({}, { additionalProperties: false }),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    handler: () => PNG,
  }),
]

/** Calls that the model makes in its first turn: one that works, one that is wrong, an image. */
const CALLS: readonly (readonly [string, unknown])[] = [
  ["task_create", { title: "A", owner: null }],
  ["task_create", { title: 1, owner: null }],
  ["task_picture", {}],
]

/** What a provider received. */
const requests: Record<string, unknown>[] = []
let server: Server
let baseURL = ""

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request) text += String(chunk)
    const body = JSON.parse(text) as Record<string, unknown>
    requests.push(body)
    const answer = request.url?.endsWith("/messages") ? anthropic(body) : openai(body)
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
})

function openai({ input }: Record<string, unknown>): object {
  const isAnswered = JSON.stringify(input).includes("function_call_output")
  const calls = CALLS.map(([name, args], index) => ({
    ...{ type: "function_call", id: `fc_${index}`, call_id: `call_${index}`, status: "completed" },
    ...{ name, arguments: JSON.stringify(args) },
  }))
  const content = [{ type: "output_text", text: "Done.", annotations: [] }]
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content }
  return {
    ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m" },
    output: isAnswered ? [message] : calls,
    usage: {
      ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      ...{ input_tokens_details: { cached_tokens: 0 } },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
}

function anthropic({ messages }: Record<string, unknown>): object {
  const isAnswered = JSON.stringify(messages).includes("tool_result")
  const uses = CALLS.map(([name, input], index) => ({
    ...{ type: "tool_use", id: `toolu_${index}`, name, input },
  }))
  return {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null },
    content: isAnswered ? [{ type: "text", text: "Done." }] : uses,
    stop_reason: isAnswered ? "end_turn" : "tool_use",
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}

// The packages are installed apart from ours: they are described here as far as they are used.
interface Packages {
  readonly OpenAI: new (options: object) => {
    responses: { create(request: object): Promise<{ output: object[]; output_text: string }> }
  }
  readonly Anthropic: new (options: object) => {
    messages: { create(request: object): Promise<{ content: object[]; stop_reason: string }> }
  }
  readonly ai: {
    jsonSchema(schema: object): object
    stepCountIs(count: number): unknown
    generateText(options: object): Promise<{ text: string; steps: readonly object[] }>
  }
  readonly createOpenAI: (options: object) => (model: string) => object
}

async function load(): Promise<Packages> {
  const { resolve } = createRequire(`${String(folder)}/package.json`)
  const get = (name: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(resolve(name)).href) as Promise<Record<string, unknown>>
  const [openaiSDK, anthropicSDK, ai, provider] = await Promise.all(
    ["openai", "@anthropic-ai/sdk", "ai", "@ai-sdk/openai"].map(get),
  )
  return {
    OpenAI: openaiSDK?.["OpenAI"],
    Anthropic: anthropicSDK?.["Anthropic"],
    ai,
    createOpenAI: provider?.["createOpenAI"],
  } as unknown as Packages
}

function toolsOf() {
  const registry = quietRegistry(operations)
  return toTools(registry, { logger: silentLogger, schemaProfile: "strict" })
}

const user = { role: "user", content: "Create a task." }

describe.skipIf(reason !== undefined)("tools work with the SDK of", () => {
  test("OpenAI's Responses API", async () => {
    const { OpenAI } = await load()
    const client = new OpenAI({ apiKey: "none", baseURL })
    const { tools, run } = toOpenAIResponses(toolsOf())
    const input: object[] = [user]
    const first = await client.responses.create({ model: "m", input, tools })
    const answers = await run(first)
    input.push(...first.output, ...answers)
    const second = await client.responses.create({ model: "m", input, tools })

    expect(second.output_text).toBe("Done.")
    expect(requests.at(-1)?.["tools"]).toMatchObject([
      { name: "task_create", strict: true, parameters: { required: ["title", "owner"] } },
      { name: "task_picture", strict: true },
      { name: "read_result", strict: false },
    ])
    expect(answers).toMatchObject([
      { call_id: "call_0", output: '{"keys":["title"]}' },
      { call_id: "call_1", output: expect.stringContaining("/title") },
      { call_id: "call_2", output: [{ type: "input_image" }] },
    ])
  })

  test("Anthropic's Messages API", async () => {
    const { Anthropic } = await load()
    const client = new Anthropic({ apiKey: "none", baseURL })
    const { tools, run } = toAnthropic(toolsOf())
    const common = { model: "m", max_tokens: 100, tools }
    const first = await client.messages.create({ ...common, messages: [user] })
    const content = await run(first)
    const messages = [
      user,
      { role: "assistant", content: first.content },
      { role: "user", content },
    ]
    const second = await client.messages.create({ ...common, messages })

    expect(second.stop_reason).toBe("end_turn")
    expect(content).toMatchObject([
      { tool_use_id: "toolu_0", is_error: false, content: [{ text: '{"keys":["title"]}' }] },
      { tool_use_id: "toolu_1", is_error: true },
      { tool_use_id: "toolu_2", content: [{ type: "image", source: { media_type: "image/png" } }] },
    ])
  })

  test("the AI SDK", async () => {
    const { ai, createOpenAI } = await load()
    const model = createOpenAI({ apiKey: "none", baseURL })("gpt-5")
    const tools = toAISDK(toolsOf(), { jsonSchema: (schema) => ai.jsonSchema(schema) })
    const stopWhen = ai.stepCountIs(3)
    const { text, steps } = await ai.generateText({ model, tools, stopWhen, prompt: "Create." })

    expect(text).toBe("Done.")
    expect(steps).toHaveLength(2)
    const { input } = requests.at(-1) as { input: unknown[] }
    const outputs = input.filter((one) => isRecord(one) && one["type"] === "function_call_output")
    expect(outputs).toMatchObject([
      { call_id: "call_0", output: '{"keys":["title"]}' },
      { call_id: "call_1", output: expect.stringContaining("/title") },
      { call_id: "call_2", output: [{ type: "input_image" }] },
    ])
  })
})
