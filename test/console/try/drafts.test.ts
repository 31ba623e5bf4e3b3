import { describe, expect, test } from "vitest"
import { Drafts } from "../../../console/src/try/drafts.ts"
import { linkWithInput } from "../../../console/src/try/use-input.ts"
import { parseRoute } from "../../../console/src/app/route.ts"

function storage(): { getItem(key: string): string | null; setItem(k: string, v: string): void } {
  const items = new Map<string, string>()
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
  }
}

const SCHEMA = { type: "object", properties: { key: { type: "string", format: "password" } } }

describe("drafts", () => {
  test("are kept per operation, without secrets, over a reload", () => {
    const shelf = storage()
    const drafts = new Drafts(() => shelf)
    drafts.keep("a.b", { title: "Milk", key: "k", apiToken: "t", id: 9007199254740993n }, SCHEMA)
    drafts.keep("a.c", { n: 1 }, {})
    const reloaded = new Drafts(() => shelf)
    expect(reloaded.draftOf("a.b")).toEqual({
      input: { title: "Milk", id: 9007199254740993n },
      removed: ["/key", "/apiToken"],
    })
    expect(reloaded.draftOf("a.c")?.input).toEqual({ n: 1 })
    reloaded.put("a.c", undefined)
    expect(reloaded.draftOf("a.c")).toBeUndefined()
    reloaded.clear()
    expect(new Drafts(() => shelf).draftOf("a.b")).toBeUndefined()
  })

  test("are bounded, and the oldest go first", () => {
    const drafts = new Drafts(storage)
    for (let at = 0; at < 40; at++) drafts.keep(`a.n${at}`, { at }, {})
    expect([drafts.draftOf("a.n9"), drafts.draftOf("a.n10")?.input]).toEqual([
      undefined,
      { at: 10 },
    ])
    for (let at = 0; at < 20; at++) drafts.keep(`b.n${at}`, { text: "x".repeat(8000) }, {})
    expect(drafts.draftOf("b.n0")).toBeUndefined()
    expect(drafts.draftOf("b.n19")).toBeDefined()
  })

  test("survive a storage that is full, blocked or has anything in it", () => {
    const blocked = new Drafts(() => {
      throw new Error("blocked")
    })
    blocked.keep("a.b", { n: 1 }, {})
    expect(blocked.draftOf("a.b")?.input).toEqual({ n: 1 })
    for (const text of ["", "{", "{}", "[1]", '[["a"]]', '[["a",1,null]]']) {
      const odd = new Drafts(() => ({ getItem: () => text, setItem: () => undefined }))
      expect(odd.draftOf("a")).toBeUndefined()
    }
  })
})

describe("a link with an input", () => {
  test("brings the input back, without secrets", () => {
    const made = linkWithInput("a.b", { text: "50% & more?", key: "k" }, SCHEMA)
    expect(made?.removed).toEqual(["/key"])
    expect(parseRoute(made?.link ?? "")).toEqual({
      view: "operation",
      id: "a.b",
      input: '{"text":"50% & more?"}',
    })
    expect(linkWithInput("a.b", undefined, SCHEMA)?.link).toBe("#/o/a.b")
  })

  test("is not made of a long input", () => {
    expect(linkWithInput("a.b", { text: "x".repeat(5000) }, SCHEMA)).toBeUndefined()
  })
})
