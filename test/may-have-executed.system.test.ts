import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "@nats-io/transport-node"
import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPIUrl } from "../src/from-openapi.ts"
import { createMCPClient } from "../src/from-mcp.ts"
import { createHTTPTransport } from "../src/http.ts"
import { createClient, isCallError, serveCalls } from "../src/index.ts"
import { silentLogger } from "../src/testing.ts"
import { serveHTTP } from "../src/node.ts"
import { createRegistry } from "../src/engine/registry.ts"
import type { AnyRegistry } from "../src/engine/registry.ts"
import { createNatsTransport } from "../src/nats.ts"
import { createRedisTransport } from "../src/redis.ts"
import { createWebSocketTransport, serveWebSocket } from "../src/websocket.ts"
import { program } from "./sources/mcp/support/program.ts"
import { provideNats, provideRedis, startNats, startRedis } from "./support/brokers.ts"
import { countedOperations } from "./support/counted-operations.ts"
import { waitFor } from "./support/wait-for.ts"
import { deferred } from "./serve/http/support.ts"

type Call = (name: string, input: unknown, signal?: AbortSignal) => Promise<unknown>

/** One way to call a registry, and how to lose who answers. */
interface Way {
  readonly call: Call
  readonly lose?: () => unknown
  /** Where operations run in another process: when one has begun, and how many have. */
  readonly entered?: () => Promise<unknown>
  readonly runs?: () => number
}

const [hasNats, hasRedis] = await Promise.all([provideNats(), provideRedis()])

const WAYS: Readonly<Record<string, (of: Counted) => Promise<Way>>> = {
  registry: async ({ registry }) => ({
    call: (name, input, signal) => registry.execute(`demo.${name}`, input, { signal }),
  }),
  WebSocket: async ({ registry }) => {
    const served = await serveWebSocket(registry, { port: 0, logger: silentLogger })
    const client = createClient(createWebSocketTransport(served.url ?? ""))
    onTestFinished(async () => {
      await client.close()
      await served.close()
    })
    return {
      call: (name, input, signal) => client.call(`demo.${name}`, input, { signal }),
      lose: () => served.close(),
    }
  },
  "HTTP client": async ({ registry }) => {
    const served = await serveHTTP(registry, { port: 0, drainMs: 0, logger: silentLogger })
    const client = createClient(createHTTPTransport(served.url))
    onTestFinished(async () => {
      await client.close()
      await served.close()
    })
    return {
      call: (name, input, signal) => client.call(`demo.${name}`, input, { signal }),
      lose: () => served.close(),
    }
  },
  HTTP: async ({ registry }) => {
    const served = await serveHTTP(registry, { port: 0, drainMs: 0, logger: silentLogger })
    onTestFinished(() => served.close())
    const config = { namespace: "demo", baseUrl: served.url }
    const imported = await FromOpenAPIUrl(`${served.url}/openapi.json`, config)
    const here = createRegistry(imported) as unknown as AnyRegistry
    return {
      call: (name, input, signal) => {
        const { type } = here.getSpec(`demo.${name}`) ?? {}
        return here.execute(`demo.${name}`, type === "query" ? input : { body: input }, { signal })
      },
      lose: () => served.close(),
    }
  },
  ...(hasNats && {
    NATS: async ({ registry }) => {
      const broker = await startNats()
      const connection = await connect({ servers: broker.url })
      const transport = createNatsTransport({ connection, logger: silentLogger })
      const server = serveCalls(registry, { transport, logger: silentLogger })
      await transport.whenConnected()
      const client = createClient(
        createNatsTransport({ servers: broker.url, logger: silentLogger }),
      )
      onTestFinished(async () => {
        await client.close()
        await server.close()
        await connection.close()
        await broker[Symbol.asyncDispose]()
      })
      return {
        call: (name, input, signal) => client.call(`demo.${name}`, input, { signal }),
        lose: () => connection.close(),
      }
    },
  }),
  ...(hasRedis && {
    Redis: async ({ registry }) => {
      const broker = await startRedis()
      const client = new Redis(broker.url)
      const transport = createRedisTransport({ client, logger: silentLogger })
      const server = serveCalls(registry, { transport, logger: silentLogger })
      await transport.whenConnected()
      const caller = createClient(createRedisTransport({ url: broker.url, logger: silentLogger }))
      onTestFinished(async () => {
        await caller.close()
        await server.close()
        client.disconnect()
        await broker[Symbol.asyncDispose]()
      })
      return {
        call: (name, input, signal) => caller.call(`demo.${name}`, input, { signal }),
        lose: () => transport.close(),
      }
    },
  }),
  MCP: async ({ type }) => {
    const folder = mkdtempSync(join(tmpdir(), "operations-runs-"))
    const journal = join(folder, "runs")
    const lines = (): string[] => readFileSync(journal, "utf8").split("\n")
    const script = program(join(import.meta.dirname, "support/counted-server.ts"))
    const command = { command: process.execPath, args: [script, type, journal] }
    const wrapper = await createMCPClient("up", { ...command, logger: silentLogger })
    const here = createRegistry([], { logger: silentLogger })
    wrapper.registerAll(here)
    onTestFinished(async () => {
      await wrapper.close()
      rmSync(folder, { recursive: true })
    })
    return {
      call: (name, input, signal) => here.execute(`up.demo_${name}`, input, { signal }),
      lose: async () => {
        writeFileSync(`${journal}.gone`, "")
        process.kill(Number(lines()[0]?.replace("process ", "")), "SIGKILL")
        // What is written to a process that has just died may have been read by it.
        await waitFor(() => expect(wrapper.status().status).not.toBe("ready"))
      },
      entered: () => waitFor(() => expect(lines()).toContain("run")),
      runs: () => lines().filter((line) => line === "run").length,
    }
  },
}

/** Operations of which one runs until the test is over, and how often they ran. */
function counted(type: "query" | "mutation") {
  const entered = deferred()
  const gate = deferred()
  let runs = 0
  const onRun = (): void => {
    runs++
    entered.resolve()
  }
  onTestFinished(() => gate.resolve())
  const registry = countedOperations(type, onRun, gate.promise)
  return { type, registry, entered: entered.promise, runs: () => runs }
}

type Counted = ReturnType<typeof counted>

/** What goes wrong, and whether the operation begins before it does. */
const FAULTS: Readonly<
  Record<string, readonly [begins: boolean, cause: (way: Required<Way>) => Promise<unknown>]>
> = {
  "an input that is refused": [false, ({ call }) => call("wait", { n: "x" })],
  "a call that was aborted before": [
    false,
    ({ call }) => call("wait", { n: 1 }, AbortSignal.abort()),
  ],
  "a server that is gone": [
    false,
    async ({ call, lose }) => {
      await lose()
      return await call("wait", { n: 1 }, AbortSignal.timeout(3000))
    },
  ],
  "a handler that throws": [true, ({ call }) => call("fail", { n: 1 })],
  "a call that is aborted": [
    true,
    async ({ call, entered }) => {
      const leaving = new AbortController()
      const result = call("wait", { n: 1 }, leaving.signal)
      void entered().then(() => leaving.abort())
      return await result
    },
  ],
  "a server that is lost": [
    true,
    async ({ call, lose, entered }) => {
      const result = call("wait", { n: 1 })
      void entered().then(() => lose())
      return await result
    },
  ],
}

/** A registry has no server to lose; and that a tool failed is a result of MCP, not an error. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  registry: ["a server that is gone", "a server that is lost"],
  MCP: ["a handler that throws"],
}

const cases = Object.keys(WAYS).flatMap((way) =>
  (["query", "mutation"] as const).flatMap((type) =>
    Object.keys(FAULTS)
      .filter((fault) => WITHOUT[way]?.includes(fault) !== true)
      .map((fault) => [way, type, fault] as const),
  ),
)

describe("mayHaveExecuted", () => {
  test.each(cases)("%s, %s, %s", async (name, type, fault) => {
    const of = counted(type)
    const lose = (): never => expect.unreachable()
    const made = await (WAYS[name] as (typeof WAYS)[string])(of)
    const way = { lose, entered: () => of.entered, runs: of.runs, ...made }
    const [begins, cause] = FAULTS[fault] as (typeof FAULTS)[string]
    const error: unknown = await cause(way).catch((thrown: unknown) => thrown)
    if (!isCallError(error)) throw new Error(`not a CallError: ${String(error)}`)
    const { code, mayHaveExecuted } = error
    expect([code, way.runs()]).toEqual([code, begins ? 1 : 0])
    expect([code, mayHaveExecuted]).toEqual([code, begins])
  })
})
