// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { EventEmitter } from "node:events"
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, onTestFinished, test, vi } from "vitest"
import { watchFiles } from "../../src/hub/watch.ts"
import type { Logger } from "../../src/internal/logger.ts"
import { folder } from "./support.ts"
import { waitFor } from "../support/wait-for.ts"

class Fake extends EventEmitter {
  isClosed = false
  close(): void {
    this.isClosed = true
  }
}

/** What the system is asked to follow, and whether it does. */
const system = vi.hoisted(() => ({
  fails: false,
  opened: [] as { readonly path: string; readonly touched: () => void; readonly fake: unknown }[],
}))

vi.mock("node:fs", async (original) => ({
  ...(await original<object>()),
  watch: (path: string, _: unknown, touched: () => void) => {
    if (system.fails) throw new Error("ENOSPC")
    const fake = new Fake()
    system.opened.push({ path, touched, fake })
    return fake
  },
}))

afterEach(() => {
  system.fails = false
  system.opened.length = 0
})

function follow(paths: readonly string[], logger?: Logger): { count: number; close(): void } {
  const seen = { count: 0, close: () => watching.close() }
  const watching = watchFiles(paths, () => seen.count++, { debounceMs: 0, since: 0, logger })
  onTestFinished(() => watching.close())
  return seen
}

function touch(path: string): void {
  for (const one of system.opened) if (one.path === path) one.touched()
}

function of(path: string): Fake | undefined {
  return system.opened.findLast((one) => one.path === path)?.fake as Fake | undefined
}

test("watchFiles watches folders, skips links to them, and stops watching removed ones", async () => {
  const dir = folder({ "a.ts": "1", "note.txt": "1", ".hidden.ts": "1" })
  mkdirSync(join(dir, "in"))
  mkdirSync(join(dir, "node_modules"))
  symlinkSync(dir, join(dir, "loop"))
  symlinkSync(join(dir, "nowhere"), join(dir, "broken"))
  symlinkSync(join(dir, "a.ts"), join(dir, "link.ts"))
  const seen = follow([dir, join(dir, "missing/deep/file.ts")])
  await waitFor(() => expect(seen.count).toBe(1))
  const under = system.opened.filter(({ path }) => path.startsWith(dir)).map(({ path }) => path)
  expect(under.sort()).toEqual([dir, join(dir, "in")])
  rmSync(join(dir, "in"), { recursive: true })
  touch(dir)
  await waitFor(() => expect(of(join(dir, "in"))?.isClosed).toBe(true))
  // In one step: a look at the folder that is under way must not see an empty file.
  renameSync(join(folder({ "a.ts": "a longer one" }), "a.ts"), join(dir, "a.ts"))
  touch(dir)
  touch(dir)
  // Two changes if a look that is under way sees the file before this, and the link to it after.
  await waitFor(() => expect(seen.count).toBeGreaterThanOrEqual(2))
  seen.close()
  const { count } = seen
  expect(count).toBeLessThanOrEqual(3)
  expect(of(dir)?.isClosed).toBe(true)
  touch(dir)
  expect(seen.count).toBe(count)
})

test("watchFiles watches a folder again after its watcher failed", async () => {
  const dir = folder({ "a.ts": "1" })
  const seen = follow([dir])
  await waitFor(() => expect(seen.count).toBe(1))
  const first = of(dir)
  first?.emit("error", new Error("EPERM"))
  expect(first?.isClosed).toBe(true)
  await waitFor(() => expect(of(dir)).not.toBe(first))
  expect(of(dir)?.isClosed).toBe(false)
})

test("watchFiles logs once that it cannot watch, and polls instead", async () => {
  system.fails = true
  const dir = folder({ "a.ts": "1" })
  mkdirSync(join(dir, "in"))
  const info = vi.fn<(message: string) => void>()
  const none = (): void => {}
  const seen = follow([dir], { debug: none, info, warn: none, error: none })
  await waitFor(() => expect(seen.count).toBe(1))
  expect(info.mock.calls.map(([message]) => message)).toEqual([
    "Files are polled every two seconds",
  ])
})

test("watchFiles that is closed during a check reports and watches nothing", async () => {
  const dir = folder({ "a.ts": "1" })
  const seen = follow([dir])
  seen.close()
  const other = follow([dir])
  await waitFor(() => expect(other.count).toBe(1))
  expect(seen.count).toBe(0)
})
