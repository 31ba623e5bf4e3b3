import {
  metrics,
  type Attributes,
  type Counter,
  type Histogram,
  type MeterProvider,
  type ObservableUpDownCounter,
  type ObservableResult,
} from "@opentelemetry/api"
import type { CallOutcome, TraceAttributes } from "../core/tracing.ts"
import { BoundedNames, OTHER } from "../internal/bounded-names.ts"
import { observe, type Observed } from "./observed.ts"
import { ATTRIBUTE, BUCKETS, MCP_BUCKETS, METRIC, SCOPE } from "./conventions.ts"

/** Codes of peers and APIs with series of their own. */
const MAX_CODES = 200

/** The running calls of one operation and one way in. */
export interface Running {
  count: number
  /** Those that are streams. */
  streams: number
  readonly attributes: Attributes
}

/** Which end of MCP measures. */
export type MCPEnd = "mcpServer" | "mcpClient"

/** The instruments of one registry. Their series are bounded: no caller can add any without limit. */
export class CallMetrics {
  readonly #ids: BoundedNames
  readonly #codes = new BoundedNames(MAX_CODES)
  readonly #running = new Map<string, Running>()
  readonly #duration: Histogram
  readonly #active: ObservableUpDownCounter
  readonly #streams: ObservableUpDownCounter
  readonly #mcp: Readonly<Record<MCPEnd, Histogram>>
  readonly #tools: BoundedNames
  readonly #unobserve: () => void
  readonly #items: Counter
  readonly #queueWait: Histogram
  readonly #attempts: Counter
  readonly #retryDenied: Counter
  readonly #cache: Counter

  constructor(provider: MeterProvider | undefined, maxOperations: number, observed: Observed) {
    this.#ids = new BoundedNames(maxOperations)
    this.#tools = new BoundedNames(maxOperations)
    const meter = (provider ?? metrics).getMeter(SCOPE)
    const advice = { explicitBucketBoundaries: [...BUCKETS] }
    const count = (name: string, unit: string, description: string): Counter =>
      meter.createCounter(name, { unit, description })
    this.#duration = meter.createHistogram(METRIC.duration, {
      ...{ unit: "s", description: "Duration of calls.", advice },
    })
    this.#active = meter.createObservableUpDownCounter(METRIC.active, {
      ...{ unit: "{call}", description: "Calls that run." },
    })
    this.#active.addCallback(this.#observe)
    this.#streams = meter.createObservableUpDownCounter(METRIC.streams, {
      ...{ unit: "{call}", description: "Streams that are open." },
    })
    this.#streams.addCallback(this.#observeStreams)
    const ofMCP = (end: MCPEnd): Histogram =>
      meter.createHistogram(METRIC[end], {
        ...{ unit: "s", description: "Duration of MCP requests." },
        advice: { explicitBucketBoundaries: [...MCP_BUCKETS] },
      })
    this.#mcp = { mcpServer: ofMCP("mcpServer"), mcpClient: ofMCP("mcpClient") }
    this.#unobserve = observe(meter, observed, this.#ids)
    this.#items = count(METRIC.items, "{item}", "Items that streams gave.")
    this.#queueWait = meter.createHistogram(METRIC.queueWait, {
      ...{ unit: "s", description: "Time that calls waited for a limit.", advice },
    })
    this.#attempts = count(METRIC.attempts, "{attempt}", "Attempts after the first one.")
    this.#retryDenied = count(METRIC.retryDenied, "{attempt}", "Retries that the budget denied.")
    this.#cache = count(METRIC.cache, "{call}", "Calls that asked a cache.")
  }

  /** Counts a call that starts. */
  begin(operationId: string | undefined, entry: string | undefined, isStream: boolean): Running {
    const method = operationId === undefined ? OTHER : this.#ids.of(operationId)
    const key = `${method} ${entry ?? ""}`
    let running = this.#running.get(key)
    if (running === undefined) {
      const from = entry === undefined ? {} : { [ATTRIBUTE.entry]: entry }
      running = { count: 0, streams: 0, attributes: { [ATTRIBUTE.method]: method, ...from } }
      this.#running.set(key, running)
    }
    running.count++
    if (isStream) running.streams++
    return running
  }

  end(running: Running, seconds: number, ended: EndedCall): void {
    const { items, errorType, isStream } = ended
    running.count--
    if (isStream) running.streams--
    const attributes =
      errorType === undefined
        ? running.attributes
        : { ...running.attributes, [ATTRIBUTE.errorType]: this.#codes.of(errorType) }
    this.#duration.record(seconds, attributes)
    if (items > 0) this.#items.add(items, running.attributes)
  }

  /** Measures an MCP request; `known` has the attributes of its span. */
  mcp(end: MCPEnd, seconds: number, known: TraceAttributes, errorType?: string): void {
    const tool = known[ATTRIBUTE.tool]
    this.#mcp[end].record(seconds, {
      [ATTRIBUTE.mcpMethod]: known[ATTRIBUTE.mcpMethod],
      ...(typeof tool === "string" && { [ATTRIBUTE.tool]: this.#tools.of(tool) }),
      ...(errorType !== undefined && { [ATTRIBUTE.errorType]: this.#codes.of(errorType) }),
    })
  }

  /** Counts what a policy reports. */
  event({ attributes }: Running, name: string, event: TraceAttributes): void {
    const code = event["code"]
    const failed = typeof code === "string" && { [ATTRIBUTE.errorType]: this.#codes.of(code) }
    switch (name) {
      case "operations.retry":
        this.#attempts.add(1, { ...attributes, ...failed, [ATTRIBUTE.attemptReason]: "retry" })
        return
      case "operations.hedge":
        this.#attempts.add(1, { ...attributes, [ATTRIBUTE.attemptReason]: "hedge" })
        return
      case "operations.retry.denied":
        this.#retryDenied.add(1, attributes)
        return
      case "operations.queue":
        this.#queueWait.record(Number(event["wait_ms"]) / 1000, attributes)
        return
      case "operations.cache":
        this.#cache.add(1, { ...attributes, [ATTRIBUTE.cacheResult]: event["result"] })
        return
      default:
    }
  }

  stop(): void {
    this.#active.removeCallback(this.#observe)
    this.#streams.removeCallback(this.#observeStreams)
    this.#unobserve()
  }

  readonly #observe = (result: ObservableResult): void => {
    for (const { count, attributes } of this.#running.values()) result.observe(count, attributes)
  }

  readonly #observeStreams = (result: ObservableResult): void => {
    for (const { streams, attributes } of this.#running.values()) {
      result.observe(streams, attributes)
    }
  }
}

/** How a call ended. */
interface EndedCall extends Pick<CallOutcome, "items"> {
  readonly isStream: boolean
  readonly errorType: string | undefined
}
