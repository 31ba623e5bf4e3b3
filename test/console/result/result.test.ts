import { describe, expect, it } from "vitest"
import { toDisplayBlock } from "../../../console/src/result/blocks.ts"
import { entriesOf, isOpenAtFirst, previewOf } from "../../../console/src/result/entries.ts"
import { cellText, sortRows, tableOf } from "../../../console/src/result/table.ts"

describe("the table of a result", () => {
  it("is made of a list of objects, with every column", () => {
    expect(tableOf([{ a: 1 }, { b: 2, a: null }])).toEqual({
      columns: ["a", "b"],
      rows: [
        [1, undefined],
        [null, 2],
      ],
      of: undefined,
      moreColumns: 0,
    })
  })

  it("is found in the one list of an object", () => {
    expect(tableOf({ total: 1, items: [{ a: 1 }] })).toMatchObject({ of: "items" })
    expect(tableOf({ x: [{ a: 1 }], y: [{ a: 1 }] })).toBeUndefined()
  })

  it.each([[[]], [[1, 2]], [[{ a: 1 }, null]], [[[1]]], [{}], [null], ["text"], [undefined]])(
    "is not made of %j",
    (value) => {
      expect(tableOf(value)).toBeUndefined()
    },
  )

  it("takes no property that every object inherits for a cell", () => {
    expect(tableOf([{ toString: 1 }, { a: 1 }])?.rows).toEqual([
      [1, undefined],
      [undefined, 1],
    ])
  })

  it("is cut in its columns and cells", () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`c${at}`, at]))
    expect(tableOf([wide])).toMatchObject({ moreColumns: 60 })
    expect(cellText("x".repeat(500))).toHaveLength(121)
    expect(cellText({ a: [1] })).toBe('{"a":[1]}')
  })

  it("is sorted by size or by text, with what is missing last", () => {
    const rows = [[10], [undefined], [9], [null]]
    expect(sortRows(rows, 0, false)).toEqual([[9], [10], [undefined], [null]])
    expect(sortRows(rows, 0, true)).toEqual([[10], [9], [undefined], [null]])
    expect(sortRows([["b10"], ["b9"]], 0, false)).toEqual([["b9"], ["b10"]])
  })
})

describe("a block of an MCP result", () => {
  it("is drawn as what it is", () => {
    expect(toDisplayBlock({ type: "text", text: "hi" })).toEqual({
      kind: "text",
      text: "hi",
      isJson: false,
    })
    expect(toDisplayBlock({ type: "text", text: ' {"a":1}' })).toMatchObject({ isJson: true })
    expect(toDisplayBlock({ type: "image", data: "AA-_", mimeType: "IMAGE/PNG; x=1" })).toEqual({
      kind: "image",
      url: "data:image/png;base64,AA+/",
      type: "image/png",
    })
    expect(toDisplayBlock({ type: "audio", data: "AAAA", mimeType: "audio/wav" })).toMatchObject({
      kind: "audio",
    })
    expect(
      toDisplayBlock({
        type: "resource",
        resource: { uri: "a:b", blob: "AAAA", mimeType: "image/gif" },
      }),
    ).toMatchObject({
      kind: "resource",
      inner: { kind: "image" },
    })
  })

  it("draws no type that could run, and nothing that is no base64", () => {
    for (const mimeType of ["text/html", "application/pdf", "image/png,<script>", "", 4]) {
      expect(toDisplayBlock({ type: "image", data: "AAAA", mimeType })).toMatchObject({
        kind: "unknown",
      })
    }
    expect(
      toDisplayBlock({ type: "image", data: '"><script>', mimeType: "image/png" }),
    ).toMatchObject({
      kind: "unknown",
    })
  })

  it("links only to the web", () => {
    expect(
      toDisplayBlock({ type: "resource_link", uri: "https://a.example/x", name: "x" }),
    ).toMatchObject({ href: "https://a.example/x" })
    for (const uri of [
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "demo://x",
      "x",
    ]) {
      expect(toDisplayBlock({ type: "resource_link", uri, name: "x" })).toMatchObject({
        kind: "link",
        href: undefined,
      })
    }
  })

  it.each([
    [null],
    ["x"],
    [{}],
    [{ type: "text" }],
    [{ type: "resource" }],
    [{ type: "resource_link" }],
    [{ type: "new", a: 1 }],
  ])("is shown as JSON when it is %j", (block) => {
    expect(toDisplayBlock(block)).toEqual({ kind: "unknown", value: block })
  })
})

describe("the tree of a result", () => {
  it("summarises closed values", () => {
    expect(previewOf([1, 2, 3])).toBe("[ 3 items ]")
    expect(previewOf({ a: 1, b: 2, c: 3, d: 4, e: 5 })).toBe("{ a, b, c, d, … }")
    expect(previewOf({})).toBe("{ }")
  })

  it("gives only as many entries as are asked for", () => {
    const large = Array.from({ length: 100_000 }, (_, at) => at)
    expect(entriesOf(large, 200)).toHaveLength(200)
    expect(isOpenAtFirst(large, 0)).toBe(true)
    expect(isOpenAtFirst(large, 1)).toBe(false)
  })
})
