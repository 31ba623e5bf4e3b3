import type { PolicyState } from "../core/policy-state.ts"
import { BUCKETS } from "../otel/conventions.ts"
import type { OperationSeries } from "./activity/call-series.ts"
import type { SourceStatus } from "./model.ts"

/** What is counted. */
export interface Counted {
  readonly startedAt: number
  readonly operations: Iterable<OperationSeries>
  readonly sources: readonly Pick<SourceStatus, "name" | "kind" | "state" | "operations">[]
  readonly policies: PolicyState
}

/** The media type of Prometheus' text. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

type Labels = Readonly<Record<string, string | undefined>>
type Sample = readonly [labels: Labels, value: number, suffix?: string]

/** Counters as Prometheus' text. Labels come from operations, sources and error codes, never from callers. */
export function prometheusText({ startedAt, operations, sources, policies }: Counted): string {
  const all = [...operations]
  const labelsOf = ({ operationId, source }: OperationSeries): Labels => ({
    operation: operationId,
    source,
  })
  const protecting = policies.operations
  const named = (operationId: string, more?: Labels): Labels => ({
    operation: operationId,
    ...more,
  })
  return [
    metric("operations_start_time_seconds", "gauge", "When the hub was started.", [
      [{}, startedAt / 1000],
    ]),
    metric(
      "operations_calls_total",
      "counter",
      "Ended calls; code is that of the error.",
      all.flatMap((one) =>
        Array.from(one.outcomes, ([name, count]): Sample => {
          const isOutcome = name === "ok" || name === "aborted"
          const outcome = isOutcome ? { outcome: name } : { outcome: "error", code: name }
          return [{ ...labelsOf(one), ...outcome }, count]
        }),
      ),
    ),
    metric(
      "operations_call_duration_seconds",
      "histogram",
      "Duration of queries and mutations.",
      all.flatMap((one) => histogram(labelsOf(one), one)),
    ),
    metric(
      "operations_call_active",
      "gauge",
      "Calls that run.",
      all.map((one): Sample => [labelsOf(one), one.active]),
    ),
    metric(
      "operations_stream_items_total",
      "counter",
      "Items that streams gave.",
      all.filter(({ items }) => items > 0).map((one): Sample => [labelsOf(one), one.items]),
    ),
    metric(
      "operations_source_ready",
      "gauge",
      "1 for a source that is ready.",
      sources.map(({ name, kind, state }): Sample => [
        { source: name, kind },
        state === "ready" ? 1 : 0,
      ]),
    ),
    metric(
      "operations_source_operations",
      "gauge",
      "Operations of a source.",
      sources.map(({ name, kind, operations: count }): Sample => [{ source: name, kind }, count]),
    ),
    metric(
      "operations_breaker_state",
      "gauge",
      "0 closed, 1 half open, 2 open.",
      policies.breakers.map(({ name, state }): Sample => [
        { breaker: name },
        ["closed", "half-open", "open"].indexOf(state),
      ]),
    ),
    metric(
      "operations_retry_denied_total",
      "counter",
      "Retries that the budget denied.",
      policies.budgets.map(({ source, denied }): Sample => [{ source }, denied]),
    ),
    metric(
      "operations_cache_requests_total",
      "counter",
      "Calls that asked a cache.",
      protecting.flatMap(({ operationId, cache }) =>
        cache === undefined
          ? []
          : Object.entries({
              hit: cache.hits,
              stale: cache.stale,
              joined: cache.joined,
              miss: cache.misses,
            }).map(([result, count]): Sample => [named(operationId, { result }), count]),
      ),
    ),
    metric(
      "operations_queue_size",
      "gauge",
      "Calls that wait for a limit.",
      protecting.flatMap(({ operationId, concurrency }): Sample[] =>
        concurrency === undefined ? [] : [[named(operationId), concurrency.waiting]],
      ),
    ),
    metric(
      "operations_limit_refused_total",
      "counter",
      "Calls that a limit refused.",
      protecting.flatMap(({ operationId, rateLimit }): Sample[] =>
        rateLimit === undefined
          ? []
          : [[named(operationId, { limiter: "rate" }), rateLimit.refused]],
      ),
    ),
  ].join("")
}

function histogram(labels: Labels, { buckets, seconds }: OperationSeries): Sample[] {
  let count = 0
  const cumulative = buckets.map((bucket, at): Sample => {
    count += bucket
    return [{ ...labels, le: String(BUCKETS[at] ?? "+Inf") }, count, "_bucket"]
  })
  return [...cumulative, [labels, seconds, "_sum"], [labels, count, "_count"]]
}

/** One metric; nothing if it has no samples. */
function metric(name: string, type: string, help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return ""
  const lines = samples.map(
    ([labels, value, suffix = ""]) => `${name}${suffix}${labelsText(labels)} ${value}\n`,
  )
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`
}

function labelsText(labels: Labels): string {
  const shown = Object.entries(labels).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${escaped(value)}"`],
  )
  return shown.length === 0 ? "" : `{${shown.join(",")}}`
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" }

function escaped(value: string): string {
  return value.replaceAll(/[\\"\n]/g, (character) => ESCAPES[character] as string)
}
