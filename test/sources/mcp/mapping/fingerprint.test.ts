import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonicalJson, depthOf } from "../../../../src/mcp/canonical.ts"
import { fingerprintOf } from "../../../../src/sources/mcp/pins.ts"
import { sha256Hex } from "../../../../src/internal/sha256.ts"

describe("sha256Hex", () => {
  test("is what the platform says", () => {
    const expected = (text: string) => createHash("sha256").update(text, "utf8").digest("hex")
    for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 100_000]) {
      const text = "é".repeat(length / 2) + "x".repeat(length % 2)
      expect(sha256Hex(text)).toBe(expected(text))
    }
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(sha256Hex(text)).toBe(expected(text))
      }),
    )
  })
})

describe("canonicalJson", () => {
  test("is the same whatever the order of keys, and means the same", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(reversed(value))).toBe(text)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test("tells a key named __proto__ from its absence", () => {
    const odd: unknown = JSON.parse('{"__proto__":{"a":1},"b":2}')

    expect(canonicalJson(odd)).toBe('{"__proto__":{"a":1},"b":2}')
    expect(canonicalJson({ b: 2 })).toBe('{"b":2}')
  })

  test("neither cycles nor depth make it fail", () => {
    const cyclic: unknown[] = []
    cyclic.push(cyclic, 1n, undefined, Number.NaN)
    let deep: unknown = 1
    for (let i = 0; i < 5000; i++) deep = [deep]

    expect(canonicalJson(cyclic)).toBe('["[circular]","[bigint 1]","[undefined]","[NaN]"]')
    expect(canonicalJson(deep)).toContain("[too deep]")
    expect(depthOf(deep, 500)).toBe(501)
    expect(depthOf(cyclic, 500)).toBe(1)
  })
})

describe("fingerprintOf", () => {
  const tool = { name: "a", description: "d", inputSchema: { type: "object", properties: {} } }

  test("changes with everything that a model sees", () => {
    const variants = [
      tool,
      { ...tool, name: "b" },
      { ...tool, title: "" },
      { ...tool, description: "d " },
      { ...tool, inputSchema: { type: "object", properties: { x: {} } } },
      { ...tool, outputSchema: {} },
      { ...tool, annotations: { readOnlyHint: true } },
      { ...tool, annotations: { readOnlyHint: false } },
    ].map(fingerprintOf)

    expect(new Set(variants).size).toBe(variants.length)
  })

  test("does not change with the order of keys, or with what a model does not see", () => {
    const { name, description, inputSchema } = tool

    expect(fingerprintOf({ inputSchema, description, name })).toBe(fingerprintOf(tool))
    expect(fingerprintOf({ ...tool, _meta: { a: 1 }, icons: [] })).toBe(fingerprintOf(tool))
    expect(fingerprintOf(tool)).toMatch(/^[0-9a-f]{64}$/)
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  )
}
