import { describe, expect, test } from "vitest"
import type { WatchItem } from "../../../console/src/api/model.ts"
import {
  IDLE,
  MAX_ITEMS,
  MAX_WEIGHT,
  isMatch,
  reduceWatch,
} from "../../../console/src/watch/model.ts"
import type { WatchAction, WatchState } from "../../../console/src/watch/model.ts"

function item(data: unknown, at = 1000): WatchItem {
  return {
    at,
    envelope: { data, meta: { source: "local", operationId: "a.b", timestamp: at } },
  }
}

function items(count: number, from = 0): WatchAction {
  return { type: "items", items: Array.from({ length: count }, (_, index) => item(from + index)) }
}

function after(...actions: readonly WatchAction[]): WatchState {
  return actions.reduce(reduceWatch, IDLE)
}

const START: WatchAction = { type: "start", at: 1000 }

function dataOf({ shown }: WatchState): unknown[] {
  return shown.map(({ envelope }) => envelope.data)
}

describe("items of a watched stream", () => {
  test("are kept in their order and numbered from 1", () => {
    const state = after(START, items(2), items(1, 2))

    expect(dataOf(state)).toEqual([0, 1, 2])
    expect(state.shown.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(state).toMatchObject({ received: 3, dropped: 0, phase: "running" })
  })

  test("past a thousand push the oldest out, which are counted", () => {
    const state = after(START, items(MAX_ITEMS), items(5, MAX_ITEMS), items(4000, 2000))

    expect(state.shown).toHaveLength(MAX_ITEMS)
    expect(state.shown.at(-1)?.seq).toBe(MAX_ITEMS + 4005)
    expect(state).toMatchObject({ received: MAX_ITEMS + 4005, dropped: 4005 })
  })

  test("that are very large push others out sooner, and one is kept however large it is", () => {
    const large = "x".repeat(MAX_WEIGHT * 0.4)
    const action: WatchAction = {
      type: "items",
      items: [large, large, large].map((it) => item(it)),
    }

    expect(after(START, action)).toMatchObject({ received: 3, dropped: 1 })
    const huge = item("x".repeat(MAX_WEIGHT + 10))
    const state = after(START, action, { type: "items", items: [huge] })
    expect(state.shown).toHaveLength(1)
    expect(state.dropped).toBe(3)
  })

  test("that are empty batches change nothing", () => {
    const state = after(START)

    expect(reduceWatch(state, { type: "items", items: [] })).toBe(state)
  })

  test("without data, and with __proto__ as a key, are items like others", () => {
    const hostile: unknown = JSON.parse('{"__proto__": {"polluted": 1}}')
    const state = after(START, { type: "items", items: [item(undefined), item(hostile)] })

    expect(state.shown).toHaveLength(2)
    expect({}).not.toHaveProperty("polluted")
  })
})

describe("pausing a watched stream", () => {
  test("keeps the list as it is, and counts what comes", () => {
    const state = after(START, items(2), { type: "pause" }, items(3, 2))

    expect(dataOf(state)).toEqual([0, 1])
    expect(state).toMatchObject({ received: 5, waitingCount: 3, isPaused: true })
  })

  test("ends with what came in the list", () => {
    const state = after(START, items(2), { type: "pause" }, items(3, 2), { type: "resume" })

    expect(dataOf(state)).toEqual([0, 1, 2, 3, 4])
    expect(state).toMatchObject({ waitingCount: 0, isPaused: false, waiting: [] })
  })

  test("is bounded too: all that waited are counted, the last are kept", () => {
    const paused = after(START, items(10), { type: "pause" }, items(2500, 10))

    expect(paused).toMatchObject({ waitingCount: 2500, dropped: 1500 })
    expect(paused.waiting).toHaveLength(MAX_ITEMS)
    const state = reduceWatch(paused, { type: "resume" })
    expect(state.shown).toHaveLength(MAX_ITEMS)
    expect(state.dropped).toBe(1510)
    expect(state.received - state.dropped).toBe(state.shown.length)
  })

  test("stays when the stream ends meanwhile", () => {
    const state = after(START, { type: "pause" }, items(1), { type: "end", at: 2000 })

    expect(state).toMatchObject({ phase: "ended", isPaused: true, waitingCount: 1 })
    expect(dataOf(reduceWatch(state, { type: "resume" }))).toEqual([0])
  })
})

describe("the end of a watched stream", () => {
  test("is the first one that is dispatched", () => {
    const error = new Error("late")
    const state = after(
      START,
      { type: "stop", at: 2000 },
      { type: "fail", at: 3000, error },
      { type: "end", at: 4000 },
    )

    expect(state).toMatchObject({ phase: "stopped", endedAt: 2000, error: undefined })
  })

  test("with an error keeps what came before it", () => {
    const error = new Error("gone")
    const state = after(START, items(2), { type: "fail", at: 3000, error })

    expect(state).toMatchObject({ phase: "failed", error })
    expect(state.shown).toHaveLength(2)
  })

  test("is forgotten when it starts again", () => {
    const state = after(START, items(2), { type: "pause" }, { type: "end", at: 2000 }, START)

    expect(state).toEqual(after(START))
  })

  test("is ignored before a start", () => {
    expect(after({ type: "stop", at: 1 })).toBe(IDLE)
  })
})

describe("clearing a watched stream", () => {
  test("empties the list, and goes on counting", () => {
    const state = after(START, items(3), { type: "clear" }, items(2, 3))

    expect(state.shown.map(({ seq }) => seq)).toEqual([4, 5])
    expect(state).toMatchObject({ received: 5, dropped: 3 })
  })
})

describe("isMatch", () => {
  const [entry] = after(START, {
    type: "items",
    items: [item({ city: "Zürich", at: { lat: 47.4 } })],
  }).shown

  test.each(["", "  ", "zürich", "CITY", "47.4"])("finds %j", (text) => {
    expect(entry && isMatch(entry, text)).toBe(true)
  })

  test("does not match other texts", () => {
    expect(entry && isMatch(entry, "Bern")).toBe(false)
  })
})
