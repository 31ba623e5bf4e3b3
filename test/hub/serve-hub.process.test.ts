import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import type { ServerConfig } from "../../src/config/model.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import type { ServedHub } from "../../src/hub/serve-hub.ts"
import type { Hub } from "../../src/hub/model.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { configOf, folder, hubOf, operationText, sourceOf } from "./support.ts"

const KEY = "a-key-that-nobody-guesses-8d31"

async function serving(
  server: ServerConfig,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<{ hub: Hub; served: ServedHub }> {
  const dir = folder({
    "word.ts": operationText("w.word", `() => "word"`),
    "hidden.ts": operationText("w.hidden", `() => 1`, `visibility: "internal"`),
    "broken.ts": "export default {",
    ...files,
  })
  const hub = createHub(configOf([sourceOf("local", { scan: dir })], { server }), {
    logger: silentLogger,
    env,
  })
  onTestFinished(() => hub.close())
  await hub.ready()
  const served = await serveHub(hub, { port: 0 })
  onTestFinished(() => served.close())
  return { hub, served }
}

async function json(url: string, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const response = await fetch(url, { headers })
  return [response.status, await response.json()]
}

describe("serveHub", () => {
  test("answers over HTTP, MCP and WebSocket, and lists its sources", async () => {
    const { served, hub } = await serving({ basePath: "/v1" })
    expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
    expect(served.mcpUrl).toBe(`${served.url}/mcp`)
    expect(served.wsUrl).toBe(`${served.url.replace("http", "ws")}/ws`)
    expect(await json(`${served.url}/api/w/word`)).toEqual([200, "word"])
    expect(await json(`${served.url}/hub/sources`)).toMatchObject([
      200,
      { sources: hub.sources, calls: { local: { calls: 1, errors: 0 } } },
    ])
    const [status, report] = await json(`${served.url}/hub/sources/local/report`)
    expect([status, report]).toMatchObject([200, { kept: 2, skipped: 1 }])
    expect(JSON.stringify(report)).not.toContain("w.hidden")
    expect((await json(`${served.url}/hub/sources/__proto__/report`))[0]).toBe(404)
    const client = await createMCPClient("again", { url: served.mcpUrl! })
    onTestFinished(() => client.close())
    expect(client.tools.map(({ name }) => name)).toEqual(["w_word"])
    const second = hubOf([sourceOf("far", { remote: served.url })])
    await second.ready()
    expect((await second.registry.execute("far.w.word", {})).data).toBe("word")
    const third = hubOf([sourceOf("far", { remote: served.wsUrl! })])
    await third.ready()
    expect(third.sources[0]?.state).toBe("ready")
  })

  test.each([
    [{}, [200, 413, 413]],
    [{ maxUploadBytes: 2_000_000 }, [200, 200, 413]],
  ])("with %j takes uploads of 1 KB, 1.5 MB and 2.5 MB: %j", async (server, expected) => {
    const size = operationText(
      "w.size",
      "async ({ file }) => (await file.arrayBuffer()).byteLength",
      `type: "mutation",
       inputSchema: {
         type: "object",
         properties: { file: { format: "binary", "x-operation-file": "stream" } },
       }`,
    )
    const { served } = await serving(server, {}, { "size.ts": size })
    const upload = (bytes: number): Promise<Response> =>
      fetch(`${served.url}/api/w/size`, {
        method: "POST",
        body: new Blob([new Uint8Array(bytes)], { type: "image/png" }),
      })
    const statuses: number[] = []
    for (const bytes of [1000, 1_500_000, 2_500_000]) statuses.push((await upload(bytes)).status)
    expect(statuses).toEqual(expected)
  })

  test("authenticates callers over every protocol", async () => {
    const { served } = await serving(
      { apiKeys: [{ id: "ada", hash: "${env:KEY_HASH}", scopes: ["hub:admin"] }] },
      { KEY_HASH: hashApiKey(KEY), KEY },
    )
    for (const path of ["/hub/sources", "/hub/sources/local/report", "/operations", "/mcp"]) {
      expect((await fetch(served.url + path, { method: "GET" })).status).toBe(401)
    }
    const authorization = `Bearer ${KEY}`
    expect((await json(`${served.url}/hub/sources`, { authorization }))[0]).toBe(200)
    await expect(createMCPClient("no", { url: served.mcpUrl! })).rejects.toBeDefined()
    const client = await createMCPClient("yes", { url: served.mcpUrl!, headers: { authorization } })
    onTestFinished(() => client.close())
    expect(client.tools).toHaveLength(1)
    const refused = hubOf([sourceOf("far", { remote: served.url })])
    await refused.ready()
    expect(refused.sources[0]?.reason).toContain(`Give its "token"`)
    const let_in = hubOf([sourceOf("far", { remote: served.url, token: "${env:KEY}" })], {
      env: { KEY },
    })
    await let_in.ready()
    expect(let_in.sources[0]?.state).toBe("ready")
  })

  test("does not serve what its configuration switches off", async () => {
    const { served } = await serving({ mcp: false, websocket: false })
    expect([served.mcpUrl, served.wsUrl]).toEqual([undefined, undefined])
    expect((await fetch(`${served.url}/mcp`, { method: "POST", body: "{}" })).status).not.toBe(200)
  })

  test("can be served again after it was closed, and closes twice", async () => {
    const { served, hub } = await serving({})
    await served.close()
    await served.close()
    await expect(fetch(served.url)).rejects.toThrow("fetch failed")
    const again = await serveHub(hub, { port: 0 })
    onTestFinished(() => again.close())
    expect((await json(`${again.url}/api/w/word`))[0]).toBe(200)
  })
})

describe("serveHub refuses with advice", () => {
  test("a port that is taken", async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const hub = hubOf([])
    await expect(serveHub(hub, { port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is taken. Stop what listens there, or choose another: --port ${port + 1}`,
    )
  })

  test("a public address without authentication", async () => {
    await expect(serveHub(hubOf([]), { port: 0, host: "0.0.0.0" })).rejects.toThrow(
      "server.apiKeys",
    )
  })

  test("an API key where its hash should be, which is not shown", async () => {
    const serve = serveHub(hubOf([]), { port: 0, apiKeys: [{ id: "ada", hash: KEY }] })
    const error = await serve.then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    expect(error?.message).toContain(`server.apiKeys[0].hash (of "ada") must be 64 hexadecimal`)
    expect(error?.message).not.toContain(KEY)
    await expect(
      serveHub(hubOf([], { env: {} }), { port: 0, apiKeys: [{ id: "a", hash: "${env:NOPE}" }] }),
    ).rejects.toThrow(/server\.apiKeys\[0\]\.hash: .*NOPE/)
  })
})
