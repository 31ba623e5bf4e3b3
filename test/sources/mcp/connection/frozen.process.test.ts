// A process that runs but does not answer: stopped, or busy for longer than a call may take.
import { describe, expect, test } from "vitest"
import { VirtualClock } from "../../../support/virtual-clock.ts"
import { waitFor } from "../../../support/wait-for.ts"
import { awkward } from "../support/awkward.ts"
import { failure, isAlive, open, textOf } from "./support.ts"
import type { TestConnection } from "./support.ts"

/** Calls a tool that does not answer within a second of virtual time. */
async function timeOut(server: TestConnection, clock: VirtualClock, tool: string): Promise<void> {
  const waiting = failure(server.call(tool, {}, { timeout: 1000 }))
  await clock.advance(1000)
  expect(await waiting).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true })
}

describe.each(["legacy", "modern"])("a process of the %s era", (era) => {
  test("that was stopped is ended 5 seconds after a timeout, and started again", async () => {
    const clock = new VirtualClock()
    await using server = open(awkward({ era }), { clock })
    await server.connection.connect()
    const pid = server.connection.status.pid ?? 0
    const other = failure(server.call("hang"))
    process.kill(pid, "SIGSTOP")

    await timeOut(server, clock, "echo")
    await clock.advance(4900)
    expect(server.connection.status).toMatchObject({ state: "ready", pid })
    await clock.advance(200)

    expect(server.connection.status.state).toBe("lost")
    // Calls that wait for it need not wait for their own timeouts.
    expect(await other).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: true,
      message: expect.stringContaining("did not answer a ping within 5000 ms"),
    })
    expect(textOf(await server.call("echo", { text: "back" }))).toBe("back")
    expect(server.events.map(({ type }) => type)).toEqual(["connected", "lost", "connected"])
    expect(server.connection.status.pid).not.toBe(pid)
    await waitFor(() => expect(isAlive(pid)).toBe(false))
  })

  test("that answers pings is kept after a timeout", async () => {
    const clock = new VirtualClock()
    await using server = open(awkward({ era }), { clock })
    await server.connection.connect()
    const { pid } = server.connection.status

    await timeOut(server, clock, "hang")
    // Its answer to the ping comes before this one.
    expect(textOf(await server.call("echo", { text: "here" }))).toBe("here")
    await clock.advance(10_000)

    expect(server.connection.status).toMatchObject({ state: "ready", pid, restarts: 0 })
    expect(server.events.map(({ type }) => type)).toEqual(["connected"])
  })
})
