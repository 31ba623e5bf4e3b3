import { Type } from "typebox"
import type { ClientCapabilities } from "@modelcontextprotocol/client"
import { describe, expect, test, vi } from "vitest"
import { isCallError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type {
  AnyOperation,
  InputRequest,
  InputResponse,
  OperationContext,
} from "../../../src/index.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServer, MCPServerOptions } from "../../../src/to-mcp.ts"
import { until } from "../../http-client/server.ts"
import { operation, quietRegistry, rejection, thrown } from "../../support/operations.ts"
import { answerOf, connect, rawRequest, textOf } from "./support/clients.ts"

const schema = Type.Object({ name: Type.String() })
const form = (message: string, key?: string): InputRequest => ({ message, schema, key })
const accept = (name: string): InputResponse => ({ action: "accept", content: { name } })

interface Round {
  readonly status: number
  readonly result: Record<string, unknown> | undefined
  readonly error: { code: number; message: string; data?: unknown } | undefined
  readonly questions: Record<string, { method: string; params?: Record<string, unknown> }>
  readonly state: string | undefined
}

interface RoundOptions {
  readonly answers?: unknown
  readonly state?: unknown
  readonly capabilities?: Record<string, unknown>
  readonly identity?: string
  readonly input?: Record<string, unknown>
  readonly name?: string
}

/** Calls a tool once, as a modern client does in each round. */
async function round(server: MCPServer, options: RoundOptions = {}): Promise<Round> {
  const { answers, state, capabilities = { elicitation: {} }, identity, input = {} } = options
  const { name = "demo_ask" } = options
  const request = rawRequest("tools/call", {
    params: {
      name,
      arguments: input,
      ...(answers === undefined ? {} : { inputResponses: answers }),
      ...(state === undefined ? {} : { requestState: state }),
    },
    meta: { "io.modelcontextprotocol/clientCapabilities": capabilities },
  })
  const response = await server.fetch(
    new Request("http://localhost/", request),
    identity === undefined ? undefined : { identity: { id: identity, scopes: [] } },
  )
  const { result, error } = await answerOf(response)
  return {
    status: response.status,
    result,
    error,
    questions: (result?.["inputRequests"] ?? {}) as Round["questions"],
    state: result?.["requestState"] as string | undefined,
  }
}

function asking(
  ask: (requestInput: OperationContext["requestInput"], context: OperationContext) => unknown,
  options: MCPServerOptions = {},
  more: AnyOperation[] = [],
): MCPServer {
  const handler = (_input: never, context: OperationContext): unknown =>
    ask(context.requestInput, context)
  const registry = quietRegistry([
    operation("demo.ask", { inputSchema: Type.Object({}), handler }),
    ...more,
  ])
  return toMCP(registry, { logger: silentLogger, ...options })
}

describe("questions to a modern client", () => {
  test("end the call, and are answered by the next", async () => {
    let runs = 0
    await using server = asking(async (ask) => {
      runs++
      const { action, content } = await ask(form("Who are you?", "user_name"))
      return `${action} ${(content as { name: string }).name}`
    })

    const first = await round(server)
    expect(first.result?.["resultType"]).toBe("input_required")
    expect(first.questions).toEqual({
      user_name: {
        method: "elicitation/create",
        params: {
          message: "Who are you?",
          requestedSchema: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" } },
          },
        },
      },
    })
    const second = await round(server, {
      state: first.state,
      answers: { user_name: accept("Ada") },
    })
    expect(textOf(second.result)).toBe("accept Ada")
    expect(runs).toBe(2)
  })

  test("go on for several rounds, and answers travel with the client", async () => {
    await using server = asking(async (ask) => {
      const names: unknown[] = []
      for (const message of ["one", "two", "three"]) {
        const { content } = await ask(form(message))
        names.push((content as { name: string }).name)
      }
      return names.join(" ")
    })

    let last = await round(server)
    const states = new Set<string | undefined>()
    for (const [key, name] of [
      ["input", "a"],
      ["input-2", "b"],
      ["input-3", "c"],
    ] as const) {
      expect(Object.keys(last.questions)).toEqual([key])
      states.add(last.state)
      last = await round(server, { state: last.state, answers: { [key]: accept(name) } })
    }
    expect(textOf(last.result)).toBe("a b c")
    expect(states.size).toBe(3)
  })

  test("go out together when they are asked together, also by nested calls", async () => {
    const inner = operation("demo.inner", {
      handler: async (_input: never, { requestInput }: OperationContext) =>
        (await requestInput(form("inner", "inner"))).action,
    })
    await using server = asking(
      async (ask, context) => {
        const answers = await Promise.all([
          ask(form("a", "a")),
          ask({ type: "roots" }),
          ask({ type: "sampling", params: { messages: [], maxTokens: 10 }, key: "model" }),
          context.call("demo.inner", {}),
        ])
        return answers.length
      },
      {},
      [inner],
    )
    const capabilities = { elicitation: {}, roots: {}, sampling: {} }

    const first = await round(server, { capabilities })
    expect(Object.keys(first.questions).toSorted()).toEqual(["a", "inner", "input", "model"])
    const partly = await round(server, {
      capabilities,
      state: first.state,
      answers: { a: accept("x"), input: { roots: [] } },
    })
    expect(Object.keys(partly.questions).toSorted()).toEqual(["inner", "model"])
    const last = await round(server, {
      capabilities,
      state: partly.state,
      answers: { inner: accept("y"), model: { role: "assistant", content: [], model: "m" } },
    })
    expect(last.result?.["resultType"]).toBe("complete")
  })

  test("are what the call answers, whatever the handler does after asking", async () => {
    for (const after of [
      async (asked: Promise<unknown>) => asked.catch(() => "went on without"),
      async (asked: Promise<unknown>) => {
        asked.catch(() => undefined)
        return "did not even wait"
      },
      async (asked: Promise<unknown>) => {
        asked.catch(() => undefined)
        throw new Error("failed meanwhile")
      },
    ]) {
      await using server = asking((ask) => after(ask(form("Sure?"))))
      expect((await round(server)).result?.["resultType"]).toBe("input_required")
    }
  })

  test("end the handler, so that nothing more is done before the answer", async () => {
    const reasons: unknown[] = []
    let isCleaned = false
    let effects = 0
    const effect = operation("demo.effect", { handler: () => effects++ })
    await using server = asking(
      async (ask, context) => {
        try {
          await ask(form("Sure?"))
        } catch (error) {
          reasons.push(error)
          await context.call("demo.effect", {}).catch(() => undefined)
          throw error
        } finally {
          isCleaned = true
        }
      },
      {},
      [effect],
    )

    await round(server)
    await until(() => isCleaned)
    expect(isCallError(reasons[0], "ABORTED")).toBe(true)
    expect(effects).toBe(0)
  })

  test("are asked again when the answer is missing, of another kind, or of another name", async () => {
    await using server = asking(async (ask) => (await ask(form("Who?", "who"))).action)
    const { state } = await round(server)
    const wrong: unknown[] = [
      undefined,
      null,
      {},
      { other: accept("Ada") },
      { who: 12345 },
      { who: null },
      { who: { action: "maybe" } },
      { who: { action: "accept", content: "Ada" } },
      { who: { method: "elicitation/create", result: accept("Ada") } },
      { who: { roots: [] } },
    ]
    for (const answers of wrong) {
      for (const sent of [state, undefined]) {
        const again = await round(server, { answers, state: sent })
        expect(Object.keys(again.questions)).toEqual(["who"])
      }
    }
    const extra = { who: { action: "decline" }, surplus: accept("Bob") }
    expect(textOf((await round(server, { answers: extra, state })).result)).toBe("decline")
  })

  test("are asked again when they have become different ones", async () => {
    let amount = 10
    await using server = asking(async (ask) => (await ask(form(`Pay ${amount}?`, "pay"))).action)
    const { state } = await round(server)
    amount = 1000
    const answers = { pay: accept("yes") }
    expect(Object.keys((await round(server, { state, answers })).questions)).toEqual(["pay"])
  })

  test("a state opens only for the same caller and call", async () => {
    let now = true
    const inputSchema = Type.Object({ to: Type.Optional(Type.String()) })
    const handler = async (_input: never, { requestInput }: OperationContext): Promise<string> => {
      await requestInput(form("one", "one"))
      return now ? (await requestInput(form("two", "two"))).action : "done"
    }
    const registry = quietRegistry([
      operation("demo.ask", { inputSchema, handler }),
      operation("demo.other", { inputSchema, handler }),
    ])
    await using server = toMCP(registry)
    const call = { identity: "ada", input: { to: "bob" } }
    const first = await round(server, call)
    const answers = { one: accept("x") }
    const second = await round(server, { ...call, state: first.state, answers })
    const { state = "" } = second
    const changed: RoundOptions[] = [
      { ...call, state, identity: "eve" },
      { input: call.input, state },
      { ...call, state, input: { to: "eve" } },
      { ...call, state, name: "demo_other" },
      { ...call, state: `${state}-TAMPERED` },
      { ...call, state: `${state.slice(0, -1)}${state.endsWith("A") ? "B" : "A"}` },
      { ...call, state: state.replace("v1.", "v1.A") },
      { ...call, state: "garbage" },
      { ...call, state: "" },
      { ...call, state: 7 },
      { ...call, state: { a: {}, q: {} } },
    ]
    for (const options of changed) {
      const { error, status } = await round(server, { ...options, answers: { two: accept("y") } })
      expect(error?.code).toBe(-32602)
      expect(error?.message).toContain("requestState")
      expect(status).toBe(200)
    }
    now = false
    expect(textOf((await round(server, { ...call, state })).result)).toBe("done")
  })

  test("expire", async () => {
    await using server = asking(async (ask) => (await ask(form("Who?", "who"))).action, {
      stateTtlMs: 60_000,
    })
    const { state } = await round(server)
    const later = Date.now() + 61_000
    const now = vi.spyOn(Date, "now").mockReturnValue(later)
    const late = await round(server, { state, answers: { who: accept("Ada") } })
    now.mockRestore()
    expect(late.error?.code).toBe(-32602)
  })

  test("may be answered to another server with the same key, and to none with another", async () => {
    const make = (stateKey?: string): MCPServer =>
      asking(async (ask) => (await ask(form("Who?", "who"))).action, { stateKey })
    const stateKey = "0123456789abcdef0123456789abcdef"
    await using first = make(stateKey)
    await using second = make(stateKey)
    await using stranger = make()
    const { state } = await round(first)
    const answers = { who: accept("Ada") }
    expect(textOf((await round(second, { state, answers })).result)).toBe("accept")
    expect((await round(stranger, { state, answers })).error?.code).toBe(-32602)
    expect(String(thrown(() => make("short")))).toContain("at least 32 bytes")
  })

  test.each([
    ["form", form("Who?"), {}, { elicitation: { form: {} } }],
    ["form", form("Who?"), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    [
      "url",
      { type: "url", message: "Pay", url: "https://pay.example.com" },
      { elicitation: {} },
      { elicitation: { url: {} } },
    ],
    ["sampling", { type: "sampling", params: { messages: [] } }, {}, { sampling: {} }],
    [
      "sampling with tools",
      { type: "sampling", params: { messages: [], tools: [] } },
      { sampling: {} },
      { sampling: { tools: {} } },
    ],
    ["roots", { type: "roots" }, { elicitation: {} }, { roots: {} }],
  ] as const)(
    "need a client that can be asked: %s",
    async (_, request, capabilities, requiredCapabilities) => {
      await using server = asking((ask) => ask(request))
      const { error, status } = await round(server, { capabilities })
      expect(status).toBe(400)
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } })
    },
  )

  test("leave it to the handler what to do about a client that cannot be asked", async () => {
    await using server = asking(async (ask) => {
      const answers = await Promise.allSettled([ask(form("Who?", "who")), ask({ type: "roots" })])
      return answers.map(({ status }) => status).join(" ")
    })
    const first = await round(server)
    expect(Object.keys(first.questions)).toEqual(["who"])
    const second = await round(server, { state: first.state, answers: { who: accept("Ada") } })
    expect(textOf(second.result)).toBe("fulfilled rejected")
  })
})

describe.each(["legacy", "modern"] as const)("a client of the %s era that can be asked", (era) => {
  const capabilities: ClientCapabilities = {
    elicitation: { form: {}, url: {} },
    sampling: {},
    roots: {},
  }

  test("answers forms, pages, models and roots", async () => {
    const asked: unknown[] = []
    await using server = asking(async (ask) => {
      const who = await ask(form("Who?"))
      const page = await ask({ type: "url", message: "Pay", url: "https://pay.example.com/1" })
      const model = await ask({
        type: "sampling",
        params: {
          messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
          maxTokens: 5,
        },
      })
      const roots = await ask({ type: "roots" })
      return { who, page, model, roots }
    })
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era, {
      capabilities,
      prepare(made) {
        made.setRequestHandler("elicitation/create", ({ params }) => {
          asked.push(params)
          return params.mode === "url"
            ? { action: "decline" as const }
            : { action: "accept" as const, content: { name: "Ada" } }
        })
        made.setRequestHandler("sampling/createMessage", () => ({
          role: "assistant" as const,
          model: "small",
          content: { type: "text" as const, text: "Hello" },
        }))
        made.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///projects" }] }))
      },
    })

    const result = await client.callTool({ name: "demo_ask", arguments: {} })
    expect(JSON.parse(textOf(result))).toMatchObject({
      who: { action: "accept", content: { name: "Ada" } },
      page: { action: "decline" },
      model: { action: "accept", content: { model: "small", content: { text: "Hello" } } },
      roots: { action: "accept", content: { roots: [{ uri: "file:///projects" }] } },
    })
    expect(asked).toMatchObject([
      { message: "Who?", requestedSchema: { properties: { name: { type: "string" } } } },
      { mode: "url", message: "Pay", url: "https://pay.example.com/1" },
    ])
  })

  test("is not asked for what it has not declared", async () => {
    await using server = asking((ask) => ask(form("Who?")))
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    const error = await rejection(client.callTool({ name: "demo_ask", arguments: {} }))
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
  })
})

describe("questions to a legacy client", () => {
  test("fail in the handler when the client fails", async () => {
    const reasons: unknown[] = []
    await using server = asking(async (ask) => {
      await ask(form("Who?")).catch((error: unknown) => reasons.push(error))
      return "went on"
    })
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, "legacy", {
      capabilities: { elicitation: {} },
      prepare: (made) =>
        made.setRequestHandler("elicitation/create", () => {
          throw new Error("nobody is at the keyboard")
        }),
    })
    const result = await client.callTool({ name: "demo_ask", arguments: {} })
    expect(textOf(result)).toBe("went on")
    expect(isCallError(reasons[0], "UNAVAILABLE")).toBe(true)
    expect(String(reasons[0])).toContain("nobody is at the keyboard")
  })

  test("do not wait forever", async () => {
    const reasons: unknown[] = []
    await using server = asking(
      async (ask) => {
        await ask(form("Who?")).catch((error: unknown) => reasons.push(error))
        return "went on"
      },
      { inputTimeoutMs: 30 },
    )
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, "legacy", {
      capabilities: { elicitation: {} },
      prepare: (made) =>
        made.setRequestHandler("elicitation/create", () => new Promise<never>(() => undefined)),
    })
    await client.callTool({ name: "demo_ask", arguments: {} })
    expect(isCallError(reasons[0], "TIMEOUT")).toBe(true)
  })

  test("questions to legacy clients fail without sessions", async () => {
    await using server = asking((ask) => ask(form("Who?")), { sessions: false })
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, "legacy", {
      capabilities: { elicitation: {} },
    })
    const error = await rejection(client.callTool({ name: "demo_ask", arguments: {} }))
    expect(error).toMatchObject({
      code: -32021,
      message: expect.stringMatching(/without a session.*`sessions: false`/) as unknown,
    })
    expect(error).not.toMatchObject({
      message: expect.stringContaining("has not declared") as unknown,
    })
  })
})
