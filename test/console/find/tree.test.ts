import { describe, expect, test } from "vitest"
import { filterChoices, filterOperations } from "../../../console/src/find/filters.ts"
import { treeMove } from "../../../console/src/ui/tree-keys.ts"
import {
  flatRows,
  foldersOf,
  isOpenAtFirst,
  keptFolder,
  nameOf,
  toTree,
  treeRows,
} from "../../../console/src/find/tree.ts"
import type { Folder, Row } from "../../../console/src/find/tree.ts"
import { highlightMatches } from "../../../console/src/find/words.ts"
import { op } from "./operations.ts"

const operations = [
  op("shop.add", { type: "mutation", source: "shop", tags: ["pets"], title: "Add a pet" }),
  op("shop.list", { source: "shop", tags: ["pets", "reading"], title: "A list" }),
  op("shop.sell", { source: "shop", tags: ["orders"], deprecated: true }),
  op("shop.ping", { source: "shop", isProtected: true }),
  op("notes.get", { source: "notes" }),
  op("__proto__.constructor"),
]
const all = (): boolean => true

describe("the tree of operations", () => {
  test("is by source, then by first tag; what has no tag is in its source", () => {
    expect(treeRows(toTree(operations), all).map(labelOf)).toEqual([
      "1 > notes 1",
      "2 get",
      "1 > shop 4",
      "2 > orders 1",
      "3 sell",
      "2 > pets 2",
      "3 A list",
      "3 Add a pet",
      "2 ping",
      "1 > This hub 1",
      "2 constructor",
    ])
  })

  test("has the place of each line among its siblings", () => {
    const rows = treeRows(toTree(operations), all)
    expect(rows.map(({ position, of }) => `${position}/${of}`)).toEqual(
      "1/3 1/1 2/3 1/3 1/1 2/3 1/2 2/2 3/3 3/3 1/1".split(" "),
    )
  })

  test("shows nothing of what is in closed folders", () => {
    const rows = treeRows(toTree(operations), ({ label }) => label === "shop")
    expect(rows.map(labelOf)).toEqual([
      "1 > notes 1",
      "1 > shop 4",
      "2 > orders 1",
      "2 > pets 2",
      "2 ping",
      "1 > This hub 1",
    ])
  })

  test("is by namespace where a source has several", () => {
    const tree = toTree([op("a.x", { source: "s" }), op("b.y", { source: "s" })])
    expect(tree[0]?.folders.map(({ label }) => label)).toEqual(["a", "b"])
  })

  test("is by path where a large source has no tags", () => {
    const members = Array.from({ length: 30 }, (_, at) =>
      op(`pay.n${at}`, {
        source: "pay",
        request: `GET /v1/${at < 20 ? "refunds" : "cards"}/${at}`,
      }),
    )
    const [pay] = toTree([...members, op("pay.root", { source: "pay", request: "GET /v1/{any}" })])
    expect(pay?.folders.map(({ label, count }) => [label, count])).toEqual([
      ["cards", 10],
      ["refunds", 20],
    ])
    expect(pay?.operations.map(({ id }) => id)).toEqual(["pay.root"])
    expect(toTree(members.slice(0, 20))[0]?.folders).toEqual([])
    const [plain] = toTree(members.map(({ id }) => op(id, { source: "pay" })))
    expect([plain?.folders, plain?.operations.length]).toEqual([[], 30])
  })

  test("is closed above 200 operations, except for the only source", () => {
    const many = (source: string): ReturnType<typeof op>[] =>
      Array.from({ length: 150 }, (_, at) =>
        op(`${source}.n${at}`, { source, tags: [`t${at % 3}`] }),
      )
    const opened = (tree: readonly Folder[]): number =>
      treeRows(tree, (folder) => isOpenAtFirst(folder, tree)).length
    expect(opened(toTree(many("a")))).toBe(1 + 3 + 150)
    expect(opened(toTree([...many("a"), ...many("b")]))).toBe(2)
    const one = [...many("a"), ...many("b")].map((each) => ({ ...each, source: "a" }))
    expect(opened(toTree(one))).toBe(1 + 3)
  })

  test("begins with favourites and recent operations in their own order, if they still exist", () => {
    const byId = new Map(operations.map((one) => [one.id, one]))
    const folder = keptFolder("favourites", ["shop.sell", "gone.one", "shop.add"], byId)
    const tree = [...(folder === undefined ? [] : [folder]), ...toTree(operations)]
    const rows = treeRows(tree, (one) => isOpenAtFirst(one, tree))
    expect(rows.slice(0, 3).map(labelOf)).toEqual(["1 > Favourites 2", "2 sell", "2 Add a pet"])
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
    expect(keptFolder("recent", ["gone.one"], byId)).toBeUndefined()
    const recent = keptFolder("recent", ["shop.add"], byId)
    expect(recent && isOpenAtFirst(recent, tree)).toBe(false)
  })

  test("knows the folders of an operation", () => {
    const tree = toTree(operations)
    expect(foldersOf(tree, "shop.add")).toEqual(["source:shop", 'tag:["shop","pets"]'])
    expect(foldersOf(tree, "notes.get")).toEqual(["source:notes"])
    expect(foldersOf(tree, "gone.one")).toEqual([])
  })

  test("is empty without operations", () => {
    expect(treeRows(toTree([]), all)).toEqual([])
  })
})

test("the name of an operation without a title is a first sentence that is not too long", () => {
  const sentence =
    "Updates the refund that you specify by setting the values of the passed parameters"
  const one = op("a.b")
  expect(nameOf({ ...one, description: `<p>${sentence}. Any others stay.</p>` })).toBe(sentence)
  expect(
    nameOf({ ...one, description: `${sentence}, and of all the others that there are.` }),
  ).toBe("b")
})

describe("filters of operations", () => {
  const ids = (filters: Parameters<typeof filterOperations>[1]): string[] =>
    filterOperations(operations, filters).map(({ id }) => id)

  test("apply together, and leave the list alone when none is set", () => {
    expect(filterOperations(operations, { source: undefined })).toBe(operations)
    expect(ids({ source: "shop", type: "mutation" })).toEqual(["shop.add"])
    expect(ids({ tag: "reading" })).toEqual(["shop.list"])
    expect(ids({ access: "protected" })).toEqual(["shop.ping"])
    expect(ids({ access: "open", source: "shop", deprecated: "hide" })).toEqual([
      "shop.add",
      "shop.list",
    ])
    expect(ids({ deprecated: "only" })).toEqual(["shop.sell"])
    expect(ids({ tag: "__proto__" })).toEqual([])
  })

  test("offer the sources, and the tags of the chosen source", () => {
    expect(filterChoices(operations, undefined)).toEqual({
      sources: ["notes", "shop"],
      tags: ["orders", "pets", "reading"],
    })
    expect(filterChoices(operations, "notes").tags).toEqual([])
  })
})

describe("keys of the list of operations", () => {
  const rows = treeRows(toTree(operations), all)

  test("move, and stop at the ends", () => {
    expect(treeMove("ArrowDown", rows, -1)).toBe(0)
    const last = rows.length - 1
    expect(treeMove("ArrowDown", rows, last)).toBe(last)
    expect(treeMove("ArrowUp", rows, 0)).toBe(0)
    expect(treeMove("ArrowUp", rows, -1)).toBe(last)
    expect(treeMove("PageDown", rows, 5)).toBe(last)
    expect(treeMove("PageUp", rows, 3)).toBe(0)
  })

  test("close and open folders", () => {
    expect(treeMove("ArrowLeft", rows, 0)).toBe("toggle")
    expect(treeMove("ArrowRight", rows, 0)).toBe(1)
    const closed = treeRows(toTree(operations), ({ kind }) => kind === "source")
    expect(treeMove("ArrowRight", closed, 3)).toBe("toggle")
    expect(treeMove("ArrowLeft", flatRows(operations), 1)).toBeUndefined()
    expect(treeMove("ArrowLeft", rows, -1)).toBeUndefined()
  })

  test("go to the folder that a line is in", () => {
    expect(treeMove("ArrowLeft", rows, 4)).toBe(3)
    expect(treeMove("ArrowLeft", rows, 8)).toBe(2)
  })

  test("do nothing in an empty list, and leave other keys alone", () => {
    expect(treeMove("ArrowDown", [], -1)).toBeUndefined()
    expect(treeMove("a", rows, 0)).toBeUndefined()
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
  if (row.kind === "folder") return `${row.level} > ${row.folder.label} ${row.folder.count}`
  return `${row.level} ${row.operation.title ?? row.operation.name}`
}
