import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { loadDocument } from "./documents.ts"
import type { Goal } from "./goals.ts"
import { spreadOf } from "./measure.ts"
import { buildPackage } from "./npm.ts"

/** What a program costs from its start until it is ready. */
export interface Start {
  readonly name: string
  /** CPU time of the process over Node's own, in milliseconds; median. */
  readonly cpuMs: number
  /** Resident memory over Node's own, in bytes; median. */
  readonly residentBytes: number
}

/** The first search in a hub that has just become ready. */
export interface FirstSearch {
  readonly name: string
  readonly operations: number
  /** CPU time of the process until the hub listened. */
  readonly listeningMs: number
  readonly searchMs: number
  /** The longest time for which indexing and the search kept the event loop busy in one piece. */
  readonly longestMs: number
  /** Resident memory of the process afterwards. */
  readonly residentBytes: number
}

/** What was measured of starts and first uses. */
export interface StartResults {
  readonly start: readonly Start[]
  readonly firstSearch: readonly FirstSearch[]
}

const median = (values: readonly number[]): number => spreadOf(values).median
const root = resolve(import.meta.dirname, "../..")
const dist = (file: string): string => pathToFileURL(join(root, "dist/bundle", file)).href
const load = (url: string): string => `await import(${JSON.stringify(url)})`

const MAIN = `import of "@alkdev/operations"`
const TYPE = `import of "@alkdev/operations/type"`
const HUB = "a hub that listens, without sources"
const GITHUB = "GitHub's document in a hub"
const MANY = "20,000 operations in a hub"

const HUB_PROGRAM = `const { createHub, serveHub } = ${load(dist("node.js"))}
const { resolveConfig } = ${load(dist("config.js"))}
const hub = createHub(resolveConfig({ sources: {} }, { baseDir: "." }))
const served = await serveHub(hub, { port: 0 })`

/** Programs, and what each may cost over Node alone. */
const PROGRAMS: readonly {
  readonly name: string
  readonly code: string
  readonly maxMs?: number
  readonly maxBytes?: number
}[] = [
  { name: "Node alone", code: "" },
  { name: MAIN, code: load(dist("index.js")), maxMs: 65, maxBytes: 10e6 },
  { name: TYPE, code: load(dist("type.js")), maxMs: 40 },
  { name: `import of "typebox"`, code: load("typebox") },
  { name: HUB, code: HUB_PROGRAM, maxMs: 90 },
]

/** What a first search may cost. */
const SEARCH_LIMITS: readonly {
  readonly name: string
  readonly listeningMs?: number
  readonly searchMs?: number
  readonly longestMs?: number
  readonly residentBytes?: number
}[] = [
  { name: GITHUB, listeningMs: 700, searchMs: 60, longestMs: 60, residentBytes: 130e6 },
  { name: MANY, longestMs: 60 },
]

/** Measures in fresh processes, one of each in turn, so that other load on the machine affects all alike. */
export async function measureStart({
  isQuick,
  log,
}: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<StartResults> {
  log("Building the package")
  buildPackage()
  log("Measuring starts")
  const rounds = isQuick ? 7 : 21
  const runs = PROGRAMS.map((): { cpuMs: number; residentBytes: number }[] => [])
  // The first round fills caches, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const [at, { code }] of PROGRAMS.entries()) {
      const cost = inProcess<{ cpuMs: number; residentBytes: number }>(`${code}\n${COST}`)
      if (round > 0) runs[at]?.push(cost)
    }
  }
  const [floor = []] = runs
  const start = PROGRAMS.map(({ name }, at) => ({
    name,
    cpuMs: median((runs[at] ?? []).map(({ cpuMs }, i) => cpuMs - (floor[i]?.cpuMs ?? 0))),
    residentBytes:
      median((runs[at] ?? []).map(({ residentBytes }) => residentBytes)) -
      median(floor.map(({ residentBytes }) => residentBytes)),
  }))
  log("Measuring first searches")
  const folder = mkdtempSync(join(tmpdir(), "operations-bench-"))
  try {
    const document = join(folder, "github.json")
    writeFileSync(document, (await loadDocument("GitHub")).text)
    const firstSearch = SEARCH_LIMITS.map(({ name }) =>
      firstSearchOf(name, name === GITHUB ? document : undefined, isQuick ? 1 : 3),
    )
    return { start, firstSearch }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts and first searches, as plain text. */
export function startTables({ start, firstSearch }: StartResults): string[] {
  const starts = start.map(
    ({ name, cpuMs, residentBytes }) =>
      `${name.padEnd(40)}${`+${cpuMs.toFixed(1)} ms`.padStart(12)}${`+${megabytes(residentBytes)}`.padStart(12)}`,
  )
  const searches = firstSearch.map(
    ({ name, operations, listeningMs, searchMs, longestMs, residentBytes }) =>
      `${name.padEnd(32)}${operations.toLocaleString("en").padStart(10)}` +
      `${`${listeningMs.toFixed(0)} ms`.padStart(12)}${`${searchMs.toFixed(1)} ms`.padStart(12)}${`${longestMs.toFixed(1)} ms`.padStart(12)}${megabytes(residentBytes).padStart(12)}`,
  )
  return [
    `Starts: CPU time and resident memory over Node alone\n\n${starts.join("\n")}`,
    `First search in a hub: operations, CPU until it listens, time, longest piece of the event loop, resident memory\n\n${searches.join("\n")}`,
  ]
}

/** The goals of starts and first uses. */
export function startGoals({ start, firstSearch }: StartResults): Goal[] {
  const limit = (
    name: string,
    measured: number,
    max: number | undefined,
    show: (value: number) => string,
    what: string,
  ): Goal[] =>
    max === undefined
      ? []
      : [
          {
            goal: `${name}: ${what} at most ${show(max)}`,
            measured: show(measured),
            isMet: measured <= max,
          },
        ]
  return [
    ...PROGRAMS.flatMap(({ name, maxMs, maxBytes }) => {
      const row = start.find((each) => each.name === name)
      if (row === undefined) return []
      return [
        ...limit(name, row.cpuMs, maxMs, milliseconds, "CPU time over Node"),
        ...limit(name, row.residentBytes, maxBytes, megabytes, "memory over Node"),
      ]
    }),
    ...SEARCH_LIMITS.flatMap((limits) => {
      const { name } = limits
      const row = firstSearch.find((each) => each.name === name)
      if (row === undefined) return []
      return [
        ...limit(
          name,
          row.listeningMs,
          limits.listeningMs,
          milliseconds,
          "listens after CPU time of",
        ),
        ...limit(name, row.searchMs, limits.searchMs, milliseconds, "first search"),
        ...limit(
          name,
          row.longestMs,
          limits.longestMs,
          milliseconds,
          "the event loop in one piece",
        ),
        ...limit(name, row.residentBytes, limits.residentBytes, megabytes, "memory after a search"),
      ]
    }),
  ]
}

/** What a program has used when it is ready; then it ends. */
const COST = `const { user, system } = process.cpuUsage()
const cost = { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() }
process.stdout.write(JSON.stringify(cost), () => process.exit(0))`

function firstSearchOf(name: string, document: string | undefined, times: number): FirstSearch {
  const runs = Array.from({ length: times }, () => searchIn(document))
  const of = (key: "listeningMs" | "searchMs" | "longestMs" | "residentBytes"): number =>
    median(runs.map((run) => run[key]))
  return {
    name,
    operations: runs[0]?.operations ?? 0,
    listeningMs: of("listeningMs"),
    searchMs: of("searchMs"),
    longestMs: of("longestMs"),
    residentBytes: of("residentBytes"),
  }
}

/** A search in a hub over a document, or else over many small operations. */
function searchIn(document: string | undefined): Omit<FirstSearch, "name"> {
  const sources =
    document === undefined ? {} : { api: { openapi: document, baseUrl: "http://127.0.0.1:9" } }
  const count = document === undefined ? 20_000 : 0
  const query = document === undefined ? "find lamp 4711" : "create an issue"
  return inProcess(`const { createHub, serveHub } = ${load(dist("node.js"))}
const { resolveConfig } = ${load(dist("config.js"))}
const hub = createHub(resolveConfig({ sources: ${JSON.stringify(sources)} }, { baseDir: "." }))
await hub.ready()
for (let at = 0; at < ${count}; at++) {
  hub.registry.register({
    namespace: "desk" + (at % 100), name: "find" + at, version: "1.0.0", type: "query", description: "Finds lamp " + at + " of the office",
    inputSchema: { type: "object", properties: { ["id" + at]: { type: "string" } } }, outputSchema: {},
    accessControl: { requiredScopes: [] }, handler: () => 1,
  })
}
const served = await serveHub(hub, { port: 0 })
const { user, system } = process.cpuUsage()
// What fetch itself takes at first is no part of a search.
await (await fetch(served.url + "/health")).text()
let longestMs = 0
const turnUntil = async (isDone) => {
  for (let last = performance.now(); !isDone(last);) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = performance.now()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }
}
// Turns of the loop for a second, in which a hub may prepare itself.
const end = performance.now() + 1000
await turnUntil((now) => now >= end)
const begin = performance.now()
let found
fetch(served.url + "/operations?limit=20&query=" + encodeURIComponent(${JSON.stringify(query)}))
  .then((response) => response.json())
  .then((page) => (found = page.operations), (error) => (found = error))
await turnUntil(() => found !== undefined)
if (!(found.length > 0)) throw new Error("Nothing was found.", { cause: found })
const searchMs = performance.now() - begin
const result = { operations: hub.registry.list().length, listeningMs: (user + system) / 1000, searchMs, longestMs, residentBytes: process.memoryUsage.rss() }
process.stdout.write(JSON.stringify(result), () => process.exit(0))`)
}

function inProcess<TResult>(code: string): TResult {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", code],
    { cwd: root, encoding: "utf8", timeout: 300_000 },
  )
  if (status !== 0) throw new Error(`A measured process ended with ${status ?? signal}:\n${stderr}`)
  return JSON.parse(stdout) as TResult
}

function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
