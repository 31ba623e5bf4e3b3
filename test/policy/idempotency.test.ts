import { describe, expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import type { CallOptions, OperationContext } from "../../src/index.ts"
import type { IdempotencyStore } from "../../src/core/resilience.ts"
import { operation, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded } from "./harness.ts"

const key = (idempotencyKey: string, id = "ada"): CallOptions => ({
  idempotencyKey,
  identity: { id, scopes: [] },
})

/** A mutation that counts its runs. */
function paying(
  run: (runs: number, context: OperationContext) => unknown = (runs) => ({ receipt: runs }),
): { pay: ReturnType<typeof operation>; runs: () => number } {
  let runs = 0
  const pay = operation("shop.pay", {
    handler: async (_input: unknown, context: OperationContext) => await run(++runs, context),
  })
  return { pay, runs: () => runs }
}

describe("an idempotency key", () => {
  test("runs a call once, and returns its outcome to later ones", async () => {
    const { pay, runs } = paying()
    await using it = guarded([pay], { idempotency: {} })
    const first = await it.registry.execute("shop.pay", { amount: 5, to: "x" }, key("k"))
    const again = await it.registry.execute("shop.pay", { to: "x", amount: 5 }, key("k"))

    expect([first.data, first.meta.replayed]).toEqual([{ receipt: 1 }, undefined])
    expect([again.data, again.meta.replayed]).toEqual([{ receipt: 1 }, true])
    await it.registry.execute("shop.pay", { amount: 5 }, key("other"))
    await it.registry.execute("shop.pay", { amount: 5 }, key("k", "bob"))
    await it.registry.execute("shop.pay", { amount: 5 })
    expect(runs()).toBe(4)
  })

  test("with another input is a conflict", async () => {
    const { pay, runs } = paying()
    await using it = guarded([pay], { idempotency: {} })
    await it.registry.execute("shop.pay", { amount: 5 }, key("k"))

    expect(await rejection(it.registry.execute("shop.pay", { amount: 6 }, key("k")))).toMatchObject(
      {
        code: "CONFLICT",
        retryable: false,
        mayHaveExecuted: false,
        details: { reason: "IDEMPOTENCY_KEY_REUSED" },
      },
    )
    expect(
      await rejection(it.registry.execute("shop.pay", new Uint8Array(1), key("b"))),
    ).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(runs()).toBe(1)
  })

  test("makes calls at the same time wait for the one that runs, also when its caller leaves", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying(async (count) => {
      await clock.sleep(100)
      return { receipt: count }
    })
    await using it = guarded([pay], { idempotency: {} }, { clock })
    const leaving = new AbortController()
    const calls = [
      it.registry.execute("shop.pay", 1, { ...key("k"), signal: leaving.signal }),
      it.registry.execute("shop.pay", 1, key("k")),
    ]
    const outcomes = Promise.allSettled(calls)
    await clock.advance(50)
    leaving.abort()
    await clock.advance(100)
    expect(await outcomes).toMatchObject([
      { reason: { code: "ABORTED", mayHaveExecuted: true } },
      { value: { data: { receipt: 1 }, meta: { replayed: true } } },
    ])
    expect(await it.registry.execute("shop.pay", 1, key("k"))).toMatchObject({
      data: { receipt: 1 },
    })
    expect(runs()).toBe(1)
  })

  test("lets a call run to its end whose only caller leaves", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying(async (count, { signal }) => {
      await clock.sleep(100)
      return { receipt: count, isAborted: signal.aborted }
    })
    await using it = guarded([pay], { idempotency: {} }, { clock })
    const leaving = new AbortController()
    const options = { ...key("k"), signal: leaving.signal }
    const left = rejection(it.registry.execute("shop.pay", 1, options))
    await clock.advance(50)
    leaving.abort()
    expect(await left).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
    await clock.advance(100)
    expect(await it.registry.execute("shop.pay", 1, key("k"))).toMatchObject({
      data: { receipt: 1, isAborted: false },
      meta: { replayed: true },
    })
    expect(runs()).toBe(1)
  })

  test("keeps an error that is an outcome, and forgets a refusal", async () => {
    const errors = [
      new CallError("OVERLOADED", "busy", { mayHaveExecuted: false }),
      new CallError("CLOSED", "not today", { retryable: false, mayHaveExecuted: false }),
      new CallError("NO_MONEY", "none", { details: { left: 0 } }),
    ]
    const { pay, runs } = paying((count) => {
      throw errors[count - 1] as Error
    })
    await using it = guarded([pay], { idempotency: {} })
    const call = (): Promise<unknown> => rejection(it.registry.execute("shop.pay", 1, key("k")))
    expect([await call(), await call(), await call(), await call()]).toMatchObject([
      { code: "OVERLOADED" },
      { code: "CLOSED" },
      { code: "NO_MONEY" },
      { code: "NO_MONEY", details: { left: 0 } },
    ])
    expect(runs()).toBe(3)
  })

  test("is in doubt after a call that ended without a known outcome", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying(() => new Promise(() => {}))
    await using it = guarded([pay], { idempotency: {} }, { clock })
    const first = rejection(it.registry.execute("shop.pay", 1, { ...key("k"), timeout: 500 }))
    await clock.advance(500)
    expect(await first).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true })
    // It runs for as long as the operation may take, not for as long as its first caller waits.
    await clock.advance(29_500)

    expect(await rejection(it.registry.execute("shop.pay", 1, key("k")))).toMatchObject({
      code: "CONFLICT",
      retryable: false,
      mayHaveExecuted: true,
      details: { reason: "IDEMPOTENCY_IN_DOUBT" },
    })
    expect(runs()).toBe(1)
  })

  test("is kept from the end of its call on, and while it runs for however long", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying(() => clock.sleep(250))
    await using it = guarded([pay], { idempotency: { ttl: 60 } }, { clock })
    const call = (): Promise<unknown> => it.registry.execute("shop.pay", 1, key("k"))
    const first = call()
    await clock.advance(120)
    const joined = call()
    await clock.advance(130)
    await Promise.all([first, joined])
    await clock.advance(59)
    await call()
    expect(runs()).toBe(1)
    await clock.advance(1)
    const again = call()
    await clock.advance(250)
    await again
    expect(runs()).toBe(2)
  })

  test("is not pushed out by the keys of another caller, whether its call runs or has ended", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying((_, { identity }) =>
      identity?.id === "eve" ? undefined : clock.sleep(100),
    )
    await using it = guarded([pay], { idempotency: {} }, { clock })
    const call = (name: string): Promise<unknown> => it.registry.execute("shop.pay", 1, key(name))
    const ended = call("ended")
    await clock.advance(100)
    await ended
    const running = call("running")
    for (let n = 0; n < 10_050; n++) {
      await it.registry.execute("shop.pay", 1, key(`k${n}`, "eve"))
    }
    const joined = call("running")
    await clock.advance(100)
    await Promise.all([running, joined, call("ended")])
    expect(runs()).toBe(2 + 10_050)
  })

  test("has the outcome of a handler that ends after the time of its operation", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying(async (count) => {
      await clock.sleep(40_000)
      return { receipt: count }
    })
    await using it = guarded([pay], { idempotency: {} }, { clock })
    const call = (): Promise<unknown> => it.registry.execute("shop.pay", 1, key("k"))
    const first = rejection(call())
    await clock.advance(30_000)
    expect(await first).toMatchObject({ code: "TIMEOUT" })
    expect(await rejection(call())).toMatchObject({ details: { reason: "IDEMPOTENCY_IN_DOUBT" } })
    await clock.advance(10_000)
    expect(await call()).toMatchObject({ data: { receipt: 1 }, meta: { replayed: true } })
    expect(runs()).toBe(1)
  })

  test("keeps no failure that says that the call may be repeated", async () => {
    const clock = new VirtualClock()
    const { pay, runs } = paying((count) => {
      if (count === 1) throw new CallError("TIMEOUT", "slow", { retryable: true })
      return { receipt: count }
    })
    const policies = {
      idempotency: {},
      retry: { attempts: 2, delay: 0 },
      breaker: { minimumCalls: 1 },
    }
    const repeatable = { ...pay, annotations: { idempotent: true } }
    await using it = guarded([repeatable], policies, { clock })
    // The first attempt opens the circuit, which refuses the second one.
    expect(await rejection(it.registry.execute("shop.pay", 1, key("k")))).toMatchObject({
      code: "CIRCUIT_OPEN",
      attempts: 2,
      retryable: true,
      mayHaveExecuted: true,
    })
    await clock.advance(5_000)
    expect((await it.registry.execute("shop.pay", 1, key("k"))).data).toEqual({ receipt: 2 })
    expect(runs()).toBe(2)
  })

  test("is in doubt when the last attempt had no effect, and an earlier one may have had it", async () => {
    const { pay, runs } = paying((count) => {
      if (count > 1) throw new CallError("UNAVAILABLE", "away")
      throw new CallError("FLAKY", "try again", { retryable: true, mayHaveExecuted: true })
    })
    // One that only forwards knows what happened elsewhere.
    const forwarder = { ...pay, imported: true }
    await using it = guarded([forwarder], { idempotency: {}, retry: { attempts: 2, delay: 0 } })
    const call = (): Promise<unknown> => rejection(it.registry.execute("shop.pay", 1, key("k")))
    expect([await call(), await call()]).toMatchObject([
      { code: "UNAVAILABLE", attempts: 2, retryable: false, mayHaveExecuted: true },
      { code: "CONFLICT", details: { reason: "IDEMPOTENCY_IN_DOUBT" } },
    ])
    expect(runs()).toBe(2)
  })

  test("is in doubt when the process that ran it has died, and waits while it may be alive", async () => {
    const clock = new VirtualClock()
    const entries = new Map<string, string>()
    // A process that is gone writes nothing more.
    const store: IdempotencyStore = {
      begin(id, value) {
        const kept = entries.get(id)
        if (kept === undefined) entries.set(id, value)
        return kept
      },
      finish: () => {},
      forget: () => {},
    }
    const dead = paying(() => new Promise(() => {}))
    await using first = guarded([dead.pay], { idempotency: { store } }, { clock })
    void first.registry.execute("shop.pay", 1, key("k")).catch(() => undefined)
    await clock.advance(10)
    const { pay, runs } = paying()
    await using second = guarded([pay], { idempotency: { store } }, { clock })
    const options = { ...key("k"), timeout: 60_000 }
    const waiting = rejection(second.registry.execute("shop.pay", 1, options))
    const left = rejection(second.registry.execute("shop.pay", 1, { ...options, timeout: 100 }))
    await clock.advance(34_000)
    expect(await left).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true })
    await clock.advance(2_000)
    expect(await waiting).toMatchObject({
      code: "CONFLICT",
      details: { reason: "IDEMPOTENCY_IN_DOUBT" },
    })
    expect(runs()).toBe(0)
  })

  test("lets no call run while its store does not answer", async () => {
    const { pay, runs } = paying()
    const down = (): never => {
      throw new Error("down")
    }
    await using it = guarded([pay], {
      idempotency: { store: { begin: down, finish: down, forget: down } },
    })

    expect(await rejection(it.registry.execute("shop.pay", 1, key("k")))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      mayHaveExecuted: false,
    })
    expect(runs()).toBe(0)
  })

  test("hides from remote callers on a replay what was hidden the first time", async () => {
    const { isInternal } = await import("../../src/core/error-marks.ts")
    const { pay } = paying(() => {
      throw new Error("password of the database")
    })
    await using it = guarded([pay], { idempotency: {} })
    await rejection(it.registry.execute("shop.pay", 1, key("k")))
    expect(
      isInternal((await rejection(it.registry.execute("shop.pay", 1, key("k")))) as CallError),
    ).toBe(true)
  })

  test("keeps binary results and results without data", async () => {
    const { pay } = paying((count) => (count === 1 ? { file: new Uint8Array([1, 2]) } : undefined))
    await using it = guarded([pay], { idempotency: {} })
    for (const name of ["a", "b"]) {
      const first = await it.registry.execute("shop.pay", 1, key(name))
      expect((await it.registry.execute("shop.pay", 1, key(name))).data).toEqual(first.data)
    }
  })
})
