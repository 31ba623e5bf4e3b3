// Keys that go to another system under a credential that callers share.
import { describe, expect, onTestFinished, test } from "vitest"
import { FromOpenAPIUrl } from "../../src/from-openapi.ts"
import { createHub, serveHTTP } from "../../src/node.ts"
import { createRegistry, fromCall, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { AnyRegistry, CallOptions } from "../../src/index.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { configOf, sourceOf } from "../hub/support.ts"
import { operation } from "../support/operations.ts"

const logger = silentLogger
const HUB = { id: "hub", scopes: [] }

/** A registry that knows all callers as one, and the keys that it got. */
function worker(): { registry: AnyRegistry; keys: (string | undefined)[] } {
  const keys: (string | undefined)[] = []
  const order = operation("shop.order", {
    inputSchema: { type: "object" },
    resilience: { idempotency: {} },
    handler: (_input: unknown, { idempotencyKey }: { idempotencyKey?: string | undefined }) => ({
      order: keys.push(idempotencyKey),
    }),
  })
  const registry = createRegistry([order], { logger })
  onTestFinished(() => registry.close())
  return { registry, keys }
}

type Importing = (
  registry: AnyRegistry,
) => Promise<readonly [AnyRegistry, id: string, input?: unknown]>

async function served(registry: AnyRegistry): Promise<string> {
  const server = await serveHTTP(registry, { port: 0, logger, authenticate: () => HUB })
  onTestFinished(() => server.close())
  return server.url
}

function gateway(): AnyRegistry {
  const registry = createRegistry([], { logger })
  onTestFinished(() => registry.close())
  return registry
}

const IMPORTS: Readonly<Record<string, Importing>> = {
  "fromCall over memory": async (registry) => {
    const [serving, calling] = createMemoryTransports()
    const server = serveCalls(registry, { transport: serving, resolveIdentity: () => HUB, logger })
    onTestFinished(() => server.close())
    const own = gateway()
    await fromCall(calling, { registry: own, logger })
    return [own, "shop.order"]
  },
  "fromCall over WebSocket": async (registry) => {
    const url = `${(await served(registry)).replace("http", "ws")}/ws`
    const link = createWebSocketTransport(url, { logger })
    onTestFinished(() => link.close())
    const own = gateway()
    await fromCall(link, { registry: own, logger })
    return [own, "shop.order"]
  },
  "a remote source of a hub": async (registry) => {
    const remote = await served(registry)
    const hub = createHub(configOf([sourceOf("far", { remote })]), {
      logger,
    })
    onTestFinished(() => hub.close())
    await hub.ready()
    return [
      hub.registry,
      hub.registry.list().map(({ namespace, name }) => `${namespace}.${name}`)[0]!,
    ]
  },
  "an OpenAPI document": async (registry) => {
    const url = await served(registry)
    const own = gateway()
    own.registerAll(
      await FromOpenAPIUrl(`${url}/openapi.json`, {
        ...{ namespace: "api", baseUrl: url, idempotencyHeader: "idempotency-key" },
      }),
    )
    return [own, "api.shop.order", { body: {} }]
  },
}

describe.each(Object.keys(IMPORTS))("a key that is forwarded by %s", (name) => {
  test("is that of its caller", async () => {
    const { registry, keys } = worker()
    const [own, id, input = {}] = await IMPORTS[name]!(registry)
    const order = async (caller?: string): Promise<unknown> => {
      const options: CallOptions = {
        idempotencyKey: "1",
        ...(caller !== undefined && { identity: { id: caller, scopes: [] } }),
      }
      return (await own.execute(id, input, options)).data
    }

    expect([await order("ada"), await order("bob"), await order("ada")]).toEqual([
      { order: 1 },
      { order: 2 },
      { order: 1 },
    ])
    expect([await order(), await order()]).toEqual([{ order: 3 }, { order: 3 }])
    expect(keys).toEqual([
      expect.stringMatching(/^[\da-f]{64}$/),
      expect.stringMatching(/^[\da-f]{64}$/),
      "1",
    ])
  })
})

test("a key stays as it is over a link of its caller", async () => {
  const { registry, keys } = worker()
  const link = (id: string): ReturnType<typeof createMemoryTransports>[1] => {
    const [serving, calling] = createMemoryTransports()
    const resolveIdentity = (): CallOptions["identity"] => ({ id, scopes: [] })
    const server = serveCalls(registry, { transport: serving, resolveIdentity, logger })
    onTestFinished(() => server.close())
    return calling
  }
  const own = gateway()
  await fromCall(link("hub"), {
    ...{ registry: own, logger },
    linkFor: ({ identity }) => identity && link(identity.id),
  })
  for (const id of ["ada", "bob"]) {
    await own.execute("shop.order", {}, { idempotencyKey: "1", identity: { id, scopes: [] } })
  }
  expect(keys).toEqual(["1", "1"])
})

test("the idempotency-key of a batch is a key of each of its calls, unless they have their own", async () => {
  const { registry, keys } = worker()
  const url = await served(registry)
  const send = async (key: string): Promise<unknown> => {
    const response = await fetch(`${url}/batch`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify([
        { id: "shop.order", input: {} },
        { id: "shop.order", input: {} },
        { id: "shop.order", input: {}, idempotencyKey: "own" },
      ]),
    })
    const { results } = (await response.json()) as { results: { envelope: { data: unknown } }[] }
    return results.map(({ envelope }) => envelope.data)
  }
  const first = await send("b")
  expect([await send("b"), await send('"b"')]).toEqual([first, first])
  expect(new Set(keys)).toEqual(new Set(["b.0", "b.1", "own"]))
  expect(keys).toHaveLength(3)
})
