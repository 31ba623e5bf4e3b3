import type { CoreResults, Goal, ProtocolResults } from "./goals.ts"
import type { Measurement } from "./measure.ts"

/** Calls within the registry, as plain text. */
export function coreTables({ small, large, extras, scaling }: CoreResults): string[] {
  return [
    section("Small: three fields in, three out; times the floor", small),
    section("Large: thirty leaves, nested, the same in and out; times the floor", large),
    section("Other rows; times the row named, or the floor", extras),
    section("Registered operations; times 10 operations", scaling),
  ]
}

/** The call protocol, as plain text. */
export function protocolTables(results: ProtocolResults): string[] {
  return [
    section("The call protocol, in process; times execute, or the row named", results.protocol),
    section("Calls at the same time, per call; times 100, or the row named", results.inFlight),
    section("Calls over WebSocket, 64 in flight; times the floor", results.socketCalls, true),
    section("Stream items over WebSocket; times the floor", results.socketStreams, true),
  ]
}

/** The goals, as plain text. */
export function goalsTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ goal, measured, isMet }) => [goal, measured, isMet ? "met" : "missed"])
  return `Goals\n\n${columns(rows)}`
}

/** `rates` adds how many there are in a second: of both ends together, since they share a process. */
function section(title: string, measurements: readonly Measurement[], rates = false): string {
  const first = measurements[0]?.name
  const rows = measurements.map(({ name, against, ratio, nanoseconds, perSecond, bytes }) => [
    against === first || against === name ? name : `${name} / ${against}`,
    ratio.median.toFixed(2),
    `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}`,
    `${(nanoseconds / 1000).toFixed(2)} µs`,
    Number.isNaN(bytes) ? "" : bytes.toFixed(0),
    ...(rates ? [Math.round(perSecond).toLocaleString("en")] : []),
  ])
  const head = ["", "ratio", "p10-p90", "CPU", "bytes", ...(rates ? ["per second"] : [])]
  return `${title}\n\n${columns([head, ...rows])}`
}

/** The first column to the left, the others to the right. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n")
}
