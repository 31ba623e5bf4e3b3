// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { describe, expect, test } from "vitest"
import { allGone, child, isRunning, running, watchdogsOf } from "./support.ts"
import { TOO_LONG } from "../../../support/patience.ts"

describe("ChildTransport.close", () => {
  test("lets a polite child go by itself", async () => {
    const observed = await running(["echo"])

    await observed.transport.close()

    expect(observed.transport.exit).toEqual({ code: 0, signal: null })
    expect(observed.closes).toBe(1)
    expect(isRunning(observed.transport.pid ?? 0)).toBe(false)
  })

  test("is the same however often it is called", async () => {
    const observed = await running(["echo"])

    await Promise.all([observed.transport.close(), observed.transport.close()])
    await observed.transport.close()

    expect(observed.closes).toBe(1)
  })

  test("ends a child that ignores the end of its input by SIGTERM", async () => {
    const observed = await running(["term"])

    await observed.transport.close()

    expect(observed.transport.exit).toEqual({ code: null, signal: "SIGTERM" })
  })

  test("ends a child that ignores everything, in less than five seconds", async () => {
    const observed = await running(["stubborn"])
    const start = performance.now()

    await observed.transport.close()

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    expect(observed.messages.map(({ method }) => method)).toEqual(["ready", "refused"])
    expect(observed.transport.exit).toEqual({ code: null, signal: "SIGKILL" })
    expect(isRunning(observed.transport.pid ?? 0)).toBe(false)
    expect(observed.closes).toBe(1)
  })

  test.each([
    ["a wrapper and a server that ignore everything", ["wrap", "stubborn"], 2],
    ["a wrapper around a wrapper", ["wrap", "wrap", "stubborn"], 3],
  ])("leaves nothing of %s", async (_, manners, count) => {
    const observed = await running(manners)
    for (let more = 1; more < count; more++) await observed.next("ready")
    const pids = observed.pids()
    const start = performance.now()

    await observed.transport.close()

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    expect(pids).toHaveLength(count)
    expect(pids.filter(isRunning)).toEqual([])
  })

  test("leaves nothing of `sh -c` with something in the background", async () => {
    const observed = child([], {
      command: "/bin/sh",
      args: [
        "-c",
        `sleep 1000 & echo '{"jsonrpc":"2.0","method":"ready","params":{"pid":'$!'}}'; cat`,
      ],
    })
    await observed.transport.start()
    await observed.next("ready")
    const pids = observed.pids()
    expect(pids.filter(isRunning)).toHaveLength(1)

    await observed.transport.close()

    expect(pids.filter(isRunning)).toEqual([])
    expect(observed.transport.exit).toEqual({ code: 0, signal: null })
  })

  test("comes of itself when a wrapper ends and leaves its server behind", async () => {
    const observed = child(["leave", "stubborn"])
    await observed.transport.start()
    await observed.closed
    await observed.transport.close()

    expect(observed.transport.exit).toEqual({ code: 0, signal: null })
    expect(observed.closes).toBe(1)
    await allGone(observed.pids())
  })

  test("does not wait for a process that left the group with the pipes in its hands", async () => {
    const observed = await running(["escape", "deaf"])
    const start = performance.now()

    await observed.closed
    await observed.transport.close()

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    expect(observed.closes).toBe(1)
  })

  test("ends a stopped child", async () => {
    const observed = await running(["echo"])
    process.kill(observed.transport.pid ?? 0, "SIGSTOP")

    await observed.transport.close()

    expect(isRunning(observed.transport.pid ?? 0)).toBe(false)
  })

  test("survives a listener that throws", async () => {
    const observed = await running(["echo"])
    observed.transport.onclose = () => {
      throw new Error("mine")
    }

    await observed.transport.close()

    expect(observed.errors.map(({ message }) => message)).toEqual(["mine"])
  })

  test("of the last child leaves no watchdog and no listener", async () => {
    const listeners = process.listenerCount("exit")
    const [first, second] = await Promise.all([running(["echo"]), running(["echo"])])
    const watchdogs = watchdogsOf(process.pid)
    expect(watchdogs).toHaveLength(1)
    expect(process.listenerCount("exit")).toBe(listeners + 1)

    await first.transport.close()
    expect(watchdogsOf(process.pid)).toEqual(watchdogs)
    await second.transport.close()

    await allGone(watchdogs)
    expect(process.listenerCount("exit")).toBe(listeners)
  })
})
