import type { Random } from "../../../protocol/sim/random.ts"
import type { Accident, Mood } from "./plan.ts"

/** A worker leaves this long after the one came that takes its place. */
const OVERLAP = 800

/** What goes wrong in a history, beside what messages suffer. */
export function accidentsOf(
  random: Random,
  mood: Mood,
  callers: number,
  workers: number,
): Accident[] {
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
    case "deserted":
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
    ...(["deafen worker", "mute worker", "deafen caller", "mute caller"] as const),
    ...(["cut worker", "leave", "kill caller", "freeze caller", "cut caller"] as const),
    ...([
      "broker outage",
      "broker outage",
      "broker stall",
      "close worker",
      "close caller",
    ] as const),
  ])
  const isWorker = what === "leave" || what.endsWith("worker")
  const comes = isWorker && random.chance(0.6) ? random.between(0, 3000) : undefined
  return make(what, random.between(50, random.pick([500, 3000, 9000])), comes)
}
