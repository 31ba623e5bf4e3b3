import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canonicalJson } from "../../../src/mcp/canonical.ts"
import { StateSeal } from "../../../src/serve/mcp/request-state.ts"

const KEY = "0123456789abcdef0123456789abcdef"

describe("a sealed state", () => {
  test("opens for whom and what it was sealed, and for nothing else", async () => {
    const seal = new StateSeal(KEY, 1000)
    const binding = fc.record({ principal: fc.string(), tool: fc.string(), input: fc.jsonValue() })
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), binding, binding, async (payload, ours, theirs) => {
        const state = await seal.seal(payload, ours)
        expect(await seal.open(state, ours)).toEqual(JSON.parse(JSON.stringify(payload)))
        fc.pre(canonicalJson(ours) !== canonicalJson(theirs))
        expect(await seal.open(state, theirs)).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })

  test("does not open when any character of it is another", async () => {
    const seal = new StateSeal(KEY, 1000)
    const binding = { principal: "ada", tool: "t", input: {} }
    const state = await seal.seal({ a: 1 }, binding)
    for (let at = 0; at < state.length; at++) {
      const other = state[at] === "A" ? "B" : "A"
      const changed = `${state.slice(0, at)}${other}${state.slice(at + 1)}`
      expect(await seal.open(changed, binding)).toBeUndefined()
    }
    for (const garbage of [
      "",
      ".",
      "v1.",
      "v1..",
      "v1.a.b",
      `${state}=`,
      ` ${state}`,
      `${state} `,
    ]) {
      expect(await seal.open(garbage, binding)).toBeUndefined()
    }
  })

  test("expires", async () => {
    let now = 0
    const seal = new StateSeal(KEY, 1000, () => now)
    const binding = { principal: "", tool: "t", input: {} }
    const state = await seal.seal("x", binding)
    now = 1000
    expect(await seal.open(state, binding)).toBe("x")
    now = 1001
    expect(await seal.open(state, binding)).toBeUndefined()
  })

  test("cares for what the input says, not for the order in which", async () => {
    const seal = new StateSeal(KEY, 1000)
    const state = await seal.seal("x", {
      principal: "",
      tool: "t",
      input: { a: 1, b: [{ c: 2, d: 3 }] },
    })
    const input = { b: [{ d: 3, c: 2 }], a: 1 }
    expect(await seal.open(state, { principal: "", tool: "t", input })).toBe("x")
  })
})
