import { describe, expect, test, vi } from "vitest"
import { CallError, createRegistry } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { CallOptions, InputRequest, InputResponse } from "../../../../src/index.ts"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { MCPClientConfig } from "../../../../src/sources/mcp/config.ts"
import type { MCPLogLine } from "../../../../src/sources/mcp/client/log-lines.ts"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { failure, open } from "./support.ts"

const ERAS = ["legacy", "modern"] as const

const FORM = {
  type: "form",
  message: "Who are you?",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer", default: 7 } },
    required: ["name"],
  },
}

describe.each(ERAS)("what a %s server asks", (era) => {
  const server = (config: MCPClientConfig = {}, forwardInput = true): ReturnType<typeof open> =>
    open({ ...awkward({ era }), era, forwardInput, ...config })

  test("is answered by whoever calls, and defaults of a form are filled in", async () => {
    await using asked = server()
    const requestInput = vi.fn(async (_request: InputRequest): Promise<InputResponse> => {
      return { action: "accept", content: { name: "Ada" } }
    })

    const { structuredContent } = await asked.call("ask", { kind: "form" }, { requestInput })

    expect(requestInput.mock.calls).toMatchObject([[FORM]])
    expect(structuredContent).toEqual({ action: "accept", content: { name: "Ada", age: 7 } })
  })

  test("may be a page to visit, a model, or folders", async () => {
    await using asked = server()
    const seen: unknown[] = []
    const model = { role: "assistant", content: { type: "text", text: "Well." }, model: "m" }
    const answers: Readonly<Record<string, unknown>> = {
      url: undefined,
      sampling: model,
      roots: { roots: [{ uri: "file:///projects" }] },
    }
    const requestInput = async (request: InputRequest): Promise<InputResponse> => {
      seen.push(request)
      return { action: "accept", content: answers[request.type ?? "form"] }
    }

    const results = []
    for (const kind of ["url", "sampling", "roots"]) {
      results.push((await asked.call("ask", { kind }, { requestInput }))["structuredContent"])
    }

    expect(seen).toMatchObject([
      { type: "url", message: "Sign in.", url: "https://example.com/sign-in" },
      {
        type: "sampling",
        params: expect.objectContaining({ maxTokens: 100 }) as unknown,
      },
      { type: "roots" },
    ])
    expect(results).toMatchObject([
      { action: "accept" },
      model,
      { roots: [{ uri: "file:///projects" }] },
    ])
  })

  test("goes to the configuration when the caller cannot be asked", async () => {
    const about: unknown[] = []
    await using asked = server(
      {
        async elicitation(_request, asker) {
          about.push(asker)
          return { action: "accept", content: { name: "Config" } }
        },
        roots: [{ uri: "file:///configured" }],
      },
      false,
    )
    const requestInput = async (): Promise<InputResponse> => {
      throw new CallError("UNAVAILABLE", "Nobody is there.")
    }

    const form = await asked.call("ask", { kind: "form" }, { requestInput })
    const roots = await asked.ask("ask", { kind: "roots" })

    expect(form["structuredContent"]).toMatchObject({ content: { name: "Config" } })
    expect(about).toEqual([{ server: "srv", tool: "ask" }])
    expect(roots).toEqual({ roots: [{ uri: "file:///configured" }] })
  })

  test("can be declined", async () => {
    await using asked = server()
    const requestInput = async (): Promise<InputResponse> => ({ action: "decline" })

    const { structuredContent } = await asked.call("ask", { kind: "form" }, { requestInput })

    expect(structuredContent).toEqual({ action: "decline" })
  })

  test("does not send an answer that does not match the server's schema", async () => {
    await using asked = server()
    const requestInput = async (): Promise<InputResponse> => ({
      action: "accept",
      content: { name: 7 },
    })

    const outcome = await asked.call("ask", { kind: "form" }, { requestInput }).then(
      ({ structuredContent }) => structuredContent,
      ({ code }: CallError) => ({ code }),
    )

    // Servers of the earlier era wait for an answer.
    expect([{ code: "VALIDATION_ERROR" }, { action: "cancel" }]).toContainEqual(outcome)
  })

  test("takes as many rounds as it takes, within one time limit that thinking does not shorten", async () => {
    await using asked = server({ timeout: 300 })
    const requestInput = vi.fn(async (): Promise<InputResponse> => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      return { action: "accept", content: { name: "Slow" } }
    })

    await asked.call("ask_rounds", { rounds: 2 }, { requestInput })

    expect(requestInput).toHaveBeenCalledTimes(2)
    expect(
      await failure(
        asked.call(
          "ask",
          { kind: "form" },
          { requestInput: () => new Promise(() => {}), deadline: Date.now() + 200 },
        ),
      ),
    ).toMatchObject({ code: "TIMEOUT" })
  })

  test("stops the time limits of the call and of its server, but not an explicit deadline", async () => {
    await using client = await createMCPClient("srv", {
      ...{ ...awkward({ era }), era, forwardInput: true, logger: silentLogger },
      maxTotalTimeout: 1000,
    })
    const registry = createRegistry(client.operations, { logger: silentLogger })
    const requestInput = async (): Promise<InputResponse> => {
      await new Promise((resolve) => setTimeout(resolve, 1200))
      return { action: "accept", content: { name: "Slow" } }
    }
    const ask = (options: CallOptions): Promise<unknown> =>
      registry.execute("srv.ask", { kind: "form" }, { ...options, requestInput })

    expect(await ask({ timeout: 800 })).toMatchObject({ data: { action: "accept" } })
    const error = await failure(ask({ deadline: Date.now() + 800 }))
    expect(error).toMatchObject({ code: "TIMEOUT" })
  })

  test.each([
    ["an answer that never comes", () => new Promise<never>(() => {})],
    ["an answer that is aborted", () => Promise.reject(new CallError("ABORTED", "Aborted."))],
  ])("for a call that was aborted is asked of no later call: %s", async (_, answer) => {
    await using asked = server()
    for (let time = 0; time < 5; time++) {
      const controller = new AbortController()
      const aborted = failure(
        asked.call(
          "ask_rounds",
          { rounds: 3 },
          {
            signal: controller.signal,
            requestInput: () => {
              controller.abort()
              return answer()
            },
          },
        ),
      )
      expect(await aborted).toMatchObject({ code: "ABORTED" })
      const requestInput = vi.fn(async (): Promise<InputResponse> => {
        return { action: "accept", content: { name: "Ada" } }
      })

      await asked.call("ask_rounds", { rounds: 3 }, { requestInput })

      expect(requestInput).toHaveBeenCalledTimes(3)
    }
  })

  test("may be several things at once", async () => {
    await using asked = server()
    let waiting = 0
    let release: (() => void) | undefined
    const both = new Promise<void>((resolve) => {
      release = resolve
    })
    const requestInput = async ({ type }: InputRequest): Promise<InputResponse> => {
      if (++waiting === 2) release?.()
      await both
      return { action: "accept", content: type === "roots" ? { roots: [] } : { name: "Both" } }
    }

    const { structuredContent } = await asked.call("ask_together", {}, { requestInput })

    expect(JSON.stringify(structuredContent)).toContain("Both")
  })
})

describe("when there is nobody to ask", () => {
  test("a legacy server is told so", async () => {
    await using asked = open({ ...awkward({ era: "legacy" }), forwardInput: true })

    for (const kind of ["form", "sampling", "roots"]) {
      expect(await asked.ask("ask", { kind })).toMatchObject({
        code: -32603,
        message: expect.stringContaining("nothing is set up to answer") as unknown,
      })
    }
  })

  test("a call of a modern server fails, and says what it takes", async () => {
    await using asked = open({ ...awkward({ era: "modern" }), forwardInput: true })

    const error = await failure(asked.call("ask", { kind: "form" }))

    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      details: { reason: "CAPABILITY_REQUIRED", requiredCapabilities: { elicitation: {} } },
    })
    expect(error.message).toContain("requestInput")
    expect(await failure(asked.call("ask", { kind: "sampling" }))).toMatchObject({
      details: { requiredCapabilities: { sampling: {} } },
    })
  })
})

describe("what only a modern server does", () => {
  test("state is sent back as it came", async () => {
    await using asked = open({ ...awkward({ era: "modern" }), era: "modern" })

    expect(await asked.call("ask_state_only")).toMatchObject({
      content: [{ type: "text", text: "done" }],
    })
  })

  test("asking without an end is ended", async () => {
    await using asked = open({ ...awkward({ era: "modern" }), era: "modern", forwardInput: true })
    const requestInput = vi.fn(async (_request: InputRequest): Promise<InputResponse> => {
      return { action: "accept", content: { name: "Again" } }
    })

    const error = await failure(asked.call("ask_forever", {}, { requestInput }))

    expect(error).toMatchObject({ code: "EXECUTION_ERROR", mayHaveExecuted: true })
    expect(requestInput).toHaveBeenCalledTimes(10)
    const keys = requestInput.mock.calls.map(([request]) => request.key)
    expect(keys.slice(0, 3)).toEqual(["answer", "answer#2", "answer#3"])
  })

  test("a result of an unknown type is no result", async () => {
    await using asked = open({ ...awkward({ era: "modern" }), era: "modern" })

    const error = await failure(asked.call("bad_result_type"))

    expect(error.code).toBe("EXECUTION_ERROR")
    expect(error.message).toContain("hologram")
  })

  test("a declined request for a model ends the call as what it is", async () => {
    await using asked = open({ ...awkward({ era: "modern" }), era: "modern", forwardInput: true })
    const requestInput = async (): Promise<InputResponse> => ({ action: "decline" })

    expect(await failure(asked.call("ask", { kind: "sampling" }, { requestInput }))).toMatchObject({
      code: "ABORTED",
      details: { reason: "DECLINED" },
    })
  })

  test("an older server may call anything the type of its result", async () => {
    await using asked = open({ ...awkward({ era: "legacy" }), era: "legacy" })

    expect(await asked.call("bad_result_type")).toMatchObject({ resultType: "hologram" })
  })

  test("an error of the caller's own ends the call", async () => {
    await using asked = open({ ...awkward({ era: "modern" }), era: "modern", forwardInput: true })
    const mine = new CallError("ACCESS_DENIED", "Not you.")

    const error = await failure(asked.call("ask", {}, { requestInput: () => Promise.reject(mine) }))

    expect(error).toBe(mine)
  })

  test("works the same over HTTP", async () => {
    await using remote = await serveAwkward({ era: "modern", strictHeaders: true })
    await using asked = open({ url: remote.url, forwardInput: true })
    const requestInput = async (): Promise<InputResponse> => ({
      action: "accept",
      content: { name: "Web" },
    })

    const { structuredContent } = await asked.call("ask", { kind: "form" }, { requestInput })

    expect(structuredContent).toMatchObject({ content: { name: "Web" } })
  })
})

describe("what a legacy server asks while several calls run", () => {
  test("is answered by the configuration: nobody can tell whose it is", async () => {
    await using asked = open({
      ...awkward({ era: "legacy" }),
      elicitation: async () => ({ action: "accept", content: { name: "Config" } }),
      forwardInput: true,
    })
    const requestInput = async (): Promise<InputResponse> => ({ action: "cancel" })

    const [answer] = await Promise.all([
      asked.call("ask", { kind: "form" }, { requestInput }),
      asked.call("slow", { ms: 300 }, { requestInput }),
    ])

    expect(answer["structuredContent"]).toMatchObject({ content: { name: "Config" } })
  })
})

describe("what a legacy server asks while several calls run, and nobody is configured", () => {
  test.each(["form", "sampling", "roots"])(
    "is not declined in the name of anybody, and is reported: %s",
    async (kind) => {
      const warnings: unknown[] = []
      const lines: MCPLogLine[] = []
      const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) }
      await using asked = open(
        { ...awkward({ era: "legacy" }), logger, forwardInput: true },
        { log: { isReading: true, read: (line) => void lines.push(line) } },
      )
      const requestInput = vi.fn(async (): Promise<InputResponse> => ({ action: "cancel" }))
      const slow = asked.call("slow", { ms: 300 }, { requestInput, caller: { requestId: "slow" } })
      await asked.connection.connect()

      const caller = { requestId: "ask" }
      const { structuredContent } = await asked.call("ask", { kind }, { requestInput, caller })

      const capability = kind === "form" ? "elicitation" : kind
      const reason = `MCP server "srv" asks for ${capability}, and does not say for which of 2 running calls, so the question was not passed on. Make such calls one after the other, or set "maxConcurrency" of the server to 1. With "sessions": "caller", callers with identities do not share a session.`
      expect(structuredContent).toEqual({ code: -32603, message: reason })
      expect(warnings).toEqual([reason])
      expect(lines).toEqual(
        ["slow", "ask"].map((requestId) => ({ level: "warning", text: reason, requestId })),
      )
      expect(requestInput).not.toHaveBeenCalled()
      await slow
      await asked.call("ask", { kind }, { requestInput })
      expect(requestInput).toHaveBeenCalledTimes(1)
    },
  )

  test("is asked of the caller where calls run one after the other", async () => {
    await using asked = open({
      ...awkward({ era: "legacy" }),
      maxConcurrency: 1,
      forwardInput: true,
    })
    const requestInput = async (): Promise<InputResponse> => {
      return { action: "accept", content: { name: "Ada" } }
    }

    const [answer] = await Promise.all([
      asked.call("ask", { kind: "form" }, { requestInput }),
      asked.call("slow", { ms: 10 }),
    ])

    expect(answer["structuredContent"]).toMatchObject({ content: { name: "Ada" } })
  })
})

describe("what is declared", () => {
  test.each([
    [{}, false, []],
    [{}, true, ["elicitation", "roots", "sampling"]],
    [{ roots: [] }, false, ["roots"]],
    [{ sampling: async () => ({ action: "decline" as const }) }, false, ["sampling"]],
  ])("is what there is somebody for: %o, %o", async (config, forwardInput, expected) => {
    await using asked = open({ ...awkward({ era: "legacy" }), ...config, forwardInput })

    const { journal } = (await asked.ask("journal")) as {
      journal: { method?: string; params?: { capabilities?: object } }[]
    }

    const initialize = journal.find(({ method }) => method === "initialize")
    expect(Object.keys(initialize?.params?.capabilities ?? {}).toSorted()).toEqual(expected)
  })
})
