// The same laws for every kind of source: in this process, an HTTP API, an MCP server, and registries behind transports.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "@nats-io/transport-node"
import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPIUrl } from "../../src/from-openapi.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { createRegistry, fromCall, serveCalls, silentLogger } from "../../src/index.ts"
import type { AnyOperation, AnyRegistry, CallError } from "../../src/index.ts"
import type { PolicyRule } from "../../src/core/resilience.ts"
import { serveHTTP } from "../../src/node.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import { program } from "../sources/mcp/support/program.ts"
import { deferred } from "../serve/http/support.ts"
import { provideNats, provideRedis, startNats, startRedis } from "../support/brokers.ts"
import { countedOperations } from "../support/counted-operations.ts"
import { rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

type Kind = "query" | "mutation"

/** Where operations run, and how it is lost. */
interface Backend {
  readonly type: Kind
  readonly registry: AnyRegistry
  readonly entered: () => Promise<unknown>
  readonly runs: () => number
}

/** An imported operation that runs until the test is over, and what is known of it. */
interface Imported extends Pick<Backend, "entered" | "runs"> {
  readonly call: (timeout?: number) => Promise<unknown>
  readonly lose: () => unknown
}

type Source = (backend: Backend, policies: readonly PolicyRule[]) => Promise<Imported>

/** The registry of the caller. */
function near(operations: readonly AnyOperation[], policies: readonly PolicyRule[]): AnyRegistry {
  const registry = createRegistry(operations, { logger: silentLogger, policies })
  onTestFinished(() => registry.close())
  return registry
}

function imported(
  { entered, runs }: Pick<Backend, "entered" | "runs">,
  registry: AnyRegistry,
  lose: () => unknown,
  [id, input]: readonly [string, unknown] = ["demo.wait", { n: 1 }],
): Imported {
  const call = (timeout = 60_000): Promise<unknown> => registry.execute(id, input, { timeout })
  return { call, lose, entered, runs }
}

const [hasNats, hasRedis] = await Promise.all([provideNats(), provideRedis()])

const SOURCES: Readonly<Record<string, Source>> = {
  local: async (backend, policies) => {
    const operations = backend.registry
      .list()
      .map((spec) => backend.registry.get(`demo.${spec.name}`))
    return imported(backend, near(operations as AnyOperation[], policies), () => undefined)
  },
  OpenAPI: async (backend, policies) => {
    const served = await serveHTTP(backend.registry, { port: 0, drainMs: 0, logger: silentLogger })
    onTestFinished(() => served.close())
    const config = { namespace: "demo", baseUrl: served.url }
    const operations = await FromOpenAPIUrl(`${served.url}/openapi.json`, config)
    const input = backend.type === "query" ? { n: 1 } : { body: { n: 1 } }
    return imported(backend, near(operations, policies), () => served.close(), ["demo.wait", input])
  },
  MCP: async ({ type }, policies) => {
    const folder = mkdtempSync(join(tmpdir(), "operations-policy-"))
    const journal = join(folder, "runs")
    const lines = (): string[] => readFileSync(journal, "utf8").split("\n")
    const script = program(join(import.meta.dirname, "../support/counted-server.ts"))
    const command = { command: process.execPath, args: [script, type, journal] }
    const wrapper = await createMCPClient("demo", { ...command, logger: silentLogger })
    const registry = near([], policies)
    wrapper.registerAll(registry)
    onTestFinished(async () => {
      await wrapper.close()
      rmSync(folder, { recursive: true })
    })
    const lose = async (): Promise<void> => {
      writeFileSync(`${journal}.gone`, "")
      process.kill(Number(lines()[0]?.replace("process ", "")), "SIGKILL")
      await waitFor(() => expect(wrapper.status().status).not.toBe("ready"))
    }
    const runs = (): number => lines().filter((line) => line === "run").length
    const entered = (): Promise<unknown> => waitFor(() => expect(lines()).toContain("run"))
    return imported({ entered, runs }, registry, lose, ["demo.demo_wait", { n: 1 }])
  },
  WebSocket: async (backend, policies) => {
    const served = await serveWebSocket({
      registry: backend.registry,
      port: 0,
      logger: silentLogger,
    })
    const link = createWebSocketTransport(served.url ?? "")
    onTestFinished(async () => {
      await link.close()
      await served.close()
    })
    const operations = await fromCall(link, { logger: silentLogger })
    return imported(backend, near(operations, policies), () => served.close())
  },
  ...(hasNats && {
    NATS: async (backend, policies) => {
      const broker = await startNats()
      const connection = await connect({ servers: broker.url })
      const transport = createNatsTransport({ connection, logger: silentLogger })
      const server = serveCalls({ registry: backend.registry, transport, logger: silentLogger })
      await transport.whenConnected()
      const link = createNatsTransport({ servers: broker.url, logger: silentLogger })
      onTestFinished(async () => {
        await link.close()
        await server.close()
        await connection.close()
        await broker[Symbol.asyncDispose]()
      })
      const operations = await fromCall(link, { logger: silentLogger })
      return imported(backend, near(operations, policies), () => connection.close())
    },
  }),
  ...(hasRedis && {
    Redis: async (backend, policies) => {
      const broker = await startRedis()
      const redis = new Redis(broker.url)
      const transport = createRedisTransport({ client: redis, logger: silentLogger })
      const server = serveCalls({ registry: backend.registry, transport, logger: silentLogger })
      await transport.whenConnected()
      const link = createRedisTransport({ url: broker.url, logger: silentLogger })
      onTestFinished(async () => {
        await link.close()
        await server.close()
        redis.disconnect()
        await broker[Symbol.asyncDispose]()
      })
      const operations = await fromCall(link, { logger: silentLogger })
      return imported(backend, near(operations, policies), () => transport.close())
    },
  }),
}

/** Operations of which one runs until the test is over. */
function makeBackend(type: Kind): Backend {
  const [entered, gate] = [deferred(), deferred()]
  let runs = 0
  onTestFinished(() => gate.resolve())
  const onRun = (): void => {
    runs++
    entered.resolve()
  }
  const registry = countedOperations(type, onRun, gate.promise)
  onTestFinished(() => registry.close())
  return { type, registry, entered: () => entered.promise, runs: () => runs }
}

const retry = { attempts: 3, delay: 0 }
const POLICIES: readonly (readonly [string, readonly PolicyRule[]])[] = [
  ["without policies", []],
  ["with retry", [{ match: "*", retry }]],
  [
    "with all of them",
    [{ match: "*", retry, standard: true, idempotency: {}, rateLimit: { perSecond: 100 } }],
  ],
]

/** Sources that can be lost, with all policies: what runs in this process cannot. */
const cases = Object.keys(SOURCES)
  .filter((source) => source !== "local")
  .flatMap((source) => POLICIES.map(([name, policies]) => [source, name, policies] as const))

describe("a mutation of whatever source", () => {
  test.each(cases)(
    "%s, %s: runs once when it is lost while it runs, and says that it may have",
    async (source, _name, policies) => {
      const it = await (SOURCES[source] as Source)(makeBackend("mutation"), policies)
      const lost = rejection(it.call())
      await it.entered()
      await it.lose()
      const error = (await lost) as CallError
      expect({ runs: it.runs(), mayHaveExecuted: error.mayHaveExecuted }).toEqual({
        runs: 1,
        mayHaveExecuted: true,
      })
    },
  )

  test.each(cases)(
    "%s, %s: runs never when it was gone before, and says so",
    async (source, _name, policies) => {
      const it = await (SOURCES[source] as Source)(makeBackend("mutation"), policies)
      await it.lose()
      const error = (await rejection(it.call(3_000))) as CallError
      expect(it.runs()).toBe(0)
      // A repeat over WebSocket waits for the connection at the deadline, and may say more than is certain, never less.
      const mayBeVague = source === "WebSocket" && policies.length > 0
      expect(error.mayHaveExecuted && !mayBeVague).toBe(false)
    },
  )
})

describe("policies of an operation of whatever source", () => {
  test.each(Object.keys(SOURCES))(
    "%s: refuse what is too much, and say that nothing ran",
    async (source) => {
      const rule = { match: "*", concurrency: { most: 1, queue: 0 } }
      const it = await (SOURCES[source] as Source)(makeBackend("mutation"), [rule])
      const first = it.call(3_000).catch(() => undefined)
      await it.entered()
      const error = await rejection(it.call())
      expect(error).toMatchObject({ code: "OVERLOADED", retryable: true, mayHaveExecuted: false })
      expect(it.runs()).toBe(1)
      await first
      // Whoever timed out has given its place back.
      const again = (await rejection(it.call(1))) as CallError
      expect(again.code).toBe("TIMEOUT")
    },
  )

  // What MCP servers say of their tools is a hint: none of them counts as repeatable.
  const repeatable = Object.keys(SOURCES).filter((source) => source !== "MCP")
  test.each(repeatable)("%s: run equal queries at the same time once", async (source) => {
    const it = await (SOURCES[source] as Source)(makeBackend("query"), [
      { match: "*", cache: { ttl: 1_000 } },
    ])
    const calls = [1, 2, 3].map(() => rejection(it.call(3_000)))
    await it.entered()
    const errors = (await Promise.all(calls)) as CallError[]
    expect(errors.map(({ code }) => code)).toEqual(["TIMEOUT", "TIMEOUT", "TIMEOUT"])
    expect(it.runs()).toBe(1)
  })

  test.each(Object.keys(SOURCES))("%s: open the circuit when attempts time out", async (source) => {
    const rule = { match: "*", breaker: { least: 2 }, timeout: { attempt: 300 } }
    const it = await (SOURCES[source] as Source)(makeBackend("query"), [rule])
    const codes: string[] = []
    for (let calls = 0; calls < 3; calls++)
      codes.push(((await rejection(it.call())) as CallError).code)
    expect(codes).toEqual(["TIMEOUT", "TIMEOUT", "CIRCUIT_OPEN"])
  })
})
