/** The results over brokers: tables and goals. */
import { GRANTED, NAMES, REQUEST, TCP } from "./bus.ts"
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
  /** Small items of a stream. */
  readonly busItems: readonly Measurement[]
  /** Ours against one other, in turn; 64 calls in flight. */
  readonly busDuels: readonly Measurement[]
  readonly busStreams: readonly BusStream[]
}

const MIN_CALLS = 0.8
const MAX_GROWN_BYTES = 32e6

/** CPU time of all processes relative to raw TCP, 64 calls in flight. */
const MAX_CALL: Partial<Record<BusName, number>> = {
  idempotent: 0.9,
  granted: 1.3,
  "redis-idempotent": 0.9,
  "redis-granted": 1.2,
}
/** The median time of a single call relative to hand-written code. */
const MAX_SINGLE: Partial<Record<BusName, number>> = {
  idempotent: 1.2,
  granted: 1.8,
  "redis-idempotent": 1.2,
  "redis-granted": 1.8,
}
/** CPU time of an item relative to hand-written code. */
const MAX_ITEM = 2

/** Compares calls over brokers with the goals of the library. */
export function busGoals(results: BusResults): Goal[] {
  const { busCalls, busLatencies, busItems, busDuels, busStreams } = results
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
    ...callGoals(busCalls, MAX_CALL),
    ...latencyGoals(busLatencies, MAX_SINGLE),
    ...itemGoals(busItems),
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

/** Goals for the CPU time of calls relative to raw TCP, which is their first row. */
export function callGoals(
  calls: readonly Measurement[],
  goals: Partial<Record<BusName, number>>,
): Goal[] {
  return Object.entries(goals).map(([key, max]) => {
    const name = NAMES[key as BusName]
    const ratio = calls.find((row) => row.name === name)?.ratio.median ?? Number.NaN
    return {
      goal: `${name}: at most ${max} times ${TCP}, CPU time of all processes, 64 in flight`,
      measured: ratio.toFixed(2),
      isMet: ratio <= max,
    }
  })
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

/** Goals for the items of streams: all rows that are compared with another. */
export function itemGoals(items: readonly Measurement[]): Goal[] {
  return items
    .filter(({ name, against }) => name !== against)
    .map(({ name, against, ratio }) => ({
      goal: `streamed item, ${name.replace(", granted", "")}: at most ${MAX_ITEM} times ${against}`,
      measured: ratio.median.toFixed(2),
      isMet: ratio.median <= MAX_ITEM,
    }))
}

/** Calls and streams over brokers, as plain text. */
export function busTables(results: BusResults): string[] {
  const { busCalls, busSingles, busLatencies, busItems, busDuels, busStreams } = results
  return [
    rateTable("Calls over brokers, 64 in flight; times raw TCP", busCalls),
    rateTable("Calls over brokers, one at a time; times raw TCP", busSingles),
    latencyTable("Calls over brokers, one at a time, on the wall; times by hand", busLatencies),
    rateTable("Small items of a stream over brokers; times by hand, batched", busItems),
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
