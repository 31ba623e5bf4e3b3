import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { CallTrace } from "../../../console/src/api/model.ts"
import { toForest } from "../../../console/src/activity/call-forest.ts"
import { treeMove } from "../../../console/src/ui/tree-keys.ts"
import { EMPTY_LOG, addTraces } from "../../../console/src/activity/call-log.ts"
import { NO_FILTER, spanWithin, toRows } from "../../../console/src/activity/call-rows.ts"
import type { CallFilter, CallRow } from "../../../console/src/activity/call-rows.ts"
import { end, start } from "./traces.ts"

interface Shown {
  readonly filter?: Partial<CallFilter>
  readonly closed?: readonly string[]
}

function rowsOf(
  traces: readonly CallTrace[],
  { filter, closed = [] }: Shown = {},
): readonly CallRow[] {
  const calls = [...addTraces(EMPTY_LOG, { traces }, Infinity).calls.values()]
  const keys = calls.filter(({ requestId }) => closed.includes(requestId)).map(({ key }) => key)
  return toRows(toForest(calls), { ...NO_FILTER, ...filter }, new Set(keys))
}

/** Each row as its id, indented. */
function drawn(rows: readonly CallRow[]): string[] {
  return rows.map(({ call, level }) => " ".repeat(level) + call.requestId)
}

const FAMILY: readonly CallTrace[] = [
  start("a", { at: 1 }),
  start("b", { at: 2, parentRequestId: "a", operationId: "pets.get" }),
  end("c", { at: 3, parentRequestId: "b", outcome: "error", code: "TIMEOUT" }),
  start("d", { at: 4, parentRequestId: "a" }),
  start("e", { at: 5 }),
]

describe("the tree of calls", () => {
  test("has the newest on top, and what was called below what called it", () => {
    expect(drawn(rowsOf(FAMILY))).toEqual(["e", "a", " b", "  c", " d"])
  })

  test("is the same in whatever order traces arrive", () => {
    expect(drawn(rowsOf(FAMILY.toReversed()))).toEqual(drawn(rowsOf(FAMILY)))
  })

  test("shows a call whose parent is not known by itself, until the parent is", () => {
    const child = start("c", { at: 2, parentRequestId: "p" })

    expect(drawn(rowsOf([child]))).toEqual(["c"])
    expect(drawn(rowsOf([child, start("p", { at: 1 })]))).toEqual(["p", " c"])
  })

  test("puts a call below the last request of that id before it", () => {
    const rows = rowsOf([
      start("p", { at: 1 }),
      start("p", { at: 10 }),
      start("p", { at: 20 }),
      start("c", { at: 12, parentRequestId: "p" }),
    ])

    expect(rows.find(({ call }) => call.requestId === "c")?.root.at).toBe(10)
  })

  test("survives calls that name themselves, or each other, as parents", () => {
    const rows = rowsOf([
      start("self", { parentRequestId: "self" }),
      start("x", { parentRequestId: "y" }),
      start("y", { parentRequestId: "z" }),
      start("z", { parentRequestId: "x" }),
    ])

    expect(rows.map(({ call }) => call.requestId).toSorted()).toEqual(["self", "x", "y", "z"])
  })

  test("is deeper than the stack when calls are", () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      start(`r${index}`, { at: index, parentRequestId: `r${index - 1}` }),
    )

    expect(rowsOf(chain).at(-1)?.level).toBe(19_999)
  })

  test("has every call exactly once, whatever the ids are", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "__proto__")
    const trace = fc
      .record({ id, parentRequestId: fc.option(id, { nil: undefined }), at: fc.nat(5) })
      .map(({ id: requestId, ...more }) => start(requestId, more))
    fc.assert(
      fc.property(fc.array(trace, { maxLength: 30 }), (traces) => {
        const calls = addTraces(EMPTY_LOG, { traces }).calls
        const keys = rowsOf(traces).map(({ call }) => call.key)
        expect(keys.toSorted()).toEqual([...calls.keys()].toSorted())
      }),
    )
  })

  test("leaves out what is below a closed call", () => {
    const rows = rowsOf(FAMILY, { closed: ["b"] })

    expect(drawn(rows)).toEqual(["e", "a", " b", " d"])
    expect(rows[2]).toMatchObject({ isOpen: false, position: 1, siblings: 2 })
  })
})

describe("the filter of the call tree", () => {
  test.each([
    [{ text: "PETS" }, ["a", " b"]],
    [{ text: "timeout" }, ["a", " b", "  c"]],
    [{ state: "error" }, ["a", " b", "  c"]],
    [{ state: "running", text: "pets" }, ["a", " b"]],
    [{ text: "nothing" }, []],
    [{ text: "  " }, ["e", "a", " b", "  c", " d"]],
  ] satisfies [Partial<CallFilter>, string[]][])("%j leaves %j", (filter, ids) => {
    expect(drawn(rowsOf(FAMILY, { filter }))).toEqual(ids)
  })

  test("distinguishes matches from their parents", () => {
    const rows = rowsOf(FAMILY, { filter: { state: "error" } })

    expect(rows.map(({ isMatch }) => isMatch)).toEqual([false, false, true])
  })
})

describe("keys in the table of calls", () => {
  const rows = rowsOf(FAMILY)

  test.each([
    [0, "ArrowDown", 1],
    [4, "ArrowDown", 4],
    [0, "ArrowUp", 0],
    [0, "End", 4],
    [4, "PageUp", 0],
    [1, "ArrowLeft", "toggle"],
    [1, "ArrowRight", 2],
    [4, "ArrowLeft", 1],
    [3, "ArrowLeft", 2],
    [0, "ArrowLeft", undefined],
    [0, "ArrowRight", undefined],
    [2, "x", undefined],
  ])("at row %d, %s", (at, key, move) => {
    expect(treeMove(key, rows, at)).toBe(move)
  })

  test("open what is closed, and do nothing where there is nothing", () => {
    const closed = rowsOf(FAMILY, { closed: ["a"] })

    expect(treeMove("ArrowRight", closed, 1)).toBe("toggle")
    expect(treeMove("ArrowDown", [], 0)).toBeUndefined()
  })
})

describe("spanWithin", () => {
  test.each([
    [{ at: 0 }, 100, { start: 0, width: 1 }],
    [{ at: 50 }, 25, { start: 0.5, width: 0.25 }],
    [{ at: -10 }, 50, { start: 0, width: 0.5 }],
    [{ at: 100 }, 100, { start: 0.5, width: 0.5 }],
    [{ at: 50 }, undefined, { start: 0.5, width: 0 }],
  ])("%j that took %s", (call, duration, span) => {
    expect(spanWithin(call, duration, { at: 0, durationMs: 100 })).toEqual(span)
  })

  test("fills the line when nothing took any time", () => {
    expect(spanWithin({ at: 5 }, 0, { at: 5, durationMs: 0 })).toEqual({ start: 0, width: 1 })
  })
})
