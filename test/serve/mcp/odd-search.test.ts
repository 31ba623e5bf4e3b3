import { expect, test } from "vitest"
import { operation } from "../../support/operations.ts"
import { caller, surfaceOf } from "../../tools/surface-support.ts"

test("a search shows titles, cuts long descriptions, and keeps to a namespace", async () => {
  const long = operation("a.long", {
    title: "Long one",
    description: "x".repeat(400),
    handler: () => 1,
  })
  const other = operation("b.other", { description: "x", handler: () => 2 })
  const surface = surfaceOf([long, other], { expose: { mode: "search" } })
  const given = { query: " ", namespace: "a" }
  const result = await surface.call("search_operations", given, caller())

  expect(result.structuredContent).toMatchObject({
    operations: [{ id: "a.long", title: "Long one", description: `${"x".repeat(299)}…` }],
  })
})
