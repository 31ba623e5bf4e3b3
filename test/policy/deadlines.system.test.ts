// Deadlines that callers choose say nothing about the called system: they open no circuit, over every way in.
import { describe, expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import type { CallOptions, OperationContext, Resilience } from "../../src/index.ts"
import { operation, rejection } from "../support/operations.ts"
import { provideBrokers } from "../support/brokers.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded, settle } from "./harness.ts"
import type { Guarded } from "./harness.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])
// MCP has no place for a deadline.
const WAYS = Object.keys(WAYS_IN).filter(
  (name) => !name.startsWith("MCP") && (!NEED_BROKERS.has(name) || name in BROKERS),
)

const BREAKER = { minimumCalls: 5, openMs: 1_000 }

describe("a caller with a short deadline opens no circuit for others, over", () => {
  test.each(WAYS)("%s", async (name) => {
    await using broker = await BROKERS[name]?.()
    const get = operation("slow.get", {
      type: "query",
      inputSchema: { type: "object" },
      resilience: { breaker: BREAKER, timeout: { attempt: 30_000 } },
      handler: ({ isQuick }: { isQuick?: boolean }, { signal }: OperationContext) =>
        isQuick === true
          ? "quick"
          : new Promise((resolve) => signal.addEventListener("abort", resolve)),
    })
    const terms = { upstream: "", errors: undefined, operations: [get], broker: broker?.url }
    await using surface = await openSurface(name, terms)
    await surface.call("slow.get", { input: { isQuick: true } })
    const calls = Array.from({ length: 20 }, () => surface.call("slow.get", { timeout: 50 }))
    for (const { code } of await Promise.all(calls)) expect(code).toBe("TIMEOUT")
    const other = await surface.call("slow.get", { input: { isQuick: true } })
    expect(other).toMatchObject({ code: undefined })
  })
})

describe("a TIMEOUT counts for a breaker", () => {
  const hang = operation("api.get", { type: "query", handler: () => new Promise(() => {}) })
  const LIMIT = 10_000

  async function stateAfter(
    it: Guarded,
    calls: readonly (CallOptions | undefined)[],
  ): Promise<unknown> {
    for (const options of calls) {
      await settle(it.clock, rejection(it.registry.execute("api.get", undefined, options)), LIMIT)
    }
    return it.policies.state().breakers[0]?.state
  }

  test.each<[string, string, Resilience, CallOptions | undefined]>([
    [
      "not",
      "the caller allows less than the attempt's limit",
      { timeout: { attempt: 500 } },
      { timeout: 100 },
    ],
    ["not", "the caller allows less than the operation's limit", {}, { timeout: 100 }],
    ["", "the attempt has the time of its policy", { timeout: { attempt: 500 } }, undefined],
    [
      "",
      "the caller allows more than the attempt's limit",
      { timeout: { attempt: 500 } },
      { timeout: 600 },
    ],
    ["", "the call has the time of its operation", {}, undefined],
    [
      "",
      "the call has almost the time of its operation, the rest passed on its way",
      {},
      { timeout: LIMIT * 0.95 },
    ],
    [
      "",
      "the work is shared, whoever waits for it",
      { cache: { ttl: 1 }, timeout: { attempt: 50 } },
      { timeout: 100 },
    ],
  ])("%s if %s", async (not, _why, policies, options) => {
    const breaker = { ...BREAKER, windowMs: 1_000_000, openMs: 1_000_000 }
    await using it = guarded([hang], { breaker, ...policies }, { timeout: LIMIT })
    const calls = Array.from({ length: 6 }, () => options)
    expect(await stateAfter(it, calls)).toBe(not === "not" ? "closed" : "open")
  })

  test("if the handler itself reports it", async () => {
    const late = operation("api.get", {
      type: "query",
      handler: () => Promise.reject(new CallError("TIMEOUT", "The system took too long.")),
    })
    await using it = guarded([late], { breaker: BREAKER })
    for (let calls = 0; calls < 5; calls++) await rejection(it.registry.execute("api.get"))
    expect(it.policies.state().breakers).toMatchObject([{ state: "open" }])
  })

  test("not if the caller of a probe allows too little time: the next call is a probe", async () => {
    const clock = new VirtualClock()
    let isUp = false
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        if (!isUp) throw new CallError("UNAVAILABLE", "away")
        await clock.sleep(50)
        return "there"
      },
    })
    await using it = guarded([get], { breaker: BREAKER }, { clock })
    for (let calls = 0; calls < 5; calls++) await rejection(it.registry.execute("api.get"))
    isUp = true
    await clock.advance(1_000)
    const probe = rejection(it.registry.execute("api.get", undefined, { timeout: 5 }))
    await clock.advance(5)
    expect(await probe).toMatchObject({ code: "TIMEOUT" })
    expect(it.policies.state().breakers).toMatchObject([{ state: "half-open", probing: 0 }])
    expect(await settle(clock, it.registry.execute("api.get"), 100)).toMatchObject({
      value: { data: "there" },
    })
  })

  test("not if the reader of a stream allows less than the limit of its first item", async () => {
    const watch = operation("api.watch", {
      type: "subscription",
      handler: async function* () {
        await new Promise(() => {})
        yield 1
      },
    })
    const policies = { breaker: BREAKER, timeout: { attempt: 500 } }
    await using it = guarded([watch], policies)
    const open = async (options: CallOptions): Promise<void> => {
      const first = it.registry.subscribe("api.watch", undefined, options)[Symbol.asyncIterator]()
      await settle(
        it.clock,
        first.next().catch(() => undefined),
        600,
      )
    }
    for (let streams = 0; streams < 6; streams++) await open({ timeout: 100 })
    expect(it.policies.state().breakers).toMatchObject([{ state: "closed" }])
    for (let streams = 0; streams < 6; streams++) await open({})
    expect(it.policies.state().breakers).toMatchObject([{ state: "open" }])
  })
})
