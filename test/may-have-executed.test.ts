import { connect } from "@nats-io/transport-node"
import { Type } from "typebox"
import { describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPIUrl } from "../src/from_openapi.ts"
import {
  createClient,
  defineOperation,
  isCallError,
  serveCalls,
  silentLogger,
} from "../src/index.ts"
import { serveHTTP } from "../src/node/index.ts"
import { createRegistry } from "../src/registry.ts"
import type { AnyRegistry } from "../src/registry.ts"
import { createNatsTransport } from "../src/transport/nats.ts"
import { createWebSocketTransport, serveWebSocket } from "../src/websocket.ts"
import { provideNats, startNats } from "./support/brokers.ts"
import { deferred } from "./serve/http/support.ts"

type Call = (name: string, input: unknown, signal?: AbortSignal) => Promise<unknown>

/** One way to call a registry, and how to lose who answers. */
interface Way {
  readonly call: Call
  readonly lose?: () => unknown
}

const hasNats = await provideNats()

const WAYS: Readonly<Record<string, (registry: AnyRegistry) => Promise<Way>>> = {
  registry: async (registry) => ({
    call: (name, input, signal) => registry.execute(`demo.${name}`, input, { signal }),
  }),
  WebSocket: async (registry) => {
    const served = await serveWebSocket({ registry, port: 0, logger: silentLogger })
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
  HTTP: async (registry) => {
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
    NATS: async (registry) => {
      const broker = await startNats()
      const connection = await connect({ servers: broker.url })
      const transport = createNatsTransport({ connection, logger: silentLogger })
      const server = serveCalls({ registry, transport, logger: silentLogger })
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
}

/** An operation that runs until it is told, and how often it ran. */
function counted(type: "query" | "mutation") {
  const entered = deferred()
  const gate = deferred()
  let runs = 0
  const shared = {
    namespace: "demo",
    version: "1.0.0",
    description: "Counts its runs",
    inputSchema: Type.Object({ n: Type.Integer() }),
    outputSchema: Type.Integer(),
    accessControl: { requiredScopes: [] },
    type,
  } as const
  const registry = createRegistry([
    defineOperation({
      ...shared,
      name: "wait",
      handler: async () => {
        runs++
        entered.resolve()
        await gate.promise
        return runs
      },
    }),
    defineOperation({
      ...shared,
      name: "fail",
      handler: () => {
        runs++
        throw new Error("broken")
      },
    }),
  ]) as unknown as AnyRegistry
  onTestFinished(() => gate.resolve())
  return { registry, entered: entered.promise, runs: () => runs }
}

type Counted = ReturnType<typeof counted>

/** What goes wrong, and whether the operation begins before it does. */
const FAULTS: Readonly<
  Record<string, readonly [begins: boolean, cause: (way: Way, of: Counted) => Promise<unknown>]>
> = {
  "an input that is refused": [false, ({ call }) => call("wait", { n: "x" })],
  "a call that was aborted before": [
    false,
    ({ call }) => call("wait", { n: 1 }, AbortSignal.abort()),
  ],
  "a server that is gone": [
    false,
    async ({ call, lose }) => {
      await lose?.()
      return await call("wait", { n: 1 }, AbortSignal.timeout(3000))
    },
  ],
  "a handler that throws": [true, ({ call }) => call("fail", { n: 1 })],
  "a call that is aborted": [
    true,
    async ({ call }, { entered }) => {
      const leaving = new AbortController()
      const result = call("wait", { n: 1 }, leaving.signal)
      void entered.then(() => leaving.abort())
      return await result
    },
  ],
  "a server that is lost": [
    true,
    async ({ call, lose }, { entered }) => {
      const result = call("wait", { n: 1 })
      void entered.then(() => lose?.())
      return await result
    },
  ],
}

const cases = Object.keys(WAYS).flatMap((way) =>
  (["query", "mutation"] as const).flatMap((type) =>
    Object.keys(FAULTS)
      .filter((fault) => way !== "registry" || !fault.startsWith("a server"))
      .map((fault) => [way, type, fault] as const),
  ),
)

describe("mayHaveExecuted", () => {
  test.each(cases)("%s, %s, %s", async (name, type, fault) => {
    const of = counted(type)
    const way = await (WAYS[name] as (typeof WAYS)[string])(of.registry)
    const [begins, cause] = FAULTS[fault] as (typeof FAULTS)[string]
    const error: unknown = await cause(way, of).catch((thrown: unknown) => thrown)
    if (!isCallError(error)) throw new Error(`not a CallError: ${String(error)}`)
    const { code, mayHaveExecuted } = error
    expect([code, of.runs()]).toEqual([code, begins ? 1 : 0])
    expect([code, mayHaveExecuted]).toEqual([code, begins])
  })
})
