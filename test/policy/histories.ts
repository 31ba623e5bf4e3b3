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
  readonly key: string | undefined
  /** It had its effect. */
  hasEffect: boolean
}

interface Outcome {
  readonly settledAt: number
  readonly error: CallError | undefined
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
    const start: Start = { call, key, hasEffect: false }
    starts.push(start)
    const work = random.pick([0, 1, 20, 200, 2_000])
    if (isObedient) await Promise.race([clock.sleep(work), aborted(context.signal)])
    else await clock.sleep(work)
    if (random.chance(trouble)) throw randomError(random, start, isIdempotent)
    start.hasEffect = true
    return { call }
  }
  const api = operation("api.do", {
    type: isIdempotent ? "query" : "mutation",
    handler,
  })
  const it = guarded([api], resilience, { clock, random: () => random.next() })
  const watched: WatchedSignal[] = []
  const deadlines: number[] = []
  const outcomes: Promise<Outcome>[] = []
  const total = random.between(1, 6)
  while (calls < total) {
    const call = ++calls
    const timeout = random.pick([5, 150, 1_500, 8_000])
    const watch = new WatchedSignal()
    const key = random.chance(0.3) ? random.pick(["k", "l"]) : undefined
    watched.push(watch)
    deadlines.push(clock.now() + timeout)
    const running = it.registry.execute(
      "api.do",
      // The same input for the same key, or it would be a conflict.
      { call: key === undefined && random.chance(0.7) ? call : 0, key },
      {
        timeout,
        signal: watch.signal,
        ...(key !== undefined && { idempotencyKey: key }),
        ...(random.chance(0.2) && { policy: { retry: false, cache: "skip" } }),
      },
    )
    outcomes.push(
      running.then(
        () => ({ settledAt: clock.now(), error: undefined }),
        (error: unknown) => ({
          settledAt: clock.now(),
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
    ...settled.flatMap(({ settledAt }, index) =>
      settledAt <= (deadlines[index] ?? 0) + 50
        ? []
        : [`call ${index + 1} settled at ${settledAt}, after its deadline`],
    ),
    ...leftovers(it, watched),
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
  const most = (retry ? (retry.attempts ?? 3) : 1) * (hedge ? 1 + (hedge.most ?? 1) : 1)
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
    for (const key of ["k", "l"]) {
      const effects = starts.filter((start) => start.key === key && start.hasEffect).length
      if (effects > 1) broken.push(`key ${key} had its effect ${effects} times`)
    }
  }
  return broken
}

function leftovers(
  { policies }: ReturnType<typeof guarded>,
  watched: readonly WatchedSignal[],
): string[] {
  const broken: string[] = []
  const { operations, breakers } = policies.state()
  for (const { concurrency } of operations) {
    if (concurrency === undefined) continue
    if (concurrency.running > 0) broken.push(`${concurrency.running} places are taken`)
    if (concurrency.waiting > 0) broken.push(`${concurrency.waiting} calls wait`)
  }
  for (const { probing } of breakers) if (probing > 0) broken.push(`${probing} probes run`)
  const listening = watched.filter((watch) => watch.listeners > 0).length
  if (listening > 0) broken.push(`${listening} signals have listeners`)
  return broken
}

function randomPolicies(random: Random, isIdempotent: boolean): Resilience {
  const some = <TPolicy>(make: () => TPolicy): TPolicy | false =>
    random.chance(0.5) ? make() : false
  return {
    timeout: some(() => ({ attempt: random.pick([10, 100, 1_000]) })),
    retry: some(() => ({ attempts: random.between(1, 4), delay: random.pick([0, 10, 200]) })),
    breaker: some(() => ({
      least: random.between(1, 5),
      rest: random.pick([50, 500]),
      probes: random.between(1, 2),
    })),
    concurrency: some(() => ({
      most: random.between(1, 2),
      queue: random.between(0, 3),
      wait: random.pick([10, 500, Infinity]),
    })),
    rateLimit: random.chance(0.2) && { perSecond: 100, burst: 2, wait: random.pick([0, 100]) },
    idempotency: some(() => ({})),
    ...(isIdempotent && {
      cache: some(() => ({ ttl: random.pick([5, 500]), stale: random.pick([0, 200]) })),
      hedge: some(() => ({ after: random.pick([5, 50]), most: random.between(1, 2) })),
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

  abort(): void {
    this.#controller.abort()
  }
}
