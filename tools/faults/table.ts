import type { Verdict } from "./scenario.ts"

const COLUMNS = [
  ["id", 4],
  ["engine", 6],
  ["fault", 40],
  ["calls", 6],
  ["settled", 7],
  ["failed", 6],
  ["hung", 5],
  ["lost", 5],
  ["twice", 5],
  ["untrue", 6],
  ["p50", 6],
  ["p99", 6],
  ["", 4],
] as const

/** The first line of the table. */
export function heading(): string {
  return line(COLUMNS.map(([name]) => name))
}

/** The row of a scenario, followed by its failed checks. */
export function row(verdict: Verdict): string {
  const { id, engine, title, report, checks, facts, fault, passed } = verdict
  const all = report.calls + report.streams
  const cells = [
    id,
    engine,
    title,
    all,
    all - report.hung.length,
    report.failed,
    report.hung.length,
    report.lost,
    report.twice.length,
    report.untrue.length,
    report.latency.p50,
    report.latency.p99,
    passed ? "ok" : "FAIL",
  ]
  const notes = [
    ...Object.entries(report.codes).map(([code, count]) => `${count} ${code}`),
    ...(report.repeated > 0 ? [`${report.repeated} ran again`] : []),
    ...(report.startedLate > 0 ? [`${report.startedLate} began late`] : []),
    ...Object.entries(facts).map(([name, fact]) => `${name} ${fact}`),
  ]
  const failures = checks.filter(({ holds }) => !holds).map(({ what, saw }) => `${what}: ${saw}`)
  return [
    line(cells),
    ...(notes.length > 0 ? [`             ${notes.join(", ")}`] : []),
    ...(fault === undefined ? [] : [`           ! The lab failed: ${fault}`]),
    ...failures.map((failure) => `           ! ${failure}`),
  ].join("\n")
}

/** The summary, with the commands that repeat failures. */
export function summary(verdicts: readonly Verdict[]): string {
  const failed = verdicts.filter(({ passed }) => !passed)
  const seconds = Math.round(verdicts.reduce((sum, verdict) => sum + verdict.seconds, 0))
  const count = `${verdicts.length} scenarios in ${seconds} s`
  if (failed.length === 0) return `${count}: all passed.`
  const again = failed.map(
    ({ id, engine, seed }) => `  npm run faults -- --only ${id} --engine ${engine} --seed ${seed}`,
  )
  return [`${count}: ${failed.length} failed. Run them again with:`, ...again].join("\n")
}

function line(cells: readonly (string | number)[]): string {
  return COLUMNS.map(([name, width], at) => {
    const text = String(cells[at] ?? "")
    const isText = name === "id" || name === "engine" || name === "fault" || name === ""
    return isText ? text.padEnd(width) : text.padStart(width)
  })
    .join(" ")
    .trimEnd()
}
