import { describe, expect, test } from "vitest"
import { intersection, union } from "../../src/typegen/combine.ts"
import { listedValues } from "../../src/typegen/convert.ts"
import { BOOLEAN, NEVER, NULL, NUMBER, STRING, UNKNOWN } from "../../src/typegen/model.ts"
import type { TypeNode } from "../../src/typegen/model.ts"
import { OPEN_OBJECT } from "../../src/typegen/model.ts"
import { SchemaRoot, SchemaTexts } from "../../src/typegen/root.ts"

describe("listedValues", () => {
  test("too many values are widened to their types", () => {
    const values = [true, null, {}, [], 1, "a", ...Array.from({ length: 1000 }, (_, n) => n)]

    expect(listedValues({ enum: values })).toEqual({
      kind: "union",
      members: [BOOLEAN, NULL, OPEN_OBJECT, { kind: "array", item: UNKNOWN }, NUMBER, STRING],
    })
  })

  test("a value without JSON becomes unknown", () => {
    expect(listedValues({ const: undefined })).toBe(UNKNOWN)
    expect(listedValues({ const: Number.NaN })).toBe(NUMBER)
    expect(listedValues({ enum: "no list" })).toBeUndefined()
  })

  test("only values that the type allows are listed", () => {
    const values = [1, "a", null, [], {}]

    expect(listedValues({ enum: values, type: "integer" })).toEqual({ kind: "literal", value: 1 })
    expect(listedValues({ enum: values, type: ["null"] })).toBe(NULL)
    expect(listedValues({ enum: values, type: "array" })).toEqual({
      kind: "tuple",
      items: [],
      minItems: 0,
      rest: undefined,
    })
    expect(listedValues({ enum: values, type: "boolean" })).toBe(NEVER)
  })

  test("a deeply nested value is cut", () => {
    let deep: unknown = "bottom"
    for (let level = 0; level < 30; level++) deep = [deep]
    let node = listedValues({ const: deep })
    let levels = 0
    for (; node?.kind === "tuple"; levels++) node = node.items[0]

    expect(levels).toBe(21)
    expect(node).toBe(UNKNOWN)
  })
})

describe("unions and intersections of types", () => {
  const a: TypeNode = { kind: "literal", value: "a" }

  test("never and unknown absorb or disappear", () => {
    expect(union([])).toBe(NEVER)
    expect(union([NEVER, NEVER])).toBe(NEVER)
    expect(union([a, UNKNOWN])).toBe(UNKNOWN)
    expect(union([a, NEVER])).toBe(a)
    expect(union([a, { ...a }])).toEqual(a)
    expect(intersection([])).toBe(UNKNOWN)
    expect(intersection([UNKNOWN, a])).toBe(a)
    expect(intersection([a, NEVER])).toBe(NEVER)
    expect(intersection([a, { ...a }])).toEqual(a)
  })
})

describe("references in SchemaRoot", () => {
  const root = (schema: Record<string, unknown>): SchemaRoot =>
    new SchemaRoot(schema, "Root", new SchemaTexts())

  test("a missing target becomes unknown", () => {
    const found = root({ $defs: { A: { type: "string" }, no: false, five: 5 } })

    expect(found.at("#/$defs/A")).toEqual({ type: "string" })
    expect(found.at("#/$defs/no")).toBe(false)
    expect(found.at("#/$defs/five")).toBe(true)
    expect(found.at("#/$defs/five/deeper/still")).toBe(true)
    expect(found.at("#/$defs/missing")).toBe(true)
    expect(found.at("#/%zz")).toBe(true)
  })

  test("are named by their last usable segment", () => {
    const found = root({})

    expect(found.wantedName("#")).toBe("Root")
    expect(found.wantedName("#/$defs/Pet/properties/0")).toBe("Pet")
    expect(found.wantedName("#/properties/0")).toBe("Root")
    expect(found.wantedName("#anchor")).toBe("anchor")
  })

  test("dynamic references that can be overridden become unknown, others resolve", () => {
    const next = { $dynamicRef: "#node" }
    const node = { $dynamicAnchor: "node", type: "object" }
    const other = { $id: "https://example.com/other", $dynamicAnchor: "node" }

    expect(root({ $defs: { node }, properties: { next } }).target(next, "$dynamicRef")).toBe(node)
    const open = root({ $defs: { node, other }, properties: { next } })
    expect(open.target(next, "$dynamicRef")).toBe(true)
  })

  test("SchemaTexts: a cyclic object equals no other", () => {
    const loop: Record<string, unknown> = {}
    loop["self"] = loop
    const texts = new SchemaTexts()

    expect(texts.original(loop)).toBe(loop)
    expect(texts.hasIds({ $defs: { a: { $id: "a" }, b: true } })).toBe(true)
    expect(texts.hasIds({ $defs: null })).toBe(false)
  })
})
