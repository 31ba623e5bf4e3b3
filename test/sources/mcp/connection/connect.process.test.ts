import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { failure, isAlive, open, until } from "./support.ts"

function scratch(): string {
  return mkdtempSync(join(tmpdir(), "operations-connection-"))
}

describe("finding out what a process speaks", () => {
  test("takes it for a legacy one, with one start", async () => {
    const pidFile = join(scratch(), "pids")
    await using server = open(awkward({ era: "dual", pidFile }))

    const peer = await server.connection.connect()

    expect(peer).toMatchObject({ era: "legacy", protocolVersion: "2025-11-25" })
    expect(peer.serverInfo?.name).toBe("awkward")
    expect(readFileSync(pidFile, "utf8").trim().split("\n")).toHaveLength(1)
  })

  test.each(["version", "method", "params"])(
    "speaks modern when initialize is refused by %s",
    async (refusal) => {
      await using server = open(awkward({ era: "modern", refusal }))

      expect(await server.connection.connect()).toMatchObject({
        era: "modern",
        protocolVersion: "2026-07-28",
      })
      expect(await server.ask("add", { a: 1, b: 2 })).toEqual({ sum: 3 })
    },
  )

  test("does not try a legacy start when it is known to be modern", async () => {
    const pidFile = join(scratch(), "pids")
    await using server = open(awkward({ era: "modern", pidFile }), { knownEra: "modern" })

    await server.connection.connect()

    expect(readFileSync(pidFile, "utf8").trim().split("\n")).toHaveLength(1)
  })

  test("falls back when what was known is no longer so", async () => {
    await using server = open(awkward({ era: "legacy" }), { knownEra: "modern" })

    expect(await server.connection.connect()).toMatchObject({ era: "legacy" })
  })

  test("does not fall back when the user has said what it is", async () => {
    await using server = open({ ...awkward({ era: "modern" }), era: "legacy" })

    expect(await failure(server.connection.connect())).toMatchObject({ code: "EXECUTION_ERROR" })
    expect(server.connection.status.state).toBe("failed")
  })
})

describe("starting a process", () => {
  test("says how one ended that does not start, and what it wrote", async () => {
    await using server = open(awkward({ crashAtStart: true }))

    const error = await failure(server.connection.connect())

    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
      details: { exit: { code: 3 }, stderrTail: "boom: cannot start without a reason" },
    })
    expect(error.message).toContain('"srv"')
    expect(error.message).toContain("ended with code 3")
  })

  test("names a program that is not there", async () => {
    await using server = open({ command: "operations-no-such-program" })

    const error = await failure(server.connection.connect())

    expect(error).toMatchObject({ code: "UNAVAILABLE" })
    expect(error.message).toContain("operations-no-such-program")
  })

  test("gives up on one that never answers, and leaves no process", async () => {
    const pidFile = join(scratch(), "pids")
    const config = awkward({ hangAtStart: true, pidFile, stderr: "waiting for the moon" })
    await using server = open({ ...config, connectTimeout: 900 })

    const error = await failure(server.connection.connect())

    expect(error).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: false })
    expect(error.message).toContain("900 ms")
    expect(error.message).toContain("waiting for the moon")
    expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false)
  })

  test("asks before it runs anything, once", async () => {
    const asked: unknown[] = []
    const config = awkward()
    await using server = open({
      ...config,
      approve(launch) {
        asked.push(launch)
        return true
      },
    })

    await server.connection.connect()
    await server.connection.reconnect()

    expect(asked).toEqual([
      {
        server: "srv",
        argv: [config.command, ...config.args],
        cwd: undefined,
        env: expect.any(Object),
        warnings: [],
      },
    ])
  })

  test("shows the variables of a launch, and warns of those that run other code", async () => {
    const asked: { env: unknown; warnings: readonly string[] }[] = []
    const env = {
      API_KEY: "k",
      NODE_OPTIONS: "--require ./evil.js",
      LD_PRELOAD: "./evil.so",
    }
    await using server = open({
      ...awkward(),
      env,
      approve(launch) {
        asked.push(launch)
        return false
      },
    })

    expect(await failure(server.connection.connect())).toMatchObject({ code: "ACCESS_DENIED" })
    expect(asked[0]?.env).toEqual(env)
    expect(asked[0]?.warnings).toEqual([
      expect.stringContaining('"NODE_OPTIONS"'),
      expect.stringContaining('"LD_PRELOAD"'),
    ])
  })

  test("runs nothing that was not approved", async () => {
    const pidFile = join(scratch(), "pids")
    await using server = open({ ...awkward({ pidFile }), approve: () => false })

    expect(await failure(server.connection.connect())).toMatchObject({ code: "ACCESS_DENIED" })
    expect(() => readFileSync(pidFile)).toThrow("ENOENT")
  })

  test("shares one attempt among those who come together", async () => {
    const pidFile = join(scratch(), "pids")
    await using server = open(awkward({ pidFile }))

    await Promise.all([
      server.connection.connect(),
      server.call("echo", { text: "a" }),
      server.connection.list("tools"),
    ])

    expect(readFileSync(pidFile, "utf8").trim().split("\n")).toHaveLength(1)
    expect(server.events).toEqual([{ type: "connected", isAgain: false }])
  })

  test("lets one leave that no longer wants to wait, and goes on for the others", async () => {
    await using server = open(awkward({ slow: 100 }))
    const controller = new AbortController()

    const leaving = failure(server.connection.connect(controller.signal))
    const staying = server.connection.connect()
    controller.abort()

    expect(await leaving).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    expect(await staying).toMatchObject({ era: "legacy" })
  })

  test("close ends a start that is under way, and what comes later fails", async () => {
    const pidFile = join(scratch(), "pids")
    const server = open(awkward({ hangAtStart: true, pidFile }))
    const connecting = failure(server.connection.connect())
    await until(() => server.connection.status.pid !== undefined)

    await Promise.all([server.connection.close(), server.connection.close()])

    expect(await connecting).toMatchObject({ code: "UNAVAILABLE" })
    expect(await failure(server.call("echo"))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
    })
    expect(server.connection.status).toMatchObject({ state: "closed", pid: undefined })
    expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false)
  })
})

describe("finding out what a server over HTTP speaks", () => {
  test("asks, and speaks modern where that is known", async () => {
    await using remote = await serveAwkward({ era: "dual" })
    await using server = open({ url: remote.url })

    expect(await server.connection.connect()).toMatchObject({ era: "modern" })
    expect(remote.requests.map(({ message }) => message?.method)[0]).toBe("server/discover")
  })

  test.each(["500", "html", "404", "400", "hang"] as const)(
    "speaks legacy after a probe that ends with %s",
    async (probe) => {
      await using remote = await serveAwkward({ era: "legacy", probe })
      await using server = open({ url: remote.url, connectTimeout: 1500 })

      expect(await server.connection.connect()).toMatchObject({ era: "legacy" })
      expect(await server.ask("add", { a: 2, b: 2 })).toEqual({ sum: 4 })
    },
  )

  test("does not ask when it is known to be legacy", async () => {
    await using remote = await serveAwkward({ era: "legacy" })
    await using server = open({ url: remote.url }, { knownEra: "legacy" })

    await server.connection.connect()

    expect(remote.requests[0]?.message?.method).toBe("initialize")
  })

  test("asks after all when a server is no longer legacy", async () => {
    await using remote = await serveAwkward({ era: "modern" })
    await using server = open({ url: remote.url }, { knownEra: "legacy" })

    expect(await server.connection.connect()).toMatchObject({ era: "modern" })
  })

  test.each([{}, { type: "sse" } as const])("speaks the old transport: %o", async (config) => {
    await using remote = await serveAwkward({ era: "legacy", sse: true })
    await using server = open({ url: remote.url, ...config })

    expect(await server.connection.connect()).toMatchObject({ era: "legacy" })
    expect(await server.ask("add", { a: 2, b: 3 })).toEqual({ sum: 5 })
  })

  test("says where nobody is, and does not try again and again", async () => {
    await using server = open({ url: "http://127.0.0.1:9/mcp?key=hidden" })

    const error = await failure(server.connection.connect())

    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
    expect(error.message).not.toContain("hidden")
  })

  test("says that an address is no server, by the newer of the ways that were tried", async () => {
    await using remote = await serveAwkward({ refuse: { status: 404, body: "nothing here" } })
    await using server = open({ url: remote.url })

    const error = await failure(server.connection.connect())

    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { status: 404 } })
  })
})
