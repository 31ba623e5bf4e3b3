// @isolated: it changes what the whole process uses.
import { expect, test, vi } from "vitest"
import { followConfig } from "../../../src/cli/commands/serve.ts"
import type { ResolvedConfig } from "../../../src/config/model.ts"
import { resolveConfig } from "../../../src/config/resolve.ts"
import type { Hub } from "../../../src/hub/model.ts"
import { testIO } from "../support/run.ts"
import { waitFor } from "../../support/wait-for.ts"

const watching = vi.hoisted(() => ({
  change: (): void => {},
  paths: [] as readonly string[],
  closed: 0,
}))

vi.mock("../../../src/hub/watch.ts", () => ({
  watchFiles(paths: readonly string[], change: () => void) {
    Object.assign(watching, { paths, change, closed: 0 })
    return { close: () => (watching.closed += 1) }
  },
}))

const baseDir = import.meta.dirname
const file = "/somewhere/operations.config.json"

function config(server: object = {}): ResolvedConfig {
  return { ...resolveConfig({ sources: {}, server }, { baseDir }), file }
}

function hubWith(first: ResolvedConfig): Hub & { readonly applied: ResolvedConfig[] } {
  const applied: ResolvedConfig[] = []
  return {
    config: first,
    applied,
    apply(next: ResolvedConfig) {
      applied.push(next)
      return Promise.resolve()
    },
  } as unknown as Hub & { readonly applied: ResolvedConfig[] }
}

function deferred(): { promise: Promise<ResolvedConfig>; resolve(value: ResolvedConfig): void } {
  let resolve: (value: ResolvedConfig) => void = () => {}
  const promise = new Promise<ResolvedConfig>((settle) => {
    resolve = settle
  })
  return { promise, resolve: (value) => resolve(value) }
}

test("followConfig does nothing without a file", async () => {
  watching.paths = []
  const hub = hubWith(resolveConfig({ sources: {} }, { baseDir }))
  const following = followConfig(hub, () => Promise.reject(new Error("never")), testIO())
  await following.close()
  expect(watching.paths).toEqual([])
})

test("followConfig applies and reports a change, and what needs a restart", async () => {
  for (const server of [{}, { title: "Another" }, { limits: { calls: 10 } }]) {
    const io = testIO()
    const hub = hubWith(config())
    const next = config(server)
    const loaded = deferred()
    const following = followConfig(hub, () => loaded.promise, io)
    expect(watching.paths).toEqual([file])
    watching.change()
    loaded.resolve(next)
    await waitFor(() => expect(io.stderr.text).toContain("has changed and is in use."))
    await following.close()
    expect(hub.applied).toEqual([next])
    expect(
      io.stderr.text.includes(
        `Changes under "server" take effect after a restart, except for API keys.`,
      ),
    ).toBe(Object.keys(server).length > 0)
    expect(watching.closed).toBe(1)
  }
})

test("followConfig reports a mistake, escaped, and keeps the configuration", async () => {
  for (const thrown of [new Error("Not \u001B[2JJSON."), "Not \u001B[2JJSON."]) {
    const io = testIO()
    const hub = hubWith(config())
    // oxlint-disable-next-line prefer-promise-reject-errors -- a configuration may throw anything
    const following = followConfig(hub, () => Promise.reject(thrown), io)
    watching.change()
    await waitFor(() => expect(io.stderr.text).not.toBe(""))
    await following.close()
    expect(io.stderr.text).toBe(
      `${String.raw`Not \u001b[2JJSON.`}\nThe previous configuration stays in use.\n`,
    )
    expect(hub.applied).toEqual([])
  }
})

test("followConfig ignores changes during and after close", async () => {
  const io = testIO()
  const hub = hubWith(config())
  const loaded = deferred()
  const load = vi.fn(() => loaded.promise)
  const following = followConfig(hub, load, io)
  watching.change()
  watching.change()
  await waitFor(() => expect(load).toHaveBeenCalledOnce())
  const closed = following.close()
  loaded.resolve(config({ title: "Late" }))
  await closed
  expect(load).toHaveBeenCalledOnce()
  expect(hub.applied).toEqual([])
  expect(io.stderr.text).toBe("")
})
