/**
 * The search index next to reading every operation for every query: `npx tsx tools/bench/search.ts`.
 *
 * Prints ratios, which hold on any machine, and the index's own times for scale. With
 * `node --expose-gc --import tsx tools/bench/search.ts` it measures memory as well.
 */
import { type SearchDocument, SearchIndex } from "../../src/search/index.ts"

const COUNT = 100_000

const VERBS = "get list create update delete search start stop send cancel merge read".split(" ")
const NOUNS = (
  "issue pull request comment branch customer invoice payment refund subscription pod deployment " +
  "service secret volume container image network message channel user team project file folder " +
  "webhook token key log event alert metric label tag release build job workflow run artifact"
).split(" ")
/** A vocabulary of 3,375 made-up words, used as often as real ones: the first most. */
const SYLLABLES = "ba con der fi gra lo mi nex par que ro sti tur vel zo".split(" ")
const PROSE = SYLLABLES.flatMap((a) => SYLLABLES.flatMap((b) => SYLLABLES.map((c) => a + b + c)))
const QUERIES = [
  ..."get,list,create,g,delete,issu,refund".split(","),
  "create issue comment",
  "list pods in namespace",
  "how do I cancel a subscription",
  "merge pul request",
  "listdeployments",
  "service3.sendInvoiceRefund",
]

/** Numbers that look random and are the same each time. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

function makeDocuments(count: number): SearchDocument[] {
  const random = numbers(1)
  const pick = (list: readonly string[]): string =>
    list[Math.floor(random.next().value ** 3 * list.length)] ?? ""
  const at = (list: readonly string[], i: number): string => list[i % list.length] ?? ""
  const upper = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
  const names = VERBS.length * NOUNS.length ** 2
  return Array.from({ length: count }, (_, i) => {
    const verb = at(VERBS, i)
    const first = at(NOUNS, Math.floor(i / VERBS.length))
    const second = at(NOUNS, Math.floor(i / VERBS.length / NOUNS.length))
    const prose = Array.from({ length: 25 }, () => pick(random.next().value < 0.1 ? NOUNS : PROSE))
    return {
      id: `service${Math.floor(i / names)}.${verb}${upper(first)}${upper(second)}`,
      title: `${upper(verb)} ${second}s of a ${first}`,
      description: prose.join(" "),
      tags: [first],
      inputNames: [`${first}Id`, `${second}_name`, "page", "limit"],
    }
  })
}

/** Reads every document: the least a search without an index has to do. */
function scan(texts: readonly string[], query: string): number {
  const words = query.toLowerCase().split(/\W+/)
  let found = 0
  for (const text of texts) if (words.every((word) => text.includes(word))) found++
  return found
}

function time(run: () => unknown): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

/** The shortest of ten: what the work takes when nothing else is going on. */
function best(run: () => unknown): number {
  return Math.min(...Array.from({ length: 10 }, () => time(run)))
}

function percentile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!
}

function bytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const documents = makeDocuments(COUNT)
const texts = documents.map((d) => Object.values(d).flat().join(" ").toLowerCase())
const textBytes = texts.reduce((sum, text) => sum + text.length, 0)
const before = bytes()
const index = new SearchIndex()
const quarters: [number, number, number, number] = [0, 0, 0, 0]
for (const [i, document] of documents.entries()) {
  const quarter = Math.floor((i * 4) / COUNT) as 0 | 1 | 2 | 3
  quarters[quarter] += time(() => {
    index.add(document)
    if (i % 1000 === 999) index.search("create issue")
  })
}
const held = bytes() - before

const queryTimes = QUERIES.map((query) => best(() => index.search(query)))
const scanTimes = QUERIES.map((query) => best(() => scan(texts, query)))
const allowed = new Set(documents.filter((_, i) => i % 1000 === 7).map((d) => d.id))
const accept = (id: string): boolean => allowed.has(id)
const filteredTimes = QUERIES.map((query) => best(() => index.search(query, { accept })))
const replaceTime = time(() => {
  for (const document of documents.slice(0, 1000)) index.add(document)
})

const p50 = percentile(queryTimes, 0.5)
const filtered = percentile(filteredTimes, 0.5)
const scanned = percentile(scanTimes, 0.5)
const ms = (value: number): string => `${value.toFixed(2)} ms`
const rows: [string, string][] = [
  ["operations", String(index.size)],
  ["build, searching every 1,000", ms(quarters.reduce((sum, part) => sum + part))],
  ["last quarter of the build / first", (quarters[3] / quarters[0]).toFixed(2)],
  ["query, median / slowest", `${ms(p50)} / ${ms(Math.max(...queryTimes))}`],
  ["reading every text / query, median", (scanned / p50).toFixed(0)],
  ["query that may see 0.1 % / query, median", (filtered / p50).toFixed(1)],
  ["replacing a document / query, median", (replaceTime / 1000 / p50).toFixed(2)],
]
if (globalThis.gc) rows.push(["memory / text", (held / textBytes).toFixed(2)])
for (const [name, value] of rows) console.log(name.padEnd(42), value)
