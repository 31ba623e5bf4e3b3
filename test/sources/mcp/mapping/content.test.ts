import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { mapBlocks, mapMCPContentBlocks } from "../../../../src/mcp/content.ts"

const KNOWN = [
  {
    type: "text",
    text: "",
    annotations: { audience: ["user"], priority: 0 },
    _meta: { "a/b": 1 },
  },
  { type: "image", data: "AA==", mimeType: "image/png", extra: true },
  { type: "audio", data: "", mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "a:b", text: "x", blob: "AA==", _meta: {} }, _meta: {} },
  {
    type: "resource_link",
    uri: "a:b",
    name: "b",
    title: "B",
    description: "d",
    mimeType: "text/plain",
    size: 0,
    icons: [{ src: "a:c", theme: "dark" }],
    annotations: { lastModified: "2026-01-01" },
  },
]

describe("mapMCPContentBlocks", () => {
  test("keeps every field of every known block", () => {
    expect(mapMCPContentBlocks(KNOWN)).toEqual(KNOWN)
    expect(mapBlocks(KNOWN).unknown).toEqual([])
  })

  test.each([
    ["a type that nobody knows", { type: "hologram", data: [1] }],
    ["a type that every object has", { type: "toString" }],
    ["a text without text", { type: "text" }],
    ["a text that is a number", { type: "text", text: 1 }],
    ["an image without a type", { type: "image", data: "AA==" }],
    ["a resource without an address", { type: "resource", resource: {} }],
    ["a resource that is null", { type: "resource", resource: null }],
    ["a link without a name", { type: "resource_link", uri: "a:b" }],
    ["null", null],
    ["a text that is no block", "hello"],
    ["a list", [1]],
  ])("%s becomes a text with its JSON, in its place", (_, block) => {
    const { content, unknown } = mapBlocks([KNOWN[0], block, KNOWN[2]])

    expect(content).toEqual([KNOWN[0], { type: "text", text: JSON.stringify(block) }, KNOWN[2]])
    expect(unknown).toEqual([block])
  })

  test("what JSON cannot say does not lose the rest", () => {
    const cyclic: Record<string, unknown> = { type: "odd", big: 1n }
    cyclic["self"] = cyclic

    const [first, second] = mapMCPContentBlocks([cyclic, KNOWN[0]])

    expect(first).toMatchObject({ type: "text", text: expect.stringContaining("[circular]") })
    expect(second).toBe(KNOWN[0])
  })

  test("no content is no blocks, and a block without its list is one", () => {
    expect(mapMCPContentBlocks(undefined)).toEqual([])
    expect(mapMCPContentBlocks(null)).toEqual([])
    expect(mapMCPContentBlocks(KNOWN[1])).toEqual([KNOWN[1]])
  })

  test("gives one block for each that came, whatever came", () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), (blocks) => {
        const { content, unknown } = mapBlocks(blocks)
        expect(content).toHaveLength(blocks.length)
        expect(unknown.length).toBeLessThanOrEqual(blocks.length)
      }),
    )
  })
})
