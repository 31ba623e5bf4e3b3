import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { CallEvent, CallRequestedEvent } from "../../../src/core/events.ts"
import { CallEntry } from "../../../src/transport/bus/caller/model.ts"
import { FrameBuilder, lengthOf, wholeText } from "../../../src/transport/bus/wire/frames.ts"
import type { MessageText } from "../../../src/transport/bus/wire/frames.ts"
import { Offers } from "../../../src/transport/bus/caller/worker-book.ts"
import {
  acceptedText,
  goText,
  quoted,
  resultText,
} from "../../../src/transport/bus/wire/messages.ts"
import { readCallerFrame, readWorkerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "./messages.ts"
import { events, json, parsed } from "../../protocol/arbitrary-events.ts"
import { codePoint } from "../../support/code-point.ts"

function entryOf(event: CallRequestedEvent, isSigned = false): CallEntry {
  const entry = new CallEntry(() => undefined, event, new Offers().byHash("m"), isSigned, 1000)
  entry.attempt = 1
  return entry
}

/** What a worker reads of a request. */
function readBack(message: MessageText): unknown {
  const frame = readCallerFrame(frameText("me", [wholeText(message)]))
  expect(frame?.dropped).toBe(0)
  return frame?.messages[0]
}

const ids = fc.oneof(fc.uuid(), fc.string({ minLength: 1, maxLength: 64, unit: codePoint }))
const call: CallRequestedEvent = {
  ...({
    type: "call.requested",
    requestId: "r1",
    operationId: "a.b",
    kind: "call",
    timeout: 500,
  } as const),
}

describe("requests", () => {
  test("whatever they say arrives", () => {
    const requests = events(json).filter(({ type }) => type === "call.requested")
    fc.assert(
      fc.property(requests, fc.boolean(), (event, isNow) => {
        const given = event as unknown as CallRequestedEvent
        const time = given.timeout === undefined ? {} : { timeout: Math.max(0, given.timeout) }
        const back = readBack(entryOf(given).requestText(isNow, 1000))
        expect(parsed(back)).toEqual(
          parsed({ type: "request", attempt: 1, event: { ...given, ...time }, now: isNow }),
        )
      }),
    )
  })

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["bytes", { photo: new Uint8Array([1, 2, 3]) }],
    ["a date", { at: new Date(0) }],
    ["a key of all objects", JSON.parse(`{"__proto__":{"a":1}}`) as unknown],
    ["text with quotes", `"],["g","r1"`],
  ])("an input of %s arrives as JSON has it", (_, input) => {
    const back = readBack(entryOf({ ...call, input }).requestText(false, 1000))
    const { event } = back as { event: CallRequestedEvent }
    const isBytes = input !== null && typeof input === "object" && "photo" in input
    // Bytes come back as they were.
    const expected = isBytes ? { input } : (parsed({ input }) as { readonly input: unknown })
    expect(event.input).toEqual(expected.input)
    expect(event).toMatchObject({ ...call })
  })

  test("an input without a form in JSON is an error before anything leaves", () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    for (const input of [1n, { deep: 1n }, circular, () => 1]) {
      expect(() => entryOf({ ...call, input }).encode()).toThrow(/no form in JSON/)
    }
  })

  test("what is signed is not claimed besides", () => {
    const identity = { id: "ada", scopes: [] }
    const entry = entryOf({ ...call, identity }, true)
    entry.ticket = `a"b`
    const back = readBack(entry.requestText(true, 1000))
    expect(back).toMatchObject({ ticket: `a"b`, event: call })
    expect(JSON.stringify(back)).not.toContain("ada")
  })

  test("without a deadline they have none, and one that is over has no time", () => {
    const { timeout: _, ...open } = call
    expect(readBack(entryOf(open).requestText(false, 1000))).toMatchObject({ event: open })
    expect(readBack(entryOf({ ...open, input: 1 }).requestText(false, 9000))).toEqual(
      expect.objectContaining({ event: { ...open, input: 1, timeout: undefined } }),
    )
    const late = readBack(entryOf({ ...call, input: 1 }).requestText(false, 9000))
    expect(late).toMatchObject({ event: { timeout: 0 } })
  })
})

describe("results", () => {
  test("whatever they say arrives", () => {
    const results = events(json).filter(({ type, seq }) => {
      return type === "call.responded" && seq === undefined
    })
    fc.assert(
      fc.property(results, (event) => {
        const given = event as unknown as CallEvent & { type: "call.responded" }
        const short = resultText(quoted(given.requestId), given)
        const text = short === undefined ? undefined : wholeText(short)
        const { source } = given.output.meta
        expect(text !== undefined).toBe(source === "local" && given.output.data !== undefined)
        const frame = readWorkerFrame(
          frameText("me", [text ?? messageText({ type: "event", event: given })]),
        )
        expect(parsed(frame?.messages)).toEqual(parsed([{ type: "event", event: given }]))
      }),
    )
  })

  const meta = { source: "local", operationId: "a.b", timestamp: 1 } as const
  test.each([
    ["is void", { data: undefined, meta }],
    ["has bytes", { data: new Uint8Array(2), meta }],
    ["says more of itself", { data: 1, meta: { ...meta, more: 1 } }],
    ["has more beside its data", { data: 1, meta, more: 1 }],
    ["was made at no time", { data: 1, meta: { ...meta, timestamp: Number.NaN } }],
    ["is no envelope", { data: 1 }],
    ["is an item", { data: 1, meta }, 3],
  ])("one that %s is not shortened", (_, output, seq?: number) => {
    const event = { type: "call.responded", requestId: "r1", output, seq }
    expect(resultText(`"r1"`, event as never)).toBeUndefined()
  })
})

describe("a frame", () => {
  const accepted = fc
    .record({
      id: ids,
      attempt: fc.nat(3),
      key: ids,
      isIdempotent: fc.boolean(),
      runs: fc.boolean(),
    })
    .map((message) => ({ type: "accepted" as const, ...message }))
  const result = fc
    .record({ requestId: ids, operationId: fc.constantFrom("a.b", `c"d`), data: json })
    .map(({ requestId, operationId, data }) => {
      const meta = { source: "local" as const, operationId, timestamp: 5 }
      return {
        type: "event" as const,
        event: { type: "call.responded" as const, requestId, output: { data, meta } },
      }
    })
  const other = fc.constantFrom({ type: "changed" as const }, { type: "bye" as const })
  type Short = typeof accepted | typeof result | typeof other

  const textOf = (message: Short extends fc.Arbitrary<infer TMessage> ? TMessage : never) => {
    if (message.type === "accepted") return acceptedText(quoted(message.id), message)
    if (message.type !== "event") return { text: messageText(message) }
    const { event } = message
    return resultText(quoted(event.requestId), event) ?? { text: messageText(message) }
  }

  test("returns its messages in order, however similar their beginnings", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(accepted, result, other), { maxLength: 12 }), (messages) => {
        const frame = new FrameBuilder("me")
        let bytes = 1000
        for (const message of messages) {
          const { text, head } = textOf(message)
          bytes += 3 * lengthOf(text, head)
          expect(frame.fits(text, head, bytes)).toBe(true)
          frame.add(text, head)
        }
        expect(frame.count).toBe(messages.length)
        const back = readWorkerFrame(frame.take())
        expect(back).toMatchObject({ from: "me", dropped: 0 })
        expect(parsed(back?.messages)).toEqual(parsed(messages))
        expect(readWorkerFrame(frame.take())?.messages).toEqual([])
      }),
    )
  })

  test("that is said to fit does, and not one that is larger by far", () => {
    const item = fc.record({
      text: fc.string({ unit: codePoint }),
      head: fc.constantFrom(undefined, "[1", "[2"),
    })
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), fc.nat(400), (items, most) => {
        const frame = new FrameBuilder("me")
        for (const { text, head } of items) {
          if (!frame.fits(text, head, most)) continue
          frame.add(text, head)
        }
        const isEmpty = frame.count === 0
        expect(isEmpty || Buffer.byteLength(frame.take()) <= most).toBe(true)
        expect(frame.fits("x".repeat(most + 1), undefined, most)).toBe(false)
      }),
    )
  })

  test("says once what its messages have in common", () => {
    const frame = new FrameBuilder("me")
    for (const id of ["r1", "r2", "r3"]) {
      const { text, head } = goText(quoted(id), "k", 5)
      frame.add(text, head)
    }
    expect(frame.take()).toBe(frameText("me", ['["g","r1","k",5,"r2","k",5,"r3","k",5]']))
  })

  test("drops only the invalid items of a list", () => {
    const text = `{"from":"me","messages":[["a",1,0,0,"r1","k1",7,"k2","r3","k3","cut"]]}`
    expect(readWorkerFrame(text)).toMatchObject({
      dropped: 2,
      messages: [{ id: "r1" }, { id: "r3" }],
    })
  })

  test.each([
    ["a result without data", `["v","a.b","r1",1]`],
    ["a result of nothing", `["v","a.b"]`],
    ["a result without an id", `["v","a.b",null,1,{}]`],
    ["a result whose operation is a number", `["v",1,"r1",1,{}]`],
    ["a result whose time is a text", `["v","a.b","r1","1",{}]`],
    ["an accepted one without a key", `["a",1,0,0,"r1",null]`],
    ["an accepted one without an attempt", `["a",null,0,0,"r1","k"]`],
    ["an unknown list", `["x",1]`],
    ["an empty list", `[]`],
    ["a request", `["c","a.b",1,0,"r1",5,{},0]`],
  ])("drops %s of a worker", (_, message) => {
    const frame = readWorkerFrame(`{"from":"me","messages":[${message},{"type":"bye"}]}`)
    expect(frame).toMatchObject({ dropped: 1, messages: [{ type: "bye" }] })
  })
})

describe("a frame that a link damaged", () => {
  const whole = frameText("caller1", [
    messageText({ type: "go", id: "r1", key: "k1", left: 5000 }),
    messageText({ type: "nogo", id: "é€😀", key: "k2" }),
  ])

  test("is read as long as nothing has changed", () => {
    expect(readCallerFrame(whole)).toMatchObject({ messages: [{ id: "r1" }, { id: "é€😀" }] })
  })

  test("is none, whichever bit of it has changed", () => {
    const bytes = Buffer.from(whole)
    for (let at = 0; at < bytes.length * 8; at++) {
      const damaged = Buffer.from(bytes)
      damaged[at >> 3] = (damaged[at >> 3] as number) ^ (1 << (at & 7))
      expect(readCallerFrame(damaged.toString()), `bit ${at}`).toBeUndefined()
    }
  })

  test("is none, whatever was cut out of it or came twice", () => {
    for (let at = 0; at < whole.length; at++) {
      for (const size of [1, 2, 7, 40]) {
        const [before, piece, after] = [
          whole.slice(0, at),
          whole.slice(at, at + size),
          whole.slice(at + size),
        ]
        expect(readCallerFrame(before + after), `${size} at ${at}`).toBeUndefined()
        expect(readCallerFrame(before + piece + piece + after), `${size} at ${at}`).toBeUndefined()
      }
    }
  })
})
