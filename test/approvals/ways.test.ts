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
  serveCalls,
  type OperationRegistry,
} from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import { silentLogger } from "../../src/testing.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { toTools } from "../../src/tools.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { answerOf, connect, rawRequest, textOf, type Era } from "../serve/mcp/support/clients.ts"
import { mutationNamed } from "./support.ts"
import {
  actionOf,
  answering,
  outcome,
  testWays,
  type Answer,
  type Open,
  type Ways,
} from "./ways.ts"

const codeIn = (text: string): string => /[A-Z]+_[A-Z_]+|DECLINED|ran/.exec(text)?.[0] ?? text
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

const WAYS: Ways = {
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
  "an HTTP batch": [
    async (registry) => {
      const url = await serveAll(registry, { console: false })
      return async (_answer, input) => {
        const response = await fetch(`${url}/batch`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify([{ id: "files.remove", input }]),
        })
        return codeIn(await response.text())
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

testWays(WAYS)

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
