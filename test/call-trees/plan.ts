// What a history consists of: registries with policies, trees of calls, and accidents between them.
import fc from "fast-check"
import type { Resilience } from "../../src/index.ts"

/** What repeating an operation means: `pay` has a second effect, `put` has none, `get` only reads. */
export type Kind = "pay" | "put" | "get"

/** What a call may take when nobody says otherwise. */
export const DEFAULT_TIMEOUT = 10_000

export const KINDS: readonly Kind[] = ["pay", "put", "get"]

/** One run of a handler, step by step. */
export interface Script {
  readonly wait: number
  /** Whether it ends when its signal aborts. */
  readonly obeys: boolean
  readonly effect: "none" | "before" | "after" | "both"
  readonly children: readonly CallPlan[]
  readonly isParallel: boolean
  /** What it does with the error of a child. */
  readonly onError: "throw" | "wrap" | "ignore"
  /** Opens a stream, reads one item, and leaves it open. */
  readonly opensStream: boolean | undefined
  readonly end: End
}

/** How a handler ends. `refuses` says explicitly that nothing happened, and does so only if that is true. */
export type End = "ok" | "fails" | "hangs" | "refuses" | "refuses for good" | (typeof CODES)[number]

/** Codes that a handler may throw without flags. */
const CODES = [
  "UNAVAILABLE",
  "OVERLOADED",
  "RATE_LIMITED",
  "ACCESS_DENIED",
  "CONFLICT",
  "TIMEOUT",
  "SOLD_OUT",
] as const

/** A call, and what its handler does in its first, second, … run. */
export interface CallPlan {
  readonly kind: Kind
  /** How many links further the operation is. */
  readonly hops: number
  readonly isKeyed: boolean
  readonly timeout: number | undefined
  /** How often its caller repeats it, where that is safe by the error, or by the key. */
  readonly repeats: number
  readonly pause: number
  readonly scripts: readonly Script[]
}

/** A call by a program outside. */
export interface Intent extends CallPlan {
  readonly who: "ada" | "bob" | undefined
  /** The registry at which it is made. */
  readonly entry: number
  /** Milliseconds for the call. */
  readonly patience: number
  readonly abortAfter: number | undefined
  readonly noRetry: boolean | undefined
}

/** What happens next, after a while. */
export type Step = { readonly after: number } & (
  | { readonly do: "call"; readonly intent: Intent }
  | { readonly do: "cut"; readonly link: number; readonly lasts: number }
  | { readonly do: "replace"; readonly at: number; readonly kind: Kind }
  /** Removes an operation, and registers it again. */
  | { readonly do: "remove"; readonly at: number; readonly kind: Kind; readonly lasts: number }
  /** Sets the policies again, with an unrelated rule, or with another number of attempts. */
  | { readonly do: "reload"; readonly at: number; readonly attempts: number | undefined }
)

export interface WorldPlan {
  /** Decides delays, losses and jitter. */
  readonly seed: number
  /** The policies of each registry. The first imports the second, and the second the third. */
  readonly registries: readonly Readonly<Record<Kind, Resilience>>[]
  /** Peers of a link accept the identities that the other end claims. */
  readonly isTrusted: boolean
  /** How often an answer is lost, a request arrives twice, and something takes long. */
  readonly loss: number
  readonly duplicates: number
  readonly slow: number
  /** What sending does while the peer is away. */
  readonly whileDown: "hold" | "throw" | "undelivered"
  readonly steps: readonly Step[]
}

/** Something, one time in so many. */
function rarely<TValue>(
  arbitrary: fc.Arbitrary<TValue>,
  times = 5,
): fc.Arbitrary<TValue | undefined> {
  const none = fc.constant(undefined)
  const weighted = [
    { weight: times - 1, arbitrary: none },
    { weight: 1, arbitrary },
  ] as const
  // A failing history is easier to read without it.
  return fc.oneof({ withCrossShrink: true }, ...weighted)
}

const TIMES = [0, 0, 1, 20, 20, 200, 2_000]

/** Most go well, so that others get further. */
const ENDS: readonly End[] = [
  ...Array.from({ length: 20 }, () => "ok" as const),
  ...(["fails", "hangs", "refuses", "refuses for good", ...CODES] as const),
]

function scripts(depth: number): fc.Arbitrary<Script> {
  return fc.record({
    wait: fc.constantFrom(...TIMES),
    obeys: fc.boolean(),
    effect: fc.constantFrom("none", "before", "after", "both"),
    children: depth === 0 ? fc.constant([]) : fc.array(calls(depth - 1), { maxLength: 2 }),
    isParallel: fc.boolean(),
    onError: fc.constantFrom("throw", "throw", "wrap", "ignore"),
    opensStream: rarely(fc.constant(true)),
    end: fc.constantFrom(...ENDS),
  })
}

function callFields(depth: number) {
  return {
    kind: fc.constantFrom<Kind>("pay", "pay", "put", "get"),
    hops: fc.nat(2),
    isKeyed: fc.boolean(),
    timeout: rarely(fc.constantFrom(50, 500, 3_000), 3),
    repeats: fc.nat(2),
    pause: fc.constantFrom(0, 10, 300, 1_500),
    scripts: fc.array(scripts(depth), { minLength: 1, maxLength: 2 }),
  }
}

function calls(depth: number): fc.Arbitrary<CallPlan> {
  return fc.record(callFields(depth))
}

const intents: fc.Arbitrary<Intent> = fc.record({
  ...callFields(2),
  who: fc.constantFrom("ada", "bob", undefined),
  entry: fc.nat(1),
  patience: fc.constantFrom(5, 150, 1_500, 8_000, 8_000, 8_000),
  abortAfter: rarely(fc.constantFrom(0, 3, 100, 1_000)),
  noRetry: rarely(fc.constant(true)),
})

const after = fc.constantFrom(0, 0, 5, 300)
const call = fc.record({ after, do: fc.constant("call" as const), intent: intents })
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: call },
  {
    weight: 1,
    arbitrary: fc.record({
      after,
      do: fc.constant("cut" as const),
      link: fc.nat(1),
      lasts: fc.constantFrom(50, 400, 2_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      after,
      do: fc.constant("replace" as const),
      at: fc.nat(2),
      kind: fc.constantFrom(...KINDS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      after,
      do: fc.constant("remove" as const),
      at: fc.nat(2),
      kind: fc.constantFrom(...KINDS),
      lasts: fc.constantFrom(0, 50, 400),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      after,
      do: fc.constant("reload" as const),
      at: fc.nat(2),
      attempts: rarely(fc.integer({ min: 1, max: 3 }), 2),
    }),
  },
)

function policies(kind: Kind): fc.Arbitrary<Resilience> {
  return fc.record({
    timeout: rarely(fc.record({ attempt: fc.constantFrom(10, 100, 1_000) })),
    retry: rarely(
      fc.record({ attempts: fc.integer({ min: 1, max: 4 }), delay: fc.constantFrom(0, 10, 200) }),
      2,
    ),
    breaker: rarely(
      fc.record({ minimumCalls: fc.integer({ min: 2, max: 5 }), openMs: fc.constantFrom(50, 500) }),
      4,
    ),
    concurrency: rarely(
      fc.record({
        max: fc.integer({ min: 1, max: 2 }),
        maxQueue: fc.nat(3),
        maxWaitMs: fc.constantFrom(10, 500, 10_000),
      }),
      3,
    ),
    rateLimit: rarely(
      fc.record({
        perSecond: fc.constant(50),
        burst: fc.constant(2),
        maxWaitMs: fc.constantFrom(0, 100),
      }),
      5,
    ),
    idempotency: rarely(fc.constantFrom({}, {}, { ttl: 300 }), 2),
    ...(kind !== "pay" && {
      hedge: rarely(fc.record({ after: fc.constantFrom(5, 50), max: fc.constant(1) }), 3),
    }),
    ...(kind === "get" && {
      cache: rarely(fc.record({ ttl: fc.constantFrom(5, 500), stale: fc.constantFrom(0, 200) }), 3),
    }),
  })
}

const registries = fc.record({ pay: policies("pay"), put: policies("put"), get: policies("get") })

/** Random histories. */
export const worlds: fc.Arbitrary<WorldPlan> = fc.record({
  seed: fc.nat(0xffff),
  registries: fc.array(registries, { minLength: 1, maxLength: 3 }),
  isTrusted: fc.boolean(),
  loss: fc.constantFrom(0, 0, 0.1),
  duplicates: fc.constantFrom(0, 0, 0.1),
  slow: fc.constantFrom(0, 0, 0.1),
  whileDown: fc.constantFrom("hold", "throw", "undelivered"),
  steps: fc.array(steps, { minLength: 1, maxLength: 16, size: "max" }),
})

/** Random histories of one registry without policies, for ways into it. */
export const callsOfOne: fc.Arbitrary<WorldPlan> = fc.record({
  seed: fc.nat(0xffff),
  registries: fc.constant([{ pay: {}, put: {}, get: {} }]),
  isTrusted: fc.constant(false),
  loss: fc.constant(0),
  duplicates: fc.constant(0),
  slow: fc.constant(0),
  whileDown: fc.constant("hold" as const),
  steps: fc.array(call, { minLength: 1, maxLength: 12, size: "max" }),
})
