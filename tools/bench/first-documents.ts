/** The first document of an API in a new process: how long it takes, and how long it blocks the event loop. */
import { fileURLToPath } from "node:url"
import { AskedChild } from "./asked-child.ts"
import type { Goal } from "./goals.ts"
import { spreadOf } from "./measure.ts"
import { columns } from "./table.ts"

/** The request to the process. */
export interface FirstQuestion {
  readonly operations: "GitHub" | number
  readonly path: "/openapi.json" | "/operations"
}

/** The cost in CPU nanoseconds. */
export interface First {
  readonly whole: number
  readonly firstByte: number
  /** The longest piece of work between two turns of the event loop. */
  readonly longest: number
  readonly bytes: number
}

/** Medians of some processes. */
export interface FirstDocument extends First {
  readonly name: string
}

export interface FirstDocumentResults {
  readonly firstDocuments: readonly FirstDocument[]
}

const CHILD = fileURLToPath(import.meta.resolve("./first-documents-child.ts"))

const GITHUB = "GitHub, /openapi.json"
const MAX_GITHUB_MS = 250
const MAX_PIECE_MS = 20
const MAX_FIRST_BYTE_MS = 200

/** Measures each document in separate processes. `isQuick` takes a tenth of the operations. */
export async function measureFirstDocuments({
  isQuick,
  log,
}: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<FirstDocumentResults> {
  log("Measuring the first documents of processes")
  const count = isQuick ? 10_000 : 100_000
  const rows: readonly (FirstQuestion & { readonly name: string })[] = [
    { name: GITHUB, operations: "GitHub", path: "/openapi.json" },
    ...(["/openapi.json", "/operations"] as const).map((path) => ({
      name: `${count.toLocaleString("en")} operations, ${path}`,
      operations: count,
      path,
    })),
  ]
  const firstDocuments: FirstDocument[] = []
  for (const { name, ...question } of rows) {
    const measured: First[] = []
    for (let round = 0; round < (isQuick ? 1 : 3); round++) {
      const child = new AskedChild<FirstQuestion>(CHILD)
      await child.listen()
      measured.push(await child.ask<First>(question))
      child.end()
    }
    const median = (what: keyof First): number => spreadOf(measured.map((one) => one[what])).median
    firstDocuments.push({
      name,
      whole: median("whole"),
      firstByte: median("firstByte"),
      longest: median("longest"),
      bytes: median("bytes"),
    })
  }
  return { firstDocuments }
}

/** Compares first documents with the goals of the library. */
export function firstDocumentGoals({ firstDocuments }: FirstDocumentResults): Goal[] {
  return firstDocuments.flatMap(({ name, whole, firstByte, longest }) => [
    name === GITHUB
      ? atMost(`${name}: at most ${MAX_GITHUB_MS} ms of CPU`, whole, MAX_GITHUB_MS)
      : atMost(`${name}: first byte within ${MAX_FIRST_BYTE_MS} ms`, firstByte, MAX_FIRST_BYTE_MS),
    atMost(`${name}: at most ${MAX_PIECE_MS} ms in one piece`, longest, MAX_PIECE_MS),
  ])
}

/** First documents, as plain text. */
export function firstDocumentTables({ firstDocuments }: FirstDocumentResults): string[] {
  const rows = firstDocuments.map(({ name, whole, firstByte, longest, bytes }) => [
    name,
    milliseconds(whole),
    milliseconds(firstByte),
    milliseconds(longest),
    `${(bytes / 1e6).toFixed(1)} MB`,
  ])
  const head = ["", "CPU", "first byte", "longest piece", "size"]
  return [`The first document of a process\n\n${columns([head, ...rows])}`]
}

function atMost(goal: string, nanoseconds: number, most: number): Goal {
  return { goal, measured: milliseconds(nanoseconds), isMet: nanoseconds <= most * 1e6 }
}

function milliseconds(nanoseconds: number): string {
  return `${(nanoseconds / 1e6).toFixed(0)} ms`
}
