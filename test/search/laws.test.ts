import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type SearchDocument, SearchIndex } from "../../src/search/index.ts"

/** Words of which none begins another, shares its stem, or is one mistake away. */
const WORDS = ["zebra", "quartz", "mango", "violin", "harbor", "pixel", "tundra", "cobalt"]

const word = fc.constantFrom(...WORDS)
const words = fc.array(word, { maxLength: 4 })
const query = fc.array(word, { minLength: 1, maxLength: 4 }).map((list) => list.join(" "))
const document: fc.Arbitrary<SearchDocument> = fc.record({
  id: fc
    .tuple(word, fc.array(word, { minLength: 1, maxLength: 3 }))
    .map(([a, b]) => `${a}.${b.join("_")}`),
  title: fc.option(
    words.map((list) => list.join(" ")),
    { nil: undefined },
  ),
  description: words.map((list) => list.join(", ")),
  tags: fc.option(words, { nil: undefined }),
  inputNames: fc.option(words, { nil: undefined }),
})
const documents = fc.uniqueArray(document, { selector: (d) => d.id, maxLength: 30 })
const anyQuery = fc.oneof(query, fc.string(), fc.string({ unit: "grapheme" }), fc.constant(""))

function indexOf(list: readonly SearchDocument[]): SearchIndex {
  const index = new SearchIndex()
  for (const item of list) index.add(item)
  return index
}

function wordsOf(item: SearchDocument): Set<string> {
  const text = [item.id, item.title, item.description, item.tags, item.inputNames].join(" ")
  return new Set(text.split(/[^a-z]+/))
}

describe("SearchIndex obeys the law that", () => {
  test("the answers are the documents that have a word of the query", () => {
    fc.assert(
      fc.property(documents, query, (list, text) => {
        const wanted = text.split(" ")
        const naive = list.filter((item) => wanted.some((w) => wordsOf(item).has(w)))

        const hits = indexOf(list).search(text, { limit: Infinity })

        expect(hits.map((hit) => hit.id).sort()).toEqual(naive.map((item) => item.id).sort())
      }),
    )
  })

  test("answers come by falling score and rising id", () => {
    fc.assert(
      fc.property(documents, query, (list, text) => {
        const hits = indexOf(list).search(text, { limit: Infinity })

        for (const [i, hit] of hits.slice(1).entries()) {
          const before = hits[i]!
          expect(
            before.score > hit.score || (before.score === hit.score && before.id < hit.id),
          ).toBe(true)
        }
      }),
    )
  })

  test("of two documents that are alike, the one with more words of the query comes first", () => {
    const wanted = fc.uniqueArray(word, { minLength: 2, maxLength: 6 })
    const missing = wanted.chain((list) => fc.tuple(fc.constant(list), fc.nat(list.length - 1)))
    fc.assert(
      fc.property(missing, documents, ([list, at], others) => {
        const index = indexOf(others)
        index.add({ id: "b.all", description: list.join(" ") })
        index.add({ id: "a.one", description: list.with(at, "elsewhere").join(" ") })

        const hits = index.search(list.join(" "), { limit: Infinity }).map(({ id }) => id)

        expect(hits).toContain("b.all")
        expect(hits.filter((id) => id === "b.all" || id === "a.one")[0]).toBe("b.all")
      }),
    )
  })

  test("adding and removing again leaves every answer as it was", () => {
    fc.assert(
      fc.property(documents, documents, anyQuery, (list, others, text) => {
        const index = indexOf(list)
        const before = index.search(text, { limit: Infinity })
        const known = new Set(list.map((item) => item.id))
        const added = others.filter((item) => !known.has(item.id))

        for (const item of added) index.add(item)
        index.search(text)
        for (const item of added) index.remove(item.id)

        expect(index.search(text, { limit: Infinity })).toEqual(before)
        expect(index.size).toBe(list.length)
      }),
    )
  })

  test("the order of insertion makes no difference", () => {
    const shuffled = documents.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      ),
    )
    fc.assert(
      fc.property(shuffled, anyQuery, ([list, other], text) => {
        const options = { limit: Infinity }

        expect(indexOf(other).search(text, options)).toEqual(indexOf(list).search(text, options))
      }),
    )
  })

  test("a limit returns the first of all results", () => {
    fc.assert(
      fc.property(documents, anyQuery, fc.nat(40), (list, text, limit) => {
        const index = indexOf(list)

        const all = index.search(text, { limit: Infinity })

        expect(index.search(text, { limit })).toEqual(all.slice(0, limit))
      }),
    )
  })

  test("a filter returns the accepted ones of all results", () => {
    fc.assert(
      fc.property(
        documents,
        anyQuery,
        fc.func(fc.boolean()),
        fc.nat(40),
        (list, text, f, limit) => {
          const index = indexOf(list)
          const accept = (id: string): boolean => f(id)

          const all = index.search(text, { limit: Infinity })

          const accepted = all.filter((hit) => accept(hit.id)).slice(0, limit)
          expect(index.search(text, { limit, accept })).toEqual(accepted)
        },
      ),
    )
  })

  test("a document is first among the answers to its own id", () => {
    const text = fc.string({ minLength: 1 }).filter((id) => id.trim() === id)
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 1 }), (ids) => {
        const index = indexOf(ids.map((id) => ({ id, description: "" })))

        for (const id of ids) expect(index.search(id, { limit: 1 })[0]?.id).toBe(id)
      }),
    )
  })
})
