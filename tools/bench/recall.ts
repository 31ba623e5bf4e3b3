import MiniSearch from "minisearch"
import type { AnyRegistry } from "../../src/engine/registry.ts"
import { HELD_OUT, OURS, RANKS, type Recall } from "./agents-report.ts"
import questions from "./questions.json" with { type: "json" }

type Search = (query: string, limit: number) => readonly string[]

/** Asks 200 questions over all documents, of our search and of two plain ones over the same texts. */
export function measureRecall(registry: AnyRegistry): readonly Recall[] {
  const documents = registry
    .list()
    .map(({ namespace, name, title = "", description, tags = [] }) => ({
      id: `${namespace}.${name}`,
      text: [namespace, name, title, description, ...tags].join(" "),
    }))
  const searches: readonly (readonly [string, Search])[] = [
    [OURS, (query, limit) => registry.search(query, { limit }).map(({ id }) => id)],
    ["MiniSearch", miniSearch(documents)],
    ["BM25", bm25(documents)],
  ]
  const halves = ["tuning", HELD_OUT]
  return searches.flatMap(([name, search]) =>
    halves.map((half) => {
      const asked = questions.filter((one) => one.half === half)
      const ranks = asked.map(({ ask, expected }) =>
        search(ask, RANKS.at(-1) ?? 0).findIndex((id) => expected.includes(id)),
      )
      const share = (most: number): number =>
        ranks.filter((rank) => rank >= 0 && rank < most).length / ranks.length
      return { name, half, questions: ranks.length, at: RANKS.map(share) }
    }),
  )
}

interface TextDocument {
  readonly id: string
  readonly text: string
}

/** Words in lower case; names in camel case are split. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? []
  )
}

function miniSearch(documents: readonly TextDocument[]): Search {
  const index = new MiniSearch<TextDocument>({
    fields: ["text"],
    tokenize: (text) => [...wordsOf(text)],
    searchOptions: { prefix: true, fuzzy: 0.2 },
  })
  index.addAll(documents)
  return (query, limit) =>
    index
      .search(query)
      .slice(0, limit)
      .map(({ id }) => String(id))
}

/** The usual formula, with its usual constants. */
function bm25(documents: readonly TextDocument[]): Search {
  const lists = documents.map(({ text }) => wordsOf(text))
  const average = lists.reduce((sum, { length }) => sum + length, 0) / lists.length
  const counts = new Map<string, Map<number, number>>()
  for (const [at, words] of lists.entries()) {
    for (const word of words) {
      const found = counts.get(word) ?? new Map<number, number>()
      counts.set(word, found.set(at, (found.get(at) ?? 0) + 1))
    }
  }
  return (query, limit) => {
    const scores = new Map<number, number>()
    for (const word of new Set(wordsOf(query))) {
      const found = counts.get(word) ?? new Map<number, number>()
      const rarity = Math.log(1 + (lists.length - found.size + 0.5) / (found.size + 0.5))
      for (const [at, count] of found) {
        const length = (lists[at]?.length ?? 0) / average
        const score = (rarity * count * 2.2) / (count + 1.2 * (0.25 + 0.75 * length))
        scores.set(at, (scores.get(at) ?? 0) + score)
      }
    }
    const best = [...scores].toSorted((one, other) => other[1] - one[1]).slice(0, limit)
    return best.map(([at]) => documents[at]?.id ?? "")
  }
}
