// Each policy's state beside a slow, obvious model of it: the same random steps, and after each one the same answers.
import { CallError } from "../../src/index.ts"
import type { Clock, MiddlewareCall, ResponseEnvelope } from "../../src/index.ts"
import { Breaker, REFUSED } from "../../src/policy/breaker.ts"
import { Cache } from "../../src/policy/cache.ts"
import { CachePool } from "../../src/policy/cache-store.ts"
import { SharedCalls } from "../../src/policy/shared-call.ts"
import { Slots } from "../../src/policy/concurrency.ts"
import { TokenBuckets } from "../../src/policy/token-buckets.ts"
import { RetryBudget } from "../../src/internal/retry-budget.ts"
import { Random } from "../protocol/sim/random.ts"

/** Compares in so many steps; the message of a difference has the seed and the step. */
export type Comparison = (seed: number, steps: number) => void | Promise<void>

/** Time that tests set. Timers fire when it is moved. */
class StepClock implements Clock {
  time = 0
  readonly timers = new Map<number, { readonly at: number; readonly callback: () => void }>()
  #last = 0

  now(): number {
    return this.time
  }

  setTimeout(callback: () => void, milliseconds: number): number {
    this.timers.set(++this.#last, { at: this.time + milliseconds, callback })
    return this.#last
  }

  clearTimeout(timer: unknown): void {
    this.timers.delete(timer as number)
  }

  advance(milliseconds: number): void {
    const end = this.time + milliseconds
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= end)
      const [first] = due.toSorted((a, b) => a[1].at - b[1].at || a[0] - b[0])
      if (first === undefined) break
      this.timers.delete(first[0])
      this.time = Math.max(this.time, first[1].at)
      first[1].callback()
    }
    this.time = end
  }
}

function same(seed: number, step: number, what: string, actual: unknown, expected: unknown): void {
  if (Object.is(actual, expected)) return
  throw new Error(
    `seed ${seed}, step ${step}: ${what} is ${String(actual)}, the model says ${String(expected)}`,
  )
}

/** A budget is the retries it had, one for ten successes, no more than it can hold. */
export const compareBudget: Comparison = (seed, steps) => {
  const random = new Random(seed)
  const max = random.between(0, 20)
  const budget = new RetryBudget(max, { tricklesWhenEmpty: false })
  let left = BigInt(max) * 10n
  let denied = 0
  for (let step = 0; step < steps; step++) {
    if (random.chance(0.8)) {
      budget.earn()
      left = left + 1n > BigInt(max) * 10n ? BigInt(max) * 10n : left + 1n
    } else {
      const isAllowed = left >= 10n
      if (isAllowed) left -= 10n
      else denied++
      same(seed, step, "take", budget.take(step), isAllowed)
    }
    same(seed, step, "left", budget.left, Number(left / 10n))
    same(seed, step, "denied", budget.denied, denied)
  }
}

/** A breaker that remembers every outcome there ever was. */
class BreakerModel {
  readonly outcomes: { readonly slot: number; readonly isFailure: boolean }[] = []
  state: "closed" | "open" | "half-open" = "closed"
  openUntil = 0
  openMs: number
  readonly running = new Set<number>()
  good = 0

  readonly policy: Readonly<
    Record<"failureRate" | "minimumCalls" | "windowMs" | "openMs" | "probes", number>
  >

  constructor(policy: BreakerModel["policy"]) {
    this.policy = policy
    this.openMs = policy.openMs
  }

  admits(now: number): boolean {
    if (this.state === "open" && now >= this.openUntil) {
      this.state = "half-open"
      this.running.clear()
      this.good = 0
    }
    if (this.state === "closed") return true
    return this.state === "half-open" && this.running.size < this.policy.probes
  }

  count(now: number, isFailure: boolean): void {
    const slot = Math.floor((now * 10) / this.policy.windowMs)
    this.outcomes.push({ slot, isFailure })
    const counted = this.outcomes.filter((one) => one.slot > slot - 10)
    const failures = counted.filter((one) => one.isFailure).length
    if (!isFailure || counted.length < this.policy.minimumCalls) return
    if (failures >= this.policy.failureRate * counted.length) this.open(now)
  }

  open(now: number): void {
    this.state = "open"
    this.openUntil = now + this.openMs
    this.outcomes.length = 0
  }
}

/** A breaker against one that remembers every outcome and every ticket. */
export const compareBreaker: Comparison = (seed, steps) => {
  const random = new Random(seed)
  const clock = new StepClock()
  const policy = {
    failureRate: random.pick([0.2, 0.5, 0.9, 1]),
    minimumCalls: random.between(1, 20),
    windowMs: random.pick([100, 1_000, 10_000]),
    openMs: random.pick([50, 500, 5_000]),
    probes: random.between(1, 4),
  }
  const breaker = new Breaker(policy, { name: "it", source: "it" }, clock)
  const model = new BreakerModel(policy)
  /** Calls that run: the real ticket, the period of the model in which they came, and their number. */
  const running: { ticket: number; period: number; id: number }[] = []
  let period = 0
  let badness = 0.1
  const seen = { state: model.state }
  const watch = (): void => {
    if (model.state !== seen.state) period++
    seen.state = model.state
  }
  for (let step = 0; step < steps; step++) {
    if (step % 500 === 0) badness = random.pick([0, 0.1, 0.5, 1])
    const what = random.next()
    if (what < 0.2) {
      clock.advance(random.pick([1, policy.windowMs / 20, policy.windowMs / 3, policy.openMs]))
    } else if (what < 0.6) {
      const admits = model.admits(clock.time)
      watch()
      const ticket = breaker.enter()
      same(seed, step, "enter", ticket !== REFUSED, admits)
      if (admits) {
        if (model.state === "half-open") model.running.add(step)
        running.push({ ticket, period, id: step })
      }
    } else if (running.length > 0) {
      const [left] = running.splice(random.between(0, running.length - 1), 1)
      if (left === undefined) continue
      const isNeutral = random.chance(0.1)
      const isFailure = random.chance(badness)
      breaker.leave(left.ticket, isNeutral ? "neutral" : isFailure ? "failure" : "success")
      if (left.period !== period) continue
      if (model.state === "closed") {
        if (!isNeutral) model.count(clock.time, isFailure)
      } else if (model.state === "half-open") {
        model.running.delete(left.id)
        if (!isNeutral && isFailure) {
          model.openMs = Math.min(model.openMs * 2, policy.openMs * 10)
          model.open(clock.time)
        } else if (!isNeutral && ++model.good >= policy.probes) {
          model.state = "closed"
          model.openMs = policy.openMs
        }
      }
      watch()
    }
    const isRested = model.state === "open" && clock.time >= model.openUntil
    same(seed, step, "state", breaker.state, isRested ? "half-open" : model.state)
    if (!isRested)
      same(
        seed,
        step,
        "probing",
        breaker.probing,
        model.state === "half-open" ? model.running.size : 0,
      )
  }
}

/** A bucket is a number of tokens that grows with time, in exact fractions. */
export const compareBuckets: Comparison = (seed, steps) => {
  const random = new Random(seed)
  // Divisors of 1000, so that a token is a whole number of milliseconds and nothing is rounded.
  const perSecond = random.pick([1, 2, 5, 10, 50, 100, 1_000])
  const interval = 1_000 / perSecond
  const burst = random.between(1, 20)
  const buckets = new TokenBuckets(perSecond, burst)
  /** Milliseconds' worth of tokens; below 0 while callers wait for theirs. */
  const tokens = new Map<string, { at: number; worth: number; changes: number }>()
  /** Tokens that were taken, and may be given back later. */
  const taken: { key: string; mark: number | undefined; changes: number }[] = []
  let time = 1_000
  for (let step = 0; step < steps; step++) {
    if (random.chance(0.4)) time += random.between(0, interval * random.pick([1, 3, burst]))
    const key = random.pick(["a", "b", "c"])
    const bucket = tokens.get(key) ?? { at: time, worth: burst * interval, changes: 0 }
    tokens.set(key, bucket)
    bucket.worth = Math.min(bucket.worth + time - bucket.at, burst * interval)
    bucket.at = time
    const what = random.next()
    if (what < 0.03) {
      const pause = random.between(1, 5_000)
      buckets.hold(key, time + pause)
      bucket.worth = Math.min(bucket.worth, interval - pause)
      bucket.changes++
      continue
    }
    const missing = Math.max(interval - bucket.worth, 0)
    same(seed, step, "heldFor", buckets.heldFor(key, time), missing)
    const maxWait = random.chance(0.7) ? 0 : random.between(0, 2 * interval)
    const isGranted = missing <= maxWait
    same(seed, step, "take", buckets.take(key, time, maxWait), isGranted ? missing : -missing)
    if (!isGranted) continue
    bucket.worth -= interval
    bucket.changes++
    taken.push({ key, mark: buckets.fullAt(key), changes: bucket.changes })
    if (random.chance(0.9)) continue
    const back = taken.splice(random.between(Math.max(taken.length - 3, 0), taken.length - 1), 1)[0]
    const other = tokens.get(back?.key ?? "")
    if (back === undefined || other === undefined) continue
    buckets.giveBack(back.key, back.mark)
    // Only the one that was taken last.
    if (other.changes === back.changes) {
      other.worth += interval
      other.changes++
    }
  }
}

/** A call for the policies, with nothing around it. */
function plainCall(input?: unknown, more: Partial<MiddlewareCall> = {}): MiddlewareCall {
  return {
    operationId: "test.it",
    isIdempotent: true,
    requestId: "r",
    parentRequestId: undefined,
    identity: undefined,
    input,
    metadata: undefined,
    deadline: undefined,
    remainingMs: Infinity,
    signal: new AbortController().signal,
    attempt: 1,
    policy: undefined,
    idempotencyKey: undefined,
    ...more,
  } as MiddlewareCall
}

/** Places against a list of those who have one and a list of those who wait. */
export const compareSlots: Comparison = async (seed, steps) => {
  const random = new Random(seed)
  const clock = new StepClock()
  const [most, queue] = [random.between(1, 5), random.between(0, 6)]
  const wait = random.pick([0, 20, 200])
  const slots = new Slots({ max: most, maxQueue: queue, maxWaitMs: wait }, clock)
  let running: number[] = []
  let waiting: { readonly id: number; readonly until: number; readonly leave: () => void }[] = []
  /** What really became of each who waits. */
  const admitted = new Set<number>()
  const refused = new Set<number>()
  for (let step = 0; step < steps; step++) {
    const what = random.next()
    if (what < 0.25) {
      clock.advance(random.between(1, 15))
      const late = waiting.filter(({ until }) => until <= clock.time)
      waiting = waiting.filter(({ until }) => until > clock.time)
      await turn()
      for (const { id } of late) same(seed, step, "too late", refused.has(id), true)
    } else if (what < 0.6) {
      const controller = new AbortController()
      const expected =
        running.length < most ? "runs" : waiting.length < queue && wait > 0 ? "waits" : "refused"
      let actual = "runs"
      try {
        const entering = slots.enter(plainCall(undefined, { signal: controller.signal }))
        if (entering !== undefined) {
          actual = "waits"
          entering.then(
            () => admitted.add(step),
            () => refused.add(step),
          )
        }
      } catch {
        actual = "refused"
      }
      same(seed, step, "enter", actual, expected)
      if (expected === "runs") running.push(step)
      const leave = (): void => controller.abort()
      if (expected === "waits") waiting.push({ id: step, until: clock.time + wait, leave })
    } else if (what < 0.9 && running.length > 0) {
      running.splice(random.between(0, running.length - 1), 1)
      slots.leave()
      const first = waiting.shift()
      await turn()
      if (first !== undefined) {
        running.push(first.id)
        same(seed, step, "admitted in turn", admitted.has(first.id), true)
      }
    } else if (waiting.length > 0) {
      const [left] = waiting.splice(random.between(0, waiting.length - 1), 1)
      left?.leave()
      await turn()
      same(seed, step, "left the queue", left !== undefined && refused.has(left.id), true)
    }
    same(seed, step, "running", slots.status.running, running.length)
    same(seed, step, "waiting", slots.status.waiting, waiting.length)
    same(seed, step, "timers", clock.timers.size, waiting.length)
  }
  running = []
}

/** Lets what was decided have its consequences. */
async function turn(): Promise<void> {
  for (let times = 0; times < 8; times++) await Promise.resolve()
}

/** A cache against a list of all results with their times; loads fail, and inputs are dropped by invalidation. */
export const compareCache: Comparison = async (seed, steps) => {
  const random = new Random(seed)
  const clock = new StepClock()
  const policy = {
    ttl: random.pick([10, 100]),
    stale: random.pick([0, 50]),
    staleIfError: random.pick([0, 200]),
    max: random.between(1, 6),
  }
  let version = 0
  let isFailing = false
  let loads = 0
  const cache = new Cache(
    policy,
    { clock, pool: new CachePool(), shared: new SharedCalls(clock) },
    (_call, next) => next(),
  )
  const load = async (): Promise<ResponseEnvelope> => {
    loads++
    if (isFailing) {
      throw new CallError("UNAVAILABLE", "away")
    }
    const data = { version: ++version }
    return { data, meta: { source: "local", operationId: "test.it", timestamp: 0 } }
  }
  /** The least recently used first. */
  let kept: { readonly key: string; readonly version: number; readonly at: number }[] = []
  const keep = (key: string): void => {
    kept = [...kept.filter((one) => one.key !== key), { key, version, at: clock.time }]
    while (kept.length > policy.max) kept.shift()
  }
  for (let step = 0; step < steps; step++) {
    const what = random.next()
    if (what < 0.25) clock.advance(random.between(1, 40))
    else if (what < 0.28) {
      cache.clear()
      kept = []
    } else if (what < 0.33) isFailing = !isFailing
    else {
      const who = random.pick(["ada", "bob", undefined])
      const identity = who === undefined ? undefined : { id: who, scopes: [] }
      const input = { b: random.between(1, 3), a: 1 }
      const key = `${String(who)} ${input.b}`
      const before = loads
      const found = kept.find((one) => one.key === key)
      if (found !== undefined) kept = [...kept.filter((one) => one !== found), found]
      const age = found === undefined ? Infinity : clock.time - found.at
      const given = random.chance(0.5) ? { a: 1, b: input.b } : input
      const result = await cache.call(plainCall(given, { identity }), load).then(
        (envelope) => envelope as ResponseEnvelope<{ version: number }>,
        () => undefined,
      )
      if (age >= policy.ttl) for (let times = 0; times < 4; times++) await turn()
      const isFresh = age < policy.ttl
      const isStale = !isFresh && age < policy.ttl + policy.stale
      const covers = isFailing && !isFresh && !isStale && age < policy.ttl + policy.staleIfError
      same(seed, step, "loads", loads - before, isFresh ? 0 : 1)
      const isOld = isFresh || isStale || covers
      const expected = isOld ? found?.version : isFailing ? undefined : version
      same(seed, step, "version", result?.data.version, expected)
      same(
        seed,
        step,
        "state",
        result?.meta.cache?.state,
        isFresh ? "fresh" : isOld ? "stale" : undefined,
      )
      same(seed, step, "age", result?.meta.cache?.age, isOld ? age : undefined)
      if (!isFresh && !isFailing) keep(key)
    }
    same(seed, step, "size", cache.size, kept.length)
  }
}
