import { Random } from "./random.ts"

/** What one caller wants, and what the handler is to do. */
export interface Plan {
  readonly key: string
  readonly caller: number
  readonly startAt: number
  readonly kind: "echo" | "work" | "stubborn" | "fail" | "nest" | "relay" | "stream"
  /** Milliseconds that the handler works: once, or for each item. */
  readonly work: number
  /** How deep calls nest. */
  readonly depth: number
  /** Milliseconds that the caller gives it; the map's default when left out. */
  readonly deadline: number | undefined
  readonly idleTimeout: number | undefined
  /** Milliseconds after which the caller changes its mind. */
  readonly abortAfter: number | undefined
  readonly abortsWith: "abort" | "signal"
  /** A stream: how many items, and where it fails. */
  readonly items: number
  readonly failAt: number | undefined
  readonly window: number
  /** A stream's consumer: milliseconds for each item, and where it leaves. */
  readonly pace: number
  readonly leaveAfter: number | undefined
  /** Time is no matter: without faults it must come out as planned. */
  readonly isRelaxed: boolean
}

/** Something that happens to the network or to a process. */
export interface Accident {
  readonly at: number
  readonly what: "disconnect" | "crash server" | "crash caller"
  readonly link: number
  readonly lasts: number
}

/** What can go wrong on the way. */
export interface Faults {
  readonly drop: number
  readonly duplicate: number
  /** How often an event takes much longer than others. */
  readonly slow: number
  /** Events of one request may overtake each other, which no transport should let them. */
  readonly reorders: boolean
  /** What sending does while the peer is away. */
  readonly whileDown: "hold" | "throw" | "undelivered"
}

/** One history, all of it from one seed. */
export interface Scenario {
  readonly seed: number
  readonly callers: number
  readonly plans: readonly Plan[]
  readonly accidents: readonly Accident[]
  readonly faults: Faults
  readonly maxInFlight: number | undefined
  /** Clocks of the processes differ by up to this many milliseconds. */
  readonly skew: number
}

/** What a call may take when nobody says otherwise. */
export const CALL_TIMEOUT = 5000
/** Longer than any event is on its way. */
export const LONGEST_DELAY = 2010

const KINDS = [
  "echo",
  "work",
  "work",
  "stubborn",
  "fail",
  "nest",
  "relay",
  "stream",
  "stream",
] as const

/** The history of a seed. */
export function scenario(seed: number): Scenario {
  const random = new Random(seed)
  const faults = faultsOf(random)
  const callers = random.between(1, 3)
  const plans = Array.from({ length: random.between(4, 14) }, (_item, index) =>
    planOf(random, `plan ${index}`, callers, faults.drop > 0 || faults.reorders),
  )
  return {
    seed,
    callers,
    plans,
    accidents: accidentsOf(random, callers),
    faults,
    maxInFlight: random.chance(0.2) ? random.between(1, 3) : undefined,
    skew: random.pick([0, 200, 3_600_000]),
  }
}

function faultsOf(random: Random): Faults {
  return {
    drop: random.chance(0.5) ? 0 : random.next() * 0.1,
    duplicate: random.chance(0.5) ? 0 : random.next() * 0.2,
    slow: random.chance(0.5) ? 0 : random.next() * 0.1,
    reorders: random.chance(0.15),
    whileDown: random.pick(["hold", "throw", "undelivered"]),
  }
}

function planOf(random: Random, key: string, callers: number, needsDeadline: boolean): Plan {
  const kind = random.pick(KINDS)
  const isStream = kind === "stream"
  const isRelaxed = random.chance(0.5)
  const items = random.pick([0, 1, 3, 10, 40])
  const isDated = needsDeadline || random.chance(0.5)
  const short = isDated ? random.between(1, 3000) : undefined
  // Nothing ends an idle stream but its deadline when the word that its consumer left may be lost.
  const idle = isStream && (!isDated || random.chance(0.3)) ? random.between(20, 1500) : undefined
  return {
    key,
    kind,
    isRelaxed,
    caller: random.between(0, callers - 1),
    startAt: random.between(0, 3000),
    work: random.pick([0, 0, 1, 10, 100, isRelaxed ? 200 : 1500]),
    depth: random.between(1, 3),
    deadline: isRelaxed ? 60_000 : short,
    idleTimeout: isRelaxed ? (isStream ? 30_000 : undefined) : idle,
    abortAfter: !isRelaxed && random.chance(0.4) ? random.between(0, 1500) : undefined,
    abortsWith: random.pick(["abort", "signal"]),
    items,
    failAt: random.chance(0.2) ? random.between(1, items + 1) : undefined,
    window: random.pick([1, 2, 4, 8]),
    pace: random.pick([0, 0, 5, 50]),
    leaveAfter: random.chance(0.2) ? random.between(1, 5) : undefined,
  }
}

function accidentsOf(random: Random, callers: number): Accident[] {
  const count = random.chance(0.5) ? 0 : random.between(1, 2)
  return Array.from({ length: count }, () => ({
    at: random.between(0, 4000),
    what: random.pick(["disconnect", "disconnect", "crash server", "crash caller"]),
    // The last link is the one between the servers.
    link: random.between(0, callers),
    lasts: random.between(100, 2000),
  }))
}
