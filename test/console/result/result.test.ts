import { describe, expect, it } from "vitest"
import { toDisplayBlock } from "../../../console/src/result/blocks.ts"
import { entriesOf, isOpenAtFirst, previewOf } from "../../../console/src/result/entries.ts"
import {
  cellOf,
  csvTable,
  filterRows,
  isNumeric,
  sortRows,
} from "../../../console/src/result/table.ts"
import { cellText, tableOf } from "../../../src/internal/table-of.ts"
import type { TableModel } from "../../../src/internal/table-of.ts"

describe("the table of a result", () => {
  it("is made of a list of objects, with every column", () => {
    expect(tableOf([{ a: 1 }, { b: 2, a: null }])).toEqual({
      columns: ["a", "b"],
      rows: [{ a: 1 }, { b: 2, a: null }],
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
    const model = tableOf([{ toString: 1 }, { a: 1 }]) as TableModel
    expect(filterRows(model, "native code")).toEqual([])
    expect(isNumeric(model, "toString")).toBe(true)
  })

  it("has cells by their types", () => {
    expect(cellOf(56.611932303683666)).toMatchObject({ text: "56.6119", isNumber: true })
    expect(cellOf(90071992547409931n)).toMatchObject({ text: "90071992547409931", isNumber: true })
    expect(cellOf(1700000000000)).toMatchObject({ text: "1700000000000" })
    expect(cellOf("https://example.com/a?b")).toMatchObject({ href: "https://example.com/a?b" })
    expect(cellOf("javascript:alert(1)").href).toBeUndefined()
    expect(cellOf("https:// no")).toMatchObject({ text: "https:// no", href: undefined })
    const moment = "2026-11-18T13:45:00Z"
    expect(cellOf(moment)).toEqual({ text: new Date(moment).toLocaleString(), title: moment })
    // No month has these days, of which JavaScript makes others.
    for (const none of ["2026-99-18T13:45:00Z", "2026-02-30T10:00:00Z", "2026-11-31T01:00+02:00"]) {
      expect(cellOf(none).text).toBe(none)
    }
  })

  it("is filtered by the text of its cells", () => {
    const model = tableOf([{ a: "Milk" }, { a: "Tea", b: { c: "milky" } }, { a: 1 }]) as TableModel
    expect(filterRows(model, " MILK ")).toHaveLength(2)
    expect(filterRows(model, "")).toHaveLength(3)
  })

  it("is made of comma-separated values", () => {
    expect(csvTable('name,note\r\n"Ada, L.","a ""b"" \n c"\n\nGrace,5" disk\n')).toMatchObject({
      columns: ["name", "note"],
      rows: [
        { name: "Ada, L.", note: 'a "b" \n c' },
        { name: "Grace", note: '5" disk' },
      ],
    })
    expect(csvTable('a,__proto__,\n"""",2,3,4')).toMatchObject({
      columns: ["a", "__proto__", "Column 3", "Column 4"],
    })
    expect(csvTable('a\n"never closed, \n')).toBeUndefined()
    expect(csvTable("")).toBeUndefined()
  })

  it("is cut in its columns and cells", () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`c${at}`, at]))
    expect(tableOf([wide])).toMatchObject({ moreColumns: 60 })
    expect(cellText("x".repeat(500))).toHaveLength(121)
    expect(cellText({ a: [1] })).toBe('{"a": [1]}')
  })

  it("is sorted by size or by text, with what is missing last", () => {
    const rows = [{ a: 10 }, {}, { a: 9 }, { a: null }]
    expect(sortRows(rows, "a", false)).toEqual([{ a: 9 }, { a: 10 }, {}, { a: null }])
    expect(sortRows(rows, "a", true)).toEqual([{ a: 10 }, { a: 9 }, {}, { a: null }])
    const texts = [{ a: "b10" }, { a: "b9" }]
    expect(sortRows(texts, "a", false)).toEqual(texts.toReversed())
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
    expect(isOpenAtFirst(large, 0, 1)).toBe(true)
    expect(isOpenAtFirst(large, 1, 1)).toBe(false)
    expect(isOpenAtFirst({ a: 1 }, 1, 20)).toBe(true)
    expect(isOpenAtFirst({ a: 1 }, 1, 100_000)).toBe(false)
  })
})
