import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { mergeSorted } from "../../src/search/arrays.ts"
import { isOneEditApart } from "../../src/search/dictionary.ts"
import { intentOf } from "../../src/search/intent.ts"
import { Postings } from "../../src/search/postings.ts"
import { eachDescending, placeOfKey, rankKey, scoreOfKey } from "../../src/search/rank.ts"
import { partsOf } from "../../src/search/tokenize.ts"
import { synonymsOf, withoutPhrases } from "../../src/search/synonyms.ts"
import { rootOf, stem } from "../../src/search/words.ts"
import { runs } from "../support/nightly.ts"
import { codePoint } from "../support/code-point.ts"

describe("partsOf", () => {
  test.each([
    ["createIssueComment", ["create", "issue", "comment"]],
    ["issues/create-comment_v2.all", ["issues", "create", "comment", "v2", "all"]],
    ["HTTPServer listCoreV1Pod", ["http", "server", "list", "core", "v1", "pod"]],
    ["getURLs userIDs APIsList", ["get", "urls", "user", "ids", "apis", "list"]],
    ["v1beta1 oauth2 S3Bucket 2fa", ["v1beta1", "oauth2", "s3", "bucket", "2fa"]],
    ["the customer's item", ["the", "customer", "item"]],
    ["ÉcoleÀParis", ["ecole", "a", "paris"]],
    ["数据库x", ["数据", "据库", "库", "x"]],
    ["𠮷野", ["𠮷野", "野"]],
    ["ガラス", ["ガラ", "ラス", "ス"]],
    ["", []],
    ["-- !! \ud800", []],
  ])("reads %j", (text, parts) => {
    expect(partsOf(text)).toEqual(parts)
  })

  test("cuts words of more than 64 characters", () => {
    expect(partsOf("a".repeat(1000))).toEqual(["a".repeat(64)])
  })

  test("returns lower-case words for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        for (const part of partsOf(text)) {
          expect(part).not.toBe("")
          expect(part).toBe(part.toLowerCase())
        }
      }),
    )
  })
})

describe("stem", () => {
  test.each([
    ["issue issues"],
    ["create creates created creating"],
    ["get getting gets"],
    ["retry retries retried"],
    ["branch branches"],
    ["bill billing billed"],
    ["status statuses"],
    ["address addresses"],
  ])("is shared by %s", (forms) => {
    expect(new Set(forms.split(" ").map(stem)).size).toBe(1)
  })

  test.each([
    "string",
    "need",
    "speed",
    "status",
    "analysis",
    "process",
    "ping",
    "bed",
    "ies",
    "größe",
  ])("leaves %s alone", (word) => {
    expect(stem(word)).toBe(word)
  })
})

describe("rootOf", () => {
  test.each([
    ["invite invited invitation"],
    ["configure configuration"],
    ["notify notification"],
    ["discover discovery"],
    ["contribute contributes contributor contributors contribution contributed"],
    ["assign assigned assignee assignees assignment"],
    ["remove removes removal removing"],
    ["subscribe subscribing subscription subscriptions"],
    ["authenticate authenticated authentication"],
    ["remind reminder reminders"],
    ["evict eviction"],
  ])("is shared by %s", (forms) => {
    expect(new Set(forms.split(" ").map(rootOf)).size).toBe(1)
  })

  test.each([
    ["custom", "customer"],
    ["contain", "container"],
    ["us", "user"],
    ["off", "offer"],
    ["com", "comment"],
    ["numb", "number"],
  ])("keeps %s and %s apart", (left, right) => {
    expect(rootOf(left)).not.toBe(rootOf(right))
  })

  test.each(["größe", "данные", "v1beta1", "数据", "région"])("leaves %s alone", (word) => {
    expect(rootOf(word)).toBe(word)
  })
})

describe("synonyms", () => {
  const all = "get list create update delete repo my whoami remember sum".split(" ")

  test.each(all)("of %s are other words that count for less", (word) => {
    const synonyms = synonymsOf(word)

    expect(synonyms.size).toBeGreaterThan(0)
    expect(synonyms.has(word)).toBe(false)
    for (const weight of synonyms.values()) expect(weight).toBeLessThan(1)
  })

  test("are none for names of the object prototype", () => {
    for (const word of ["__proto__", "constructor", "toString"]) {
      expect(synonymsOf(word).size).toBe(0)
    }
  })

  test.each([
    ["who am i", "whoami user? get?"],
    ["please log in now", "please login now"],
    ["merge a pr", "merge a pull request create?"],
    ["who am", "who am"],
    ["comment on an issue", "comment on an issue create?"],
    ["update an issue", "update an issue"],
    ["", ""],
  ])("replace the phrases of %j", (query, expected) => {
    const parts = query.split(" ").filter((part) => part !== "")
    const words = withoutPhrases(parts).map(({ word, isHelp }) => (isHelp ? `${word}?` : word))

    expect(words.join(" ")).toBe(expected)
  })
})

describe("intentOf", () => {
  test.each([
    ["which nodes are in the cluster", "read"],
    ["unread notifications", "read"],
    ["how many tickets are open", "read"],
    ["can you please show me the invoices", "read"],
    ["how do I cancel an order", "change"],
    ["withdraw our balance", "change"],
    ["please delete it", "change"],
    ["issue create", undefined],
    ["nodes", undefined],
    ["how", undefined],
    ["how to", "read"],
    ["please", undefined],
    ["", undefined],
    ["__proto__ constructor", "read"],
  ])("takes %j for what asks to %s", (query, intent) => {
    expect(intentOf(query.toLowerCase().split(" "))).toBe(intent)
  })
})

describe("isOneEditApart", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 })

  test("agrees with trying every edit", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        fc.pre(a !== b)
        expect(isOneEditApart(a, b)).toBe(editsOf(a).has(b))
      }),
      { numRuns: runs(100) },
    )
  })

  test("is not so for equal words", () => {
    expect(isOneEditApart("same", "same")).toBe(false)
  })

  function editsOf(word: string): Set<string> {
    const edits = new Set<string>()
    for (let i = 0; i <= word.length; i++) {
      const [head, tail] = [word.slice(0, i), word.slice(i)]
      edits.add(head + tail.slice(1))
      if (tail.length > 1) edits.add(head + tail[1]! + tail[0]! + tail.slice(2))
      for (const letter of "abc") {
        edits.add(head + letter + tail)
        if (tail !== "") edits.add(head + letter + tail.slice(1))
      }
    }
    return edits
  }
})

describe("eachDescending", () => {
  const place = fc.nat(2 ** 24 - 1)
  const score = fc.double({ min: 0, max: 4.999, noNaN: true })

  test("visits keys of any kind from the highest on", () => {
    const keys = fc.array(fc.tuple(score, place).map(([s, p]) => rankKey(s, p)))
    fc.assert(
      fc.property(keys, (list) => {
        const visited: number[] = []
        eachDescending(Float64Array.from(list), (key) => visited.push(key) > 0)

        expect(visited).toEqual(list.sort((a, b) => b - a))
      }),
    )
  })

  test("reads back the score and the place of a key", () => {
    fc.assert(
      fc.property(score, place, (s, p) => {
        expect(placeOfKey(rankKey(s, p))).toBe(p)
        expect(scoreOfKey(rankKey(s, p))).toBeCloseTo(s, 6)
      }),
    )
  })
})

describe("Postings", () => {
  test("return what was added, in whatever order terms were added", () => {
    const entry = fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 255 }))
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 300, size: "max" }), (entries) => {
        const postings = new Postings()
        for (const [i, [term, impact]] of entries.entries()) postings.add(term, i, impact)

        for (const term of new Set(entries.map(([t]) => t))) {
          const best = new Float32Array(entries.length)
          const found = new Uint32Array(entries.length)
          const alive = new Uint8Array(entries.length).fill(1)
          const count = postings.collect(term, 1, alive, best, found, 0)

          const expected = entries.map(([t, impact]) => (t === term ? impact : 0))
          expect([...best]).toEqual(expected)
          expect(count).toBe(expected.filter((impact) => impact > 0).length)
        }
      }),
      { numRuns: 50 },
    )
  })

  test("hold a list of more documents than one chunk takes", () => {
    const postings = new Postings()
    const count = 600_000
    for (let i = 0; i < count; i++) postings.add(0, i, 1 + (i % 255))
    const best = new Float32Array(count)
    const alive = new Uint8Array(count).fill(1)

    expect(postings.collect(0, 1, alive, best, new Uint32Array(count), 0)).toBe(count)
    expect(best.every((impact, i) => impact === 1 + (i % 255))).toBe(true)
  })
})

describe("mergeSorted", () => {
  test("equals sorting everything", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.array(fc.nat(50)), (left, right) => {
        const compare = (a: number, b: number): number => a - b
        const merged = mergeSorted(Uint32Array.from(left).sort(), right.sort(compare), compare)

        expect([...merged]).toEqual([...left, ...right].sort(compare))
      }),
    )
  })
})
