import type { Goal } from "./goals.ts"

/** When a page was painted first, and when it showed what it is for; milliseconds since it was asked for. */
export interface Paint {
  readonly name: string
  readonly painted: number
  readonly listed: number | undefined
}

/** What the console weighs, in bytes, compressed with gzip. */
export interface Weight {
  /** What is needed before anything is shown. */
  readonly first: number
  /** All of it, with the editors that are loaded when they are wanted. */
  readonly all: number
}

/** What was measured of the console. */
export interface ConsoleResults {
  readonly paints: readonly Paint[]
  readonly weight: Weight
}

export const OPERATIONS = 5000
export const EMPTY = "an empty page"
export const CONSOLE: string = `the console, ${OPERATIONS.toLocaleString("en")} operations`

const MOST_KILOBYTES = 350
const MOST_MS = 1000

/** The console, as plain text. */
export function consoleTables({ paints, weight }: ConsoleResults): string[] {
  const lines = paints.map(({ name, painted, listed }) => {
    const rest = listed === undefined ? "" : `, operations listed ${listed.toFixed(0)} ms`
    return `${name.padEnd(36)}first paint ${painted.toFixed(0)} ms${rest}`
  })
  const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`
  return [
    `A page in Chromium, cold cache\n\n${lines.join("\n")}`,
    `The console's files, gzip: ${kilobytes(weight.first)} to begin with, ${kilobytes(weight.all)} in all`,
  ]
}

/** What the console promises. */
export function consoleGoals({ paints, weight }: ConsoleResults): Goal[] {
  const listed = paints.find(({ name }) => name === CONSOLE)?.listed ?? Number.NaN
  return [
    {
      goal: `${CONSOLE}: listed within ${MOST_MS} ms`,
      measured: `${listed.toFixed(0)} ms`,
      isMet: listed <= MOST_MS,
    },
    {
      goal: `The console's files: at most ${MOST_KILOBYTES} KB to begin with`,
      measured: `${(weight.first / 1024).toFixed(1)} KB`,
      isMet: weight.first <= MOST_KILOBYTES * 1024,
    },
  ]
}
