import { Random } from "../../../protocol/sim/random.ts"

/** What a caller wants: the operation, or what is special about it. */
export type Kind =
  | "query"
  | "upsert"
  | "change"
  | "stubborn"
  | "fail"
  | "rare"
  | "missing"
  | "large"
  | "largeResult"
  | "stream"
  | "list"

/** What one caller wants, and what the handler is to do. */
export interface Plan {
  readonly key: string
  readonly caller: number
  readonly startAt: number
  readonly kind: Kind
  /** Milliseconds that the handler works: once, or for each item. */
  readonly work: number
  /** Milliseconds that the caller gives it; the map's default when left out. */
  readonly deadline: number | undefined
  readonly idleTimeout: number | undefined
  /** Milliseconds after which the caller changes its mind. */
  readonly abortAfter: number | undefined
  /** A stream: how many items, and where it fails. */
  readonly items: number
  readonly failAt: number | undefined
  readonly window: number
  /** A stream's consumer: milliseconds for each item, and where it leaves. */
  readonly pace: number
  readonly leaveAfter: number | undefined
  /** Time is no matter: without trouble it must come out as planned. */
  readonly isRelaxed: boolean
}

/** Something that happens to the broker or to a process. */
export interface Accident {
  readonly at: number
  readonly what:
    | "kill worker"
    | "vanish worker"
    | "freeze worker"
    | "cut worker"
    | "leave"
    | "kill caller"
    | "freeze caller"
    | "cut caller"
    | "broker outage"
    | "broker stall"
  readonly whom: number
  readonly lasts: number
  /** A new worker comes, this long after. */
  readonly replacedAfter: number | undefined
}

/** What can go wrong on the way. */
export interface Faults {
  readonly drop: number
  readonly duplicate: number
  /** How often a message takes much longer than others, and all that follow it on its way. */
  readonly slow: number
  /** How often one may be overtaken. */
  readonly reorder: number
  /** Milliseconds that a message takes at least, and at most when nothing is wrong. */
  readonly latency: readonly [number, number]
  /** What sending does while the broker is known to be away. */
  readonly whileDown: "hold" | "throw" | "drop"
}

/** What a history is about: some promises hold in some of them only. */
export type Mood = "calm" | "restarts" | "rolling" | "killed" | "frozen" | "wild"

/** One history, all of it from one seed. */
export interface Scenario {
  readonly seed: number
  readonly mood: Mood
  readonly hasQueues: boolean
  readonly callers: number
  readonly workers: number
  readonly plans: readonly Plan[]
  readonly accidents: readonly Accident[]
  readonly faults: Faults
  readonly limits: { readonly maxInFlight?: number; readonly maxQueued?: number }
  readonly retryBudget: number
  /** Clocks of the processes differ from each other by up to twice this. */
  readonly skew: number
  readonly maxPayload: number
  /** Until when the broker is not there at first. */
  readonly brokerStartsAt: number
  /** The end is waited for until nobody remembers anything. */
  readonly isLong: boolean
}

/** What a call may take when nobody says otherwise. */
export const CALL_TIMEOUT = 8000
/** Longer than any message is on its way while the broker works. */
export const LONGEST_DELAY = 2500

/** By then everybody has found the broker, if it is there. */
const SETTLED = 800

/** A worker leaves this long after the one came that takes its place. */
const OVERLAP = 1500

/** What is sent and does not fit into a message. */
export const TOO_LARGE = 9000

const IDEMPOTENT = new Set<Kind>(["query", "upsert", "rare", "list"])

/** Whether a plan may run twice. */
export function isIdempotent({ kind }: Pick<Plan, "kind">): boolean {
  return IDEMPOTENT.has(kind)
}

const KINDS: readonly Kind[] = [
  ...(["query", "query", "query", "upsert", "change", "change", "change", "change"] as const),
  ...(["change", "stubborn", "fail", "rare", "missing"] as const),
  ...(["stream", "stream", "stream", "stream", "list"] as const),
]

const MOODS: readonly Mood[] = [
  ...(["calm", "restarts", "rolling", "killed", "frozen"] as const),
  ...(["wild", "wild", "wild", "wild", "wild"] as const),
]

/** The history of a seed. */
export function scenario(seed: number): Scenario {
  const random = new Random(seed)
  const mood = random.pick(MOODS)
  const isWild = mood === "wild"
  const callers = random.between(1, 3)
  const workers =
    mood === "killed" || mood === "frozen" ? random.between(2, 3) : random.between(1, 3)
  return {
    seed,
    mood,
    callers,
    workers,
    hasQueues: random.chance(0.5),
    faults: faultsOf(random, isWild),
    plans: Array.from({ length: random.between(3, 14) }, (_item, index) =>
      planOf(random, `p${index}`, callers, isWild ? 0 : SETTLED),
    ),
    accidents: accidentsOf(random, mood, callers, workers),
    limits:
      isWild && random.chance(0.35)
        ? { maxInFlight: random.between(1, 2), maxQueued: random.between(0, 2) }
        : {},
    retryBudget: isWild && random.chance(0.4) ? random.between(0, 4) : 100,
    skew: random.pick([0, 200, 3_600_000]),
    maxPayload: 8192,
    brokerStartsAt: isWild && random.chance(0.1) ? random.between(1, 3000) : 0,
    isLong: random.chance(0.1),
  }
}

function faultsOf(random: Random, isWild: boolean): Faults {
  const some = (most: number): number => (isWild && random.chance(0.5) ? random.next() * most : 0)
  return {
    drop: some(0.1),
    duplicate: some(0.1),
    slow: some(0.05),
    reorder: some(0.1),
    latency: random.chance(0.85) ? [1, 5] : [50, 300],
    whileDown: random.pick(["hold", "throw", "drop"]),
  }
}

function planOf(random: Random, key: string, callers: number, from: number): Plan {
  const kind = random.chance(0.06)
    ? random.pick(["large", "largeResult"] as const)
    : random.pick(KINDS)
  const isStream = kind === "stream"
  const isRelaxed = random.chance(0.5)
  const items = random.pick([0, 1, 3, 10, 40])
  const isDated = !isStream || random.chance(0.7)
  return {
    key,
    kind,
    isRelaxed,
    caller: random.between(0, callers - 1),
    startAt: from + random.between(0, 3000),
    work: random.pick(isStream ? [0, 10, 100, 200] : [0, 10, 300, 1000, 3000]),
    deadline: isRelaxed ? 30_000 : isDated ? random.between(5, 4000) : undefined,
    idleTimeout:
      isStream && !isRelaxed && random.chance(0.4) ? random.between(50, 3000) : undefined,
    abortAfter: !isRelaxed && random.chance(0.35) ? random.between(0, 2000) : undefined,
    items,
    failAt: random.chance(0.2) ? random.between(1, items + 1) : undefined,
    window: random.pick([1, 2, 4, 16]),
    pace: random.pick([0, 0, 5, 50]),
    leaveAfter: random.chance(0.2) ? random.between(1, 5) : undefined,
  }
}

function accidentsOf(random: Random, mood: Mood, callers: number, workers: number): Accident[] {
  const make = (what: Accident["what"], lasts: number, replacedAfter?: number): Accident => ({
    what,
    lasts,
    replacedAfter,
    at: random.between(0, 3500),
    whom: random.between(0, (what.endsWith("caller") ? callers : workers) - 1),
  })
  const some = (most: number, one: () => Accident): Accident[] =>
    Array.from({ length: random.between(1, most) }, one)
  switch (mood) {
    case "calm":
      return []
    case "restarts":
      return some(3, () =>
        make(random.pick(["broker outage", "cut caller"]), random.between(50, 3000)),
      )
    case "rolling":
      return some(3, () => make("leave", OVERLAP, 0))
    case "killed":
      return [make(random.pick(["kill worker", "kill worker", "vanish worker"]), 0)]
    case "frozen":
      return [make("freeze worker", random.between(100, 9000))]
    case "wild":
      if (random.chance(0.2)) return []
      return some(5, () => wildAccident(random, make))
  }
}

function wildAccident(
  random: Random,
  make: (what: Accident["what"], lasts: number, replacedAfter?: number) => Accident,
): Accident {
  const what = random.pick([
    ...(["kill worker", "vanish worker", "freeze worker", "freeze worker"] as const),
    ...(["cut worker", "leave", "kill caller", "freeze caller", "cut caller"] as const),
    ...(["broker outage", "broker outage", "broker stall"] as const),
  ])
  const isWorker = what === "leave" || what.endsWith("worker")
  const comes = isWorker && random.chance(0.6) ? random.between(0, 3000) : undefined
  return make(what, random.between(50, random.pick([500, 3000, 9000])), comes)
}
