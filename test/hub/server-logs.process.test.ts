import { describe, expect, onTestFinished, test } from "vitest"
import type { CallTrace } from "../../src/engine/observe.ts"
import { internalsOf } from "../../src/hub/create-hub.ts"
import type { SourceLogLine } from "../../src/hub/model.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { awkward } from "../sources/mcp/support/awkward.ts"
import { waitFor } from "../support/wait-for.ts"
import { listenTo } from "./events.ts"
import { hubOf, sourceOf } from "./support.ts"

const SECRET = "s3cr3t-of-the-hub"

async function serving(era: "legacy" | "modern") {
  const mcp = { ...awkward({ era }), env: { TOKEN: "${env:HUB_TOKEN}" } }
  const hub = hubOf([sourceOf("words", { mcp })], { env: { ...process.env, HUB_TOKEN: SECRET } })
  await hub.ready()
  const served = await serveHub(hub, { port: 0, console: false })
  onTestFinished(() => served.close())
  const log = async (data: unknown): Promise<string> => {
    const response = await fetch(`${served.url}/operations/words.log`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ params: { level: "notice", logger: SECRET, data } }),
    })
    return await response.text()
  }
  return { hub, served, log }
}

describe.each(["legacy", "modern"] as const)("the log of a %s MCP server", (era) => {
  test("is reported to who reads the events, with the call it belongs to, and without secrets", async () => {
    const { served, log } = await serving(era)
    const { events, until } = await listenTo(served.url)
    await until(({ event }) => event === "source")

    expect(await log(`one ${SECRET} \n two`)).toContain("logged")

    const line = (await until(({ event }) => event === "log"))?.data as SourceLogLine
    const call = events.find(({ event }) => event === "call")?.data as CallTrace
    expect(line).toEqual({
      ...{ source: "words", level: "notice", logger: "***", text: "one *** \n two" },
      requestId: call.requestId,
    })
  })

  test("is not read while nobody reads the events", async () => {
    const { hub, served, log } = await serving(era)
    const lines: SourceLogLine[] = []
    const expected = era === "modern" ? "nobody reads it" : "logged"
    expect(await log("lost")).toContain(expected)

    const { until, leave } = await listenTo(served.url)
    await until(({ event }) => event === "source")
    expect(await log("first")).toContain("logged")
    const first = await until(({ event }) => event === "log")
    expect(first?.data).toMatchObject({ text: "first" })
    leave()
    await waitFor(async () => expect(await log("lost")).toContain(expected))

    const stop = internalsOf(hub).logReaders.add((line) => lines.push(line))
    await log("heard")
    expect(lines.map(({ text }) => text)).toEqual(["heard"])
    stop()
    await log("lost")
    expect(lines).toHaveLength(1)
  })
})
