/** The results over brokers: tables and goals. */
import { GRANTED, REQUEST } from "./bus.ts"
import type { BusStream } from "./bus-streams.ts"
import type { Goal } from "./goals.ts"
import type { Measurement } from "./measure.ts"
import { columns, rateTable } from "./table.ts"

export interface BusResults {
  /** 64 at any moment. */
  readonly busCalls: readonly Measurement[]
  /** One after the other. */
  readonly busSingles: readonly Measurement[]
  /** Ours against one other, in turns; 64 at any moment. */
  readonly busDuels: readonly Measurement[]
  readonly busStreams: readonly BusStream[]
}

const MIN_CALLS = 0.8
const MAX_GROWN_BYTES = 32e6

/** Compares calls over brokers with the goals of the library. */
export function busGoals({ busCalls, busDuels, busStreams }: BusResults): Goal[] {
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
    ...busDuels.map(({ name, against, rate }) => ({
      goal: `${name}: ahead of ${against}, 64 in flight, in turns`,
      measured: `${rate.median.toFixed(2)} of its calls`,
      isMet: rate.median > 1,
    })),
    ...busStreams.map(({ name, items, caller, worker, broker }) => {
      const largest = Math.max(caller, worker, broker)
      return {
        goal: `${items.toLocaleString("en")} items of 8 KiB, ${name}: nobody grows by more than ${MAX_GROWN_BYTES / 1e6} MB`,
        measured: megabytes(largest),
        isMet: largest <= MAX_GROWN_BYTES,
      }
    }),
  ]
}

/** Calls and streams over brokers, as plain text. */
export function busTables(results: BusResults): string[] {
  const { busCalls, busSingles, busDuels, busStreams } = results
  return [
    rateTable("Calls over brokers, 64 in flight; times nc.request", busCalls),
    rateTable("Calls over brokers, one at a time; times nc.request", busSingles),
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
