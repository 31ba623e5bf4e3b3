import type { CallEnded, CallTrace } from "../../engine/observe.ts"
import { BoundedNames, OTHER } from "../../internal/bounded-names.ts"
import { BUCKETS } from "../../otel/conventions.ts"
import { LastHour } from "./last-hour.ts"

/** Operations with series of their own. */
const MAX_OPERATIONS = 1000
/** Error codes of an operation with series of their own. */
const MAX_CODES = 20
const MAX_CODE_LENGTH = 100

/** What is counted of one operation since the hub was started. */
export interface OperationSeries {
  readonly operationId: string
  readonly source: string | undefined
  active: number
  /** Ended calls by outcome or error code. */
  readonly outcomes: Map<string, number>
  /** Calls by duration; the last bucket has the longest ones. */
  readonly buckets: number[]
  seconds: number
  items: number
  readonly hour: LastHour
  readonly codes: BoundedNames
}

/** Counts the calls of each operation in bounded memory. */
export class CallSeries {
  readonly #series = new Map<string, OperationSeries>()
  readonly all: LastHour = new LastHour()

  get operations(): Iterable<OperationSeries> {
    return this.#series.values()
  }

  of(operationId: string): OperationSeries | undefined {
    return this.#series.get(operationId)
  }

  add(trace: CallTrace, source: string | undefined, now: number): void {
    const series = this.#open(trace.operationId, source)
    if (trace.phase === "start") series.active++
    else this.#end(series, trace, now)
  }

  #end(series: OperationSeries, ended: CallEnded, now: number): void {
    const { outcome, code = "UNKNOWN_ERROR", type, durationMs, items } = ended
    series.active--
    series.items += items
    const isFailed = outcome === "error"
    const name = isFailed ? series.codes.of(code.slice(0, MAX_CODE_LENGTH)) : outcome
    series.outcomes.set(name, (series.outcomes.get(name) ?? 0) + 1)
    // A subscription lasts as long as its reader stays, and a cancelled call until its caller left.
    const isMeasured = outcome !== "aborted" && type !== "subscription"
    for (const hour of [series.hour, this.all]) {
      hour.add(now, isFailed, isMeasured ? durationMs : undefined)
    }
    if (!isMeasured) return
    const seconds = durationMs / 1000
    const at = BUCKETS.findIndex((bound) => seconds <= bound)
    const bucket = at === -1 ? BUCKETS.length : at
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
    series.seconds += seconds
  }

  #open(id: string, source: string | undefined): OperationSeries {
    const isNew = !this.#series.has(id) && this.#series.size >= MAX_OPERATIONS
    const operationId = isNew ? OTHER : id
    const existing = this.#series.get(operationId)
    if (existing !== undefined) return existing
    const series: OperationSeries = {
      operationId,
      source: operationId === OTHER ? undefined : source,
      active: 0,
      outcomes: new Map(),
      buckets: Array.from({ length: BUCKETS.length + 1 }, () => 0),
      seconds: 0,
      items: 0,
      hour: new LastHour(),
      codes: new BoundedNames(MAX_CODES),
    }
    this.#series.set(operationId, series)
    return series
  }
}
