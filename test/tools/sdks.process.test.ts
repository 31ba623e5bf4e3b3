import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { createRequire } from "node:module"
import { setImmediate } from "node:timers/promises"
import { text as readText } from "node:stream/consumers"
import { pathToFileURL } from "node:url"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { defineOperation } from "../../src/index.ts"
import { toAISDK, toAnthropic, toOpenAIResponses, toTools } from "../../src/tools.ts"
import { silentLogger } from "../../src/testing.ts"
import { isRecord } from "../../src/internal/guards.ts"
import { deferred } from "../../src/internal/wait.ts"
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
  ["task_create", { title: "Änderung 日本", owner: null }],
  ["task_create", { title: 1, owner: null }],
  ["task_picture", {}],
]

/** What a provider received. */
const requests: Record<string, unknown>[] = []
let server: Server
let baseURL = ""

beforeAll(async () => {
  server = createServer((request, response) => {
    void readText(request).then(async (sent) => {
      const body = JSON.parse(sent) as Record<string, unknown>
      requests.push(body)
      const isAnthropic = request.url?.endsWith("/messages") === true
      const [answer, events] = isAnthropic ? anthropicTurn(body) : openaiTurn(body)
      const isStream = body["stream"] === true
      response.setHeader("content-type", isStream ? "text/event-stream" : "application/json")
      if (isStream) {
        const bytes = Buffer.from(events.map(eventText).join(""))
        // Pieces that end within events and characters.
        for (let at = 0; at < bytes.length; at += 101) {
          response.write(bytes.subarray(at, at + 101))
          await setImmediate()
        }
      }
      response.end(isStream ? "" : JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
})

interface SDKEvent {
  readonly type: string
  readonly [member: string]: unknown
}

function eventText(event: SDKEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function piecesOf(text: string): readonly string[] {
  return text.match(/.{1,5}/gsu) ?? []
}

function openaiTurn(body: Record<string, unknown>): [object, SDKEvent[]] {
  const answer = openai(body)
  return [answer, openaiEvents(answer)]
}

function anthropicTurn(body: Record<string, unknown>): [object, SDKEvent[]] {
  const answer = anthropic(body)
  return [answer, anthropicEvents(answer)]
}

/** The calls of the first turn: those that the text of the user asks for. */
function callsFor(given: unknown): typeof CALLS {
  return JSON.stringify(given).includes("Wait.") ? [["task_wait", {}]] : CALLS
}

interface OpenAIAnswer {
  readonly [member: string]: unknown
  readonly output: readonly {
    readonly [member: string]: unknown
    readonly id: string
    readonly arguments?: string
    readonly content?: readonly { readonly text: string }[]
  }[]
}

function openaiEvents(answer: OpenAIAnswer): SDKEvent[] {
  const items = answer.output.flatMap((item, output_index): SDKEvent[] => {
    const place = { output_index, item_id: item.id }
    const { arguments: args, content } = item
    const kind = args === undefined ? "output_text" : "function_call_arguments"
    const text = args ?? content?.[0]?.text ?? ""
    const deltas = piecesOf(text).map((delta) => ({
      ...{ type: `response.${kind}.delta`, ...place, content_index: 0, delta },
    }))
    const part = { ...place, content_index: 0, part: { ...content?.[0], text: "" } }
    return [
      {
        type: "response.output_item.added",
        output_index,
        item: args === undefined ? { ...item, content: [] } : { ...item, arguments: "" },
      },
      ...(args === undefined ? [{ type: "response.content_part.added", ...part }] : []),
      ...deltas,
      { type: "response.output_item.done", output_index, item },
    ]
  })
  const started = { ...answer, status: "in_progress", output: [] }
  return [
    { type: "response.created", response: started },
    ...items,
    { type: "response.completed", response: answer },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

interface AnthropicAnswer {
  readonly [member: string]: unknown
  readonly content: readonly {
    readonly [member: string]: unknown
    readonly text?: string
  }[]
  readonly stop_reason: string
}

function anthropicEvents(answer: AnthropicAnswer): SDKEvent[] {
  const blocks = answer.content.flatMap((block, index): SDKEvent[] => {
    const { input, text = "" } = block
    const deltas =
      input === undefined
        ? [{ type: "text_delta", text }]
        : piecesOf(JSON.stringify(input)).map((partial_json) => ({
            type: "input_json_delta",
            partial_json,
          }))
    const empty = input === undefined ? { text: "" } : { input: {} }
    return [
      { type: "content_block_start", index, content_block: { ...block, ...empty } },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]
  })
  const { stop_reason } = answer
  return [
    { type: "message_start", message: { ...answer, content: [], stop_reason: null } },
    ...blocks,
    {
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ]
}

function openai({ input }: Record<string, unknown>): OpenAIAnswer {
  const isAnswered = JSON.stringify(input).includes("function_call_output")
  const calls = callsFor(input).map(([name, args], index) => ({
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

function anthropic({ messages }: Record<string, unknown>): AnthropicAnswer {
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

interface OpenAIResponse {
  readonly output: object[]
  readonly output_text: string
}

interface AnthropicMessage {
  readonly content: object[]
  readonly stop_reason: string
}

// The packages are installed apart from ours: they are described here as far as they are used.
interface Packages {
  readonly OpenAI: new (options: object) => {
    responses: {
      create(request: object): Promise<OpenAIResponse>
      stream(request: object): { finalResponse(): Promise<OpenAIResponse> }
    }
  }
  readonly Anthropic: new (options: object) => {
    messages: {
      create(request: object): Promise<AnthropicMessage>
      stream(request: object): { finalMessage(): Promise<AnthropicMessage> }
    }
  }
  readonly ai: {
    jsonSchema(schema: object): object
    stepCountIs(count: number): unknown
    generateText(options: object): Promise<{ text: string; steps: readonly object[] }>
    streamText(options: object): {
      readonly text: PromiseLike<string>
      readonly steps: PromiseLike<readonly object[]>
      readonly fullStream: AsyncIterable<{ readonly type: string; readonly preliminary?: boolean }>
    }
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

const WAYS = ["whole", "streamed"] as const

describe.skipIf(reason !== undefined)("tools work with the SDK of", () => {
  test.each(WAYS)("OpenAI's Responses API, with %s responses", async (way) => {
    const { OpenAI } = await load()
    const client = new OpenAI({ apiKey: "none", baseURL })
    const { tools, run } = toOpenAIResponses(toolsOf())
    const input: object[] = [user]
    const ask = (): Promise<OpenAIResponse> => {
      const request = { model: "m", input, tools }
      return way === "whole"
        ? client.responses.create(request)
        : client.responses.stream(request).finalResponse()
    }
    const first = await ask()
    const answers = await run(first)
    input.push(...first.output, ...answers)
    const second = await ask()

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

  test.each(WAYS)("Anthropic's Messages API, with %s messages", async (way) => {
    const { Anthropic } = await load()
    const client = new Anthropic({ apiKey: "none", baseURL })
    const { tools, run } = toAnthropic(toolsOf())
    const ask = (messages: object[]): Promise<AnthropicMessage> => {
      const request = { model: "m", max_tokens: 100, tools, messages }
      return way === "whole"
        ? client.messages.create(request)
        : client.messages.stream(request).finalMessage()
    }
    const first = await ask([user])
    const content = await run(first)
    const assistant = { role: "assistant", content: first.content }
    const second = await ask([user, assistant, { role: "user", content }])

    expect(second.stop_reason).toBe("end_turn")
    expect(content).toMatchObject([
      { tool_use_id: "toolu_0", is_error: false, content: [{ text: '{"keys":["title"]}' }] },
      { tool_use_id: "toolu_1", is_error: true },
      { tool_use_id: "toolu_2", content: [{ type: "image", source: { media_type: "image/png" } }] },
    ])
  })

  test.each(WAYS)("the AI SDK, with %s answers", async (way) => {
    const { ai, createOpenAI } = await load()
    const model = createOpenAI({ apiKey: "none", baseURL })("gpt-5")
    const tools = toAISDK(toolsOf(), ai)
    const options = { model, tools, stopWhen: ai.stepCountIs(3), prompt: "Create." }
    const { text, steps } =
      way === "whole" ? await ai.generateText(options) : ai.streamText(options)

    expect(await text).toBe("Done.")
    expect(await steps).toHaveLength(2)
    const { input } = requests.at(-1) as { input: unknown[] }
    const outputs = input.filter((one) => isRecord(one) && one["type"] === "function_call_output")
    expect(outputs).toMatchObject([
      { call_id: "call_0", output: '{"keys":["title"]}' },
      { call_id: "call_1", output: expect.stringContaining("/title") },
      { call_id: "call_2", output: [{ type: "input_image" }] },
    ])
  })

  test("the AI SDK, which ends a call when its request is aborted", async () => {
    const { ai, createOpenAI } = await load()
    const { tools, ended } = waiting()
    const stop = new AbortController()
    const { fullStream } = ai.streamText({
      model: createOpenAI({ apiKey: "none", baseURL })("gpt-5"),
      tools: toAISDK(tools, ai),
      abortSignal: stop.signal,
      prompt: "Wait.",
    })
    const seen: string[] = []
    for await (const { type, preliminary } of fullStream) {
      seen.push(type)
      if (preliminary === true) stop.abort()
    }

    expect(seen).toContain("abort")
    await ended
  })

  test("OpenAI, whose calls end when the run is aborted", async () => {
    const { OpenAI } = await load()
    const client = new OpenAI({ apiKey: "none", baseURL })
    const stop = new AbortController()
    const { tools, ended } = waiting(() => stop.abort(new Error("enough")))
    const openaiTools = toOpenAIResponses(tools)
    const request = { model: "m", input: "Wait.", tools: openaiTools.tools }
    const response = await client.responses.create(request)

    await expect(openaiTools.run(response, { signal: stop.signal })).rejects.toThrow("enough")
    await ended
  })
})

/** A tool that waits until its call is aborted. */
function waiting(onProgress?: () => void) {
  const { promise: ended, resolve } = deferred()
  const wait = defineOperation({
    name: "wait",
    namespace: "task",
    type: "mutation",
    description: "Waits.",
    inputSchema: Type.Object({}),
    outputSchema: Type.Null(),
    accessControl: { requiredScopes: [] },
    handler: async (_input, { progress, signal }) => {
      progress({ progress: 1, total: 2 })
      await once(signal, "abort")
      resolve()
      return null
    },
  })
  return { tools: toTools(quietRegistry([wait]), { logger: silentLogger, onProgress }), ended }
}
