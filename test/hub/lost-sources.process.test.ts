import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub, SourceStatus } from "../../src/hub/model.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { configOf, folder, hubOf, operationText, sourceOf } from "./support.ts"

const DOCUMENT = JSON.stringify({
  openapi: "3.1.0",
  info: { title: "Words", version: "1.0.0" },
  paths: {
    "/word": { get: { operationId: "getWord", responses: { 200: { description: "A word" } } } },
  },
})

const statusOf = (hub: Hub): SourceStatus => hub.sources[0] as SourceStatus

describe("a source whose server is gone", () => {
  test("is lost after the first failed call of an API, and ready again after an answer", async () => {
    const dir = folder({ "api.json": DOCUMENT })
    const api = createServer((_, response) => void response.end("word"))
    const listen = (port: number): Promise<void> =>
      new Promise((resolve) => void api.listen(port, "127.0.0.1", resolve))
    await listen(0)
    onTestFinished(() => void api.close())
    const { port } = api.address() as AddressInfo
    const baseUrl = `http://127.0.0.1:${port}`
    const hub = hubOf([sourceOf("words", { openapi: join(dir, "api.json"), baseUrl })])
    await hub.ready()
    const call = (): Promise<unknown> => hub.registry.execute("words.getWord", {})
    await call()
    expect(statusOf(hub)).toMatchObject({ state: "ready", attempts: 0 })

    await new Promise<void>((resolve) => {
      api.close(() => resolve())
      api.closeAllConnections()
    })
    await expect(call()).rejects.toMatchObject({ code: "UNAVAILABLE" })
    expect(statusOf(hub)).toMatchObject({ state: "lost", attempts: 1, operations: 1 })
    expect(statusOf(hub).reason).toBe(
      `${baseUrl} cannot be reached: the connection was refused. Check that the server runs and that the port is right. The next call tries it again.`,
    )

    await listen(port)
    await call()
    expect(statusOf(hub)).toMatchObject({ state: "ready", attempts: 0 })
    expect(statusOf(hub)).not.toHaveProperty("reason")
  })

  test("stays ready when a call of an API is cancelled", async () => {
    const dir = folder({ "api.json": DOCUMENT })
    const hub = hubOf([
      sourceOf("words", { openapi: join(dir, "api.json"), baseUrl: "http://127.0.0.1:9" }),
    ])
    await hub.ready()
    const signal = AbortSignal.abort()
    await expect(hub.registry.execute("words.getWord", {}, { signal })).rejects.toMatchObject({
      code: "ABORTED",
    })
    expect(statusOf(hub).state).toBe("ready")
  })

  test("is lost after the first failed call of an MCP server over HTTP", async () => {
    const dir = folder({ "a.ts": operationText("near.word", `() => "near"`) })
    const far = createHub(configOf([sourceOf("local", { scan: dir })]), { logger: silentLogger })
    onTestFinished(() => far.close())
    await far.ready()
    const served = await serveHub(far, { port: 0, drainMs: 0 })
    const hub = hubOf([sourceOf("far", { mcp: `${served.url}/mcp` })])
    await hub.ready()
    const [operation] = hub.registry.list()
    const id = `far.${operation?.name}`
    await hub.registry.execute(id, {})

    await served.close()
    await expect(hub.registry.execute(id, {})).rejects.toMatchObject({ code: "UNAVAILABLE" })
    expect(statusOf(hub).state).toBe("lost")
    // Whichever of the call and the stream of notifications notices it first.
    expect(statusOf(hub).reason).toMatch(/the server (?:went away|cannot be reached)/)
  })
})
