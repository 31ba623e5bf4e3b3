import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import type { WatchItem } from "../../../console/src/api/model.ts"
import type { WatchAction } from "../../../console/src/watch/model.ts"
import { startRun } from "../../../console/src/watch/run.ts"
import type { Run } from "../../../console/src/watch/run.ts"

interface Started {
  readonly run: Run
  readonly actions: WatchAction[]
  readonly signal: AbortSignal
  readonly give: (count: number) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
}

/** A stream whose items, end and failure come when the test says so. */
function start(): Started {
  const actions: WatchAction[] = []
  let [resolve, reject] = [() => {}, (_: unknown) => {}]
  const promise = new Promise<void>((...settle) => ([resolve, reject] = settle))
  let seen: { signal: AbortSignal; onItem: (item: WatchItem) => void } | undefined
  const run = startRun({
    hub: {
      watch: async (_id, _input, options) => {
        seen = { signal: options.signal, onItem: (item) => options.onItem(item) }
        await promise
      },
    },
    id: "a.b",
    input: {},
    dispatch: (action) => void actions.push(action),
    now: Date.now,
  })
  if (seen === undefined) throw new Error("The stream was not opened.")
  const { signal, onItem } = seen
  const give = (count: number): void => {
    for (let index = 0; index < count; index++) {
      const meta = { source: "local", operationId: "a.b", timestamp: 0 } as const
      onItem({ at: Date.now(), envelope: { data: index, meta } })
    }
  }
  return { run, actions, signal, give, end: resolve, fail: reject }
}

function namesOf(actions: readonly WatchAction[]): string[] {
  return actions.map((action) =>
    action.type === "items" ? `items ${action.items.length}` : action.type,
  )
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("startRun", () => {
  test("dispatches items in batches, and the end after them", async () => {
    const { actions, give, end } = start()
    give(3)
    expect(namesOf(actions)).toEqual(["start"])
    await vi.advanceTimersByTimeAsync(200)
    give(2)
    end()
    await vi.advanceTimersByTimeAsync(0)

    expect(namesOf(actions)).toEqual(["start", "items 3", "items 2", "end"])
    expect(vi.getTimerCount()).toBe(0)
  })

  test("does not gather without bounds while timers are late", () => {
    const { actions, give, run } = start()
    give(5000)

    const itemActions = namesOf(actions).filter((name) => name.startsWith("items"))
    expect(itemActions.length).toBeGreaterThanOrEqual(10)
    run.stop()
  })

  test("stopping aborts, shows what came, and takes nothing more", async () => {
    const { run, actions, signal, give, fail } = start()
    give(2)
    run.stop()
    run.stop()
    give(5)
    fail(new DOMException("aborted", "AbortError"))
    await vi.runAllTimersAsync()

    expect(signal.aborted).toBe(true)
    expect(namesOf(actions)).toEqual(["start", "items 2", "stop"])
    expect(vi.getTimerCount()).toBe(0)
  })

  test("a failure is dispatched with its error, whatever was thrown", async () => {
    const { actions, fail } = start()
    fail("gone")
    await vi.runAllTimersAsync()

    expect(actions.at(-1)).toMatchObject({ type: "fail", error: new Error("gone") })
  })
})
