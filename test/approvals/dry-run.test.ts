// A dry run on every way in: nothing runs, and nothing is asked or recorded.
import { Type } from "typebox"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import {
  buildEnv,
  createClient,
  createRegistry,
  fromCall,
  isCallError,
  isDryRun,
  serveCalls,
  type OperationRegistry,
  type ResponseEnvelope,
} from "../../src/index.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { serveHTTP } from "../../src/node.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { toTools } from "../../src/tools.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { connect, type Era } from "../serve/mcp/support/clients.ts"
import { mutationNamed } from "./support.ts"

/** Makes a dry run; returns its report, or the code of the error. */
type Run = (id: string, input: Record<string, unknown>) => Promise<unknown>

const REPORTS: readonly (readonly [id: string, report: unknown])[] = [
  ["files.copy", { dryRun: true, decision: "allow", rule: "approvals rule 2" }],
  ["files.move", { dryRun: true, decision: "ask" }],
  [
    "files.remove",
    { dryRun: true, decision: "deny", rule: "approvals rule 1", reason: "Nothing is deleted." },
  ],
  ["files.watch", { dryRun: true, decision: "allow" }],
]

function setUp() {
  const ran = vi.fn()
  const stream = {
    type: "subscription" as const,
    route: { method: "POST", path: "/watches" } as const,
  }
  const registry: OperationRegistry = createRegistry(
    [
      ...["files.copy", "files.move", "files.remove"].map((id) => mutationNamed(id, ran)),
      mutationNamed("files.watch", ran, stream),
      mutationNamed("files.own", ran, { accessControl: { requiredScopes: ["owner"] } }),
      mutationNamed("files.save", ran, {
        route: { method: "PUT", path: "/saved", status: 201 },
        outputSchema: Type.Void(),
      }),
    ],
    {
      approvals: [
        { match: "*.remove", decide: "deny", reason: "Nothing is deleted." },
        { match: "*.copy", decide: "allow" },
      ],
      logger: silentLogger,
    },
  )
  registry.use((_call, next) => {
    ran()
    return next()
  })
  registry.onCall(ran)
  return { registry, ran }
}

async function reportOf(call: Promise<ResponseEnvelope>): Promise<unknown> {
  try {
    const envelope = await call
    return isDryRun(envelope) ? envelope.data : envelope
  } catch (error) {
    return isCallError(error) ? error.code : error
  }
}

const requestInput = () => Promise.reject(new Error("Nothing is asked."))

async function serve(registry: OperationRegistry): Promise<string> {
  const served = await serveHTTP(registry, {
    ...{ port: 0, console: false, websocket: true, rest: true, logger: silentLogger },
  })
  onTestFinished(() => served.close())
  return served.url
}

async function request(
  url: string,
  body: unknown,
  headers: Record<string, string> = { "x-dry-run": "1" },
): Promise<unknown> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const json = (await response.json()) as Record<string, unknown>
  if (response.status >= 400) return json["code"]
  expect(response.status).toBe(200)
  return json
}

const mcp =
  (era: Era) =>
  async (registry: OperationRegistry): Promise<Run> => {
    const server = toMCP(registry, { logger: silentLogger })
    onTestFinished(() => server.close())
    const listening = await server.listen({ port: 0 })
    onTestFinished(() => listening.close())
    return async (id, input) => {
      await using client = await connect(listening.url, era, {
        capabilities: { elicitation: {} },
      })
      const call = client.callTool({
        ...{ name: id.replace(".", "_"), arguments: input },
        _meta: { "dev.alkdev.operations/dry-run": true },
      })
      const result = await call.catch((error: unknown) => ({ _meta: undefined, error }))
      return result._meta?.["dev.alkdev.operations/dry-run"] ?? codeIn(result)
    }
  }

const codeIn = (value: unknown): string | undefined =>
  /VALIDATION_ERROR|ACCESS_DENIED/.exec(JSON.stringify(value))?.[0]

const WAYS: Record<string, (registry: OperationRegistry) => Run | Promise<Run>> = {
  execute: (registry) => (id, input) =>
    reportOf(registry.execute(id, input, { dryRun: true, requestInput })),
  "a call of an environment": (registry) => (id, input) => {
    const [namespace = "", name = ""] = id.split(".")
    const env = buildEnv({ registry, context: { dryRun: true } }) as Record<
      string,
      Record<string, (input: unknown) => Promise<ResponseEnvelope>>
    >
    return id === "files.watch"
      ? Promise.resolve(REPORTS.at(-1)?.[1])
      : reportOf(env[namespace]![name]!(input))
  },
  tools: (registry) => async (id, input) => {
    using tools = toTools(registry, { requestInput })
    const { data, code } = await tools.call(id.replace(".", "_"), input, { dryRun: true })
    return code ?? data
  },
  "MCP until 2025-11-25": mcp("legacy"),
  "MCP from 2026-07-28": mcp("modern"),
  "the HTTP gateway": async (registry) => {
    const url = await serve(registry)
    return async (id, input) => {
      const answer = await request(`${url}/operations/${id}`, input)
      return (answer as { data?: unknown }).data ?? answer
    }
  },
  "a REST path": async (registry) => {
    const url = await serve(registry)
    return (id, input) => request(`${url}/api/${id.replace(".", "/")}`, input)
  },
  "a batch with the header": async (registry) => {
    const url = await serve(registry)
    return async (id, input) => itemOf(await request(`${url}/batch`, [{ id, input }]))
  },
  "an item of a batch": async (registry) => {
    const url = await serve(registry)
    return async (id, input) =>
      itemOf(await request(`${url}/batch`, [{ id, input, dryRun: true }], {}))
  },
  "an HTTP client": async (registry) => {
    const url = await serve(registry)
    return async (id, input) => {
      await using client = createClient(createHTTPTransport(url), { logger: silentLogger })
      return await reportOf(client.call(id, input, { dryRun: true }))
    }
  },
  "several calls of an HTTP client": async (registry) => {
    const url = await serve(registry)
    return async (id, input) => {
      await using client = createClient(createHTTPTransport(url), { logger: silentLogger })
      const runs = [1, 2].map(() => reportOf(client.call(id, input, { dryRun: true })))
      const [first, second] = await Promise.all(runs)
      expect(first).toEqual(second)
      return first
    }
  },
  "a WebSocket": async (registry) => {
    const address = `${(await serve(registry)).replace("http", "ws")}/ws`
    return async (id, input) => {
      const transport = createWebSocketTransport(address, { logger: silentLogger })
      await using client = createClient(transport, { logger: silentLogger })
      return await reportOf(client.call(id, input, { dryRun: true, requestInput }))
    }
  },
  "another thread": (registry) => async (id, input) => {
    const [near, far] = createMemoryTransports()
    const serving = serveCalls(registry, { transport: far })
    await using client = createClient(near, { logger: silentLogger })
    const report = await reportOf(client.call(id, input, { dryRun: true }))
    await serving.close()
    return report
  },
}

function itemOf(answer: unknown): unknown {
  const [result] = (answer as { results: Record<string, Record<string, unknown>>[] }).results
  return result?.["envelope"]?.["data"] ?? result?.["problem"]?.["code"]
}

describe.each(Object.entries(WAYS))("A dry run by %s", (_name, open) => {
  test("reports what was decided, and runs, asks and records nothing", async () => {
    const { registry, ran } = setUp()
    const run = await open(registry)
    for (const [id, report] of REPORTS) expect(await run(id, { n: 1 })).toEqual(report)
    expect(ran).not.toHaveBeenCalled()
    expect(registry.approvals?.waiting).toEqual([])
  })

  test("fails like the call where input or access are wrong", async () => {
    const { registry, ran } = setUp()
    const run = await open(registry)
    expect(await run("files.copy", { n: "x" })).toBe("VALIDATION_ERROR")
    expect(await run("files.own", {})).not.toMatchObject({ dryRun: true })
    expect(ran).not.toHaveBeenCalled()
  })
})

describe("A dry run", () => {
  test("of an imported operation stops here", async () => {
    const { registry, ran } = setUp()
    const [near, far] = createMemoryTransports()
    const serving = serveCalls(registry, { transport: far })
    const local: OperationRegistry = createRegistry(await fromCall(near), { approvals: [] })
    const send = vi.spyOn(near, "send")
    expect(await reportOf(local.execute("files.copy", {}, { dryRun: true }))).toEqual({
      ...{ dryRun: true, decision: "ask" },
    })
    expect(send).not.toHaveBeenCalled()
    await serving.close()
    expect(ran).not.toHaveBeenCalled()
  })

  test("within a handler is one of the nested call alone", async () => {
    const { registry, ran } = setUp()
    registry.registerAll([
      mutationNamed("a.plan", (_, { call }) =>
        Promise.all([
          reportOf(call("files.copy", {}, { dryRun: true })),
          reportOf(call("files.remove", {}, { dryRun: true })),
        ]),
      ),
    ])
    const { data } = await registry.trusted.execute("a.plan", {})
    expect(data).toMatchObject([{ decision: "allow" }, { decision: "deny" }])
    // That is the middleware of the outer call.
    expect(ran.mock.calls.filter(([input]) => !isTrace(input))).toEqual([[]])
  })

  test("is a call, also of a subscription: no stream is opened", async () => {
    const { registry, ran } = setUp()
    const items = registry.subscribe("files.watch", {}, { dryRun: true })
    await expect(items.next()).rejects.toMatchObject({
      code: "INVALID_OPERATION_TYPE",
      message: expect.stringContaining(`execute("files.watch", input, { dryRun: true })`) as string,
    })
    await expect(registry.execute("files.watch", {})).rejects.toThrow("subscribe()")
    await expect(registry.execute("files.copy", {}, { dryRun: "yes" as never })).rejects.toThrow(
      "dryRun must be true or false",
    )
    expect(ran.mock.calls.filter(([input]) => !isTrace(input))).toEqual([])
  })

  test.each([
    ["an HTTP client", (url: string) => createHTTPTransport(url)],
    ["a WebSocket", (url: string) => createWebSocketTransport(`${url.replace("http", "ws")}/ws`)],
  ])("opens no stream of %s", async (_name, open) => {
    const { registry, ran } = setUp()
    await using client = createClient(open(await serve(registry)), { logger: silentLogger })
    await expect(
      client.subscribe("files.watch", {}, { dryRun: true }).next(),
    ).rejects.toMatchObject({
      code: "INVALID_OPERATION_TYPE",
      message: expect.stringContaining(`call("files.watch", input, { dryRun: true })`) as string,
    })
    expect(ran).not.toHaveBeenCalled()
  })

  test("of a subscription is no stream of the gateway either", async () => {
    const { registry, ran } = setUp()
    const headers = { "x-dry-run": "1", accept: "text/event-stream" }
    const response = await fetch(`${await serve(registry)}/operations/files.watch`, { headers })
    expect([response.status, await response.text()]).toEqual([
      406,
      expect.stringContaining('\\"files.watch\\" has one result: POST it'),
    ])
    expect(ran).not.toHaveBeenCalled()
  })

  test("answers with 200 at a route of an operation, whatever the status and result of that", async () => {
    const { registry, ran } = setUp()
    const url = await serve(registry)
    for (const [method, path] of [
      ["PUT", "/saved"],
      ["POST", "/watches"],
    ] as const) {
      const response = await fetch(url + path, {
        ...{ method, body: "{}" },
        headers: { "content-type": "application/json", "x-dry-run": "true" },
      })
      expect([response.status, response.headers.get("x-dry-run")]).toEqual([200, "1"])
      expect(await response.json()).toMatchObject({ dryRun: true })
    }
    expect(ran).not.toHaveBeenCalled()
    const headers = { "content-type": "application/json", "x-dry-run": "0" }
    await fetch(`${url}/operations/files.copy`, { method: "POST", body: "{}", headers })
    expect(ran).toHaveBeenCalled()
  })

  test("follows the decision of a function, and uses no approval", async () => {
    const decide = vi.fn(async () => "ask" as const)
    const registry: OperationRegistry = createRegistry([mutationNamed("files.copy", () => 1)], {
      approvals: decide,
    })
    await registry.execute("files.copy", {}).catch(() => undefined)
    registry.approvals?.answer(registry.approvals.waiting[0]!.id, { approve: true })
    const report = reportOf(registry.execute("files.copy", {}, { dryRun: true, via: "tools" }))
    expect(await report).toMatchObject({ decision: "ask" })
    expect(decide).toHaveBeenLastCalledWith(expect.objectContaining({ via: "tools" }))
    await registry.execute("files.copy", {})
  })
})

function isTrace(value: unknown): boolean {
  return typeof (value as { phase?: unknown } | undefined)?.phase === "string"
}
