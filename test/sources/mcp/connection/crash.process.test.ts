import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { outwardOf } from "../../../../src/core/error-marks.ts"
import { awkward } from "../support/awkward.ts"
import { failure, isAlive, open, textOf, until } from "./support.ts"
import { TOO_LONG } from "../../../support/patience.ts"

function scratch(name: string): string {
  return join(mkdtempSync(join(tmpdir(), "operations-crash-")), name)
}

describe("a process that ends", () => {
  test("fails what is under way at once, and says how it ended", async () => {
    await using server = open(awkward({ stderr: "last words; password=opensesame" }))
    await server.connection.connect()
    const waiting = failure(server.call("hang"))
    const started = Date.now()

    const error = await failure(server.call("crash", { code: 7 }))

    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: true,
      retryable: false,
      details: { exit: { code: 7, signal: null } },
    })
    expect(error.message).toContain("ended with code 7")
    expect(error.message).toContain("last words")
    expect(error.message).not.toContain("opensesame")
    expect(await waiting).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect(Date.now() - started).toBeLessThan(TOO_LONG)
    expect(server.connection.status).toMatchObject({ state: "lost", pid: undefined, restarts: 0 })
    expect(server.connection.status.stderrTail).not.toContain("opensesame")
    expect(server.events.at(-1)).toMatchObject({ type: "lost", error: { code: "UNAVAILABLE" } })
  })

  test("says what it wrote last, however much it wrote before", async () => {
    await using server = open(awkward({ stderrFlood: 60_000 }))

    const error = await failure(server.call("crash"))

    expect(error.message).toContain("boom: it fell over")
    expect(error.details).toMatchObject({
      stderrTail: expect.stringMatching(/boom: it fell over$/),
    })
    expect(server.connection.status.stderrTail).toContain("boom: it fell over")
  })

  test("names a signal", async () => {
    await using server = open(awkward())

    const error = await failure(server.call("crash", { signal: "SIGKILL" }))

    expect(error.message).toContain("SIGKILL")
  })

  test("is started again by the next call", async () => {
    await using server = open(awkward())
    await failure(server.call("crash"))

    expect(textOf(await server.call("echo", { text: "back" }))).toBe("back")
    expect(server.connection.status).toMatchObject({ state: "ready", restarts: 1 })
    expect(server.events.map(({ type }) => type)).toEqual(["connected", "lost", "connected"])
    expect(server.events.at(-1)).toEqual({ type: "connected", isAgain: true })
  })

  test("calls again what changes nothing, and nothing else", async () => {
    const pidFile = scratch("pids")
    await using server = open(awkward({ crashOnCall: true, once: scratch("once"), pidFile }))

    const result = await server.call("echo", { text: "twice" }, { isRepeatable: true })

    expect(textOf(result)).toBe("twice")
    expect(readFileSync(pidFile, "utf8").trim().split("\n")).toHaveLength(2)
    await using other = open(awkward({ crashOnCall: true, once: scratch("once") }))
    expect(await failure(other.call("echo"))).toMatchObject({ mayHaveExecuted: true })
  })

  test("is not started in a loop: later and later, then not at all until reconnect()", async () => {
    let now = Date.now()
    const clock = {
      now: () => now,
      setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms),
      clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
    }
    await using server = open(awkward({ crashAtStart: true }), { clock })
    const attempt = async () => await failure(server.connection.connect())

    expect(await attempt()).toMatchObject({ details: { exit: { code: 3 } } })
    expect(await attempt()).toMatchObject({ details: { exit: { code: 3 } } })
    const early = await failure(server.call("echo", {}, { deadline: now + 500 }))
    expect(early).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
    expect(early.retryAfterMs).toBeGreaterThan(500)
    for (const wait of [1000, 2000, 4000]) {
      now += wait
      expect(await attempt()).toMatchObject({ details: { exit: { code: 3 } } })
    }
    now += 30_000
    const refused = await attempt()
    expect(refused).toMatchObject({ code: "UNAVAILABLE", retryable: false })
    expect(refused.message).toContain("reconnect()")
    expect(refused.message).toContain("boom")
    for (const error of [early, refused]) {
      expect(outwardOf(error)?.message).toContain("ended with code 3")
      expect(JSON.stringify(outwardOf(error))).not.toContain("boom")
    }
    expect(await failure(server.connection.reconnect())).toMatchObject({
      details: { exit: { code: 3 } },
    })
  })

  test("is not started twice by calls that come together", async () => {
    const pidFile = scratch("pids")
    await using server = open(awkward({ pidFile }))
    await failure(server.call("crash"))

    await Promise.all(Array.from({ length: 10 }, (_, at) => server.call("echo", { text: `${at}` })))

    expect(readFileSync(pidFile, "utf8").trim().split("\n")).toHaveLength(2)
  })
})

describe("ending a process", () => {
  test("close leaves nothing, not even of one that will not go", async () => {
    const pidFile = scratch("pids")
    const server = open(awkward({ ignoreEof: true, ignoreTerm: true, children: true, pidFile }))
    await server.connection.connect()
    const waiting = failure(server.call("hang"))
    // What came after it has been answered, so it has arrived.
    await server.call("echo")
    const started = Date.now()

    await server.connection.close()

    expect(Date.now() - started).toBeLessThan(TOO_LONG)
    expect(await waiting).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    const pids = readFileSync(pidFile, "utf8").trim().split("\n").map(Number)
    expect(pids).toHaveLength(2)
    await until(() => !pids.some(isAlive))
    expect(server.events.map(({ type }) => type)).toEqual(["connected"])
  })

  test("reconnect gives a new one", async () => {
    await using server = open(awkward())
    await server.connection.connect()
    const { pid } = server.connection.status

    await server.connection.reconnect()

    expect(server.connection.status.pid).not.toBe(pid)
    expect(isAlive(pid ?? 0)).toBe(false)
    expect(server.events).toEqual([
      { type: "connected", isAgain: false },
      { type: "connected", isAgain: true },
    ])
  })
})
