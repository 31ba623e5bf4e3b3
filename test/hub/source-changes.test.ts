import { expect, test } from "vitest"
import { changesBetween } from "../../src/hub/source-diagnosis.ts"
import { operation } from "../support/operations.ts"

const a = operation("s.a", {})
const b = operation("s.b", {})

test("changesBetween lists added, removed and changed operations", () => {
  const changed = operation("s.b", { description: "Other words" })
  const schema = operation("s.d", { inputSchema: { type: "string" } })
  const after = [
    changed,
    operation("s.c", {}),
    operation("s.d", { inputSchema: { type: "number" } }),
  ]
  expect(changesBetween([a, b, schema], after, 5)).toEqual({
    at: 5,
    added: { count: 1, ids: ["s.c"] },
    removed: { count: 1, ids: ["s.a"] },
    changed: { count: 2, ids: ["s.b", "s.d"] },
  })
})

test("changesBetween finds nothing where only the objects are others", () => {
  const none = { count: 0, ids: [] }
  const again = [operation("s.b", {}), operation("s.a", {})]
  expect(changesBetween([a, b], again, 5)).toEqual({
    at: 5,
    added: none,
    removed: none,
    changed: none,
  })
})

test("changesBetween cuts long lists, and says how long they are", () => {
  const many = Array.from({ length: 250 }, (_, at) => operation(`s.n${at}`, {}))
  const { added } = changesBetween([], many, 0)
  expect([added.count, added.ids.length]).toEqual([250, 100])
})
