import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Goal } from "./goals.ts"

/** How long a command takes from its start to its end, in milliseconds. */
export interface StartUp {
  readonly name: string
  readonly median: number
  /** Relative to `node -e 0`. */
  readonly ratio: number
  /** The difference from `node -e 0`. */
  readonly over: number
  /** The largest difference that is allowed. */
  readonly maxOver: number
}

/** The results for the command line. */
export interface CLIResults {
  readonly startUp: readonly StartUp[]
}

const root = resolve(import.meta.dirname, "../..")
const bin = join(root, "dist/cli/bin.js")
const FLOOR = "node -e 0"

/** Programs, and how many milliseconds they may take besides those of Node. */
const COMMANDS: readonly (readonly [name: string, args: readonly string[], maxOver: number])[] = [
  [FLOOR, ["-e", "0"], 0],
  ["operations --help", [bin, "--help"], 40],
  ["operations --version", [bin, "--version"], 40],
  ["operations, Tab pressed", [bin, "__complete", "1", "operations", ""], 40],
  ["operations list, without sources", [bin, "list"], 150],
]

/**
 * Measures how quickly the built program starts, compared with Node alone.
 *
 * One child of each in turn, repeatedly, so that other load on the machine affects all in the same way.
 */
export function measureCLI({
  isQuick,
  log,
}: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): CLIResults {
  log("Measuring how quickly it starts")
  const folder = mkdtempSync(join(tmpdir(), "operations-bench-"))
  try {
    const times = COMMANDS.map((): number[] => [])
    // The first round fills caches, and does not count.
    for (let round = 0; round <= (isQuick ? 11 : 41); round++) {
      for (const [at, [, args]] of COMMANDS.entries()) {
        const time = timed(args, folder)
        if (round > 0) times[at]?.push(time)
      }
    }
    return { startUp: rowsOf(times.map(median)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The command line, as plain text. */
export function cliTables({ startUp }: CLIResults): string[] {
  const lines = startUp.map(({ name, median: time, ratio, over }) =>
    [
      name.padEnd(34),
      `${time.toFixed(1)} ms`.padStart(10),
      `${ratio.toFixed(2)}×`.padStart(8),
      `+${over.toFixed(1)} ms`.padStart(10),
    ].join(""),
  )
  return [`Start of the program; times ${FLOOR}, and more than it\n\n${lines.join("\n")}`]
}

/** The goals of the command line. */
export function cliGoals({ startUp }: CLIResults): Goal[] {
  return startUp
    .filter(({ name }) => name !== FLOOR)
    .map(({ name, over, maxOver }) => ({
      goal: `${name}: at most ${maxOver} ms over ${FLOOR}`,
      measured: `${over.toFixed(1)} ms`,
      isMet: over <= maxOver,
    }))
}

function rowsOf(medians: readonly number[]): StartUp[] {
  const floor = medians[0] ?? Number.NaN
  return COMMANDS.map(([name, , maxOver], at) => {
    const time = medians[at] ?? Number.NaN
    return { name, median: time, ratio: time / floor, over: time - floor, maxOver }
  })
}

function timed(args: readonly string[], cwd: string): number {
  const start = performance.now()
  const { error, signal } = spawnSync(process.execPath, args, { cwd, stdio: "pipe" })
  if (error !== undefined || signal !== null) {
    throw new Error(`${args.join(" ")} did not end by itself`, { cause: error })
  }
  return performance.now() - start
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
