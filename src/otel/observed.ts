// Metrics that are read when they are collected, from counters that exist anyway.
import type { Attributes, BatchObservableResult, Meter, Observable } from "@opentelemetry/api"
import type { PolicyState } from "../core/policy-state.ts"
import type { BoundedNames } from "../internal/bounded-names.ts"
import { ATTRIBUTE, METRIC } from "./conventions.ts"

/** A transport with statistics, such as those of NATS and Redis. */
export interface ObservedTransport {
  stats(): {
    readonly isConnected: boolean
    readonly calling: {
      readonly pending: number
      readonly repeats: number
      readonly workersLost: number
      readonly dropped: number
    }
    readonly serving: {
      readonly running: number
      readonly waiting: number
      readonly refused: number
      readonly dropped: number
    }
  }
}

/** What has counters. */
export interface Observed {
  readonly policyState?: PolicyState | undefined
  readonly transports: Readonly<Record<string, ObservedTransport>>
}

const BREAKER_STATES = ["closed", "half-open", "open"]

/** The value of a metric for a transport. */
type BusValue = (stats: ReturnType<ObservedTransport["stats"]>) => number

const BUS_GAUGES: Readonly<Record<string, BusValue>> = {
  "operations.bus.connected": ({ isConnected }) => (isConnected ? 1 : 0),
  "operations.bus.pending": ({ calling }) => calling.pending,
  "operations.bus.running": ({ serving }) => serving.running,
  "operations.bus.waiting": ({ serving }) => serving.waiting,
}
const BUS_COUNTERS: Readonly<Record<string, BusValue>> = {
  "operations.bus.repeats": ({ calling }) => calling.repeats,
  "operations.bus.workers.lost": ({ calling }) => calling.workersLost,
  "operations.bus.refused": ({ serving }) => serving.refused,
  "operations.bus.dropped": ({ calling, serving }) => calling.dropped + serving.dropped,
}

/** Makes the metrics; the result removes them. */
export function observe(meter: Meter, observed: Observed, ids: BoundedNames): () => void {
  const gauge = (name: string, unit: string, description: string): Observable =>
    meter.createObservableGauge(name, { unit, description })
  const queue = gauge(METRIC.queueSize, "{call}", "Calls that wait for a limit.")
  const breaker = gauge(METRIC.breaker, "1", "0 closed, 1 half open, 2 open.")
  const refused = meter.createObservableCounter(METRIC.refused, {
    ...{ unit: "{call}", description: "Calls that a rate limit refused." },
  })
  const transports = Object.entries(observed.transports)
  const about = { unit: "1", description: "Statistics of a transport." }
  const bus: (readonly [Observable, BusValue])[] =
    transports.length === 0
      ? []
      : [
          ...Object.entries(BUS_GAUGES).map(
            ([name, value]) => [meter.createObservableGauge(name, about), value] as const,
          ),
          ...Object.entries(BUS_COUNTERS).map(
            ([name, value]) => [meter.createObservableCounter(name, about), value] as const,
          ),
        ]
  const read = (result: BatchObservableResult): void => {
    const { breakers = [], operations = [] } = observed.policyState ?? {}
    for (const { name, state } of breakers) {
      result.observe(breaker, BREAKER_STATES.indexOf(state), { [ATTRIBUTE.breaker]: name })
    }
    for (const { operationId, concurrency, rateLimit } of operations) {
      const of: Attributes = { [ATTRIBUTE.method]: ids.of(operationId) }
      if (concurrency !== undefined) result.observe(queue, concurrency.waiting, of)
      if (rateLimit !== undefined) {
        result.observe(refused, rateLimit.refused, { ...of, [ATTRIBUTE.limiter]: "rate" })
      }
    }
    for (const [name, transport] of transports) {
      const stats = transport.stats()
      for (const [metric, value] of bus) {
        result.observe(metric, value(stats), { [ATTRIBUTE.transport]: name })
      }
    }
  }
  const all = [queue, breaker, refused, ...bus.map(([metric]) => metric)]
  meter.addBatchObservableCallback(read, all)
  return () => meter.removeBatchObservableCallback(read, all)
}
