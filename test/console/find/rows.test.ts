import { describe, expect, test } from "vitest"
import type { OperationSummary } from "../../../console/src/api/model.ts"
import { listAction } from "../../../console/src/find/keys.ts"
import { flatRows, groupOperations, groupedRows, ofType } from "../../../console/src/find/rows.ts"
import type { Row } from "../../../console/src/find/rows.ts"
import { highlightMatches } from "../../../console/src/find/words.ts"

const operations = [
  op("pets.add", { type: "mutation", source: "shop", tags: ["write"] }),
  op("pets.list", { source: "shop", tags: ["read", "write"] }),
  op("notes.get", { source: "notes" }),
  op("__proto__.x"),
]

describe("groups of operations", () => {
  test("are by namespace, with the source where that has another name", () => {
    const groups = groupOperations(operations, "namespace")
    expect(
      groups.map(({ label, source, operations: inside }) => [label, source, inside.length]),
    ).toEqual([
      ["__proto__", undefined, 1],
      ["notes", undefined, 1],
      ["pets", "shop", 2],
    ])
  })

  test("are by source and by first tag, with a name for those without", () => {
    expect(groupOperations(operations, "source").map(({ label }) => label)).toEqual([
      "(this hub)",
      "notes",
      "shop",
    ])
    expect(groupOperations(operations, "tag").map(({ label }) => label)).toEqual([
      "(no tag)",
      "read",
      "write",
    ])
  })

  test("name no source where there are several", () => {
    const mixed = [op("a.x", { source: "one" }), op("a.y", { source: "two" })]
    expect(groupOperations(mixed, "namespace")[0]?.source).toBeUndefined()
  })

  test("become lines, without what is in closed ones", () => {
    const groups = groupOperations(operations, "namespace")
    const rows = groupedRows(groups, new Set(["g:namespace:pets"]), "namespace")
    expect(rows.map(labelOf)).toEqual(["> __proto__", "x", "> notes", "get", "> pets"])
    expect(rows.at(-1)).toMatchObject({ isOpen: false, position: 3, of: 3 })
  })

  test("show the whole id if the group does not show the namespace", () => {
    const rows = groupedRows(groupOperations(operations, "tag"), new Set(), "tag")
    expect(rows.map(labelOf)).toContain("pets.add")
  })

  test("can be of one type", () => {
    expect(ofType(operations, "mutation").map(({ id }) => id)).toEqual(["pets.add"])
    expect(ofType(operations, undefined)).toBe(operations)
  })
})

describe("keys of the list of operations", () => {
  const groups = groupOperations(operations, "namespace")
  const rows = groupedRows(groups, new Set(), "namespace")

  test("move, and stop at the ends", () => {
    expect(listAction("ArrowDown", rows, -1, true)).toEqual({ kind: "move", to: 0 })
    expect(listAction("ArrowDown", rows, rows.length - 1, true)).toEqual({
      kind: "move",
      to: rows.length - 1,
    })
    expect(listAction("ArrowUp", rows, 0, true)).toEqual({ kind: "move", to: 0 })
    expect(listAction("ArrowUp", rows, -1, true)).toEqual({ kind: "move", to: rows.length - 1 })
    expect(listAction("PageDown", rows, 0, true)).toEqual({ kind: "move", to: rows.length - 1 })
    expect(listAction("PageUp", rows, 3, true)).toEqual({ kind: "move", to: 0 })
  })

  test("open what they are at", () => {
    expect(listAction("Enter", rows, 1, false)).toEqual({ kind: "open", row: rows[1] })
    expect(listAction("Enter", rows, -1, false)).toBeUndefined()
  })

  test("close and open groups, but not while the cursor moves in a text", () => {
    expect(listAction("ArrowLeft", rows, 0, true)).toBeUndefined()
    expect(listAction("ArrowLeft", rows, 0, false)).toEqual({ kind: "toggle", key: rows[0]?.key })
    expect(listAction("ArrowLeft", rows, 1, false)).toEqual({ kind: "move", to: 0 })
    expect(listAction("ArrowRight", rows, 0, false)).toEqual({ kind: "move", to: 1 })
    const closed = groupedRows(groups, new Set([rows[0]?.key ?? ""]), "namespace")
    expect(listAction("ArrowRight", closed, 0, false)).toEqual({
      kind: "toggle",
      key: rows[0]?.key,
    })
    expect(listAction("ArrowLeft", closed, 0, false)).toBeUndefined()
    expect(listAction("ArrowLeft", flatRows(operations), 1, false)).toBeUndefined()
  })

  test("do nothing in an empty list, and leave other keys alone", () => {
    expect(listAction("ArrowDown", [], -1, false)).toBeUndefined()
    expect(listAction("a", rows, 0, false)).toBeUndefined()
    expect(listAction("Escape", [], -1, true)).toEqual({ kind: "leave" })
  })
})

describe("highlightMatches", () => {
  test("marks every place, overlaps as one", () => {
    expect(shown("issues.createIssue", ["issue", "sues"])).toBe("[issues].create[Issue]")
    expect(shown("aaa", ["a"])).toBe("[aaa]")
    expect(shown("abc", ["x"])).toBe("abc")
    expect(shown("", ["x"])).toBe("")
  })

  test("marks nothing where letters do not stand where they stood", () => {
    expect(shown("ﬁle", ["file"])).toBe("ﬁle")
  })
})

function shown(text: string, tokens: readonly string[]): string {
  return highlightMatches(text, tokens)
    .map(({ text: piece, isMatch: isFound }) => (isFound ? `[${piece}]` : piece))
    .join("")
}

function labelOf(row: Row): string {
  return row.kind === "group" ? `> ${row.group.label}` : row.label
}

function op(id: string, more: Partial<OperationSummary> = {}): OperationSummary {
  const [namespace = "", name = ""] = id.split(".")
  return { id, namespace, name, type: "query", description: "", ...more }
}
