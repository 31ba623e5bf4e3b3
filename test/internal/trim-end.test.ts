import fc from "fast-check"
import { expect, test } from "vitest"
import { trimEnd } from "../../src/internal/trim-end.ts"

test("trimEnd removes what a regular expression would", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", ".", "-", "_") }), (text) => {
      expect(trimEnd(text, "._-")).toBe(text.replace(/[._-]+$/, ""))
    }),
  )
})

test("trimEnd takes linear time for a run that is not at the end", () => {
  const text = `${"/".repeat(1_000_000)}x`
  expect(trimEnd(text, "/")).toBe(text)
})
