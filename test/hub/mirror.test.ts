import { describe, expect, test } from "vitest"
import type { AnyOperation } from "../../src/core/define.ts"
import { Mirror } from "../../src/hub/sources/mirror.ts"
import { idOf } from "../../src/core/define.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

function operation(id: string, description = "Does something"): AnyOperation {
  const [namespace = "", name = ""] = id.split(".")
  return {
    namespace,
    name,
    version: "1.0.0",
    type: "query",
    description,
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    handler: () => undefined,
  }
}

function idsOf(mirror: Mirror): string[] {
  return mirror.operations.map(idOf)
}

describe("Mirror", () => {
  test("has the operations of its peer, and notifies once for all changes of one turn", async () => {
    const mirror = new Mirror("hub")
    let changes = 0
    mirror.onChange(() => changes++)

    mirror.registerAll([operation("a.b"), operation("a.c")])
    mirror.unregister("a.b")
    await Promise.resolve()
    mirror.registerAll([operation("a.c")])
    await Promise.resolve()

    expect([idsOf(mirror), changes]).toEqual([["a.c"], 1])
    expect(mirror.unregister("a.b")).toBe(false)
    expect(mirror.report()).toEqual({
      items: [{ id: "a.c", origin: "a.c", status: "kept", notes: [] }],
      warnings: [],
    })
  })
})

describe("Mirror with lingering operations", () => {
  test("keeps removed operations for a while, and for good if they return in time", async () => {
    const clock = new VirtualClock()
    const mirror = new Mirror("hub", { clock, ms: 1000 })
    mirror.registerAll([operation("a.b"), operation("a.c"), operation("a.__proto__")])

    mirror.unregister("a.b")
    mirror.unregister("a.c")
    await clock.advance(999)
    expect(idsOf(mirror)).toEqual(["a.b", "a.c", "a.__proto__"])
    mirror.registerAll([operation("a.c")])
    await clock.advance(1)

    expect(idsOf(mirror)).toEqual(["a.c", "a.__proto__"])
    await clock.advance(5000)
    expect(idsOf(mirror)).toEqual(["a.c", "a.__proto__"])
    expect(clock.timers).toBe(0)
  })

  test("removes nothing while the peer has no operations at all", async () => {
    const clock = new VirtualClock()
    const mirror = new Mirror("hub", { clock, ms: 1000 })
    expect(mirror.isAbandoned).toBe(true)
    mirror.registerAll([operation("a.b"), operation("a.c")])
    expect(mirror.isAbandoned).toBe(false)

    mirror.unregister("a.b")
    mirror.unregister("a.c")
    await clock.advance(100_000)
    expect([idsOf(mirror), mirror.isAbandoned]).toEqual([["a.b", "a.c"], true])
    mirror.registerAll([operation("a.c")])
    await clock.advance(1000)

    expect([idsOf(mirror), mirror.isAbandoned]).toEqual([["a.c"], false])
  })

  test("notifies when the peer has no operations, and when it has some again", async () => {
    const mirror = new Mirror("hub", { clock: new VirtualClock(), ms: 1000 })
    mirror.registerAll([operation("a.b")])
    await Promise.resolve()
    const changes: boolean[] = []
    mirror.onChange(() => changes.push(mirror.isAbandoned))

    mirror.unregister("a.b")
    await Promise.resolve()
    mirror.registerAll([operation("a.b")])
    await Promise.resolve()

    expect(changes).toEqual([true, false])
  })

  test("leaves no timer behind after close", () => {
    const clock = new VirtualClock()
    const mirror = new Mirror("hub", { clock, ms: 1000 })
    mirror.registerAll([operation("a.b"), operation("a.c")])
    mirror.unregister("a.b")

    mirror.close()
    mirror.unregister("a.c")

    expect(clock.timers).toBe(0)
  })
})
