// What policies remember of an operation, and what happens to it when the operation, its settings or its link change.
import { describe, expect, onTestFinished, test } from "vitest"
import { compileRules } from "../../src/engine/policies.ts"
import { createHub, serveHTTP } from "../../src/node.ts"
import { CallError, createRegistry, fromCall, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, CallOptions, OperationRegistry, Transport } from "../../src/index.ts"
import type { PolicyRule } from "../../src/core/resilience.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { configOf, folder, sourceOf } from "../hub/support.ts"
import { deferred } from "../serve/http/support.ts"
import type { Deferred } from "../serve/http/support.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

const BROKERS = await provideBrokers()
const logger = silentLogger

/** A mutation that waits for its gate and counts its runs, and two queries. */
function shop(): { operations: () => AnyOperation[]; runs: { n: number }; gate: Deferred } {
  const runs = { n: 0 }
  const gate = deferred()
  const operations = (): AnyOperation[] => [
    operation("shop.pay", {
      handler: async () => {
        const receipt = ++runs.n
        await gate.promise
        return { receipt }
      },
    }),
    operation("shop.get", { type: "query", handler: () => 1 }),
    operation("shop.fail", {
      type: "query",
      handler: () => {
        throw new CallError("UNAVAILABLE", "away")
      },
    }),
  ]
  return { operations, runs, gate }
}

const RULES: readonly PolicyRule[] = [
  { match: "shop.pay", idempotency: {}, concurrency: { max: 1 } },
  {
    match: "shop.get",
    cache: { ttl: 60_000 },
    rateLimit: { perSecond: 0.001, burst: 1, per: () => "all" },
  },
  { match: "shop.fail", breaker: { minimumCalls: 1, openMs: 60_000 } },
]
const KEYED: CallOptions = { idempotencyKey: "k" }

type Change = (registry: OperationRegistry, operations: () => AnyOperation[]) => unknown

const rulesBut = (name: string, other: object): PolicyRule[] =>
  RULES.map((rule) => (rule.match === name ? { ...rule, ...other } : rule))

/** What is done between two calls, and what is left of the state then. */
const CHANGES: Readonly<Record<string, readonly [change: Change, left: object]>> = {
  "an operation is replaced": [
    (registry, operations) => registry.registerAll(operations(), { replace: true }),
    // Another handler may have other results.
    { cache: false, limit: true, breaker: true },
  ],
  "an operation is removed and added again": [
    (registry, operations) => {
      for (const { namespace, name } of operations()) registry.unregister(`${namespace}.${name}`)
      registry.registerAll(operations())
    },
    { cache: false, limit: true, breaker: false },
  ],
  "another rule is added": [
    (registry) => registry.setPolicies(compileRules([...RULES, { match: "other.*", retry: {} }])),
    { cache: true, limit: true, breaker: true },
  ],
  "a policy is added to the rule": [
    (registry) => {
      const more = { retry: { attempts: 2 } }
      registry.setPolicies(compileRules(RULES.map((rule) => ({ ...rule, ...more }))))
    },
    { cache: true, limit: true, breaker: true },
  ],
  "the settings change": [
    (registry) => {
      const cached = rulesBut("shop.get", {
        cache: { ttl: 50_000 },
        rateLimit: { perSecond: 1, burst: 2 },
      })
      const [pay, , fail] = rulesBut("shop.fail", { breaker: { minimumCalls: 1, openMs: 50_000 } })
      registry.setPolicies(compileRules([pay!, cached[1]!, fail!]))
    },
    { cache: false, limit: false, breaker: false },
  ],
}

describe("what policies remember when", () => {
  test.each(Object.entries(CHANGES))("%s", async (_, [change, left]) => {
    const { operations, runs, gate } = shop()
    const registry = createRegistry(operations(), { logger })
    registry.setPolicies(compileRules(RULES))
    onTestFinished(() => registry.close())
    const code = (id: string, options?: CallOptions): Promise<string | undefined> =>
      registry.execute(id, {}, options).then(
        () => undefined,
        (error: CallError) => error.code,
      )
    const running = registry.execute("shop.pay", {}, KEYED)
    await registry.execute("shop.get", {})
    expect(await code("shop.fail")).toBe("UNAVAILABLE")
    await waitFor(() => expect(runs.n).toBe(1))

    await change(registry, operations)

    // Running keys and slots stay in any case.
    const repeated = registry.execute("shop.pay", {}, KEYED)
    expect(await code("shop.pay", { idempotencyKey: "other" })).toBe("OVERLOADED")
    gate.resolve()
    expect(await Promise.all([running, repeated])).toMatchObject([
      { data: { receipt: 1 } },
      { data: { receipt: 1 }, meta: { replayed: true } },
    ])
    expect(await registry.execute("shop.pay", {}, KEYED)).toMatchObject({
      meta: { replayed: true },
    })
    expect(runs.n).toBe(1)
    const limited = await code("shop.get", { policy: { cache: "skip" } })
    await code("shop.get")
    expect({
      cache: registry.policyState.operations.some(({ cache }) => (cache?.hits ?? 0) > 0),
      limit: limited === "RATE_LIMITED",
      breaker: (await code("shop.fail")) === "CIRCUIT_OPEN",
    }).toEqual(left)
  })

  test("a hub gets another source and another rule", async () => {
    const { operations, runs, gate } = shop()
    const first = { policies: [{ match: "shop.*", idempotency: {} }] }
    const hub = createHub(configOf([], first), { logger })
    onTestFinished(() => hub.close())
    hub.registry.registerAll(operations())
    const running = hub.registry.execute("shop.pay", {}, KEYED)
    await waitFor(() => expect(runs.n).toBe(1))
    const scan = folder({})
    await hub.apply(
      configOf([sourceOf("more", { scan: `${scan}/*.ts` })], {
        policies: [...first.policies, { match: "more.*", retry: {} }],
      }),
    )
    const repeated = hub.registry.execute("shop.pay", {}, KEYED)
    gate.resolve()

    expect(await Promise.all([running, repeated])).toMatchObject([
      { data: { receipt: 1 } },
      { data: { receipt: 1 }, meta: { replayed: true } },
    ])
    expect(runs.n).toBe(1)
  })
})

/** A peer that serves operations, and can be lost and come back. */
interface Peer {
  readonly link: Transport
  /** Another worker joins, with one operation more. */
  readonly join?: ((operations: readonly AnyOperation[]) => unknown) | undefined
  /** All connections and workers end, and come back with one operation more. */
  readonly restart: (operations: readonly AnyOperation[]) => Promise<unknown>
}

type OpenPeer = (operations: readonly AnyOperation[]) => Promise<Peer>

const overBroker =
  (broker: string, linkTo: (url: string) => Transport): OpenPeer =>
  async (operations) => {
    const started = await BROKERS[broker]!()
    onTestFinished(() => started[Symbol.asyncDispose]())
    const workers: { close: () => Promise<void> }[] = []
    const join = (own: readonly AnyOperation[]): void => {
      const registry = createRegistry(own, { logger })
      const server = serveCalls(registry, { transport: linkTo(started.url), logger })
      const close = async (): Promise<void> => {
        await server.close()
        await registry.close()
      }
      workers.push({ close })
      onTestFinished(close)
    }
    join(operations)
    const restart = async (own: readonly AnyOperation[]): Promise<void> => {
      await Promise.all(workers.splice(0).map((worker) => worker.close()))
      join(own)
    }
    return { link: linkTo(started.url), join, restart }
  }

const PEERS: Readonly<Record<string, OpenPeer>> = {
  WebSocket: async (operations) => {
    const serve = async (own: readonly AnyOperation[], port: number): Promise<typeof served> => {
      const registry = createRegistry(own, { logger })
      const server = await serveHTTP(registry, { port, logger, drainMs: 0 })
      onTestFinished(async () => {
        await server.close()
        await registry.close()
      })
      return server
    }
    let served: Awaited<ReturnType<typeof serveHTTP>> = await serve(operations, 0)
    const { port } = new URL(served.url)
    const restart = async (own: readonly AnyOperation[]): Promise<void> => {
      await served.close()
      served = await serve(own, Number(port))
    }
    const url = `${served.url.replace("http", "ws")}/ws`
    return { link: createWebSocketTransport(url, { logger }), restart }
  },
  ...(BROKERS["NATS"] !== undefined && {
    NATS: overBroker("NATS", (servers) => createNatsTransport({ servers, prefix: "k", logger })),
  }),
  ...(BROKERS["Redis"] !== undefined && {
    Redis: overBroker("Redis", (url) => createRedisTransport({ url, prefix: "k", logger })),
  }),
}

describe.each(Object.keys(PEERS))("a key of an operation that is imported over %s", (name) => {
  const setUp = async (): Promise<
    ReturnType<typeof shop> & {
      peer: Peer
      pay: () => Promise<unknown>
      extended: () => AnyOperation[]
      isFollowed: () => Promise<void>
      replaced: string[]
    }
  > => {
    const made = shop()
    const peer = await PEERS[name]!(made.operations())
    const policies = [{ match: "*", idempotency: {}, concurrency: { max: 1 } }]
    const gateway = createRegistry([], { logger, policies })
    const replaced: string[] = []
    gateway.onChange(({ type, id }) => void (type === "replaced" && replaced.push(id)))
    onTestFinished(async () => {
      made.gate.resolve()
      await gateway.close()
      await peer.link.close()
    })
    await fromCall(peer.link, { registry: gateway, logger })
    return {
      ...made,
      peer,
      replaced,
      pay: () => gateway.execute("shop.pay", {}, { ...KEYED, timeout: 60_000 }),
      extended: () => [...made.operations(), operation("shop.more", { handler: () => 1 })],
      // Operations are compared in their order: this one is the last.
      isFollowed: () => waitFor(() => expect(gateway.has("shop.more")).toBe(true)),
    }
  }

  test("has its outcome when the peer is gone and comes back", async () => {
    const { gate, peer, pay, extended, isFollowed, runs, replaced } = await setUp()
    gate.resolve()
    await pay()
    await peer.restart(extended())
    await isFollowed()
    expect(await pay()).toMatchObject({ data: { receipt: 1 }, meta: { replayed: true } })
    expect([runs.n, replaced]).toEqual([1, []])
  })

  test("is in doubt when the peer is lost during the call, and after it is back", async () => {
    const { peer, pay, extended, isFollowed, runs } = await setUp()
    const lost = rejection(pay())
    await waitFor(() => expect(runs.n).toBe(1))
    await peer.restart(extended())
    expect(await lost).toMatchObject({ mayHaveExecuted: true })
    await isFollowed()
    expect(await rejection(pay())).toMatchObject({
      code: "CONFLICT",
      mayHaveExecuted: true,
      details: { reason: "IDEMPOTENCY_IN_DOUBT" },
    })
    expect(runs.n).toBe(1)
  })

  // A WebSocket has one peer.
  if (name === "WebSocket") return
  test("is that of the running call when a worker joins", async () => {
    const { gate, peer, pay, extended, isFollowed, runs, replaced } = await setUp()
    const running = pay()
    await waitFor(() => expect(runs.n).toBe(1))
    peer.join?.(extended())
    await isFollowed()
    const repeated = pay()
    gate.resolve()
    expect(await Promise.all([running, repeated])).toMatchObject([
      { data: { receipt: 1 } },
      { data: { receipt: 1 }, meta: { replayed: true } },
    ])
    expect([runs.n, replaced]).toEqual([1, []])
  })
})
