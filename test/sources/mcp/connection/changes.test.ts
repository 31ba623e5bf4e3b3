// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { systemClock } from "../../../../src/internal/clock.ts"
import { Changes, listenForChanges } from "../../../../src/sources/mcp/client/changes.ts"
import type { Session } from "../../../../src/sources/mcp/client/session.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("notices that lists have changed", () => {
  test("that come together are reported once for each kind", () => {
    const notified: string[] = []
    const changes = new Changes(systemClock, (kind) => notified.push(kind))

    changes.notified("notifications/tools/list_changed")
    changes.notified("notifications/tools/list_changed")
    changes.notified("notifications/resources/list_changed")
    changes.notified("notifications/message")
    changes.notified("toString")
    expect(notified).toEqual([])
    vi.advanceTimersByTime(50)
    changes.notified("notifications/prompts/list_changed")
    vi.advanceTimersByTime(50)

    expect(notified).toEqual(["tools", "resources", "resourceTemplates", "prompts"])
  })

  test("are not reported after the end", () => {
    const tell = vi.fn()
    const changes = new Changes(systemClock, tell)
    changes.notified("notifications/tools/list_changed")

    changes.close()
    changes.close()
    vi.advanceTimersByTime(1000)

    expect(tell).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe("a stream of notices", () => {
  interface Parts {
    readonly era?: string
    readonly capabilities?: unknown
    readonly listen?: () => Promise<{ readonly closed: Promise<string> }>
  }

  function listening({ era = "modern", capabilities, listen }: Parts) {
    const missed: string[] = []
    const listens = vi.fn(listen ?? (async () => ({ closed: Promise.resolve("local") })))
    const session = {
      peer: { era, capabilities: capabilities ?? { tools: { listChanged: true } } },
      isLost: false,
      client: { listen: listens },
    }
    let isOver = false
    const done = listenForChanges(session as unknown as Session, systemClock, (method) =>
      missed.push(method),
    ).then(() => (isOver = true))
    return { session, listens, missed, done, isOver: () => isOver }
  }

  test("is asked for where a modern server has something to tell", async () => {
    const all = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} }
    const one = listening({ capabilities: all })
    await one.done

    expect(one.listens).toHaveBeenCalledExactlyOnceWith(
      { toolsListChanged: true, promptsListChanged: true },
      { timeout: 30_000 },
    )
  })

  test.each<[string, Parts]>([
    ["a legacy server", { era: "legacy" }],
    ["one that tells nothing", { capabilities: { tools: {}, prompts: true } }],
  ])("is not asked of %s", async (_, parts) => {
    const one = listening(parts)
    await one.done
    expect(one.listens).not.toHaveBeenCalled()
  })

  test("is opened again after it broke, and then a change may have been missed", async () => {
    const ends = ["remote", "remote", "local"]
    const one = listening({ listen: async () => ({ closed: Promise.resolve(ends.shift() ?? "") }) })

    await vi.advanceTimersByTimeAsync(999)
    expect(one.listens).toHaveBeenCalledTimes(1)
    expect(one.missed).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    // It worked in between, so the pause is the first one again.
    await vi.advanceTimersByTimeAsync(1000)

    expect(one.isOver()).toBe(true)
    expect(one.listens).toHaveBeenCalledTimes(3)
    expect(one.missed).toEqual(Array(2).fill("notifications/tools/list_changed"))
  })

  test("is tried ever more rarely, at least once a minute", async () => {
    const one = listening({ listen: () => Promise.reject(new Error("busy")) })

    await vi.advanceTimersByTimeAsync(1000 + 2000 + 4000)
    expect(one.listens).toHaveBeenCalledTimes(4)
    await vi.advanceTimersByTimeAsync(8000 + 16_000 + 32_000 + 60_000)
    expect(one.listens).toHaveBeenCalledTimes(8)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(one.listens).toHaveBeenCalledTimes(9)
    expect(one.isOver()).toBe(false)
  })

  test("is not asked for again of a server that does not know it", async () => {
    const unknown = Object.assign(new Error("no such method"), { code: -32601 })
    const one = listening({ listen: () => Promise.reject(unknown) })
    await one.done
    expect(one.listens).toHaveBeenCalledOnce()
  })

  test("ends with its session, at once or after a pause", async () => {
    let end = (_why: string): void => undefined
    const closed = new Promise<string>((resolve) => (end = resolve))
    const lostAtOnce = listening({ listen: async () => ({ closed }) })
    lostAtOnce.session.isLost = true
    end("remote")
    await lostAtOnce.done
    const lostLater = listening({ listen: () => Promise.reject(new Error("busy")) })
    await vi.advanceTimersByTimeAsync(500)
    lostLater.session.isLost = true
    await vi.advanceTimersByTimeAsync(500)

    expect(lostLater.isOver()).toBe(true)
    expect(lostLater.listens).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })
})
