/** Maximum number of durations kept; in a busy minute only the last ones count. */
const MAX_DURATIONS = 4096

/** Durations of the last calls. */
export class RecentDurations {
  readonly #endedAt: number[] = []
  readonly #durations: number[] = []
  #next = 0

  add(endedAt: number, durationMs: number): void {
    this.#endedAt[this.#next] = endedAt
    this.#durations[this.#next] = durationMs
    this.#next = (this.#next + 1) % MAX_DURATIONS
  }

  /** Percentiles of the calls that ended since a time; 0 when there were none. */
  percentiles(since: number): { readonly p50: number; readonly p90: number; readonly p99: number } {
    const durations = this.#durations
      .filter((_, index) => (this.#endedAt[index] as number) > since)
      .toSorted((left, right) => left - right)
    const at = (part: number): number => durations[Math.ceil(durations.length * part) - 1] ?? 0
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
  }
}
