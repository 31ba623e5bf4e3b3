// Any JSON value, as the input, the result and the items of calls over every way in.
import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { provideBrokers } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const WAYS = Object.keys(WAYS_IN).filter(
  (way) => !["NATS", "Redis"].includes(way) || way in BROKERS,
)

const Value = Type.Object({ value: Type.Unknown() })
const Entries = Type.Object({ value: Type.Record(Type.String(), Type.Unknown()) })
const operations = [
  operation("any.value", { inputSchema: Value, outputSchema: Value, handler: (input) => input }),
  operation("any.entries", {
    inputSchema: Entries,
    outputSchema: Entries,
    handler: (input) => input,
  }),
  operation("any.items", {
    type: "subscription",
    inputSchema: Type.Object({ value: Type.Array(Type.Unknown()) }),
    outputSchema: Type.Unknown(),
    async *handler({ value }: { value: unknown[] }) {
      yield* value
    },
  }),
]

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("__proto__", "constructor", "toJSON", "then", "$ref", "", "\r\n", "\u2028"),
  fc.constantFrom("data:", "\0", "\ud800", "https://example.test/"),
)
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 1e21, 1e-7, 2 ** 53 + 2),
)
const { value: any } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    text,
    number,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
}))

describe.each(WAYS)("over %s", (way) => {
  test("any value arrives as JSON has it", async () => {
    await using broker = await BROKERS[way]?.()
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    await using surface = await openSurface(way, terms)
    const { stream } = surface
    const arrives = fc.asyncProperty(any, text, async (one, key) => {
      const { value } = JSON.parse(JSON.stringify({ value: one })) as { value: unknown }
      const input = { value }
      expect(await surface.call("any.value", { input })).toMatchObject({ data: input })
      const entries = { value: Object.fromEntries([[key, value]]) }
      const { data } = await surface.call("any.entries", { input: entries })
      expect(JSON.stringify(data)).toBe(JSON.stringify(entries))
      if (stream === undefined) return
      const list = { value: [value, null, value] }
      const { data: whole, items } = await stream("any.items", { input: list })
      // A tool returns all items at once.
      const got = (whole as { items?: unknown } | undefined)?.items ?? items
      expect(JSON.stringify(got)).toBe(JSON.stringify(list.value))
    })
    await fc.assert(arrives, { numRuns: 25 })
  })
})
