import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { decodeCallEvent, encodeCallEvent } from "../../src/core/event-codec.ts"
import { CallEventMap, CallEventSchema } from "../../src/core/events.ts"
import { isCallEvent } from "../../src/core/is-event.ts"
import type { CallEvent } from "../../src/core/events.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import { anyKey, events, json, mutate, mutation, parsed } from "../protocol/arbitrary-events.ts"
import type { Json } from "../protocol/arbitrary-events.ts"
import { runs } from "../support/nightly.ts"

const schema = compileSchema(CallEventSchema)

describe("isCallEvent", () => {
  test("takes every event that is one", () => {
    fc.assert(
      fc.property(events(json).map(parsed), (event) => {
        expect(isCallEvent(event)).toBe(schema.check(event))
      }),
      { numRuns: runs(400) },
    )
  })

  test("agrees with CallEventSchema on any JSON value", () => {
    fc.assert(
      fc.property(json.map(parsed), (value) => {
        expect(isCallEvent(value)).toBe(schema.check(value))
      }),
      { numRuns: runs(200) },
    )
  })

  test("agrees with CallEventSchema on corrupted events", () => {
    fc.assert(
      fc.property(
        events(json),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        (event, changes) => {
          const value = parsed(changes.reduce<unknown>(mutate, event))
          expect(isCallEvent(value)).toBe(schema.check(value))
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  test.each([
    ["a null", null],
    ["a text", "call.aborted"],
    ["a list", [{ type: "call.aborted", requestId: "r" }]],
    ["no type", { requestId: "r" }],
    ["an unknown type", { type: "call.forgotten", requestId: "r" }],
    ["a type of Object.prototype", { type: "constructor", requestId: "r" }],
    ["an empty id", { type: "call.aborted", requestId: "" }],
    ["an id of 257 characters", { type: "call.aborted", requestId: "x".repeat(257) }],
    ["a credit of nothing", { type: "call.credit", requestId: "r", credit: 0 }],
    ["half a credit", { type: "call.credit", requestId: "r", credit: 1.5 }],
    ["a raw result", { type: "call.responded", requestId: "r", output: { text: "hi" } }],
    ["a negative number", { type: "call.completed", requestId: "r", seq: -1 }],
    ["an error without a code", { type: "call.error", requestId: "r", code: "", message: "" }],
  ])("refuses %s", (_name, value) => {
    expect(isCallEvent(value)).toBe(false)
    expect(schema.check(value)).toBe(false)
  })

  test("counts the characters of an id, not its code units", () => {
    const event = { type: "call.aborted", requestId: "😀".repeat(256) }
    expect(isCallEvent(event)).toBe(true)
    expect(schema.check(event)).toBe(true)
  })

  test("takes an endless deadline in memory, and no NaN", () => {
    const event = { type: "call.requested", requestId: "r", operationId: "demo.greet" }
    expect(isCallEvent({ ...event, deadline: Number.POSITIVE_INFINITY })).toBe(true)
    expect(isCallEvent({ ...event, deadline: Number.NaN })).toBe(false)
  })

  test("does not throw at what throws when it is looked at", () => {
    const trap = new Proxy({}, { get: () => expect.fail("not to be seen") })
    expect(() =>
      isCallEvent({ type: "call.responded", requestId: "r", output: trap }),
    ).not.toThrow()
  })

  test("has one schema for each type of event", () => {
    for (const [type, one] of Object.entries(CallEventMap)) {
      const check = compileSchema(one)
      fc.assert(
        fc.property(events(json).map(parsed), (event) => {
          const isOfThis = (event as CallEvent).type === type
          expect(check.check(event)).toBe(isOfThis && schema.check(event))
        }),
        { numRuns: 200 },
      )
    }
  })
})

describe("the text of an event", () => {
  const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => new Uint8Array(value))
  const data = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      json.map(parsed),
      bytes,
      bytes.map((value) => value.buffer),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(anyKey, tie("value")), { maxLength: 3 }).map((entries) => {
        return Object.fromEntries(entries)
      }),
    ),
  })).value

  test("is decoded to the same event, with bytes, odd keys and lone surrogates", () => {
    fc.assert(
      fc.property(events(data), (event) => {
        // What JSON has no word for, as `-0`, is not what this is about.
        const { type, output, input, ...rest } = event
        const sent = {
          type,
          ...(parsed(rest) as object),
          ...(input === undefined ? {} : { input }),
        }
        const whole = (
          output === undefined ? sent : { ...sent, output: settled(output) }
        ) as CallEvent
        const text = encodeCallEvent(whole)
        // Node's comparison: `toStrictEqual` reads `constructor`, which is one of our keys.
        expect(isDeepStrictEqual(decodeCallEvent(JSON.parse(text)), whole)).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })

  test("brings a void result back as void", () => {
    const event: CallEvent = {
      type: "call.responded",
      requestId: "r",
      output: {
        data: undefined,
        meta: { source: "local", operationId: "demo.nothing", timestamp: 1 },
      },
    }
    const back = decodeCallEvent(JSON.parse(encodeCallEvent(event)))
    expect(isCallEvent(back)).toBe(true)
    expect(back).toStrictEqual(event)
  })

  test("brings a request without an input back without one", () => {
    const event: CallEvent = { type: "call.requested", requestId: "r", operationId: "demo.nothing" }
    expect(decodeCallEvent(JSON.parse(encodeCallEvent(event)))).toStrictEqual(event)
  })

  test("leaves the caller's data alone", () => {
    const input = { list: [new Uint8Array([1, 2]), { deep: new ArrayBuffer(3) }] }
    const before = structuredClone(input)
    encodeCallEvent({ type: "call.requested", requestId: "r", operationId: "demo.echo", input })
    expect(input).toStrictEqual(before)
  })

  test("never throws on parsed JSON, whatever its binary member", () => {
    const pointers = fc.array(
      fc.tuple(fc.oneof(anyKey, fc.constantFrom("/", "/a", "/__proto__", "~")), json),
    )
    fc.assert(
      fc.property(events(json), pointers, json, (event, entries, other) => {
        const binary = Object.fromEntries(entries)
        for (const claim of [binary, other]) {
          const { output } = event
          decodeCallEvent(parsed({ ...event, binary: claim }))
          decodeCallEvent(parsed({ ...event, output: { ...(output as object), binary: claim } }))
        }
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
      }),
      { numRuns: runs(200) },
    )
  })

  test.each([
    ["a bigint", 1n],
    [
      "a circle",
      (() => {
        const loop: Json = {}
        loop["self"] = loop
        return loop
      })(),
    ],
  ])("refuses %s and says where it stands", (_name, value) => {
    const event: CallEvent = {
      type: "call.requested",
      requestId: "r",
      operationId: "demo.echo",
      input: { here: value },
    }
    expect(() => encodeCallEvent(event)).toThrow("/here")
  })
})

/** An envelope without the `-0` in its meta. */
function settled(output: unknown): unknown {
  const { data, meta: about } = output as { data: unknown; meta: unknown }
  return { data, meta: parsed(about) }
}
