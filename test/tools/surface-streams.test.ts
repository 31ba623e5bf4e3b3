// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import fc from "fast-check"
import { Type } from "typebox"
import type { TSchema } from "typebox"
import { afterEach, describe, expect, test, vi } from "vitest"
import { CallError, collectErrors } from "../../src/index.ts"
import type { AnyOperation } from "../../src/index.ts"
import { count, operation } from "../support/operations.ts"
import { callOf, caller, textsOf, toolOf } from "./surface-support.ts"

function stream(
  source: (input: never) => AsyncIterable<unknown>,
  parts: Partial<AnyOperation> = {},
): AnyOperation {
  return operation("s.tail", { type: "subscription", handler: source, ...parts } as never)
}

/** Gives these, then waits for ever; says when it was stopped. */
function endless(items: readonly unknown[]) {
  const state = { stopped: 0, given: 0 }
  async function* source() {
    try {
      for (const item of items) {
        state.given++
        yield item
      }
      await new Promise(() => undefined)
    } finally {
      state.stopped++
    }
  }
  return { source, state }
}

afterEach(() => {
  vi.useRealTimers()
})

describe("a subscription as a tool", () => {
  test("takes how much is wanted beside its own inputs, and gives items", () => {
    const tool = toolOf(count)
    expect(tool.inputSchema).toMatchObject({
      required: ["to"],
      properties: {
        to: { type: "number" },
        limit: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
        timeoutMs: { type: "integer", minimum: 1, maximum: 300_000, default: 10_000 },
      },
    })
    expect(tool.outputSchema).toMatchObject({
      type: "object",
      properties: { items: { type: "array", items: { properties: { at: {} } } } },
      required: ["items", "isComplete"],
    })
    expect(tool.annotations).toMatchObject({ readOnlyHint: true })
  })

  test("gives what came until the limit, and whether that was all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(20), fc.integer({ min: 1, max: 20 }), async (to, limit) => {
        const result = await callOf(count, { to, limit })
        const items = Array.from({ length: Math.min(to, limit) }, (_, index) => ({ at: index + 1 }))
        const expected = { items, isComplete: to < limit }
        expect(result.structuredContent).toEqual(expected)
        expect(JSON.parse(textsOf(result))).toEqual(expected)
        expect(collectErrors(toolOf(count).outputSchema, result.structuredContent)).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  test("stops its source at the limit and asks it for no more", async () => {
    const { source, state } = endless([1, 2, 3, 4])
    const result = await callOf(stream(source), { limit: 2 })
    expect(result.structuredContent).toEqual({ items: [1, 2], isComplete: false })
    expect(state).toEqual({ stopped: 1, given: 2 })
  })

  test("gives what came when the time is over, and leaves no timer", async () => {
    vi.useFakeTimers()
    const { source } = endless(["a", "b"])
    const running = callOf(stream(source), { timeoutMs: 50 })
    await vi.advanceTimersByTimeAsync(49)
    await vi.advanceTimersByTimeAsync(1)
    expect((await running).structuredContent).toEqual({ items: ["a", "b"], isComplete: false })
    expect(vi.getTimerCount()).toBe(0)
  })

  test("stops when its caller leaves", async () => {
    const stop = new AbortController()
    const { source, state } = endless([1])
    const progress = vi.fn(() => queueMicrotask(() => stop.abort()))
    const call = caller("modern", undefined, { signal: stop.signal, progress })
    const result = await callOf(stream(source), {}, {}, call)
    expect(result.isError).toBe(true)
    expect(textsOf(result)).toMatch(/^ABORTED: /)
    expect(state.given).toBe(1)
  })

  test("does not wait for a source that does not stop", async () => {
    vi.useFakeTimers()
    async function* source() {
      try {
        yield 1
        yield 2
      } finally {
        await new Promise(() => undefined)
      }
    }
    const running = callOf(stream(source), { limit: 1, timeoutMs: 100 })
    await vi.advanceTimersByTimeAsync(100)
    expect((await running).structuredContent).toEqual({ items: [1], isComplete: false })
  })

  test("reports progress for each item", async () => {
    const updates: unknown[] = []
    const call = caller("modern", undefined, { progress: (value) => void updates.push(value) })
    await callOf(count, { to: 2, limit: 5 }, {}, call)
    expect(updates).toEqual([
      { progress: 1, total: 5 },
      { progress: 2, total: 5 },
    ])
  })

  test("keeps inputs of its own that have the same names", async () => {
    const seen: unknown[] = []
    const one = stream(
      async function* (input: never) {
        seen.push(input)
        yield 1
        yield 2
      },
      {
        inputSchema: Type.Object({
          limit: Type.String(),
          _limit: Type.Optional(Type.String()),
          timeoutMs: Type.String(),
        }),
      },
    )
    const { properties } = toolOf(one).inputSchema as { readonly properties: object }
    expect(Object.keys(properties)).toEqual([
      "limit",
      "_limit",
      "timeoutMs",
      "__limit",
      "_timeoutMs",
    ])
    const result = await callOf(one, { limit: "own", timeoutMs: "own", __limit: 1 })
    expect(result.structuredContent).toEqual({ items: [1], isComplete: false })
    expect(seen).toEqual([{ limit: "own", timeoutMs: "own" }])
  })

  test("keeps apart an input to which nothing can be added", async () => {
    const union = { anyOf: [{ type: "object", additionalProperties: false }] } as unknown as TSchema
    for (const schema of [Type.Number(), union]) {
      const seen: unknown[] = []
      const one = stream(
        async function* (input: never) {
          seen.push(input)
          yield 1
        },
        { inputSchema: schema },
      )
      const { properties } = toolOf(one).inputSchema as { readonly properties: object }
      expect(Object.keys(properties)).toEqual(["input", "limit", "timeoutMs"])
      const input = schema === union ? {} : 7
      expect((await callOf(one, { input, limit: 3 })).structuredContent).toEqual({
        items: [1],
        isComplete: true,
      })
      expect(seen).toEqual([input])
    }
  })

  test("works without an input", async () => {
    const one = stream(
      async function* () {
        yield 1
      },
      { inputSchema: Type.Void() },
    )
    expect((await callOf(one, { limit: 9 })).structuredContent).toMatchObject({ items: [1] })
  })

  test("refuses invalid limits, and reduces those that are too large", async () => {
    const result = await callOf(count, { to: 9, limit: 0, timeoutMs: "soon" })
    expect(textsOf(result).split("\n").slice(1)).toEqual([
      "- /limit: must be a whole number, at least 1",
      "- /timeoutMs: must be a whole number, at least 1",
    ])
    const cut = await callOf(count, { to: 9, limit: 1e9 }, { maxStreamLimit: 4 })
    expect(cut.structuredContent).toMatchObject({ items: { length: 4 } })
  })

  test("says why it broke off, after what had come", async () => {
    const one = stream(async function* () {
      yield { n: 1 }
      throw new CallError("UNAVAILABLE", "Gone.")
    })
    const result = await callOf(one)
    expect(result.isError).toBe(true)
    expect(result.content).toEqual([
      { type: "text", text: "UNAVAILABLE: Gone." },
      { type: "text", text: '{"items":[{"n":1}],"isComplete":false}' },
    ])
  })

  test("refuses an input that does not fit, before anything runs", async () => {
    expect(textsOf(await callOf(count, { to: "x" }))).toContain("- /to: must be number")
  })

  test("stops before the result is too large to be sent", async () => {
    const { source, state } = endless(Array.from({ length: 100 }, () => "x".repeat(1000)))
    const result = await callOf(stream(source), {}, { maxResultBytes: 20_000 })
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toMatchObject({ isComplete: false })
    expect(state.given).toBeLessThan(10)
    const huge = await callOf(
      stream(endless(["x".repeat(50_000)]).source),
      { limit: 1 },
      { maxResultBytes: 20_000 },
    )
    expect(textsOf(huge)).toMatch(/^PAYLOAD_TOO_LARGE: .*"limit"/)
  })

  test("gives an error where an item is not what was promised", async () => {
    const one = stream(
      async function* () {
        yield "text"
      },
      { outputSchema: Type.Number() },
    )
    const result = await callOf(one)
    expect(result.isError).toBe(true)
    expect(textsOf(result)).toContain("/items/0: must be number")
  })
})
