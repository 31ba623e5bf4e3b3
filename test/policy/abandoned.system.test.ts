// Handlers that go on after their call has ended: they are counted, over every way in.
import { describe, expect, test } from "vitest"
import type { AnyOperation } from "../../src/index.ts"
import { operation } from "../support/operations.ts"
import { provideBrokers } from "../support/brokers.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded } from "./harness.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])
const WAYS = Object.keys(WAYS_IN).filter((name) => !NEED_BROKERS.has(name) || name in BROKERS)

/** Waits until something is so. */
const until = async (isSo: () => boolean): Promise<void> => {
  await expect.poll(isSo).toBe(true)
}

/** Handlers that do not look at their signal, and end when the test says so. */
class Deaf {
  running = 0
  most = 0
  readonly #ends: (() => void)[] = []

  readonly work = async (): Promise<string> => {
    this.most = Math.max(this.most, ++this.running)
    await new Promise<void>((resolve) => this.#ends.push(resolve))
    this.running--
    return "done"
  }

  readonly query = operation("deaf.get", {
    type: "query",
    inputSchema: { type: "object" },
    resilience: { concurrency: { max: 2 } },
    handler: this.work,
  })

  readonly stream: AnyOperation = operation("deaf.watch", {
    type: "subscription",
    inputSchema: { type: "object" },
    resilience: { concurrency: { max: 2 } },
    handler: async function* (this: Deaf) {
      yield await this.work()
    }.bind(this),
  })

  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }
}

describe("concurrency counts handlers, not callers, over", () => {
  test.each(WAYS)("%s", async (name) => {
    await using broker = await BROKERS[name]?.()
    const deaf = new Deaf()
    const operations = [deaf.query, deaf.stream]
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    await using surface = await openSurface(name, terms)
    const ways: [id: string, call: Surface["call"]][] = [["deaf.get", surface.call]]
    if (surface.stream !== undefined) ways.push(["deaf.watch", surface.stream])
    for (const [id, call] of ways) {
      // Each caller leaves as soon as its handler runs.
      for (let callers = 1; callers <= 2; callers++) {
        const controller = new AbortController()
        const left = call(id, { signal: controller.signal }).catch(() => undefined)
        await until(() => deaf.running === callers)
        controller.abort()
        await left
      }
      for (let callers = 0; callers < 5; callers++) {
        const more = call(id, { timeout: 30_000 })
        await until(() => deaf.running > 2 || isSettled(more))
        expect([id, deaf.running]).toEqual([id, 2])
        expect(await more).toMatchObject({ code: "OVERLOADED", mayHaveExecuted: false })
      }
      deaf.end()
      await until(() => deaf.running === 0)
      const last = call(id)
      await until(() => deaf.running === 1)
      deaf.end()
      expect((await last).code).toBe(undefined)
    }
    expect(deaf.most).toBe(2)
  })

  test.each([
    ["the caller's time", {}, { timeout: 5 }],
    ["the time of an attempt", { timeout: { attempt: 5 } }, undefined],
    ["attempts that are repeated", { timeout: { attempt: 5 }, retry: { delay: 0 } }, undefined],
    ["a hedge", { timeout: { attempt: 10 }, hedge: { after: 5 } }, undefined],
    ["a cache", { cache: { ttl: 1_000 } }, { timeout: 5 }],
  ])("calls that end with %s, and counts them in policyState", async (_name, more, options) => {
    const clock = new VirtualClock()
    const deaf = new Deaf()
    await using it = guarded([deaf.query], { concurrency: { max: 2 }, ...more }, { clock })
    const state = (): unknown => it.policies.state().operations[0]?.concurrency
    for (let calls = 0; calls < 20; calls++) {
      it.registry.execute("deaf.get", { calls }, options).catch(() => undefined)
      await clock.advance(20)
    }
    expect(deaf.most).toBe(2)
    expect(state()).toEqual({ running: 2, waiting: 0, abandoned: 2 })
    deaf.end()
    await clock.advance(1)
    expect(state()).toEqual({ running: 0, waiting: 0, abandoned: 0 })
  })

  test("the place of a caller in the queue, which gets it when an abandoned handler ends", async () => {
    const clock = new VirtualClock()
    const deaf = new Deaf()
    await using it = guarded([deaf.query], { concurrency: { max: 1, maxQueue: 1 } }, { clock })
    it.registry.execute("deaf.get", {}, { timeout: 5 }).catch(() => undefined)
    await clock.advance(10)
    const waiting = it.registry.execute("deaf.get", {})
    await clock.advance(10)
    expect(deaf.running).toBe(1)
    deaf.end()
    await clock.advance(1)
    expect(deaf.running).toBe(1)
    deaf.end()
    await clock.advance(1)
    expect(await waiting).toMatchObject({ data: "done" })
  })

  test("a handler that ends its own call before it waits", async () => {
    const clock = new VirtualClock()
    const controller = new AbortController()
    const deaf = new Deaf()
    const handler = (): Promise<string> => {
      controller.abort()
      return deaf.work()
    }
    const query = { ...deaf.query, handler }
    await using it = guarded([query], { concurrency: { max: 1 } }, { clock })
    const { signal } = controller
    it.registry.execute("deaf.get", {}, { signal }).catch(() => undefined)
    await clock.advance(1)
    expect(it.policies.state().operations).toMatchObject([{ concurrency: { abandoned: 1 } }])
    deaf.end()
  })
})

/** Whether a promise has settled, as far as has been noticed. */
function isSettled(promise: Promise<unknown>): boolean {
  if (!watched.has(promise)) {
    watched.set(promise, false)
    const note = (): void => void watched.set(promise, true)
    promise.then(note, note)
  }
  return watched.get(promise) === true
}
const watched = new WeakMap<Promise<unknown>, boolean>()
