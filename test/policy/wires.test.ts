import { Type } from "typebox"
import { describe, expect, onTestFinished, test } from "vitest"
import { defineOperation } from "../../src/core/define.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { serveHTTP } from "../../src/node/serve-http.ts"
import { createClient } from "../../src/protocol/client.ts"
import { serveCalls } from "../../src/protocol/server/serve.ts"
import type { Transport } from "../../src/protocol/transport.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"

/** A registry whose operations count their runs. */
function setUp() {
  const runs = { pay: 0, read: 0 }
  const base = { version: "1.0.0", description: "", accessControl: { requiredScopes: [] } } as const
  const registry = createRegistry(
    [
      defineOperation({
        ...base,
        namespace: "shop",
        name: "pay",
        type: "mutation",
        inputSchema: Type.Object({ cents: Type.Integer() }),
        outputSchema: Type.Integer(),
        resilience: { idempotency: {} },
        handler: () => ++runs.pay,
      }),
      defineOperation({
        ...base,
        namespace: "shop",
        name: "read",
        type: "query",
        inputSchema: Type.Object({}),
        outputSchema: Type.Integer(),
        resilience: { cache: { ttl: 60_000, vary: "none" } },
        handler: () => ++runs.read,
      }),
    ],
    { logger: silentLogger },
  )
  onTestFinished(() => registry.close())
  return { registry, runs }
}

type Served = ReturnType<typeof setUp>["registry"]

async function served(registry: Served): Promise<string> {
  const api = await serveHTTP(registry, { port: 0, logger: silentLogger })
  onTestFinished(() => api.close())
  return api.url
}

/** Ways to call it from elsewhere. */
const WAYS: readonly {
  readonly name: string
  readonly connect: (registry: Served) => Promise<Transport | EventTarget>
}[] = [
  {
    name: "over an EventTarget",
    connect: async (registry) => {
      const target = new EventTarget()
      const server = serveCalls(registry, { transport: target })
      onTestFinished(() => server.close())
      return target
    },
  },
  {
    name: "over WebSocket",
    connect: async (registry) =>
      createWebSocketTransport(`${(await served(registry)).replace("http", "ws")}/ws`),
  },
  {
    name: "over HTTP, batched",
    connect: async (registry) => createHTTPTransport(await served(registry)),
  },
  {
    name: "over HTTP, one by one",
    connect: async (registry) => createHTTPTransport(await served(registry), { batch: false }),
  },
]

describe.each(WAYS)("a caller $name", ({ connect }) => {
  test.each(["plain-key", "Schlüssel 7", '"quoted"'])(
    "has its call with the key %s run once",
    async (idempotencyKey) => {
      const { registry, runs } = setUp()
      const client = createClient<typeof registry>(await connect(registry))
      onTestFinished(() => client.close())
      const [first, second] = await Promise.all([
        client.shop.pay({ cents: 5 }, { idempotencyKey }),
        client.shop.pay({ cents: 5 }, { idempotencyKey }),
      ])
      const third = await client.shop.pay({ cents: 5 }, { idempotencyKey })
      expect([first.data, second.data, third.data]).toEqual([1, 1, 1])
      expect(third.meta).toMatchObject({ replayed: true })
      await expect(client.shop.pay({ cents: 6 }, { idempotencyKey })).rejects.toMatchObject({
        code: "CONFLICT",
      })
      await client.shop.pay({ cents: 5 }, { idempotencyKey: "another" })
      expect(runs.pay).toBe(2)
    },
  )

  test("asks for a fresh result, or for one that is not kept", async () => {
    const { registry } = setUp()
    const client = createClient<typeof registry>(await connect(registry))
    onTestFinished(() => client.close())
    const read = async (cache?: "skip" | "refresh"): Promise<number> =>
      (await client.shop.read({}, cache && { policy: { cache } })).data
    expect([await read(), await read(), await read("skip"), await read()]).toEqual([1, 1, 2, 1])
    expect([await read("refresh"), await read()]).toEqual([3, 3])
  })
})

describe("headers of a request over HTTP", () => {
  test("carry a key, quoted or not, and ask caches for a fresh result", async () => {
    const { registry, runs } = setUp()
    const url = await served(registry)
    const post = (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/api/shop/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      })
    for (const key of ["k-1", '"k-1"']) {
      const response = await post("pay", { cents: 5 }, { "idempotency-key": key })
      expect(await response.json()).toBe(1)
    }
    const reused = await post("pay", { cents: 6 }, { "idempotency-key": "k-1" })
    expect([reused.status, runs.pay]).toEqual([409, 1])
    const long = await post("pay", { cents: 5 }, { "idempotency-key": "x".repeat(256) })
    expect([long.status, runs.pay]).toEqual([400, 1])
    const read = async (control: string): Promise<unknown> =>
      (await post("read", {}, { "cache-control": control })).json()
    expect([await read("max-age=0"), await read("max-age=0")]).toEqual([1, 1])
    expect([await read("no-store"), await read("no-cache"), await read("private")]).toEqual([
      2, 3, 3,
    ])
  })
})
