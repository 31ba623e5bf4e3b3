import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { OperationSlots } from "../../src/protocol/server/operation-slots.ts"
import type { WaitingCall } from "../../src/protocol/server/account.ts"

class Time {
  at = 0
  now(): number {
    return this.at
  }
}

/** Slots, and the operations whose calls run, in the order in which they started. */
function slotsOf(most: number, mostQueued = 1000) {
  const time = new Time()
  const slots = new OperationSlots(most, mostQueued, time)
  const running: string[] = []
  const waiting: WaitingCall[] = []
  const call = (operationId: string): "runs" | "waits" | "refused" => {
    if (slots.tryEnter(operationId)) {
      running.push(operationId)
      return "runs"
    }
    const waits: WaitingCall = {
      operationId,
      start() {
        waiting.splice(waiting.indexOf(waits), 1)
        running.push(operationId)
        return true
      },
    }
    if (!slots.enqueue(waits)) return "refused"
    waiting.push(waits)
    return "waits"
  }
  const calls = (operationId: string, count: number): string[] =>
    Array.from({ length: count }, () => call(operationId))
  const end = (operationId: string): void => {
    running.splice(running.indexOf(operationId), 1)
    slots.leave(operationId)
  }
  const count = (operationId: string): number => running.filter((id) => id === operationId).length
  return { time, slots, running, waiting, call, calls, end, count }
}

describe("the slots of a server", () => {
  test("are all there for an operation that is called alone", () => {
    const { calls, call, count } = slotsOf(10, 2)
    expect(calls("demo.hot", 10).every((what) => what === "runs")).toBe(true)
    expect(calls("demo.hot", 3)).toEqual(["waits", "waits", "refused"])
    expect(count("demo.hot")).toBe(10)
    expect(call("services.list")).toBe("refused")
  })

  test("are left free by an operation that hangs, for others that are in use", () => {
    const { call, calls, end, count } = slotsOf(100)
    call("demo.other")
    end("demo.other")
    calls("demo.hangs", 500)
    expect(count("demo.hangs")).toBe(75)
    for (let at = 0; at < 1000; at++) {
      expect(call("demo.other")).toBe("runs")
      end("demo.other")
    }
  })

  test("are left free by several operations that hang", () => {
    const { call, calls, end, count } = slotsOf(100)
    for (const id of ["demo.a", "demo.b", "demo.c"]) {
      call(id)
      end(id)
    }
    for (let at = 0; at < 500; at++) calls(at % 2 === 0 ? "demo.a" : "demo.b", 1)
    expect(count("demo.a") + count("demo.b")).toBeLessThan(100)
    expect(call("demo.c")).toBe("runs")
  })

  test("are all there again a minute after the last call of another operation", () => {
    const { time, call, calls, end, count } = slotsOf(8)
    call("demo.other")
    end("demo.other")
    calls("demo.hot", 8)
    expect(count("demo.hot")).toBe(6)
    time.at = 60_000
    calls("demo.hot", 2)
    expect(count("demo.hot")).toBe(8)
  })

  test("go to each operation in turn", () => {
    const { call, calls, end, running } = slotsOf(1)
    call("demo.first")
    calls("demo.a", 3)
    calls("demo.b", 2)
    call("demo.c")
    const order: string[] = []
    for (let at = 0; at < 7; at++) {
      order.push(running[0] as string)
      end(running[0] as string)
    }
    expect(order.map((id) => id.slice(5)).join(" ")).toBe("first a b c a b a")
  })

  test("a queue that one operation has filled has room for others", () => {
    const { calls } = slotsOf(1, 100)
    calls("demo.hot", 1)
    expect(calls("demo.hot", 101).filter((what) => what === "waits")).toHaveLength(100)
    expect(calls("demo.b", 100).filter((what) => what === "waits")).toHaveLength(13)
    expect(calls("demo.c", 100).filter((what) => what === "waits")).toHaveLength(6)
    expect(calls("demo.hot", 1)).toEqual(["refused"])
  })

  test("many calls that end as soon as they start do not use up the stack", () => {
    const time = new Time()
    const slots = new OperationSlots(1, 20_000, time)
    let started = 0
    const waits = (): WaitingCall => ({
      operationId: "demo.short",
      start() {
        started++
        slots.leave("demo.short")
        return true
      },
    })
    slots.tryEnter("demo.short")
    for (let at = 0; at < 20_000; at++) slots.enqueue(waits())
    slots.leave("demo.short")
    expect(started).toBe(20_000)
    expect(slots.tryEnter("demo.short")).toBe(true)
  })

  test("are never overdrawn, and never idle while a call waits that may run", () => {
    const step = fc.record({
      operation: fc.constantFrom("demo.a", "demo.b", "demo.c"),
      what: fc.constantFrom("call", "call", "end", "leave", "wait"),
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 12 }),
        fc.array(step, { maxLength: 200 }),
        (most, mostQueued, steps) => {
          const { time, slots, running, waiting, call, end } = slotsOf(most, mostQueued)
          for (const { operation, what } of steps) {
            if (what === "call") call(operation)
            else if (what === "wait") time.at += 30_000
            else if (what === "end" && running.includes(operation)) end(operation)
            else if (what === "leave") {
              const at = waiting.findIndex(({ operationId }) => operationId === operation)
              const [left] = at < 0 ? [] : waiting.splice(at, 1)
              if (left !== undefined) slots.dequeue(left)
            }
            expect(running.length).toBeLessThanOrEqual(most)
            expect(waiting.length).toBeLessThanOrEqual(mostQueued * 1.25)
          }
          while (running.length > 0) end(running[0] as string)
          expect(waiting).toEqual([])
          for (const id of Array.from({ length: most }, () => "demo.new")) call(id)
          expect(running.length).toBeGreaterThan(0)
        },
      ),
    )
  })
})
