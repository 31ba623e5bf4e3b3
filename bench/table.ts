import type { Goal, Results } from "./goals.ts"
import type { Measurement } from "./measure.ts"

/** The results as plain text. */
export function report(results: Results, goals: readonly Goal[]): string {
  return [
    section("Small: three fields in, three out; times the floor", results.small),
    section("Large: thirty leaves, nested, the same in and out; times the floor", results.large),
    section("Other rows; times the row named, or the floor", results.extras),
    section("Registered operations; times 10 operations", results.scaling),
    `Goals\n\n${columns(goals.map(({ goal, measured, isMet }) => [goal, measured, isMet ? "met" : "missed"]))}`,
  ].join("\n\n")
}

function section(title: string, measurements: readonly Measurement[]): string {
  const first = measurements[0]?.name
  const rows = measurements.map(({ name, against, ratio, nanoseconds, bytes }) => [
    against === first || against === name ? name : `${name} / ${against}`,
    ratio.median.toFixed(2),
    `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}`,
    `${(nanoseconds / 1000).toFixed(2)} µs`,
    bytes.toFixed(0),
  ])
  return `${title}\n\n${columns([["", "ratio", "p10-p90", "CPU", "bytes"], ...rows])}`
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
