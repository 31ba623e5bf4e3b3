import type { Client } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { describeLanes, openLane, openThrough } from "./lanes.ts"
import type { Pair } from "./lanes.ts"
import { dataOf } from "./support.ts"

const REPLY = {
  role: "assistant",
  model: "none",
  content: { type: "text", text: "Fine." },
} as const
const ROOTS = [{ uri: "file:///projects", name: "work" }]

describeLanes("questions", (lane) => {
  let pair: Pair
  let asked: { readonly method: string; readonly params: unknown }[] = []
  let action: "accept" | "decline" | "cancel" = "accept"

  function prepare(client: Client): void {
    client.setRequestHandler("elicitation/create", async ({ method, params }) => {
      const { _meta: _, mode = "form", ...about } = params as Record<string, unknown>
      // Left out by the gateway where it is a form: clients of before there were modes do not know it.
      asked.push({ method, params: { mode, ...about } })
      if (action !== "accept") return { action }
      return params.mode === "url" ? { action } : { action, content: { name: "Ada", age: 36 } }
    })
    client.setRequestHandler("sampling/createMessage", async ({ method, params }) => {
      asked.push({ method, params: { messages: params.messages, maxTokens: params.maxTokens } })
      return REPLY
    })
    client.setRequestHandler("roots/list", async ({ method }) => {
      asked.push({ method, params: undefined })
      return { roots: ROOTS }
    })
  }

  beforeAll(async () => {
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
    pair = await openLane(lane, {}, { capabilities, prepare, forwardInput: true })
  })

  afterAll(() => pair[Symbol.asyncDispose]())

  beforeEach(() => {
    asked = []
    action = "accept"
  })

  /** What a server got for its question, and what its client was asked. */
  async function ask(
    client: "direct" | "through",
    tool: string,
    input: object,
  ): Promise<{ readonly got: unknown; readonly asked: readonly unknown[] }> {
    asked = []
    const { result, error } = await pair[client].call(tool, input)
    expect(error).toBeUndefined()
    return { got: result?.["structuredContent"], asked }
  }

  test.each(["form", "sampling", "roots"])("for %s reach the client as they are", async (kind) => {
    const direct = await ask("direct", "ask", { kind })
    const through = await ask("through", "ask", { kind })

    expect(direct.asked).toHaveLength(1)
    expect(through).toEqual(direct)
  })

  test("to open a page reach the client, under a name of the gateway's own", async () => {
    const { got, asked: questions } = await ask("through", "ask", { kind: "url" })

    expect(got).toEqual({ action: "accept" })
    const page = { mode: "url", message: "Sign in.", url: "https://example.com/sign-in" }
    expect(questions).toMatchObject([{ method: "elicitation/create", params: page }])
  })

  test.each(["decline", "cancel"] as const)("can be answered with %s", async (answer) => {
    action = answer

    expect((await ask("through", "ask", { kind: "form" })).got).toEqual({ action: answer })
  })

  test("can be asked one after the other", async () => {
    const { asked: questions, got } = await ask("through", "ask_rounds", { rounds: 3 })

    expect(questions).toHaveLength(3)
    const answer = { action: "accept", content: { name: "Ada", age: 36 } }
    const answers = [answer, answer, answer]
    const legacy = lane.down === "modern" ? answers : { result: answers }
    expect(got).toEqual(lane.up === "modern" ? { rounds: 3 } : legacy)
  })

  test("can be asked together", async () => {
    const { asked: questions, got } = await ask("through", "ask_together", {})

    expect(questions).toHaveLength(2)
    expect(JSON.stringify(got)).toContain("Ada")
    expect(JSON.stringify(got)).toContain("file:///projects")
  })

  test("of calls at the same time are answered, or the refusal says that they were not passed on", async () => {
    const answers = await Promise.all(
      ["form", "form"].map((kind) => pair.through.call("ask", { kind })),
    )

    for (const { result } of answers) {
      expect(JSON.stringify(dataOf(result))).toMatch(/"action":"accept"|was not passed on/)
    }
  })
})

describeLanes("questions to a client that cannot be asked", (lane) => {
  test("end with what it would need, and not with a wait", async () => {
    await using lone = await openThrough(lane, {}, { forwardInput: true })

    const answer = await lone.through.call("ask", { kind: "sampling" })

    // A server of the older era asks over its connection, and decides itself what a refusal means.
    const legacy = {
      result: { structuredContent: { code: -32603, message: expect.stringContaining("sampling") } },
    }
    const data = { requiredCapabilities: { sampling: {} } }
    expect(answer).toMatchObject(lane.up === "modern" ? { error: { code: -32021, data } } : legacy)
    expect((await lone.through.call("echo", { text: "on" })).result).toBeDefined()
  })
})
