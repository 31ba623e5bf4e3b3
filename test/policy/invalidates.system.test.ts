// A mutation that has its effect removes cached results, however its call ends, over every way in.
import { describe, expect, test } from "vitest"
import { CallError, createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, CallOptions, Resilience } from "../../src/index.ts"
import { operation, rejection } from "../support/operations.ts"
import { provideBrokers } from "../support/brokers.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])
const WAYS = Object.keys(WAYS_IN).filter((name) => !NEED_BROKERS.has(name) || name in BROKERS)

/** A value that is read from a cache, and a mutation that changes it when it may. */
class Item {
  value = 1
  started = 0
  /** The effect happens after this. */
  mayAct: Promise<void> = Promise.resolve()
  act: () => void = () => undefined

  hold(): void {
    this.mayAct = new Promise((resolve) => (this.act = resolve))
  }

  operations(more: Resilience = {}, thrown?: Error): AnyOperation[] {
    const shared = { inputSchema: { type: "object" } } as const
    return [
      operation("item.get", {
        ...shared,
        type: "query",
        outputSchema: { type: "object" },
        resilience: { cache: { ttl: 3_600_000 } },
        handler: () => ({ value: this.value }),
      }),
      operation("item.set", {
        ...shared,
        resilience: { invalidates: ["item.get"], ...more },
        handler: async () => {
          this.started++
          await this.mayAct
          this.value++
          if (thrown !== undefined) throw thrown
        },
      }),
    ]
  }
}

describe("cached results are removed when a mutation ends after its caller has left, over", () => {
  test.each(WAYS)("%s", async (name) => {
    await using broker = await BROKERS[name]?.()
    const item = new Item()
    const operations = item.operations()
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    await using surface = await openSurface(name, terms)
    const read = async (): Promise<unknown> => (await surface.call("item.get")).data
    expect(await read()).toEqual({ value: 1 })
    item.hold()
    const leaving = new AbortController()
    const left = surface.call("item.set", { signal: leaving.signal }).catch(() => undefined)
    await expect.poll(() => item.started).toBe(1)
    leaving.abort()
    await left
    // Cached again, before the effect.
    expect(await read()).toEqual({ value: 1 })
    item.act()
    await expect.poll(read).toEqual({ value: 2 })
  })
})

describe("cached results are removed", () => {
  const keyed: CallOptions = { idempotencyKey: "k" }

  test.each<[string, Resilience, Error | undefined, CallOptions | undefined]>([
    ["after an error that may have executed", {}, new Error("broken"), undefined],
    ["after an error of a keyed call", { idempotency: {} }, new Error("broken"), keyed],
    ["after a success", {}, undefined, undefined],
    ["after a fallback", { fallback: () => 1 }, new Error("broken"), undefined],
  ])("%s", async (_when, more, thrown, options) => {
    const item = new Item()
    const registry = createRegistry(item.operations(more, thrown), { logger: silentLogger })
    await registry.execute("item.get", {})
    await registry.execute("item.set", {}, options).catch(() => undefined)
    expect((await registry.execute("item.get", {})).data).toEqual({ value: 2 })
    await registry.close()
  })

  test.each<[string, Resilience, CallOptions]>([
    ["a caller's deadline", {}, { timeout: 5 }],
    ["a keyed call whose caller leaves", { idempotency: {} }, { ...keyed, timeout: 5 }],
    ["an attempt's limit", { timeout: { attempt: 5 } }, {}],
  ])("when the effect comes after %s", async (_when, more, options) => {
    const item = new Item()
    const registry = createRegistry(item.operations(more), { logger: silentLogger })
    item.hold()
    const error = await rejection(registry.execute("item.set", {}, options))
    expect(error).toMatchObject({ code: "TIMEOUT" })
    expect((await registry.execute("item.get", {})).data).toEqual({ value: 1 })
    item.act()
    await expect
      .poll(async () => (await registry.execute("item.get", {})).data)
      .toEqual({ value: 2 })
    await registry.close()
  })

  test("not after an error that says that nothing was executed", async () => {
    const item = new Item()
    const refused = new CallError("OUT_OF_STOCK", "nothing left", { mayHaveExecuted: false })
    const registry = createRegistry(item.operations({}, refused), { logger: silentLogger })
    await registry.execute("item.get", {})
    await rejection(registry.execute("item.set", {}))
    expect((await registry.execute("item.get", {})).meta.cache?.state).toBe("fresh")
    await registry.close()
  })
})
