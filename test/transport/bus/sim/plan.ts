import { Random } from "../../../protocol/sim/random.ts"
import { accidentsOf } from "./accidents.ts"
import { plansOf } from "./plans.ts"

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
  | "mixed"
  | "relay"
  | "stream"
  | "list"
  | "changes"

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
  /** A stream: the item that does not fit into a message. */
  readonly largeAt: number | undefined
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
    | "restart worker"
    | "cut worker"
    | "leave"
    | "close worker"
    | "close caller"
    | "deafen worker"
    | "mute worker"
    | "deafen caller"
    | "mute caller"
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

/** The date of a process is set while it runs. */
export interface DateStep {
  readonly at: number
  readonly who: "caller" | "worker"
  readonly whom: number
  /** Milliseconds, negative where it is set back. */
  readonly by: number
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
export type Mood = "calm" | "deserted" | "restarts" | "rolling" | "killed" | "frozen" | "wild"

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
  readonly maxKeptBytes: number | undefined
  /** Milliseconds that it takes to find out who calls, or to sign it; it is known at once when left out. */
  readonly identifyMs: number | undefined
  readonly signMs: number | undefined
  /** Dates of the processes differ from each other by up to twice this. */
  readonly skew: number
  readonly dateSteps: readonly DateStep[]
  /** Members of the broker's queues that nobody knows and that never answer. */
  readonly deadMembers: number
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
/** What is sent and does not fit into a message. */
export const TOO_LARGE = 9000

const IDEMPOTENT = new Set<Kind>(["query", "upsert", "rare", "list", "changes"])

/** Whether a plan may run twice. */
export function isIdempotent({ kind }: Pick<Plan, "kind">): boolean {
  return IDEMPOTENT.has(kind)
}

const MOODS: readonly Mood[] = [
  ...(["calm", "deserted", "restarts", "restarts", "rolling", "killed", "frozen"] as const),
  ...(["wild", "wild", "wild", "wild", "wild"] as const),
]

/** The history of a seed. */
export function scenario(seed: number): Scenario {
  const random = new Random(seed)
  const mood = random.pick(MOODS)
  const isWild = mood === "wild"
  const callers = random.between(1, 3)
  const others = mood === "killed" || mood === "frozen" ? 2 : 1
  const workers = mood === "deserted" ? 0 : random.between(others, 3)
  return {
    seed,
    mood,
    callers,
    workers,
    hasQueues: random.chance(0.5),
    faults: faultsOf(random, isWild),
    plans: plansOf(random, callers, isWild),
    accidents: [
      ...accidentsOf(random, mood, callers, workers),
      ...longFreezesOf(new Random(seed ^ 0x1b873593), mood, workers),
      ...restartsOf(new Random(seed ^ 0x510e527f), mood, workers),
    ],
    limits:
      isWild && random.chance(0.35)
        ? { maxInFlight: random.between(1, 2), maxQueued: random.between(0, 2) }
        : {},
    retryBudget: isWild && random.chance(0.4) ? random.between(0, 4) : 100,
    maxKeptBytes: isWild && random.chance(0.15) ? random.between(0, 2000) : undefined,
    identifyMs: random.chance(0.2) ? random.between(0, 50) : undefined,
    signMs: random.chance(0.15) ? random.between(0, 50) : undefined,
    skew: random.pick([0, 200, 3_600_000]),
    deadMembers: deadMembersOf(new Random(seed ^ 0x52dce729), mood),
    dateSteps: dateStepsOf(new Random(seed ^ 0x3c6ef372)),
    maxPayload: 8192,
    brokerStartsAt: isWild && random.chance(0.1) ? random.between(1, 3000) : 0,
    isLong: random.chance(0.1),
  }
}

/** In some wild histories one worker stands still for longer than anybody waits for it. */
function longFreezesOf(random: Random, mood: Mood, workers: number): Accident[] {
  if (mood !== "wild" || random.chance(0.95)) return []
  const whom = random.between(0, workers - 1)
  const at = random.between(0, 3500)
  return [
    { what: "freeze worker", at, whom, lasts: random.between(40_000, 100_000), replacedAfter: 0 },
  ]
}

/**
 * In some wild histories a worker is killed and started again at the same address, where the broker delivers once more
 * what it delivered shortly before.
 */
function restartsOf(random: Random, mood: Mood, workers: number): Accident[] {
  if (mood !== "wild" || random.chance(0.75)) return []
  return Array.from({ length: random.between(1, 3) }, () => ({
    what: "restart worker",
    at: random.between(0, 4500),
    whom: random.between(0, workers - 1),
    lasts: random.between(0, 200),
    replacedAfter: undefined,
  }))
}

function deadMembersOf(random: Random, mood: Mood): number {
  return (mood === "calm" || mood === "wild") && random.chance(0.1) ? random.between(1, 2) : 0
}

/** In half of all histories, and with dice of their own: the rest of a history is as it would be without. */
function dateStepsOf(random: Random): DateStep[] {
  if (random.chance(0.5)) return []
  return Array.from({ length: random.between(1, 4) }, () => ({
    at: random.between(0, 5000),
    who: random.pick(["caller", "worker"]),
    whom: random.between(0, 2),
    by: random.pick([-1, 1]) * random.pick([500, 5000, 600_000, 86_400_000]),
  }))
}

function faultsOf(random: Random, isWild: boolean): Faults {
  const some = (most: number): number => (isWild && random.chance(0.5) ? random.next() * most : 0)
  return {
    drop: some(0.1),
    duplicate: some(0.1),
    slow: some(0.05),
    reorder: some(0.1),
    latency: random.chance(0.85) ? [1, 5] : random.pick([[50, 300], isWild ? [300, 700] : [1, 20]]),
    whileDown: random.pick(["hold", "throw", "drop"]),
  }
}
