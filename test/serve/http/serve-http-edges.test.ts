import { createServer } from "node:http"
import type { Server } from "node:http"
import { expect, test } from "vitest"
import { silentLogger } from "../../../src/internal/logger.ts"
import { serveHTTP } from "../../../src/node/serve-http.ts"
import { toMCP } from "../../../src/serve/mcp/to-mcp.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { demo, upgradeStatus, useServers } from "./support.ts"

const { start, cleanups } = useServers()

test("what toHTTP made takes no options of toHTTP any more", async () => {
  const api = toHTTP(demo().registry, { logger: silentLogger })
  cleanups.push(() => api.close())
  const mcp = toMCP(demo().registry)
  await expect(serveHTTP(api, { mcp })).rejects.toThrow("give mcp to toHTTP, as mounts")
  await expect(serveHTTP(api, { auth: { anonymous: true } })).rejects.toThrow("give auth to toHTTP")
})

test("a server of yours has an address once it listens, and stays open", async () => {
  const server: Server = createServer()
  const { registry } = demo()
  const served = await serveHTTP(registry, { server, logger: silentLogger, websocket: false })
  expect(served.url).toBe("http://127.0.0.1:0")
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
  expect((await fetch(`${served.url}/livez`)).status).toBe(200)
  const others: string[] = []
  server.on("upgrade", ({ url = "" }, socket) => {
    others.push(url)
    socket.end("HTTP/1.1 418 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
  })
  expect(await upgradeStatus(`${served.url.replace("http", "ws")}/ws`)).toBe(418)
  expect(others).toEqual(["/ws"])
  await served[Symbol.asyncDispose]()
  expect(server.listening).toBe(true)
  expect([server.listenerCount("request"), server.listenerCount("upgrade")]).toEqual([0, 1])
})

test("addresses with colons are put into brackets", async () => {
  const server = createServer()
  const registry = toHTTP(demo().registry, { logger: silentLogger, basePath: "/v1" })
  const plain = await serveHTTP(registry, { server, host: "::1" })
  expect(plain.url).toBe("http://[::1]:0/v1")
  await plain.close()
  const bracketed = await serveHTTP(demo().registry, {
    server,
    host: "[::1]",
    logger: silentLogger,
  })
  expect(bracketed.url).toBe("http://[::1]:0")
  await bracketed.close()
})

test("listens for signals only until it is closed", async () => {
  const before = [process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")]
  const { api } = await start({ signals: true })
  expect(process.listenerCount("SIGTERM")).toBe((before[0] ?? 0) + 1)
  expect(process.listenerCount("SIGINT")).toBe((before[1] ?? 0) + 1)
  await Promise.all([api.close(), api.close()])
  expect([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")]).toEqual(before)
})

test("WebSockets are under one path only", async () => {
  const { ws } = await start()
  expect(await upgradeStatus(`${ws}/other`)).toBe(404)
  expect(await upgradeStatus(ws)).toBe(101)
})
