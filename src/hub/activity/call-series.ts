import type { CallEnded, CallTrace } from "../../engine/observe.ts"
import { BoundedNames, OTHER } from "../../internal/bounded-names.ts"
import { BUCKETS } from "../../otel/conventions.ts"
import { LastHour, type HourStats, type LoadStats } from "./last-hour.ts"

/** Operations with series of their own. */
const MAX_OPERATIONS = 1000
/** Error codes of an operation with series of their own. */
const MAX_CODES = 20
const MAX_CODE_LENGTH = 100
/** Operations and sources that are listed with their load. */
const MAX_LISTED = 100

/** The load of one operation or source. */
export interface NamedLoad extends LoadStats {
  readonly name: string
}

/** The load of the last hour: of the hub, of an operation or of a source. */
export interface HubLoad extends HourStats {
  /** Those with most calls, which come first. */
  readonly operations: readonly NamedLoad[]
  readonly sources: readonly NamedLoad[]
}

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
  readonly #sources = new Map<string, LastHour>()
  readonly #all = new LastHour()

  get operations(): Iterable<OperationSeries> {
    return this.#series.values()
  }

  of(operationId: string): OperationSeries | undefined {
    return this.#series.get(operationId)
  }

  /** The load of an operation, of a source, or of everything. */
  load(now: number, operationId: string | undefined, source: string | undefined): HubLoad {
    const one =
      operationId !== undefined
        ? this.of(operationId)?.hour
        : source === undefined
          ? this.#all
          : this.#sources.get(source)
    const operations = Array.from(this.#series, ([name, { hour }]) => [name, hour] as const)
    return {
      ...(one ?? new LastHour()).stats(now),
      operations: busiest(operations, now),
      sources: busiest([...this.#sources], now),
    }
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
    for (const hour of [series.hour, this.#all, this.#hourOf(series.source)]) {
      hour?.add(now, isFailed, isMeasured ? durationMs : undefined)
    }
    if (!isMeasured) return
    const seconds = durationMs / 1000
    const at = BUCKETS.findIndex((bound) => seconds <= bound)
    const bucket = at === -1 ? BUCKETS.length : at
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
    series.seconds += seconds
  }

  #hourOf(source: string | undefined): LastHour | undefined {
    if (source === undefined) return undefined
    const existing = this.#sources.get(source)
    if (existing !== undefined || this.#sources.size >= MAX_OPERATIONS) return existing
    const hour = new LastHour()
    this.#sources.set(source, hour)
    return hour
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

function busiest(hours: readonly (readonly [string, LastHour])[], now: number): NamedLoad[] {
  return hours
    .map(([name, hour]) => ({ name, ...hour.total(now) }))
    .filter(({ calls }) => calls > 0)
    .toSorted((left, right) => right.calls - left.calls || (left.name < right.name ? -1 : 1))
    .slice(0, MAX_LISTED)
}
