/** The results over brokers: tables and goals. */
import { GRANTED, NAMES, REQUEST } from "./bus.ts"
import type { Latency } from "./bus.ts"
import type { BusStream } from "./bus-streams.ts"
import type { BusName } from "./contenders/bus.ts"
import type { Goal } from "./goals.ts"
import type { Measurement } from "./measure.ts"
import { columns, latencyTable, rateTable } from "./table.ts"

export interface BusResults {
  /** 64 at any moment. */
  readonly busCalls: readonly Measurement[]
  /** One after the other. */
  readonly busSingles: readonly Measurement[]
  readonly busLatencies: readonly Latency[]
  /** Ours against one other, in turn; 64 calls in flight. */
  readonly busDuels: readonly Measurement[]
  readonly busStreams: readonly BusStream[]
}

const MIN_CALLS = 0.8
const MAX_GROWN_BYTES = 32e6

/** The median time of a single call relative to hand-written code. */
const MAX_SINGLE: Partial<Record<BusName, number>> = {
  idempotent: 1.2,
  granted: 1.8,
  "redis-idempotent": 1.2,
  "redis-granted": 1.8,
}
/** Compares calls over brokers with the goals of the library. */
export function busGoals(results: BusResults): Goal[] {
  const { busCalls, busLatencies, busDuels, busStreams } = results
  const rateOf = (name: string): number => {
    const row = busCalls.find((measurement) => measurement.name === name)
    if (row === undefined) throw new TypeError(`There is no row "${name}".`)
    return row.rate.median
  }
  const share = rateOf(GRANTED) / rateOf(REQUEST)
  return [
    {
      goal: `${GRANTED}: at least ${MIN_CALLS} of the calls of ${REQUEST}, 64 in flight`,
      measured: share.toFixed(2),
      isMet: share >= MIN_CALLS,
    },
    ...latencyGoals(busLatencies, MAX_SINGLE),
    ...busDuels.flatMap(({ name, against, rate, ratio }) => [
      {
        goal: `${name}: ahead of ${against}, 64 in flight, in turns`,
        measured: `${rate.median.toFixed(2)} of its calls`,
        isMet: rate.median > 1,
      },
      {
        goal: `${name}: less CPU time than ${against}, the broker's included`,
        measured: ratio.median.toFixed(2),
        isMet: ratio.median < 1,
      },
    ]),
    ...busStreams.map(({ name, items, caller, worker, broker }) => {
      const largest = Math.max(caller, worker, broker)
      return {
        goal: `${items.toLocaleString("en")} items of 8 KiB, ${name}: no process grows by more than ${MAX_GROWN_BYTES / 1e6} MB`,
        measured: megabytes(largest),
        isMet: largest <= MAX_GROWN_BYTES,
      }
    }),
  ]
}

/** Goals for the times of single calls. */
export function latencyGoals(
  latencies: readonly Latency[],
  goals: Partial<Record<BusName, number>>,
): Goal[] {
  return Object.entries(goals).map(([key, max]) => {
    const name = NAMES[key as BusName]
    const row = latencies.find((latency) => latency.name === name)
    const median = row?.ratio.median ?? Number.NaN
    return {
      goal: `${name}, one at a time: at most ${max} times ${row?.against} (p50)`,
      measured: median.toFixed(2),
      isMet: median <= max,
    }
  })
}

/** Calls and streams over brokers, as plain text. */
export function busTables(results: BusResults): string[] {
  const { busCalls, busSingles, busLatencies, busDuels, busStreams } = results
  return [
    rateTable("Calls over brokers, 64 in flight; times raw TCP", busCalls),
    rateTable("Calls over brokers, one at a time; times raw TCP", busSingles),
    latencyTable("Calls over brokers, one at a time, on the wall; times by hand", busLatencies),
    rateTable("In turns with Moleculer over the same broker, 64 in flight; times its", busDuels),
    streamsTable(busStreams),
  ]
}

function streamsTable(streams: readonly BusStream[]): string {
  const rows = streams.map(({ name, items, perSecond, caller, worker, broker }) => [
    name,
    items.toLocaleString("en"),
    Math.round(perSecond).toLocaleString("en"),
    megabytes(caller),
    megabytes(worker),
    megabytes(broker),
  ])
  const head = ["", "items", "per second", "caller", "worker", "broker"]
  const title = "Streams of 8 KiB items over brokers; what each grew by"
  return `${title}\n\n${columns([head, ...rows])}`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
