import { writeFileSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { waitFor } from "../support/wait-for.ts"
import { corpusText, hasCorpus } from "../sources/openapi/corpus.ts"
import {
  EVERYTHING,
  folder,
  hubOf,
  kill,
  operationText,
  sourceOf,
  start,
  untilSource,
} from "./support.ts"
import type { Hub, SourceStatus } from "../../src/hub/model.ts"

async function dataOf(hub: Hub, id: string, input: object = {}): Promise<unknown> {
  return (await hub.registry.execute(id, input)).data
}

test.runIf(hasCorpus)(
  "killing one source leaves the others serving, and it comes back by itself",
  async () => {
    const there = folder({ "word.ts": operationText("far.word", `() => "far"`) })
    const here = folder({ "word.ts": operationText("near.word", `() => "near"`) })
    const api = createServer((_, response) => {
      response
        .setHeader("content-type", "application/json")
        .end('{"zen":"Keep it logically awesome."}')
    })
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void api.close())
    const { port: apiPort } = api.address() as AddressInfo
    writeFileSync(join(here, "github.json"), corpusText("github.json.gz"))
    const second = await start("hub-process.ts", [there])
    const hub = hubOf([
      sourceOf("github", {
        openapi: join(here, "github.json"),
        baseUrl: `http://127.0.0.1:${apiPort}`,
      }),
      sourceOf("every", { mcp: { command: ["node", EVERYTHING, "stdio"] } }),
      sourceOf("local", { scan: here }),
      sourceOf("second", { remote: second.line }),
    ])
    await hub.ready()
    expect(hub.sources.map(({ name, state, reason }) => [name, state, reason])).toEqual([
      ["github", "ready", undefined],
      ["every", "ready", undefined],
      ["local", "ready", undefined],
      ["second", "ready", undefined],
    ])
    expect(hub.sources[0]?.operations).toBeGreaterThan(1000)
    const works = async (): Promise<void> => {
      expect(await dataOf(hub, "near.word")).toBe("near")
      expect(await dataOf(hub, "github.meta_root")).toEqual({ zen: "Keep it logically awesome." })
    }
    await works()
    expect(await dataOf(hub, "second.far.word")).toBe("far")
    expect(await dataOf(hub, "every.echo", { message: "x" })).toEqual([
      { type: "text", text: "Echo: x" },
    ])

    // The MCP server's process.
    const pid = await childOf("server-everything")
    process.kill(pid, "SIGKILL")
    await untilSource(hub, "every", ({ state }) => state === "lost")
    await works()
    expect(await dataOf(hub, "second.far.word")).toBe("far")
    await untilSource(hub, "every", ({ state }) => state === "ready")
    expect(await dataOf(hub, "every.echo", { message: "again" })).toEqual([
      { type: "text", text: "Echo: again" },
    ])

    // The second hub, which comes back on its port.
    await kill(second.child)
    const lost = await untilSource(hub, "second", ({ state }) => state === "lost")
    expect(lost.reason).toContain("There is no connection")
    await expect(hub.registry.execute("second.far.word", {})).rejects.toMatchObject({
      code: "UNAVAILABLE",
    })
    await works()
    writeFileSync(join(there, "other.ts"), operationText("far.other", `() => "new"`))
    await start("hub-process.ts", [there, new URL(second.line).port])
    await untilSource(
      hub,
      "second",
      ({ state, operations }) => state === "ready" && operations === 2,
    )
    expect(await dataOf(hub, "second.far.other")).toBe("new")

    // The API behind the document.
    await new Promise<void>((resolve) => {
      api.close(() => resolve())
      api.closeAllConnections()
    })
    const github = (): SourceStatus | undefined => hub.sources.find(({ name }) => name === "github")
    // The first may meet a connection that is just being closed, which says nothing about the next.
    await waitFor(async () => {
      await expect(hub.registry.execute("github.meta_root", {})).rejects.toMatchObject({
        code: "UNAVAILABLE",
      })
      expect(github()).toMatchObject({ state: "lost", attempts: 1 })
    })
    const away = github()
    expect(away?.reason).toContain(
      `127.0.0.1:${apiPort} cannot be reached: the connection was refused`,
    )
    expect(await dataOf(hub, "near.word")).toBe("near")
    await new Promise<void>((resolve) => api.listen(apiPort, "127.0.0.1", resolve))
    await works()
    expect(hub.sources.find(({ name }) => name === "github")).toMatchObject({
      state: "ready",
      attempts: 0,
    })
    const report = hub.report("github")
    expect(report?.kept).toBeGreaterThan(500)
    expect(report?.skipped).toBe(0)
  },
)

/** The process of this one whose command line has a word. */
async function childOf(word: string): Promise<number> {
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")
    const status = await readFile(`/proc/${name}/status`, "utf8").catch(() => "")
    const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1])
    if (parent === process.pid && line.includes(word)) return Number(name)
  }
  throw new Error(`No process with "${word}"`)
}
