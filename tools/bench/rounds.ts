import { spreadOf } from "./measure.ts"
import type { Spread } from "./measure.ts"

/** Work that takes milliseconds and measures itself, without its preparation. */
export interface Lane {
  readonly name: string
  /** CPU nanoseconds of doing it once. */
  readonly time: () => Promise<number>
}

/** The number of repetitions. */
export interface Rounds {
  /** CPU milliseconds that the first lane should run in all; it decides on the number of rounds. */
  readonly floor: number
  readonly minRounds: number
  readonly maxRounds: number
  /** Runs of each lane before anything counts. */
  readonly warmUps: number
  /** CPU seconds after which a lane skips the remaining rounds; it has at least one. */
  readonly budget: number
}

/** The result for one lane. */
export interface Timing {
  readonly name: string
  /** Relative to the first lane in the same round. */
  readonly ratio: Spread
  readonly nanoseconds: number
}

/** Measures lanes against the first: all of them in every round, the order rotated. */
export async function timeLanes(lanes: readonly Lane[], effort: Rounds): Promise<Timing[]> {
  const tracks = lanes.map((lane) => ({ lane, spent: 0, last: 0, times: [] as number[] }))
  const [floor] = tracks
  for (let done = 0; done < effort.warmUps; done++) {
    for (const track of tracks) {
      track.last = await track.lane.time()
      track.spent += track.last
    }
  }
  const wanted = Math.round((effort.floor * 1e6) / (floor?.last ?? 1))
  const rounds = Math.min(effort.maxRounds, Math.max(effort.minRounds, wanted))
  for (let round = 0; round < rounds; round++) {
    for (let step = 0; step < tracks.length; step++) {
      const track = tracks[(round + step) % tracks.length] as (typeof tracks)[number]
      if (round > 0 && track.spent > effort.budget * 1e9) continue
      const time = await track.lane.time()
      track.times.push(time)
      track.spent += time
    }
  }
  // A lane sits out at the end only: its rounds are the first ones, and so are the floor's.
  return tracks.map(({ lane: { name }, times }) => {
    const ratios = times.map((time, round) => time / (floor?.times[round] ?? Number.NaN))
    return { name, ratio: spreadOf(ratios), nanoseconds: spreadOf(times).median }
  })
}
