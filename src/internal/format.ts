/** A time in the unit that reads best: `0.4 ms`, `312 ms`, `4.2 s`, `3 min 5 s`, `2 h 4 min`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–"
  if (ms < 10) return `${trimmed(ms, 1)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${trimmed(ms / 1000, ms < 9950 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return parts(Math.floor(seconds / 60), "min", seconds % 60, "s")
  const minutes = Math.round(seconds / 60)
  return parts(Math.floor(minutes / 60), "h", minutes % 60, "min")
}

/** A size in the unit that reads best. */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return "–"
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${trimmed(bytes / 1024, 1)} KB`
  return `${trimmed(bytes / (1024 * 1024), 1)} MB`
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}

function parts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}
