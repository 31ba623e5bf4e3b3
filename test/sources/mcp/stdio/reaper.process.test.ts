// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { describe, expect, test } from "vitest"
import type { ChildLike, NodeLike } from "../../../../src/sources/mcp/client/stdio/node.ts"
import { createReaper } from "../../../../src/sources/mcp/client/stdio/reaper.ts"
import { program } from "../support/program.ts"
import { allGone, atLastKill, childScript, isRunning, running, watchdogsOf } from "./support.ts"
import { waitFor } from "../../../support/wait-for.ts"

const hostScript = program(join(import.meta.dirname, "host.ts"))

interface Host {
  readonly pid: number
  /** The child, and what it started. */
  readonly pids: readonly number[]
  readonly watchdogs: readonly number[]
  readonly listeners: readonly number[]
  readonly ended: Promise<{ code: number | null; signal: string | null }>
}

/** A process of its own that has a child, and goes the named way. */
async function host(way: string, ...manners: string[]): Promise<Host> {
  const started = spawn(process.execPath, [hostScript, childScript, way, ...manners], {
    stdio: ["pipe", "pipe", "ignore"],
  })
  const pid = started.pid ?? 0
  atLastKill(pid)
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    started.on("exit", (code, signal) => resolve({ code, signal })),
  )
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: started.stdout }).once("line", resolve)
    void ended.then(() => reject(new Error("The host ended before it said anything.")))
  })
  const { pids, listeners } = JSON.parse(line) as { pids: number[]; listeners: number[] }
  const watchdogs = watchdogsOf(pid)
  for (const stray of [...pids, ...watchdogs]) atLastKill(stray)
  return { pid, pids, watchdogs, listeners, ended }
}

describe("children of a host", () => {
  test.each([
    ["process.exit", "exit", { code: 7, signal: null }],
    ["an uncaught exception", "throw", { code: 1, signal: null }],
  ])("are gone after %s", async (_, way, end) => {
    const { pids, watchdogs, ended } = await host(way, "wrap", "stubborn")

    expect(await ended).toEqual(end)
    expect(pids).toHaveLength(2)
    await allGone([...pids, ...watchdogs])
  })

  test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"] as const)(
    "are gone after %s, which does to the host what it always does",
    async (signal) => {
      const { pid, pids, watchdogs, listeners, ended } = await host("wait", "wrap", "stubborn")
      expect(watchdogs).toHaveLength(1)
      expect(listeners).toEqual([0, 0, 0, 0])

      process.kill(pid, signal)

      expect(await ended).toEqual({ code: null, signal })
      await allGone([...pids, ...watchdogs])
    },
  )

  test("of a thread are gone with the thread", async () => {
    const worker = new Worker(hostScript, {
      argv: [childScript, "wait", "stubborn"],
      stdout: true,
    })
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: worker.stdout }).once("line", resolve)
      worker.once("error", reject)
    })
    const { pids } = JSON.parse(line) as { pids: number[] }
    for (const pid of pids) atLastKill(pid)

    expect(pids.filter(isRunning)).toHaveLength(1)

    await worker.terminate()

    await allGone(pids)
  })

  test("do not keep it alive once they are closed, and neither does what watched them", async () => {
    const { pids, watchdogs, ended } = await host("close", "echo")

    expect(await ended).toEqual({ code: 0, signal: null })
    await allGone([...pids, ...watchdogs])
  })

  test("are watched again when the watchdog was ended", async () => {
    const observed = await running(["echo"])
    const [lost = 0] = watchdogsOf(process.pid)
    process.kill(lost, "SIGKILL")

    await waitFor(() => {
      const present = watchdogsOf(process.pid).filter(isRunning)
      expect(present).toHaveLength(1)
      expect(present).not.toContain(lost)
    })

    const watchdogs = watchdogsOf(process.pid)
    await observed.transport.close()
    await allGone(watchdogs)
  })
})

describe("a reaper without a watchdog", () => {
  test("ends trees on Windows when the host ends", () => {
    const { node, exit, ended, started } = fake("win32")
    const reaper = createReaper(node)
    reaper.lease().track(41)
    const released = reaper.lease()
    released.track(42)
    released.release()
    released.release()

    exit()

    expect(ended).toEqual([["taskkill", "/pid", "41", "/T", "/F"]])
    expect(started).toEqual([])
  })

  test("ends groups at once where there is no shell", () => {
    const { node, exit, ended } = fake("linux")
    const lease = createReaper(node).lease()
    lease.track(41)

    exit()

    expect(ended).toEqual([["kill", "-41", "SIGKILL"]])
  })

  test("listens only while there is a child", () => {
    const { node, listeners } = fake("linux")
    const lease = createReaper(node).lease()
    expect(listeners.size).toBe(1)

    lease.release()

    expect(listeners.size).toBe(0)
  })
})

function noFile(): Promise<never> {
  return Promise.reject(new Error("There are no files."))
}

/** A platform on which no program can be started. */
function fake(platform: string) {
  const ended: string[][] = []
  const started: string[] = []
  const listeners = new Set<() => void>()
  const node: NodeLike = {
    host: {
      platform,
      env: {},
      kill(pid, signal) {
        ended.push(["kill", String(pid), String(signal)])
        return true
      },
      on: (_, listener) => listeners.add(listener),
      off: (_, listener) => listeners.delete(listener),
    },
    spawn(command): ChildLike {
      started.push(command)
      throw new Error("There is no shell.")
    },
    spawnSync(command, args) {
      ended.push([command, ...args])
    },
    stat: noFile,
    readdir: noFile,
    readFile: noFile,
  }
  const exit = (): void => {
    for (const listener of listeners) listener()
  }
  return { node, exit, ended, started, listeners }
}
