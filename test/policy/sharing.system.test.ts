// What calls share, and what they do not: results of caches and of keys, flights, and files.
import { describe, expect, test } from "vitest"
import { createRegistry, defineContextValue } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  CallOptions,
  OperationContext,
  OperationRegistry,
  Resilience,
} from "../../src/index.ts"
import { toFile } from "../../src/type.ts"
import { operation } from "../support/operations.ts"
import { provideBrokers } from "../support/brokers.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded } from "./harness.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])
const WAYS = Object.keys(WAYS_IN).filter((name) => !NEED_BROKERS.has(name) || name in BROKERS)

const ADA: CallOptions = { identity: { id: "ada", scopes: [] } }

/** What is not data: its fields are private. */
class Tenant {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  get name(): string {
    return this.#name
  }
}

describe("values that middleware provides", () => {
  const tenant = defineContextValue<unknown>("tenant")

  /** A registry whose middleware provides the next of these values to each call. */
  function tenants(
    resilience: Resilience,
    type: "query" | "mutation",
    values: readonly unknown[],
  ): { registry: OperationRegistry; runs: () => number } {
    let runs = 0
    let calls = 0
    const notes = operation("notes.list", {
      type,
      resilience,
      handler: async (_input: unknown, context: OperationContext) => {
        runs++
        const of = tenant.read(context)
        return await Promise.resolve({ of: of instanceof Tenant ? of.name : of, runs })
      },
    })
    const registry = createRegistry([notes], { logger: silentLogger })
    registry.use((_call, next) => next({ metadata: tenant.provide(values[calls++]) }))
    return { registry, runs: () => runs }
  }

  const PAIRS: readonly (readonly [string, unknown, unknown])[] = [
    ["texts", "acme", "globex"],
    ["numbers", 1, 12],
    ["objects", { id: "acme" }, { id: "globex" }],
    ["a text and nothing", "acme", undefined],
  ]

  test.each(PAIRS)("separate the results of a cache: %s", async (_name, one, other) => {
    const { registry, runs } = tenants({ cache: { ttl: 60_000 } }, "query", [
      one,
      other,
      one,
      other,
    ])
    for (const of of [one, other, one, other]) {
      const { data } = await registry.execute("notes.list", {}, ADA)
      expect((data as { of: unknown }).of).toEqual(of)
    }
    expect(runs()).toBe(2)
    await registry.close()
  })

  test("separate the results of a cache by reference if they are not data", async () => {
    const [one, other] = [new Tenant("acme"), new Tenant("globex")]
    const { registry, runs } = tenants({ cache: { ttl: 60_000 } }, "query", [one, other, one])
    for (const { name } of [one, other, one]) {
      expect(await registry.execute("notes.list", {}, ADA)).toMatchObject({ data: { of: name } })
    }
    expect(runs()).toBe(2)
    await registry.close()
  })

  test("separate calls at the same time", async () => {
    const { registry, runs } = tenants({ cache: { ttl: 60_000 } }, "query", ["acme", "globex"])
    const both = await Promise.all([1, 2].map(() => registry.execute("notes.list", {}, ADA)))
    expect(both).toMatchObject([{ data: { of: "acme" } }, { data: { of: "globex" } }])
    expect(runs()).toBe(2)
    await registry.close()
  })

  test("do not separate callers with vary none, or where vary is a function", async () => {
    for (const vary of ["none", () => "all"] as const) {
      const { registry, runs } = tenants({ cache: { ttl: 60_000, vary } }, "query", [1, 2])
      for (let calls = 0; calls < 2; calls++) await registry.execute("notes.list", {}, ADA)
      expect(runs()).toBe(1)
      await registry.close()
    }
  })

  test.each(PAIRS)("separate idempotency keys: %s", async (_name, one, other) => {
    const { registry, runs } = tenants({ idempotency: {} }, "mutation", [one, other, one, other])
    for (const of of [one, other, one, other]) {
      const { data } = await registry.execute("notes.list", {}, { ...ADA, idempotencyKey: "1" })
      expect((data as { of: unknown }).of).toEqual(of)
    }
    expect(runs()).toBe(2)
    await registry.close()
  })

  test("do not separate idempotency keys if they are not data, which no other process would know", async () => {
    const values = [new Tenant("acme"), new Tenant("acme")]
    const { registry, runs } = tenants({ idempotency: {} }, "mutation", values)
    for (let calls = 0; calls < 2; calls++) {
      await registry.execute("notes.list", {}, { ...ADA, idempotencyKey: "1" })
    }
    expect(runs()).toBe(1)
    await registry.close()
  })
})

test("vary and input of a cache do not run together", async () => {
  const clock = new VirtualClock()
  let who: unknown
  const get = operation("api.get", { type: "query", handler: (input: unknown) => [who, input] })
  const vary = (): string => who as string
  await using it = guarded([get], { cache: { ttl: 1_000, vary } }, { clock })
  for (const [one, input] of [
    [1, 23],
    [12, 3],
    ["1", 23],
    [undefined, 3],
  ]) {
    who = one
    expect((await it.registry.execute("api.get", input)).data).toEqual([one, input])
  }
})

test("callers with different policy do not share a flight", async () => {
  const clock = new VirtualClock()
  let runs = 0
  const get = operation("api.get", {
    type: "query",
    handler: async () => {
      const run = ++runs
      await clock.sleep(10)
      if (run <= 2) throw Object.assign(new Error("away"), { code: "AWAY" })
      return run
    },
    errorSchemas: [{ code: "AWAY", description: "", schema: {} }],
  })
  const policies: Resilience = { cache: { ttl: 1_000 } }
  await using it = guarded([get], policies, { clock })
  const options = [
    { retry: false },
    undefined,
    { retry: { attempts: 2 } },
    { retry: false },
  ] as const
  const calls = Promise.allSettled(
    options.map((policy) => it.registry.execute("api.get", 1, policy && { policy })),
  )
  await clock.advance(100)
  await calls
  expect(runs).toBe(3)
  expect(it.policies.state().operations).toMatchObject([{ cache: { misses: 3, joined: 1 } }])
})

describe("a result that cannot be frozen is not shared", () => {
  class Point {
    readonly x = 1
  }

  async function* letters(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("abc")
    yield new TextEncoder().encode("def")
  }

  async function textOf(value: unknown): Promise<string> {
    if (typeof value === "string") return value
    const { text } = value as { text?: () => Promise<string> }
    if (typeof text !== "function") return `no file: ${JSON.stringify(value)}`
    return await text.call(value)
  }

  /** A cached query whose runs end when all callers are there. */
  function cached(run: () => unknown): { get: AnyOperation; runs: () => number; go: () => void } {
    let [runs, go] = [0, (): void => undefined]
    const started = new Promise<void>((resolve) => (go = resolve))
    const get = operation("files.get", {
      type: "query",
      inputSchema: { type: "object" },
      resilience: { cache: { ttl: 60_000 } },
      handler: async () => {
        runs++
        await started
        return run()
      },
    })
    return { get, runs: () => runs, go }
  }

  // The others answer with JSON, where a file is base64 text.
  const WITH_FILES = WAYS.filter((name) => !/MCP|gateway|batch|hub/.test(name))
  test.each(WITH_FILES)("%s: each caller gets the file", async (name) => {
    await using broker = await BROKERS[name]?.()
    const { get, runs, go } = cached(() => toFile(letters(), { name: "a.csv", type: "text/csv" }))
    const terms = { upstream: "", errors: undefined, operations: [get], broker: broker?.url }
    await using surface = await openSurface(name, terms)
    const calls = [1, 2, 3].map(() => surface.call("files.get"))
    await expect.poll(runs).toBe(1)
    go()
    const results = await Promise.all(calls)
    const texts = await Promise.all(results.map(({ data }) => textOf(data)))
    expect(texts).toEqual(["abcdef", "abcdef", "abcdef"])
  })

  test.each<[string, () => unknown, (data: never) => unknown]>([
    ["a stream", () => new Blob(["x"]).stream(), (data: ReadableStream) => data.locked],
    ["a generator", letters, (data: object) => Symbol.asyncIterator in data],
    ["a function", () => ({ f: () => 1 }), ({ f }: { f: () => number }) => f()],
    ["an instance", () => new Point(), (data: object) => data instanceof Point],
    ["bytes", () => new Uint8Array([1, 2]), (data: Uint8Array) => [...data]],
  ])("in process: %s", async (_name, run, look) => {
    const { get, go } = cached(run)
    const registry = createRegistry([get], { logger: silentLogger })
    const calls = Promise.all([1, 2].map(() => registry.execute("files.get", {})))
    go()
    const [one, two] = await calls
    expect(one?.data).not.toBe(two?.data)
    expect(look(two?.data as never)).toEqual(look(one?.data as never))
    await registry.close()
  })
})

test.each([
  ["a fallback", { fallback: true }],
  ["a stale result", { cache: { age: 5, state: "stale" as const } }],
])(
  "%s of a peer is not cached as fresh, and an older result stays for an outage",
  async (_name, more) => {
    const clock = new VirtualClock()
    let runs = 0
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        runs++
        if (runs === 4) throw Object.assign(new Error("away"), { code: "AWAY" })
        const meta = { source: "local", operationId: "api.get", timestamp: 0 } as const
        return await Promise.resolve({ data: runs, meta: runs === 1 ? meta : { ...meta, ...more } })
      },
    })
    await using it = guarded([get], { cache: { ttl: 100, staleIfError: 10_000 } }, { clock })
    const data = async (): Promise<unknown> => (await it.registry.execute("api.get")).data
    expect(await data()).toBe(1)
    await clock.advance(200)
    expect(await data()).toBe(2)
    expect(await data()).toBe(3)
    expect(await data()).toBe(1)
  },
)
