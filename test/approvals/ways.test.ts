// Every way in, every decision, every answer: a mutation runs exactly once or never.
import { PassThrough } from "node:stream"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createHubClient } from "../../console/src/api/client.ts"
import { Session } from "../../console/src/api/session.ts"
import { main } from "../../src/cli/main.ts"
import type { CommandIO } from "../../src/cli/model.ts"
import {
  createApprovals,
  createClient,
  createRegistry,
  isCallError,
  serveCalls,
  type ApprovalRule,
  type InputResponse,
  type OperationRegistry,
} from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import { createManualClock, silentLogger } from "../../src/testing.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { toTools } from "../../src/tools.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { answerOf, connect, rawRequest, textOf, type Era } from "../serve/mcp/support/clients.ts"
import { waitFor } from "../support/wait-for.ts"
import { mutationNamed } from "./support.ts"

type Action = InputResponse["action"]
/** What a person answers, or when. */
type Answer = Action | (() => Promise<Action>)
/** Calls once, and answers a question if there is an answer. Returns the result, or the code of the error. */
type Attempt = (answer: Answer | undefined, input: Record<string, unknown>) => Promise<string>
type Open = (registry: OperationRegistry) => Attempt | Promise<Attempt>

const codeIn = (text: string): string => /[A-Z]+_[A-Z_]+|DECLINED|ran/.exec(text)?.[0] ?? text
const outcome = async (call: Promise<{ readonly data: unknown }>): Promise<string> => {
  try {
    return String((await call).data)
  } catch (error) {
    return isCallError(error) ? error.code : String(error)
  }
}
const actionOf = async (answer: Answer): Promise<{ action: Action }> => ({
  action: typeof answer === "string" ? answer : await answer(),
})
const answering = (answer: Answer | undefined) => answer && { requestInput: () => actionOf(answer) }

const serveAll = async (registry: OperationRegistry, more: object = {}): Promise<string> => {
  const served = await serveHTTP(registry, { port: 0, logger: silentLogger, ...more })
  onTestFinished(() => served.close())
  return served.url
}

/** A command line at a terminal, where a person types the answer. */
const typing = async (hub: string, answer: Answer | undefined, input: object): Promise<string> => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  let shown = ""
  let isAsked = false
  const sink = (isTTY: boolean): CommandIO["stderr"] => ({
    isTTY,
    columns: 400,
    write: (text) => {
      shown += String(text)
      if (isAsked || answer === undefined || !shown.includes("Run it?")) return true
      isAsked = true
      void actionOf(answer).then(({ action }) => stdin.write(KEYS[action]))
      return true
    },
  })
  const io: CommandIO = {
    ...{ stdin, stderr: sink(answer !== undefined), stdout: sink(false), env: {}, cwd: "/" },
    ...{ signal: new AbortController().signal, program: "operations" },
  }
  const argv = ["call", "files.remove", "--input", JSON.stringify(input), "--hub", hub]
  const code = await main(argv, io)
  // Ctrl-C ends the command.
  if (code === 130) return "DECLINED"
  return MESSAGES.find(([, text]) => shown.includes(text))?.[0] ?? shown
}
const KEYS = { accept: "y\n", decline: "n\n", cancel: "\u0003" } as const
const MESSAGES = [
  ["DENIED_BY_RULE", "a rule denies it"],
  ["APPROVAL_REQUIRED", "a person has to approve it first"],
  ["APPROVAL_REQUIRED", "its approval came too late"],
  ["DECLINED", "did not approve it"],
  ["ran", "ran"],
] as const

/** The client of the console; of an HTTP API it asks only after the hub has answered that it must. */
const consoleClient =
  (onlyAsks: boolean): Open =>
  async (registry) => {
    const url = await serveAll(registry, { console: true, websocket: true })
    const hub = createHubClient({ baseUrl: `${url}/`, session: new Session() })
    await hub.list()
    const spec = registry.getSpec("files.remove")!
    return async (answer, input) => {
      const nothing = (): void => {}
      const ended = await hub.call("files.remove", input, {
        signal: new AbortController().signal,
        onlyAsks,
        live: answer && {
          ...{ spec, onStart: nothing, onProgress: nothing, onPlain: nothing },
          onQuestion: () => actionOf(answer),
        },
      })
      return ended.ok ? String(ended.envelope.data) : String(ended.problem.code)
    }
  }

const mcp =
  (era: Era): Open =>
  async (registry) => {
    const server = toMCP(registry, { logger: silentLogger })
    onTestFinished(() => server.close())
    const listening = await server.listen({ port: 0 })
    onTestFinished(() => listening.close())
    return async (answer, input) => {
      await using client = await connect(listening.url, era, {
        ...(answer && {
          capabilities: { elicitation: {} },
          prepare: (made) => made.setRequestHandler("elicitation/create", () => actionOf(answer)),
        }),
      })
      return codeIn(textOf(await client.callTool({ name: "files_remove", arguments: input })))
    }
  }

const WAYS: Record<string, readonly [open: Open, canAnswer: boolean]> = {
  call: [
    (registry) => (answer, input) =>
      outcome(registry.execute("files.remove", input, { ...answering(answer) })),
    true,
  ],
  tools: [
    (registry) => async (answer, input) => {
      using tools = toTools(registry, { ...answering(answer) })
      const { code, parts } = await tools.call("files_remove", input)
      return code ?? codeIn(JSON.stringify(parts))
    },
    true,
  ],
  "MCP until 2025-11-25": [mcp("legacy"), true],
  "MCP from 2026-07-28": [mcp("modern"), true],
  code: [
    (registry) => (answer, input) =>
      outcome(registry.execute("run.code", input, { ...answering(answer) })),
    true,
  ],
  "a worker": [
    (registry) => async (answer, input) => {
      const { port1, port2 } = new MessageChannel()
      await using _server = serveCalls(registry, { transport: createWorkerTransport(port1) })
      await using client = createClient(createWorkerTransport(port2))
      return await outcome(client.call("files.remove", input, { ...answering(answer) }))
    },
    true,
  ],
  "the command line": [
    (registry) => (answer, input) =>
      outcome(
        registry.trusted.execute("files.remove", input, { ...answering(answer), via: "cli" }),
      ),
    true,
  ],
  "the command line of a hub": [
    async (registry) => {
      const url = await serveAll(registry, { console: false, websocket: true })
      return (answer, input) => typing(url, answer, input)
    },
    true,
  ],
  "the console": [consoleClient(false), true],
  "the console, over HTTP first": [consoleClient(true), true],
  HTTP: [
    async (registry) => {
      const url = await serveAll(registry, { console: false })
      return async (_answer, input) => {
        const response = await fetch(`${url}/operations/files.remove`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(input),
        })
        const text = await response.text()
        const code = codeIn(text)
        expect([code, response.status]).toEqual([code, STATUS[code]])
        return code
      }
    },
    false,
  ],
  WebSocket: [
    async (registry) => {
      const url = await serveAll(registry, { console: false, websocket: true })
      const address = `${url.replace("http", "ws")}/ws`
      return async (answer, input) => {
        const transport = createWebSocketTransport(address, { logger: silentLogger })
        await using client = createClient(transport, { logger: silentLogger })
        return await outcome(client.call("files.remove", input, { ...answering(answer) }))
      }
    },
    true,
  ],
}

const STATUS: Readonly<Record<string, number>> = {
  ...{ ran: 200, DENIED_BY_RULE: 403, APPROVAL_REQUIRED: 428, DECLINED: 403 },
}

const opened = async (open: Open, rules: readonly ApprovalRule[]) => {
  const ran = vi.fn(() => "ran")
  const clock = createManualClock()
  // What a program does that a model wrote.
  const program = mutationNamed("run.code", async (input, { call }) => {
    return (await call("files.remove", input, { via: "code" } as never)).data
  })
  const registry: OperationRegistry = createRegistry(
    [mutationNamed("files.remove", ran), program],
    {
      approvals: [{ match: "run.code", decide: "allow" }, ...rules],
      ...{ clock, logger: silentLogger },
    },
  )
  return { ran, clock, attempt: await open(registry), approvals: registry.approvals! }
}

describe.each(Object.entries(WAYS))("A mutation called by %s", (_name, [open, canAnswer]) => {
  const setUp = (rules: readonly ApprovalRule[]) => opened(open, rules)

  test("runs if it is allowed, and never if it is denied", async () => {
    const { ran, attempt } = await setUp([
      { decide: "allow", input: { properties: { n: { const: 1 } } } },
      { decide: "deny", reason: "Only one." },
    ])
    expect(await attempt("accept", { n: 1 })).toBe("ran")
    expect(ran).toHaveBeenCalledTimes(1)
    expect(await attempt("accept", { n: 2 })).toBe("DENIED_BY_RULE")
    expect(await attempt(undefined, {})).toBe("DENIED_BY_RULE")
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("runs once for each acceptance of a caller that can be asked", async () => {
    const { ran, attempt } = await setUp([{ decide: "ask" }])
    expect(await attempt("accept", { n: 1 })).toBe(canAnswer ? "ran" : "APPROVAL_REQUIRED")
    expect(ran).toHaveBeenCalledTimes(canAnswer ? 1 : 0)
    expect(await attempt("decline", { n: 1 })).toBe(canAnswer ? "DECLINED" : "APPROVAL_REQUIRED")
    expect(await attempt("cancel", { n: 1 })).toBe(canAnswer ? "DECLINED" : "APPROVAL_REQUIRED")
    expect(await attempt("accept", { n: 1 })).toBe(canAnswer ? "ran" : "APPROVAL_REQUIRED")
    expect(ran).toHaveBeenCalledTimes(canAnswer ? 2 : 0)
  })

  test("runs once after it was approved elsewhere, for this input alone", async () => {
    const { ran, attempt, approvals } = await setUp([{ decide: "ask" }])
    expect(await attempt(undefined, { n: 1, confirmed: true })).toBe("APPROVAL_REQUIRED")
    expect(approvals.waiting).toHaveLength(1)
    approvals.answer(approvals.waiting[0]!.id, { approve: true })
    expect(await attempt(undefined, { n: 2, confirmed: true })).toBe("APPROVAL_REQUIRED")
    expect(ran).not.toHaveBeenCalled()
    expect(await attempt(undefined, { n: 1, confirmed: true })).toBe("ran")
    expect(await attempt(undefined, { n: 1, confirmed: true })).toBe("APPROVAL_REQUIRED")
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("is declined after a person declined it elsewhere", async () => {
    const { ran, attempt, approvals } = await setUp([{ decide: "ask" }])
    await attempt(undefined, {})
    approvals.answer(approvals.waiting[0]!.id, { approve: false })
    expect(await attempt(undefined, {})).toBe("DECLINED")
    expect(ran).not.toHaveBeenCalled()
  })

  test("runs once if three calls use one approval at the same time", async () => {
    const { ran, attempt, approvals } = await setUp([{ decide: "ask" }])
    await attempt(undefined, { n: 1 })
    approvals.answer(approvals.waiting[0]!.id, { approve: true })
    const outcomes = await Promise.all([1, 2, 3].map(() => attempt(undefined, { n: 1 })))
    expect(outcomes.toSorted()).toEqual(["APPROVAL_REQUIRED", "APPROVAL_REQUIRED", "ran"])
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("does not run after an approval that came too late", async () => {
    const { ran, clock, attempt, approvals } = await setUp([{ decide: "ask" }])
    await attempt(undefined, { n: 1 })
    const { id } = approvals.waiting[0]!
    await clock.advance(300_000)
    expect(approvals.answer(id, { approve: true })).toBe(false)
    expect(await attempt(undefined, { n: 1 })).toBe("APPROVAL_REQUIRED")
    expect(ran).not.toHaveBeenCalled()
  })
})

describe.each(
  Object.entries(WAYS).flatMap(([name, [open, canAnswer]]) =>
    canAnswer ? [[name, open] as const] : [],
  ),
)("A mutation called by %s", (_name, open) => {
  test("does not run after an answer that came too late", async () => {
    const { ran, clock, attempt } = await opened(open, [{ decide: "ask" }])
    const asked = vi.fn()
    let answer = (_action: Action): void => {}
    const late = (): Promise<Action> => {
      asked()
      // Clients of the new era ask again: then the person declines.
      if (asked.mock.calls.length > 1) return Promise.resolve("decline")
      return new Promise((resolve) => (answer = resolve))
    }
    const ended = attempt(late, { n: 1 })
    await waitFor(() => expect(asked).toHaveBeenCalled())
    await clock.advance(300_001)
    answer("accept")
    expect(["APPROVAL_REQUIRED", "DECLINED"]).toContain(await ended)
    expect(ran).not.toHaveBeenCalled()
  })
})

describe("An MCP client of the era of 2026", () => {
  const setUp = () => {
    const ran = vi.fn(() => "ran")
    const registry: OperationRegistry = createRegistry([mutationNamed("files.remove", ran)], {
      approvals: [{ decide: "ask" }],
      logger: silentLogger,
    })
    const server = toMCP(registry, { logger: silentLogger })
    onTestFinished(() => server.close())
    const send = async (
      input: object,
      more: object = {},
      identity = "ada",
      capabilities: object = { elicitation: {} },
    ) => {
      const params = { name: "files_remove", arguments: input, ...more }
      const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities }
      const request = rawRequest("tools/call", { params, meta })
      const response = await server.fetch(new Request("http://localhost/", request), {
        identity: { id: identity, scopes: [] },
      })
      return await answerOf(response)
    }
    const accepted = (result: Record<string, unknown> | undefined) => ({
      requestState: result?.["requestState"],
      inputResponses: Object.fromEntries(
        Object.keys(result?.["inputRequests"] as object).map((key) => [key, { action: "accept" }]),
      ),
    })
    return { ran, send, accepted, approvals: registry.approvals! }
  }

  test("cannot use an answer twice, one after the other or at the same time", async () => {
    const { ran, send, accepted } = setUp()
    const answer = accepted((await send({ n: 1 })).result)
    await Promise.all([1, 2, 3].map(() => send({ n: 1 }, answer)))
    await send({ n: 1 }, answer)
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("cannot use an answer for another input or as another caller", async () => {
    const { ran, send, accepted } = setUp()
    const answer = accepted((await send({ n: 1 })).result)
    const withoutState = { inputResponses: answer.inputResponses }
    await send({ n: 2 }, answer)
    await send({ n: 2 }, withoutState)
    await send({ n: 1 }, answer, "bob")
    await send({ n: 1 }, withoutState, "bob")
    expect(ran).not.toHaveBeenCalled()
  })

  test("cannot answer the question of a call that waits for a person", async () => {
    const { ran, send, approvals } = setUp()
    await send({ n: 1 }, {}, "ada", {})
    const { id } = approvals.waiting[0]!
    const inputResponses = { [`approval-${id}`]: { action: "accept" } }
    await send({ n: 1 }, { inputResponses })
    expect(ran).not.toHaveBeenCalled()
  })
})

describe("Lists", () => {
  test("hide what is denied whatever the input, and mark what asks", async () => {
    const registry = createRegistry(
      ["files.remove", "files.move", "files.drop", "files.copy"].map((id) =>
        mutationNamed(id, () => 1),
      ),
      {
        approvals: [
          { match: "*.drop", decide: "deny", unless: { callers: "grace" } },
          { match: "*.remove", decide: "deny" },
          { match: "*.copy", decide: "allow" },
        ],
        logger: silentLogger,
      },
    )
    using tools = toTools(registry)
    const listed = Object.fromEntries(
      tools.definitions.map(({ name, description }) => [name, description]),
    )
    expect(Object.keys(listed).toSorted()).toEqual([
      ...["files_copy", "files_drop", "files_move", "read_result"],
    ])
    expect(listed["files_move"]).toContain("A person is asked before it runs.")
    expect(listed["files_copy"]).not.toContain("A person is asked")
    const found = registry.search("files", { identity: undefined }).map(({ id }) => id)
    expect(found.toSorted()).toEqual(["files.copy", "files.move"])
    const served = await serveHTTP(registry, { port: 0, console: false, logger: silentLogger })
    onTestFinished(() => served.close())
    const answer = (await (await fetch(`${served.url}/operations`)).json()) as {
      operations: { id: string }[]
    }
    expect(answer.operations.map(({ id }) => id)).toEqual(["files.copy", "files.move"])
  })

  test("change with the rules, and clients are notified", async () => {
    const registry = createRegistry(
      [mutationNamed("files.remove", () => 1), mutationNamed("files.copy", () => 1)],
      { approvals: [{ decide: "allow" }], logger: silentLogger },
    )
    const surface = new ToolSurface(registry)
    onTestFinished(() => surface.close())
    const caller = { identity: undefined, era: "modern" } as const
    const listed = () => surface.listAll(caller).map(({ name }) => name)
    expect(listed()).toEqual(["files_copy", "files_remove"])
    const changed = new Promise((resolve) => surface.onChange(resolve))
    const rule = { match: "*.remove", decide: "deny", via: "mcp" } as const
    registry.setApprovals(createApprovals([rule]))
    expect(listed()).toEqual(["files_copy"])
    expect(surface.listAll(caller)[0]?.description).toContain("A person is asked")
    expect(await changed).toEqual(new Set(["tool"]))
  })
})
