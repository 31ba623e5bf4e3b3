import { describe, expect, test } from "vitest"
import { schemaTree } from "../../../console/src/read/schema/node.ts"
import {
  allOpen,
  isOpenable,
  schemaMove,
  openAtFirst,
  rowsOf,
  searchSchema,
  toggled,
} from "../../../console/src/read/schema/rows.ts"
import type { Row } from "../../../console/src/read/schema/rows.ts"

const ORDER = {
  type: "object",
  properties: {
    id: { type: "integer" },
    lines: {
      type: "array",
      items: { type: "object", properties: { article: { type: "string" }, count: {} } },
    },
    parent: { $ref: "#" },
    country: { enum: Array.from({ length: 200 }, (_, at) => `C${at}`) },
  },
}

const tree = schemaTree(ORDER)
const shown = (rows: readonly Row[]) => rows.map(({ node, level }) => `${level} ${node.label}`)
const at = (rows: readonly Row[], label: string) =>
  rows.findIndex(({ node }) => node.label === label)

describe("the rows of a tree", () => {
  test("are those that are open", () => {
    expect(shown(rowsOf(tree, new Set()))).toEqual(["1 id", "1 lines", "1 parent", "1 country"])
    const open = toggled(new Set(), tree.children()[1]!)
    expect(shown(rowsOf(tree, open))).toEqual([
      ...["1 id", "1 lines", "2 each item", "3 article", "3 count", "1 parent", "1 country"],
    ])
    expect(rowsOf(tree, toggled(open, tree.children()[1]!))).toHaveLength(4)
  })

  test("know their place among their siblings", () => {
    const rows = rowsOf(tree, toggled(new Set(), tree.children()[1]!))
    expect(rows[at(rows, "count")]).toMatchObject({ position: 2, size: 2, level: 3 })
    expect(rows[at(rows, "country")]).toMatchObject({ position: 4, size: 4, level: 1 })
  })

  test("a long list of values is opened like children", () => {
    const country = tree.children()[3]!
    expect(country.hasChildren).toBe(false)
    expect(isOpenable(country)).toBe(true)
    const rows = rowsOf(tree, toggled(new Set(), country))
    expect(rows).toHaveLength(4)
    expect(rows[3]).toMatchObject({ isOpen: true })
    expect(country.facts.values).toHaveLength(200)
  })

  test("a small schema is open at first, and what repeats itself stays closed", () => {
    const rows = rowsOf(tree, openAtFirst(tree))
    expect(shown(rows)).toContain("3 article")
    expect(rows[at(rows, "parent")]).toMatchObject({ isOpen: false })
  })

  test("a large list of objects is open down to their properties", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`p${index}`, { $ref: "#/items" }]),
    )
    const list = schemaTree({ type: "array", items: { type: "object", properties } })
    const rows = rowsOf(list, openAtFirst(list))
    expect(rows).toHaveLength(101)
    expect(rowsOf(list, allOpen(list))).toHaveLength(101)
  })

  test("everything open stays within what a reader bears, without an end in the schema", () => {
    const wide = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 30 }, (_, a) => [
          `a${a}`,
          { properties: Object.fromEntries(Array.from({ length: 30 }, (__, b) => [`b${b}`, {}])) },
        ]),
      ),
    }
    const many = schemaTree(wide)
    const count = rowsOf(many, allOpen(many, 400)).length
    expect(count).toBeGreaterThan(300)
    expect(count).toBeLessThanOrEqual(400)
    const endless = schemaTree({ type: "array", items: { $ref: "#" } })
    expect(rowsOf(endless, openAtFirst(endless)).length).toBeLessThan(5)
  })

  test("of a search are what it found, with what that is in and holds", () => {
    const found = searchSchema(tree, " ARTI ")
    expect(found).toMatchObject({ isCut: false })
    expect(shown(rowsOf(tree, found?.around ?? new Set(), found))).toEqual([
      ...["1 lines", "2 each item", "3 article"],
    ])
    const lines = searchSchema(tree, "lines")
    expect(shown(rowsOf(tree, toggled(new Set(), tree.children()[1]!), lines))).toEqual([
      ...["1 lines", "2 each item", "3 article", "3 count"],
    ])
    expect(searchSchema(tree, " ")).toBeUndefined()
    expect(searchSchema(tree, "nothing")?.hits.size).toBe(0)
  })

  test("of a search are all that match, and end where the schema has no end", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 650 }, (_, index) => [
        `same${index}`,
        { type: "object", properties: {} },
      ]),
    )
    const found = searchSchema(schemaTree({ type: "object", properties }), "same")
    expect([found?.hits.size, found?.isCut]).toEqual([650, false])
    const wide = Object.fromEntries(Array.from({ length: 21_000 }, (_, index) => [`p${index}`, {}]))
    expect(searchSchema(schemaTree({ properties: wide }), "p")).toMatchObject({
      isCut: true,
    })
    const endless = { $ref: "#/$defs/a", $defs: { a: { properties: { next: { $ref: "#" } } } } }
    expect(searchSchema(schemaTree(endless), "nothing")).toMatchObject({ isCut: false })
  })

  test("a schema without parts has no rows", () => {
    for (const schema of [true, false, {}, { type: "string" }, null]) {
      const none = schemaTree(schema)
      expect(rowsOf(none, openAtFirst(none))).toEqual([])
      expect(allOpen(none)).toEqual(new Set())
    }
  })
})

describe("keys in the tree", () => {
  const rows = rowsOf(tree, toggled(new Set(), tree.children()[1]!))
  const lines = at(rows, "lines")

  test.each([
    ["ArrowDown", 0, 1],
    ["ArrowUp", 0, undefined],
    ["ArrowUp", 3, 2],
    ["ArrowDown", 6, undefined],
    ["Home", 5, 0],
    ["End", 0, 6],
    ["ArrowRight", lines, 2],
    ["ArrowRight", 0, undefined],
    ["ArrowRight", 5, "toggle"],
    ["ArrowLeft", lines, "toggle"],
    ["ArrowLeft", 3, 2],
    ["ArrowLeft", 0, undefined],
    ["Enter", lines, "toggle"],
    [" ", lines, "toggle"],
    ["Enter", 0, undefined],
    ["c", 0, 4],
    ["C", 4, 6],
    ["c", 6, 4],
    ["z", 0, undefined],
    ["Tab", 0, undefined],
    ["F5", 0, undefined],
  ] as const)("%s on row %i", (key, from, move) => {
    expect(schemaMove(key, rows, from)).toBe(move)
  })

  test("an opened list of values has no child to go to", () => {
    const opened = rowsOf(tree, toggled(new Set(), tree.children()[3]!))
    expect(schemaMove("ArrowRight", opened, 3)).toBeUndefined()
  })
})
