/** The charts of `docs/benchmarks.md`: one for each list of rows that the page names and a run measured. */
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import type { Measurement } from "./measure.ts"

const PAGE = resolve(import.meta.dirname, "../../docs/benchmarks.md")
const BAR = 40

/** Draws the charts of the page again. Those of parts that were not measured stay as they are. */
export function drawCharts(results: object): void {
  const lists = results as Readonly<Record<string, readonly Measurement[] | undefined>>
  const page = readFileSync(PAGE, "utf8").replaceAll(
    /(<!-- chart: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (old: string, start: string, name: string, end: string) => {
      const rows = lists[name]?.map((row) => [row.name, row.ratio.median] as const)
      return rows === undefined ? old : `${start}\n\`\`\`text\n${chart(rows)}\n\`\`\`\n\n${end}`
    },
  )
  writeFileSync(PAGE, page)
}

/** Bars from the shortest to the longest, and what they stand for. */
function chart(rows: readonly (readonly [name: string, ratio: number])[]): string {
  const sorted = rows.toSorted(([, left], [, right]) => left - right)
  const width = Math.max(...sorted.map(([name]) => name.length))
  const longest = sorted.at(-1)?.[1] ?? 1
  return sorted
    .map(([name, ratio]) => {
      const bar = "█".repeat(Math.max(1, Math.round((ratio / longest) * BAR)))
      return `${name.padEnd(width)}  ${bar} ${ratio.toFixed(2)}`
    })
    .join("\n")
}
