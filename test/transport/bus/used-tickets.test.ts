import { describe, expect, test } from "vitest"
import { createManualClock } from "../../../src/testing.ts"
import { UsedTickets } from "../../../src/transport/bus/tickets/claims.ts"

/** A ticket of which only the time of its end matters. */
function ticketUntil(milliseconds: number): string {
  return `h.${btoa(JSON.stringify({ exp: milliseconds / 1000 }))}.s`
}

describe("used tickets", () => {
  test("are remembered until they have expired by every clock", async () => {
    const clock = createManualClock(1_000_000)
    const used = new UsedTickets(clock)
    used.add("short", ticketUntil(1_060_000))
    used.add("long", ticketUntil(5_000_000))
    used.add("unreadable", "no ticket")
    await clock.advance(359_000)
    used.add("second", ticketUntil(5_000_000))
    expect(used.has("short")).toBe(true)
    await clock.advance(2000)
    used.add("third", ticketUntil(5_000_000))
    expect(used.has("short")).toBe(false)
    expect(["long", "unreadable", "second", "third"].every((id) => used.has(id))).toBe(true)
    expect(used.has("another")).toBe(false)
  })

  test("take a bounded amount of memory: the oldest is forgotten first", () => {
    const used = new UsedTickets(createManualClock(0))
    const ticket = ticketUntil(1_000_000_000)
    for (let id = 0; id <= 100_000; id++) used.add(`r${id}`, ticket)
    expect([used.has("r0"), used.has("r1"), used.has("r100000")]).toEqual([false, true, true])
  })
})
