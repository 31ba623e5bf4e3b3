import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { tagOf } from "../../../src/transport/nats/subjects.ts"
import { codePoint } from "../../support/code-point.ts"

describe("tagOf", () => {
  test("is ten letters and digits, the same each time, for any name", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (name) => {
        expect(tagOf(name)).toMatch(/^[a-z0-9]{10}$/)
        expect(tagOf(name)).toBe(tagOf(name))
      }),
    )
    expect(tagOf("w1")).toBe("2b8qpizebl")
  })

  test("returns different tags for many names", () => {
    const tags = Array.from({ length: 20_000 }, (_, at) => tagOf(`worker-${at}`))

    expect(new Set(tags).size).toBe(tags.length)
  })
})
