// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { spawn } from "node:child_process"
import { resolve } from "node:path"
import { describe, expect, test } from "vitest"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { program } from "../support/program.ts"

interface Host {
  readonly said: Record<string, unknown>
  readonly code: number | string | null
  readonly stderr: string
}

/** Runs a host to its end, which it has to come to by itself. */
async function run(what: string, url: string, server = awkward()): Promise<Host> {
  const host = program(resolve(import.meta.dirname, "leftovers-run.ts"))
  const args = ["--expose-gc", host, server.command, ...server.args, url, what]
  const child = spawn(process.execPath, args)
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const timer = setTimeout(() => child.kill("SIGKILL"), 150_000)
  const code = await new Promise<number | string | null>((done) => {
    child.on("exit", (status, signal) => done(status ?? signal))
  })
  clearTimeout(timer)
  const lines = stdout.split("\n").filter((line) => line !== "")
  const said = Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as object
  expect((said as { took?: number }).took).toBeLessThan(120_000)
  return { said: said as Record<string, unknown>, code, stderr }
}

describe("what a host has left when its servers are closed", { timeout: 180_000 }, () => {
  test("after thousands of calls: no memory, no timers, no sockets", async () => {
    await using remote = await serveAwkward({ era: "legacy" })

    const { said, code, stderr } = await run("calls", remote.url)

    expect({ code, stderr, left: said["left"] }).toEqual({ code: 0, stderr: "", left: [] })
    // Less than anything that a call makes.
    for (const kind of ["overStdio", "overHttp", "failing", "aborted"]) {
      expect(said[kind], kind).toBeLessThan(500)
    }
  })

  test("after dozens of restarts: no listeners, no memory to speak of", async () => {
    const args = [resolve(import.meta.dirname, "restarted.sh")]
    const { said, code, stderr } = await run("restarts", "", { command: "/bin/sh", args })

    expect({ code, stderr, left: said["left"] }).toEqual({ code: 0, stderr: "", left: [] })
    expect(said["perRestart"]).toBeLessThan(120_000)
    expect(said["listeners"]).toBeLessThanOrEqual(1)
    expect(said["exitListeners"]).toBe(0)
  })

  test("after servers that did not start: nothing at all", async () => {
    await using remote = await serveAwkward({ era: "legacy" })

    const { said, code, stderr } = await run("failures", remote.url)

    expect({ code, stderr, left: said["left"] }).toEqual({ code: 0, stderr: "", left: [] })
    expect(said["states"]).toContain("ready")
    expect(said["states"]).toContain("failed")
    expect(said["exitListeners"]).toBe(0)
  })
})
