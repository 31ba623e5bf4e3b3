// The same laws for every kind of source: in this process, and in processes that are killed: an HTTP API, an MCP
// server, and registries behind transports.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPIUrl } from "../../src/from-openapi.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { createRegistry, fromCall } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  AnyRegistry,
  CallError,
  CallOptions,
  Transport,
} from "../../src/index.ts"
import type { PolicyRule } from "../../src/core/resilience.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { program } from "../sources/mcp/support/program.ts"
import { deferred } from "../serve/http/support.ts"
import { provideNats, provideRedis, startNats, startRedis } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { countedOperations } from "../support/counted-operations.ts"
import { rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

type Kind = "query" | "mutation"

/** Where operations run: what is known of their runs, and how they are lost. */
interface Backend {
  readonly entered: () => Promise<unknown>
  readonly runs: () => number
  readonly lose: () => unknown
}

/** An imported operation that runs until the test is over. */
interface Imported extends Backend {
  readonly call: (options?: CallOptions) => Promise<unknown>
}

type Source = (type: Kind, policies: readonly PolicyRule[]) => Promise<Imported>

const logger = silentLogger

/** The operation in the registry of the caller. */
function imported(
  backend: Backend,
  operations: readonly AnyOperation[],
  policies: readonly PolicyRule[],
  [id, input]: readonly [string, unknown] = ["demo.wait", { n: 1 }],
): Imported {
  const registry: AnyRegistry = createRegistry(operations, { logger, policies })
  onTestFinished(() => registry.close())
  const call = (options: CallOptions = {}): Promise<unknown> =>
    registry.execute(id, input, { timeout: 60_000, ...options })
  return { ...backend, call }
}

const script = (name: string): string => program(join(import.meta.dirname, "../support", name))

/** Serves the operations over a wire in a process of its own. */
async function startWorker(
  wire: string,
  type: Kind,
  broker = "",
): Promise<Backend & { readonly address: string }> {
  const child = spawn(process.execPath, [script("counted-worker.ts"), wire, type, broker], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [ready, entered] = [deferred(), deferred()]
  const ended = once(child, "close")
  let [address, runs] = ["", 0]
  createInterface(child.stdout).on("line", (line) => {
    if (line === "run") {
      runs++
      entered.resolve()
    } else {
      address = line.replace("ready ", "")
      ready.resolve()
    }
  })
  const lose = async (): Promise<void> => {
    child.kill("SIGKILL")
    await ended
  }
  onTestFinished(lose)
  await ready.promise
  return { address, entered: () => entered.promise, runs: () => runs, lose }
}

/** Operations of a registry behind a transport. */
async function behind(
  backend: Backend,
  link: Transport,
  policies: readonly PolicyRule[],
): Promise<Imported> {
  onTestFinished(() => link.close())
  return imported(backend, await fromCall(link, { logger }), policies)
}

const overBroker =
  (wire: string, start: () => Promise<Broker>, linkTo: (url: string) => Transport): Source =>
  async (type, policies) => {
    const broker = await start()
    onTestFinished(() => broker[Symbol.asyncDispose]())
    const worker = await startWorker(wire, type, broker.url)
    return await behind(worker, linkTo(broker.url), policies)
  }

const [hasNats, hasRedis] = await Promise.all([provideNats(), provideRedis()])

const SOURCES: Readonly<Record<string, Source>> = {
  local: async (type, policies) => {
    const [entered, gate] = [deferred(), deferred()]
    let runs = 0
    onTestFinished(() => gate.resolve())
    const onRun = (): void => {
      runs++
      entered.resolve()
    }
    const backend = { entered: () => entered.promise, runs: () => runs, lose: () => undefined }
    const operations = countedOperations(type, onRun, gate.promise).list() as AnyOperation[]
    return imported(backend, operations, policies)
  },
  OpenAPI: async (type, policies) => {
    const worker = await startWorker("OpenAPI", type)
    const config = { namespace: "demo", baseUrl: worker.address }
    const operations = await FromOpenAPIUrl(`${worker.address}/openapi.json`, config)
    const input = type === "query" ? { n: 1 } : { body: { n: 1 } }
    return imported(worker, operations, policies, ["demo.wait", input])
  },
  MCP: async (type, policies) => {
    const folder = mkdtempSync(join(tmpdir(), "operations-policy-"))
    const journal = join(folder, "runs")
    const lines = (): string[] => readFileSync(journal, "utf8").split("\n")
    const command = {
      command: process.execPath,
      args: [script("counted-server.ts"), type, journal],
    }
    const wrapper = await createMCPClient("demo", { ...command, logger })
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
    const backend = { entered, runs, lose }
    return imported(backend, wrapper.operations, policies, ["demo.demo_wait", { n: 1 }])
  },
  WebSocket: async (type, policies) => {
    const worker = await startWorker("WebSocket", type)
    return await behind(worker, createWebSocketTransport(worker.address, { logger }), policies)
  },
  ...(hasNats && {
    NATS: overBroker("NATS", startNats, (servers) => createNatsTransport({ servers, logger })),
  }),
  ...(hasRedis && {
    Redis: overBroker("Redis", startRedis, (url) => createRedisTransport({ url, logger })),
  }),
}

const retry = { attempts: 3, delay: 0 }
const POLICIES: readonly (readonly [string, readonly PolicyRule[]])[] = [
  ["without policies", []],
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
      const it = await (SOURCES[source] as Source)("mutation", policies)
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
      const it = await (SOURCES[source] as Source)("mutation", policies)
      await it.lose()
      // A repeat over WebSocket waits for a connection until the deadline.
      const timeout = source === "WebSocket" ? 1_000 : 60_000
      const error = (await rejection(it.call({ timeout }))) as CallError
      expect({ runs: it.runs(), mayHaveExecuted: error.mayHaveExecuted }).toEqual({
        runs: 0,
        mayHaveExecuted: false,
      })
    },
  )
})

describe("policies of an operation of whatever source", () => {
  test.each(Object.keys(SOURCES))(
    "%s: refuse what is too much, and say that nothing ran",
    async (source) => {
      const rule = { match: "*", concurrency: { max: 1, maxQueue: 0 } }
      const it = await (SOURCES[source] as Source)("mutation", [rule])
      const caller = new AbortController()
      const first = rejection(it.call({ signal: caller.signal }))
      await it.entered()
      const error = await rejection(it.call())
      expect(error).toMatchObject({ code: "OVERLOADED", retryable: true, mayHaveExecuted: false })
      expect(it.runs()).toBe(1)
      caller.abort()
      expect(await first).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
      // The handler that was left still runs here; elsewhere, the request has ended.
      const code = source === "local" ? "OVERLOADED" : "TIMEOUT"
      await expect.poll(() => rejection(it.call({ timeout: 1 }))).toMatchObject({ code })
    },
  )

  // What MCP servers say of their tools is a hint: none of them counts as repeatable.
  const repeatable = Object.keys(SOURCES).filter((source) => source !== "MCP")
  test.each(repeatable)("%s: run equal queries at the same time once", async (source) => {
    const it = await (SOURCES[source] as Source)("query", [{ match: "*", cache: { ttl: 1_000 } }])
    const caller = new AbortController()
    const calls = [1, 2, 3].map(() => rejection(it.call({ signal: caller.signal })))
    await it.entered()
    caller.abort()
    const errors = (await Promise.all(calls)) as CallError[]
    expect(errors.map(({ code }) => code)).toEqual(["ABORTED", "ABORTED", "ABORTED"])
    expect(it.runs()).toBe(1)
  })

  test.each(Object.keys(SOURCES))("%s: open the circuit when attempts time out", async (source) => {
    const rule = { match: "*", breaker: { minimumCalls: 2 }, timeout: { attempt: 300 } }
    const it = await (SOURCES[source] as Source)("query", [rule])
    const codes: string[] = []
    for (let calls = 0; calls < 3; calls++)
      codes.push(((await rejection(it.call())) as CallError).code)
    expect(codes).toEqual(["TIMEOUT", "TIMEOUT", "CIRCUIT_OPEN"])
  })
})
