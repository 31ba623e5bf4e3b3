import type { Made } from "./laziness.ts"
import type { Measurement } from "./measure.ts"
import { nameOf } from "./scaling.ts"

/** Everything one run measured. */
export interface Results {
  readonly small: readonly Measurement[]
  readonly large: readonly Measurement[]
  readonly extras: readonly Measurement[]
  readonly scaling: readonly Measurement[]
  /** What 10,000 calls of an asynchronous handler made on the side. */
  readonly made: Made
}

/** One goal, and whether this run met it. */
export interface Goal {
  readonly goal: string
  readonly measured: string
  readonly isMet: boolean
}

const MAX_RATIO = 1.8
const MAX_BYTES = 1536
// The same time, as far as a ratio of two noisy figures can tell.
const MAX_GROWTH = 1.15

const OURS = ["execute", "execute, identity and scopes"]

/** Holds the results against what the library promises. */
export function goalsOf({ small, large, scaling, made }: Results): Goal[] {
  const goals: Goal[] = []
  for (const [size, rows] of [
    ["small", small],
    ["large", large],
  ] as const) {
    for (const name of OURS) {
      const { ratio, bytes } = find(rows, name)
      goals.push({
        goal: `${name}, ${size}: at most ${MAX_RATIO} times the floor`,
        measured: ratio.median.toFixed(2),
        isMet: ratio.median <= MAX_RATIO,
      })
      goals.push({
        goal: `${name}, ${size}: at most ${MAX_BYTES} bytes a call`,
        measured: bytes.toFixed(0),
        isMet: bytes <= MAX_BYTES,
      })
    }
    // Without scopes: no peer checks who is calling.
    const ours = find(rows, "execute").ratio.median
    const peers = rows.filter(({ name }) => name !== "floor" && !OURS.includes(name))
    const best = Math.min(...peers.map(({ ratio }) => ratio.median))
    goals.push({
      goal: `execute, ${size}: ahead of every peer`,
      measured: `${ours.toFixed(2)} against ${best.toFixed(2)}`,
      isMet: ours < best,
    })
  }
  for (const size of [1000, 100_000]) {
    const { ratio } = find(scaling, nameOf(size))
    goals.push({
      goal: `${nameOf(size)} cost what 10 do (within ${Math.round((MAX_GROWTH - 1) * 100)} %)`,
      measured: ratio.median.toFixed(2),
      isMet: ratio.median <= MAX_GROWTH,
    })
  }
  const { abortControllers, proxies, requestIds, timers } = made
  goals.push({
    goal: "10,000 calls make no controller, proxy or id, and share their timers",
    measured: `${abortControllers}, ${proxies}, ${requestIds}; ${timers} timers`,
    isMet: abortControllers + proxies + requestIds === 0 && timers < 10,
  })
  return goals
}

function find(rows: readonly Measurement[], name: string): Measurement {
  const row = rows.find((measurement) => measurement.name === name)
  if (row === undefined) throw new TypeError(`There is no row "${name}".`)
  return row
}
