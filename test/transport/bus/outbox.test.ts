import { describe, expect, test } from "vitest"
import { frameOverhead, bytesBeyond, Outbox } from "../../../src/transport/bus/wire/frames.ts"
import { readWorkerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "./messages.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"

function outbox(maxBytes = 1000): { box: Outbox; clock: VirtualClock; sent: string[] } {
  const clock = new VirtualClock()
  const sent: string[] = []
  return {
    box: new Outbox({ address: "me", maxPayload: maxBytes }, clock, (text) => void sent.push(text)),
    clock,
    sent,
  }
}

describe("an outbox", () => {
  test("sends what came in one turn together, in order", async () => {
    const { box, clock, sent } = outbox()
    for (const text of ["1", "2", "3"]) box.add(text)
    expect(sent).toEqual([])
    await clock.advance(0)
    expect(sent).toEqual([frameText("me", ["1", "2", "3"])])
    box.add("4")
    await clock.advance(0)
    expect(sent[1]).toBe(frameText("me", ["4"]))
    expect(clock.timers).toBe(0)
  })

  test("splits what does not fit, keeps the order, and never exceeds the limit", async () => {
    const { box, clock, sent } = outbox(300)
    const texts = Array.from({ length: 50 }, (_, n) => JSON.stringify("é".repeat(n)))
    for (const text of texts) box.add(text)
    await clock.advance(0)
    const all = sent.flatMap((text) => (JSON.parse(text) as { messages: string[] }).messages)
    expect(all.map((text) => JSON.stringify(text))).toEqual(texts)
    for (const text of sent) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300)
  })

  test("puts no more messages into a frame than a peer takes", async () => {
    const { box, clock, sent } = outbox(1e9)
    const text = messageText({ type: "changed" })
    for (let count = 0; count < 25_000; count++) box.add(text)
    await clock.advance(0)
    const counts = sent.map((frame) => readWorkerFrame(frame)?.messages.length ?? 0)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(25_000)
  })

  test("flushed early it sends nothing twice, and empty it sends nothing", async () => {
    const { box, clock, sent } = outbox()
    box.flush()
    box.add("1")
    box.flush()
    box.flush()
    await clock.advance(0)
    expect(sent).toHaveLength(1)
  })

  test("what is added while it sends goes with the next frame", async () => {
    const clock = new VirtualClock()
    const sent: string[] = []
    const box: Outbox = new Outbox({ address: "me", maxPayload: 1000 }, clock, (text) => {
      sent.push(text)
      if (sent.length < 3) box.add(String(sent.length))
    })
    box.add("0")
    await clock.advance(0)
    expect(sent.map((text) => JSON.parse(text) as unknown)).toMatchObject(
      [0, 1, 2].map((message) => ({ from: "me", messages: [message] })),
    )
  })

  test("a clock without turns uses a timer of 0", async () => {
    const clock = new VirtualClock()
    const sent: string[] = []
    const plain = {
      now: () => clock.now(),
      setTimeout: (callback: () => void, delay: number) => clock.setTimeout(callback, delay),
      clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
    }
    new Outbox({ address: "me", maxPayload: 1000 }, plain, (text) => void sent.push(text)).add("1")
    await clock.advance(0)
    expect(sent).toHaveLength(1)
  })
})

describe("sizes", () => {
  test.each(["", "plain", "é", "漢字", "👍🏽", "\uD800", "a\uDC00b", "👍".repeat(1000)])(
    "of %j are counted as they leave",
    (text) => {
      const bytes = Buffer.byteLength(frameText("me", [text]))
      expect(bytesBeyond(bytes, "me", { text })).toBeUndefined()
      expect(bytesBeyond(bytes - 1, "me", { text })).toBe(bytes)
      expect(frameOverhead("me")).toBe(Buffer.byteLength(frameText("me", [])))
    },
  )
})
