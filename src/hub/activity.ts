import type { RecordConfig } from "../config/model.ts"
import type { CallTrace } from "../engine/observe.ts"
import type { Clock } from "../internal/platform.ts"
import { CallSeries, type HubLoad } from "./activity/call-series.ts"
import { CallCounters, SourceCounters } from "./activity/counters.ts"
import type { HubStats, SourceCalls } from "./activity/counters.ts"
import { Recorder } from "./activity/recorder.ts"
import { Timelines } from "./activity/timeline.ts"
import type { Listeners } from "../internal/listeners.ts"
import type { Hub, SourceLogLine, SourceStatus } from "./model.ts"
import type { OperationRegistry } from "../engine/registry.ts"

export type { CallEnded, CallTrace } from "../engine/observe.ts"
export type { HubStats } from "./activity/counters.ts"

/** What is observed: the calls of a registry, and sources if it has some. */
export interface Observed extends Pick<Hub, "sources" | "onStatus"> {
  readonly registry: Pick<OperationRegistry, "onCall"> &
    Partial<Pick<OperationRegistry, "recordCalls" | "trace">>
}

/** What events are about, by their kind. */
interface EventData {
  readonly call: CallTrace
  readonly source: SourceStatus
  readonly log: SourceLogLine
}

/** An event of a hub; its text is rendered once for all readers. */
export class HubEvent<TKind extends keyof EventData = keyof EventData> {
  readonly kind: TKind
  readonly data: EventData[TKind]
  #text: string | undefined

  constructor(kind: TKind, data: EventData[TKind]) {
    this.kind = kind
    this.data = data
  }

  /** The text of the server-sent event; its JSON has no line breaks. */
  get text(): string {
    return (this.#text ??= `event: ${this.kind}\ndata: ${JSON.stringify(this.data)}\n\n`)
  }
}

/** Receives the events of a hub. */
export interface ActivityReader {
  push(event: HubEvent): void
  /** No more events will come. */
  end(): void
}

/** What a hub adds to the activity of a registry. */
export interface ActivityOptions {
  /** The source that an operation comes from. */
  readonly sourceOf?: ((id: string) => string | undefined) | undefined
  /** Keeps inputs and results of the last calls. */
  readonly record?: boolean | RecordConfig | undefined
  /** The readers of the logs of sources. Without any, nothing is read. */
  readonly logReaders?: Listeners<SourceLogLine> | undefined
}

/** Running calls that a new reader gets, at most. */
const MAX_RUNNING = 200

/**
 * Counts what happens in a hub and notifies listeners. Events of calls never have an input, a result or a message:
 * those are kept by the recorder alone, if there is one. Lines of logs are passed on, and not kept.
 *
 * Close it when you no longer need it.
 */
export class Activity {
  /** Inputs and results of the last calls; `undefined` when they are not recorded. */
  readonly recorder: Recorder | undefined
  readonly #hub: Observed
  readonly #sourceOf: ActivityOptions["sourceOf"]
  readonly #clock: Clock
  readonly #counters: CallCounters
  readonly series: CallSeries = new CallSeries()
  /** What happened in the last calls. */
  readonly timelines: Timelines
  readonly #bySource = new SourceCounters()
  readonly #readers = new Set<ActivityReader>()
  readonly #logReaders: ActivityOptions["logReaders"]
  #stopLog: (() => void) | undefined
  readonly #stops: readonly (() => void)[]
  #isClosed = false

  constructor(hub: Observed, clock: Clock, options: ActivityOptions = {}) {
    const { sourceOf, record = false, logReaders } = options
    this.#hub = hub
    this.#sourceOf = sourceOf
    this.#logReaders = logReaders
    this.#clock = clock
    this.#counters = new CallCounters(clock)
    this.recorder = record === false ? undefined : new Recorder(record === true ? {} : record)
    this.timelines = new Timelines({ clock, sourceOf, keepsTexts: record !== false })
    const stop = this.recorder && hub.registry.recordCalls?.(this.recorder)
    const untrace = hub.registry.trace?.(this.timelines)
    this.#stops = [
      ...[stop, untrace].filter((one) => one !== undefined),
      hub.registry.onCall((call) => {
        const trace = withoutError(call)
        this.#count(trace)
        if (this.#readers.size > 0) this.#notify(new HubEvent("call", trace))
      }),
      hub.onStatus((status) => {
        if (this.#readers.size > 0) this.#notify(new HubEvent("source", status))
      }),
    ]
  }

  get stats(): HubStats {
    return this.#counters.stats()
  }

  /** The load of the last hour: of an operation, of a source, or of everything. */
  load(operationId: string | undefined, source: string | undefined): HubLoad {
    return this.series.load(this.#clock.now(), operationId, source)
  }

  /** The calls of a source. */
  callsOf(source: string): SourceCalls {
    return this.#bySource.of(source)
  }

  /** The current state as events, for a new reader. */
  currentEvents(): HubEvent[] {
    return [
      ...this.#hub.sources.map((status) => new HubEvent("source", status)),
      ...this.#counters.running(MAX_RUNNING).map((started) => new HubEvent("call", started)),
    ]
  }

  /** Notifies a reader of everything that happens from now on, until `leave`. */
  listen(reader: ActivityReader): void {
    if (this.#isClosed) return reader.end()
    this.#readers.add(reader)
    this.#stopLog ??= this.#logReaders?.add((line) => this.#notify(new HubEvent("log", line)))
  }

  leave(reader: ActivityReader): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) this.#leaveLog()
  }

  /** Stops counting and ends all readers. Calling it twice is fine. */
  close(): void {
    this.#isClosed = true
    for (const stop of this.#stops) stop()
    this.#leaveLog()
    const readers = [...this.#readers]
    this.#readers.clear()
    for (const reader of readers) reader.end()
  }

  #count(trace: CallTrace): void {
    const source = this.#sourceOf?.(trace.operationId)
    if (this.#counters.add(trace)) this.series.add(trace, source, this.#clock.now())
    if (trace.phase === "end" && source !== undefined) this.#bySource.add(source, trace)
  }

  #leaveLog(): void {
    this.#stopLog?.()
    this.#stopLog = undefined
  }

  #notify(event: HubEvent): void {
    for (const reader of this.#readers) reader.push(event)
  }
}

/** Readers of activity must not see errors, and a kept trace must not keep what an error refers to. */
function withoutError(trace: CallTrace): CallTrace {
  const hasError = trace.phase === "end" && trace.error !== undefined
  return hasError ? { ...trace, error: undefined } : trace
}
