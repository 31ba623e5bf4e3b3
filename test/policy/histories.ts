// Random histories of calls with random policies in virtual time, and the laws that each of them keeps.
import { CallError, isCallError } from "../../src/index.ts"
import type { OperationContext, Resilience } from "../../src/index.ts"
import { operation } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { Random } from "../protocol/sim/random.ts"
import { guarded } from "./harness.ts"

/** One run of the handler. */
interface Start {
  readonly call: number
  /** The identity and the key. */
  readonly key: string | undefined
  readonly at: number
  endedAt: number
  /** It had its effect. */
  hasEffect: boolean
}

interface Outcome {
  readonly settledAt: number
  readonly error: CallError | undefined
  /** Whose result it is. */
  readonly who: unknown
}

/** What a call was made with. */
interface Terms {
  readonly who: string | undefined
  readonly deadline: number
  readonly watch: WatchedSignal
}

/** Plays the history of a seed; returns the laws that were broken, in words. */
export async function play(seed: number): Promise<string[]> {
  const random = new Random(seed)
  const clock = new VirtualClock()
  const isIdempotent = random.chance(0.4)
  const resilience = randomPolicies(random, isIdempotent)
  const starts: Start[] = []
  const isObedient = random.chance(0.7)
  const trouble = random.pick([0.1, 0.5, 0.9])
  let calls = 0
  const handler = async (
    { call, key }: { readonly call: number; readonly key: string | undefined },
    context: OperationContext,
  ): Promise<unknown> => {
    const who = context.identity?.id
    const own = key && `${who} ${key}`
    const start: Start = { call, key: own, at: clock.now(), endedAt: Infinity, hasEffect: false }
    starts.push(start)
    const work = random.pick([0, 1, 20, 200, 2_000])
    if (isObedient) await Promise.race([clock.sleep(work), aborted(context.signal)])
    else await clock.sleep(work)
    start.endedAt = clock.now()
    if (random.chance(trouble)) throw randomError(random, start, isIdempotent)
    start.hasEffect = true
    return { who }
  }
  const api = operation("api.do", {
    type: isIdempotent ? "query" : "mutation",
    handler,
  })
  const it = guarded([api], resilience, { clock, random: () => random.next() })
  const terms: Terms[] = []
  const outcomes: Promise<Outcome>[] = []
  const total = random.between(1, 6)
  while (calls < total) {
    const call = ++calls
    const timeout = random.pick([5, 150, 1_500, 8_000])
    const watch = new WatchedSignal()
    const key = random.chance(0.3) ? random.pick(["k", "l"]) : undefined
    const who = random.pick(["ada", "bob", undefined])
    terms.push({ who, deadline: clock.now() + timeout, watch })
    const running = it.registry.execute(
      "api.do",
      // The same input for the same key, or it would be a conflict.
      { call: key === undefined && random.chance(0.7) ? call : 0, key },
      {
        timeout,
        signal: watch.signal,
        ...(who !== undefined && { identity: { id: who, scopes: [] } }),
        ...(key !== undefined && { idempotencyKey: key }),
        ...(random.chance(0.2) && { policy: { retry: false, cache: "skip" } }),
      },
    )
    outcomes.push(
      running.then(
        ({ data }) => ({ settledAt: clock.now(), error: undefined, who: (data as Result).who }),
        (error: unknown) => ({
          settledAt: clock.now(),
          who: undefined,
          error: isCallError(error) ? error : new CallError("NOT_ONE", String(error)),
        }),
      ),
    )
    if (random.chance(0.15)) clock.setTimeout(() => watch.abort(), random.between(0, 300))
    await clock.advance(random.pick([0, 0, 5, 300]))
  }
  await clock.advance(200_000)
  const settled = await Promise.all(outcomes)
  const broken = [
    ...effectLaws(resilience, isIdempotent, starts, settled),
    ...outcomeLaws(resilience, settled, terms),
    ...(isObedient ? timeoutLaws(resilience, starts) : []),
    ...rateLaws(resilience, starts),
    ...leftovers(it, terms),
  ]
  it.policies.close()
  void it.registry.close()
  await clock.advance(200_000)
  if (clock.timers > 0) broken.push(`${clock.timers} timers are left`)
  return broken.map((law) => `seed ${seed}: ${law}`)
}

function effectLaws(
  resilience: Resilience,
  isIdempotent: boolean,
  starts: readonly Start[],
  settled: readonly Outcome[],
): string[] {
  const broken: string[] = []
  const { retry, hedge, cache, idempotency } = resilience
  const isShared = Boolean(cache) || Boolean(idempotency)
  const most = (retry ? (retry.attempts ?? 3) : 1) * (hedge ? 1 + (hedge.max ?? 1) : 1)
  for (const [index, { error }] of settled.entries()) {
    const own = starts.filter(({ call }) => call === index + 1)
    if (own.length > most)
      broken.push(`call ${index + 1} was started ${own.length} times of ${most}`)
    const effects = own.filter(({ hasEffect }) => hasEffect).length
    if (!isIdempotent && own.slice(0, -1).some(({ hasEffect }) => hasEffect)) {
      broken.push(`call ${index + 1} was repeated after it had had its effect`)
    }
    if (!isShared && error?.mayHaveExecuted === false && effects > 0) {
      broken.push(`call ${index + 1} had an effect, and says that it had none`)
    }
    if (error?.code === "NOT_ONE") broken.push(`call ${index + 1} ended with ${error.message}`)
    if (error?.attempts !== undefined && error.attempts < 2) {
      broken.push(`call ${index + 1} says ${error.attempts} attempts`)
    }
  }
  if (idempotency && !isIdempotent) {
    for (const key of new Set(starts.map((start) => start.key))) {
      if (key === undefined) continue
      const effects = starts.filter((start) => start.key === key && start.hasEffect).length
      if (effects > 1) broken.push(`key ${key} had its effect ${effects} times`)
    }
  }
  return broken
}

/** What callers get: in time, their own, and what a fallback gives instead of an error. */
function outcomeLaws(
  { fallback }: Resilience,
  settled: readonly Outcome[],
  terms: readonly Terms[],
): string[] {
  return terms.flatMap(({ who, deadline, watch }, index) => {
    const name = `call ${index + 1}`
    const { settledAt, error, who: owner } = settled[index] as Outcome
    const isInstead = owner === INSTEAD.who
    return [
      ...(settledAt > deadline + 50 ? [`${name} settled at ${settledAt}, after its deadline`] : []),
      ...(error === undefined && !isInstead && owner !== who
        ? [`${name} of ${who} has the result of ${String(owner)}`]
        : []),
      ...(fallback && error && settledAt < deadline && !watch.isAborted
        ? [`${name} failed with ${error.code} in spite of a fallback`]
        : []),
    ]
  })
}

/** A handler that ends when its signal aborts runs no longer than its attempt may; timers are exact to a millisecond. */
function timeoutLaws({ timeout }: Resilience, starts: readonly Start[]): string[] {
  if (!timeout) return []
  return starts.flatMap(({ at, endedAt }) =>
    endedAt - at > timeout.attempt + 1
      ? [`an attempt lasted ${endedAt - at} ms of ${timeout.attempt}`]
      : [],
  )
}

/** Calls that wait for nothing else start no faster than the rate limit allows. */
function rateLaws({ rateLimit, concurrency }: Resilience, starts: readonly Start[]): string[] {
  if (!rateLimit || concurrency) return []
  const { perSecond, burst = perSecond } = rateLimit
  return starts.flatMap(({ at }, from) => {
    const later = starts.slice(from)
    const isTooFast = later.some(
      (last, more) => more + 1 > burst + ((last.at - at) * perSecond) / 1000 + 1e-6,
    )
    return isTooFast ? [`calls started faster than allowed from ${at} on`] : []
  })
}

function leftovers({ policies }: ReturnType<typeof guarded>, terms: readonly Terms[]): string[] {
  const broken: string[] = []
  const { operations, breakers } = policies.state()
  for (const { concurrency } of operations) {
    if (concurrency === undefined) continue
    if (concurrency.running > 0) broken.push(`${concurrency.running} places are taken`)
    if (concurrency.waiting > 0) broken.push(`${concurrency.waiting} calls wait`)
  }
  for (const { probing } of breakers) if (probing > 0) broken.push(`${probing} probes run`)
  const listening = terms.filter(({ watch }) => watch.listeners > 0).length
  if (listening > 0) broken.push(`${listening} signals have listeners`)
  return broken
}

/** What a handler gives, and what a fallback gives. */
interface Result {
  readonly who: unknown
}
const INSTEAD: Result = { who: "fallback" }

function randomPolicies(random: Random, isIdempotent: boolean): Resilience {
  const some = <TPolicy>(make: () => TPolicy): TPolicy | false =>
    random.chance(0.5) ? make() : false
  return {
    timeout: some(() => ({ attempt: random.pick([10, 100, 1_000]) })),
    retry: some(() => ({ attempts: random.between(1, 4), delay: random.pick([0, 10, 200]) })),
    breaker: some(() => ({
      minimumCalls: random.between(1, 5),
      openMs: random.pick([50, 500]),
      probes: random.between(1, 2),
    })),
    concurrency: some(() => ({
      max: random.between(1, 2),
      maxQueue: random.between(0, 3),
      maxWaitMs: random.pick([10, 500, Infinity]),
    })),
    rateLimit: random.chance(0.2) && { perSecond: 100, burst: 2, maxWaitMs: random.pick([0, 100]) },
    idempotency: some(() => ({})),
    fallback: random.chance(0.1) && (() => INSTEAD),
    ...(isIdempotent && {
      cache: some(() => ({ ttl: random.pick([5, 500]), stale: random.pick([0, 200]) })),
      hedge: some(() => ({ after: random.pick([5, 50]), max: random.between(1, 2) })),
    }),
  }
}

/** An error, and whether it comes after the effect or before it. */
function randomError(random: Random, start: Start, isIdempotent: boolean): Error {
  const kind = random.between(1, 5)
  if (kind === 1)
    return new CallError("UNAVAILABLE", "before", { retryAfterMs: random.pick([0, 50, 60_000]) })
  if (kind === 2) return new CallError("OVERLOADED", "before")
  start.hasEffect = random.chance(0.5)
  if (kind === 3) return new CallError("TIMEOUT", "after", { retryable: isIdempotent })
  if (kind === 4) return new CallError("DECLARED", "after")
  return new Error("after")
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve())
  })
}

/** A caller's signal that counts who listens. */
class WatchedSignal {
  readonly #controller = new AbortController()
  listeners = 0

  get signal(): AbortSignal {
    const { signal } = this.#controller
    const add = Reflect.get(signal, "addEventListener") as () => void
    const remove = Reflect.get(signal, "removeEventListener") as () => void
    Object.defineProperties(signal, {
      addEventListener: {
        configurable: true,
        value: (...args: unknown[]) => {
          this.listeners++
          Reflect.apply(add, signal, args)
        },
      },
      removeEventListener: {
        configurable: true,
        value: (...args: unknown[]) => {
          this.listeners--
          Reflect.apply(remove, signal, args)
        },
      },
    })
    return signal
  }

  get isAborted(): boolean {
    return this.#controller.signal.aborted
  }

  abort(): void {
    this.#controller.abort()
  }
}
