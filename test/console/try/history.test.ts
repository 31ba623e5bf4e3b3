import { describe, expect, it } from "vitest"
import type { CallOutcome } from "../../../console/src/api/model.ts"
import { diffValues } from "../../../console/src/try/history/diff.ts"
import { withoutSecrets } from "../../../console/src/try/history/mask.ts"
import { isSecretName } from "../../../src/internal/secret-names.ts"
import { HistoryStore, toEntry } from "../../../console/src/try/history/store.ts"
import type { Shelf } from "../../../console/src/ui/stored-value.ts"

const outcome = (data: unknown): CallOutcome => ({
  ok: true,
  envelope: { data, meta: { source: "local", operationId: "a.b", timestamp: 1 } },
  status: 200,
  headers: { authorization: "Bearer x" },
  durationMs: 12.4,
})

function shelf(limit = Infinity): Shelf & { readonly items: Map<string, string> } {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => {
      if (value.length > limit) throw new Error("QuotaExceededError")
      items.set(key, value)
    },
  }
}

describe("an entry of the history", () => {
  it.each([
    "password",
    "userPassword",
    "api_key",
    "API-KEY",
    "apiKey",
    "accessToken",
    "Authorization",
    "client_secret",
    "dbPwd",
  ])("is nothing under %s", (name) => {
    expect(isSecretName(name, "field")).toBe(true)
    expect(withoutSecrets({ [name]: "x", ok: 1 })).toEqual({
      value: { ok: 1 },
      removed: [`/${name}`],
    })
  })

  it.each([
    "passenger",
    "secretary",
    "tokenizer",
    "author",
    "authority",
    "compass",
    "keyboard",
    "name",
  ])("is what is under %s", (name) => {
    expect(isSecretName(name, "field")).toBe(false)
  })

  it("keeps numbers that count tokens, and no pin", () => {
    expect(withoutSecrets({ max_tokens: 100, pin: 1234 }).value).toEqual({ max_tokens: 100 })
  })

  it("leaves out what the schema calls a secret, also behind references and in lists", () => {
    const schema = {
      type: "object",
      properties: {
        users: { type: "array", items: { $ref: "#/$defs/u" } },
        w: { writeOnly: true },
      },
      $defs: { u: { anyOf: [{ properties: { p: { type: "string", format: "password" } } }] } },
    }
    const { value, removed } = withoutSecrets({ users: [{ p: "x", n: 1 }], w: { a: 1 } }, schema)
    expect(value).toEqual({ users: [{ n: 1 }] })
    expect(removed).toEqual(["/users/0/p", "/w"])
  })

  it("leaves out files", () => {
    expect(withoutSecrets({ file: "A".repeat(10_000), n: "a" })).toEqual({
      value: { n: "a" },
      removed: ["/file"],
    })
  })

  it("keeps odd names as they are", () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"":[null]}') as unknown
    expect(JSON.stringify(withoutSecrets(odd).value)).toBe('{"__proto__":{"a":1},"":[null]}')
  })

  it("contains no header and no credential", () => {
    const entry = toEntry("a.b", {}, { token: "t" }, outcome({ secret: "s", n: 1 }), 5)
    expect(JSON.stringify(entry)).not.toMatch(/Bearer|"t"|"s"/)
    expect(entry).toMatchObject({
      operationId: "a.b",
      ending: "200",
      tone: "good",
      durationMs: 12,
      result: { n: 1 },
    })
  })

  it("of a tool that reports a failure is one of a failure", () => {
    const meta = { source: "mcp" as const, isError: true, content: [] }
    const envelope = { data: "The disk is full.", meta }
    const failed = { ok: true, envelope, status: 200, headers: {}, durationMs: 1 } as const
    expect(toEntry("a.b", {}, {}, failed, 5)).toMatchObject({
      ending: "tool error",
      tone: "bad",
      code: "EXECUTION_ERROR",
    })
  })

  it("contains no large result", () => {
    expect(
      toEntry("a.b", {}, {}, outcome(Array(5000).fill("0123456789abcdef")), 5),
    ).not.toHaveProperty("result")
    expect(toEntry("a.b", {}, undefined, outcome(undefined), 5)).not.toHaveProperty("result")
    // Of a large result little is read: it would block the page.
    let read = 0
    const row = {
      get a() {
        return ++read
      },
    }
    expect(toEntry("a.b", {}, {}, outcome(Array(1e6).fill(row)), 5)).not.toHaveProperty("result")
    expect(read).toBeLessThan(60_000)
    const file = { name: "x", content: "x".repeat(100_000) }
    expect(toEntry("a.b", {}, {}, outcome(file), 5)).toMatchObject({ result: { name: "x" } })
  })
})

describe("the history", () => {
  const entry = (at: number) => toEntry("a.b", {}, { at }, outcome(at), at)

  it("has the newest entry first, and a limit", () => {
    const store = new HistoryStore(() => shelf())
    expect(store.get()).toEqual([])
    const kept = shelf()
    const real = new HistoryStore(() => kept)
    let notifications = 0
    real.subscribe(() => notifications++)
    for (let at = 0; at < 150; at++) real.add(entry(at))
    expect(real.get()).toHaveLength(100)
    expect(real.get()[0]?.at).toBe(149)
    expect(notifications).toBe(150)
    expect(new HistoryStore(() => kept).get()).toEqual(real.get())
    real.remove(real.get()[0]?.id ?? "")
    expect(real.get()[0]?.at).toBe(148)
    real.clear()
    expect(new HistoryStore(() => kept).get()).toEqual([])
  })

  it("forgets the oldest when there is no room", () => {
    const small = shelf(2000)
    const store = new HistoryStore(() => small)
    for (let at = 0; at < 50; at++) store.add(entry(at))
    expect(store.get()[0]?.at).toBe(49)
    expect(store.get().length).toBeLessThan(20)
  })

  it.each(["not json", "{}", "[1,null,{}]", '[{"id":1}]'])("takes %s for nothing", (text) => {
    const odd = shelf()
    odd.items.set("operations.history", text)
    expect(new HistoryStore(() => odd).get()).toEqual([])
  })

  it("works without a storage", () => {
    const store = new HistoryStore(() => {
      throw new Error("SecurityError")
    })
    store.add(entry(1))
    expect(store.get()).toHaveLength(1)
  })
})

describe("the comparison of two results", () => {
  it("lists added, removed and changed values", () => {
    const { changes } = diffValues(
      { a: 1, b: { c: [1, 2] }, "x/y": 0 },
      { a: 2, b: { c: [1, 2, 3] }, d: null },
    )
    expect(changes).toEqual([
      { pointer: "/a", kind: "changed", before: 1, after: 2 },
      { pointer: "/b/c/2", kind: "added", after: 3 },
      { pointer: "/x~1y", kind: "removed", before: 0 },
      { pointer: "/d", kind: "added", after: null },
    ])
  })

  it("sees one item put in as one change", () => {
    expect(diffValues(["a", "b", "c"], ["a", "x", "b", "c"]).changes).toEqual([
      { pointer: "/1", kind: "added", after: "x" },
    ])
  })

  it("omits equal values, and limits the list", () => {
    expect(diffValues({ a: [1] }, { a: [1] })).toEqual({ changes: [], isCut: false })
    const many = Array.from({ length: 2000 }, (_, at) => at)
    const { changes, isCut } = diffValues(
      many,
      many.map((at) => at + 1),
    )
    expect(changes).toHaveLength(500)
    expect(isCut).toBe(true)
  })
})
