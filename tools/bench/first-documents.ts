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

const COUNT = 20_000
const MAX_PIECE_MS = 60

/** The documents, and the CPU time that each may take. */
const ROWS: readonly (FirstQuestion & { readonly name: string; readonly maxMs: number })[] = [
  { name: "GitHub, /openapi.json", operations: "GitHub", path: "/openapi.json", maxMs: 1600 },
  {
    name: "20,000 operations, /openapi.json",
    operations: COUNT,
    path: "/openapi.json",
    maxMs: 2700,
  },
  { name: "20,000 operations, /operations", operations: COUNT, path: "/operations", maxMs: 200 },
]

/** Measures each document in separate processes. */
export async function measureFirstDocuments({
  isQuick,
  log,
}: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<FirstDocumentResults> {
  log("Measuring the first documents of processes")
  const firstDocuments: FirstDocument[] = []
  for (const { name, operations, path } of ROWS) {
    const measured: First[] = []
    for (let round = 0; round < (isQuick ? 1 : 3); round++) {
      const child = new AskedChild<FirstQuestion>(CHILD)
      await child.listen()
      measured.push(await child.ask<First>({ operations, path }))
      child.end()
    }
    const median = (what: keyof First): number => spreadOf(measured.map((one) => one[what])).median
    firstDocuments.push({
      name,
      whole: median("whole"),
      longest: median("longest"),
      bytes: median("bytes"),
    })
  }
  return { firstDocuments }
}

/** Compares first documents with the goals of the library. */
export function firstDocumentGoals({ firstDocuments }: FirstDocumentResults): Goal[] {
  return ROWS.flatMap(({ name, maxMs }) => {
    const row = firstDocuments.find((one) => one.name === name)
    return [
      atMost(`${name}: at most ${maxMs} ms of CPU`, row?.whole ?? Number.NaN, maxMs),
      atMost(
        `${name}: at most ${MAX_PIECE_MS} ms in one piece`,
        row?.longest ?? Number.NaN,
        MAX_PIECE_MS,
      ),
    ]
  })
}

/** First documents, as plain text. */
export function firstDocumentTables({ firstDocuments }: FirstDocumentResults): string[] {
  const rows = firstDocuments.map(({ name, whole, longest, bytes }) => [
    name,
    milliseconds(whole),
    milliseconds(longest),
    `${(bytes / 1e6).toFixed(1)} MB`,
  ])
  const head = ["", "CPU", "longest piece", "size"]
  return [`The first document of a process\n\n${columns([head, ...rows])}`]
}

function atMost(goal: string, nanoseconds: number, most: number): Goal {
  return { goal, measured: milliseconds(nanoseconds), isMet: nanoseconds <= most * 1e6 }
}

function milliseconds(nanoseconds: number): string {
  return `${(nanoseconds / 1e6).toFixed(0)} ms`
}
