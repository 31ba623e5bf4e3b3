import type { HubLoad } from "../api/model.ts"
import { formatDuration } from "../ui/format.ts"
import { formatRate } from "./counters.ts"

/** A chart of the last hour: one value a minute. */
export interface LoadChart {
  readonly title: string
  /** What it shows, for those who do not see it. */
  readonly words: string
  readonly series: readonly {
    readonly name: string
    /** `undefined` where there were no calls. */
    readonly values: readonly (number | undefined)[]
  }[]
  readonly format: (value: number) => string
}

const PARTS = ["p50", "p90", "p99"] as const

/** The charts of the last hour. */
export function chartsOf(load: HubLoad): readonly LoadChart[] {
  const { calls, errors, latencyMs, minutes } = load
  const share = calls === 0 ? 0 : (errors / calls) * 100
  const most = minutes.reduce((high, minute) => Math.max(high, minute.calls), 0)
  return [
    {
      title: "Calls per second",
      words: `${calls.toLocaleString("en")} calls in the last hour, at most ${formatRate(most / 60)} a second.`,
      series: [{ name: "rate", values: minutes.map((minute) => minute.calls / 60) }],
      format: (value) => (value === 0 ? "0" : formatRate(value)),
    },
    {
      title: "Failed calls",
      words: `${errors.toLocaleString("en")} of ${calls.toLocaleString("en")} calls and nested calls failed, ${percent(share)}.`,
      series: [
        {
          name: "failed",
          values: minutes.map((minute) =>
            minute.calls === 0 ? undefined : (minute.errors / minute.calls) * 100,
          ),
        },
      ],
      format: percent,
    },
    {
      title: "Duration",
      words:
        latencyMs.p99 === 0
          ? "No durations."
          : `${PARTS.map((part) => `${part} ${formatDuration(latencyMs[part])}`).join(", ")}.`,
      series: PARTS.map((name) => ({
        name,
        values: minutes.map((minute) =>
          minute.latencyMs.p99 === 0 ? undefined : minute.latencyMs[name],
        ),
      })),
      format: formatDuration,
    },
  ]
}

function percent(value: number): string {
  return `${Number(value.toFixed(1))} %`
}
