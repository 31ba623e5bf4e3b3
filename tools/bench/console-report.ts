import type { Goal } from "./goals.ts"

/** The first paint of a page, and when its content was visible; milliseconds since the request. */
export interface Paint {
  readonly name: string
  readonly painted: number
  readonly listed: number | undefined
}

/** The size of the console in bytes, compressed with gzip. */
export interface Weight {
  /** The files needed for the first paint. */
  readonly first: number
  /** All files, including the editors, which are loaded on demand. */
  readonly all: number
}

/** The results for the console. */
export interface ConsoleResults {
  readonly paints: readonly Paint[]
  readonly weight: Weight
}

export const OPERATIONS = 5000
export const EMPTY = "an empty page"
export const CONSOLE: string = `the console, ${OPERATIONS.toLocaleString("en")} operations`

const MAX_KILOBYTES = 350
const MAX_LIST_MS = 1000

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

/** The goals of the console. */
export function consoleGoals({ paints, weight }: ConsoleResults): Goal[] {
  const listed = paints.find(({ name }) => name === CONSOLE)?.listed ?? Number.NaN
  return [
    {
      goal: `${CONSOLE}: listed within ${MAX_LIST_MS} ms`,
      measured: `${listed.toFixed(0)} ms`,
      isMet: listed <= MAX_LIST_MS,
    },
    {
      goal: `The console's files: at most ${MAX_KILOBYTES} KB to begin with`,
      measured: `${(weight.first / 1024).toFixed(1)} KB`,
      isMet: weight.first <= MAX_KILOBYTES * 1024,
    },
  ]
}
