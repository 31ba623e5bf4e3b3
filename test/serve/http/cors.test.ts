import { describe, expect, test } from "vitest"
import { createRegistry } from "../../../src/index.ts"
import { systemClock } from "../../../src/internal/clock.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { serveHTTP } from "../../../src/node.ts"
import { Guard } from "../../../src/serve/http/guard.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { LogLines, serveGuarded } from "./guarded.ts"

const APP = "https://app.test"
const ASKING = { "access-control-request-method": "POST" }

describe("cors", () => {
  test("is off unless it is asked for", async () => {
    await using server = await serveGuarded({ allowedOrigins: [APP] })
    const reply = await server.send({ headers: { origin: APP } })
    expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    )
    const asked = await server.send({ method: "OPTIONS", headers: { origin: APP, ...ASKING } })
    expect(asked.headers["access-control-allow-origin"]).toBeUndefined()
  })

  test("answers a browser that asks beforehand, without asking who calls", async () => {
    await using server = await serveGuarded({
      cors: { origins: [APP] },
      authenticate: () => undefined,
    })
    const reply = await server.send({ method: "OPTIONS", headers: { origin: APP, ...ASKING } })
    expect(reply.status).toBe(204)
    expect(reply.headers).toMatchObject({
      "access-control-allow-origin": APP,
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
      vary: expect.stringContaining("Origin"),
    })
    expect(reply.headers["access-control-allow-headers"]).toContain("authorization")
    expect(reply.headers["access-control-allow-credentials"]).toBeUndefined()
    expect(server.runs).toEqual([])
  })

  test("lets a page speak MCP, in a session or without one", async () => {
    const registry = createRegistry([])
    const options = { cors: { origins: [APP] }, mcp: toMCP(registry), port: 0 }
    await using server = await serveHTTP(registry, options)
    const names = ["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"]
    const asking = { ...ASKING, "access-control-request-headers": names.join() }
    const asked = await fetch(`${server.url}/mcp`, {
      method: "OPTIONS",
      headers: { origin: APP, ...asking },
    })
    expect(asked.headers.get("access-control-allow-headers")?.split(", ")).toEqual(
      expect.arrayContaining(names),
    )
    expect(asked.headers.get("access-control-allow-methods")).toContain("DELETE")
    const opened = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        origin: APP,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "page", version: "1" },
        },
      }),
    })
    expect(opened.headers.get("mcp-session-id")).toMatch(/./)
    expect(opened.headers.get("access-control-expose-headers")).toContain("mcp-session-id")
    await opened.body?.cancel()
  })

  test("lets a page read refusals too", async () => {
    const cors = { origins: [APP], credentials: true }
    await using server = await serveGuarded({ cors, authenticate: () => undefined })
    const reply = await server.send({ headers: { origin: APP } })
    expect(reply.status).toBe(401)
    expect(reply.headers["access-control-allow-origin"]).toBe(APP)
    expect(reply.headers["access-control-allow-credentials"]).toBe("true")
  })

  test.each(["https://evil.test", "null", "https://app.test.evil.test", "http://app.test"])(
    "a page of %s hears nothing",
    async (origin) => {
      await using server = await serveGuarded({ cors: { origins: [APP] } })
      for (const method of ["OPTIONS", "GET"]) {
        const reply = await server.send({ method, headers: { origin, ...ASKING } })
        expect(reply.status).toBe(403)
        expect(reply.headers["access-control-allow-origin"]).toBeUndefined()
      }
      expect(server.runs).toEqual([])
    },
  )

  test("answers to everyone else vary by origin, so that caches keep them apart", async () => {
    await using server = await serveGuarded({ cors: { origins: [APP] } })
    expect((await server.send()).headers["vary"]).toContain("Origin")
  })

  test("a star opens it to all pages, never with their cookies, and hosts still count", async () => {
    await using server = await serveGuarded({ cors: { origins: ["*"] } })
    const reply = await server.send({ headers: { origin: "https://any.test" } })
    expect(reply.headers["access-control-allow-origin"]).toBe("*")
    expect(reply.headers["access-control-allow-credentials"]).toBeUndefined()
    const rebound = { origin: "https://any.test", host: "evil.test" }
    expect((await server.send({ headers: rebound })).status).toBe(403)
    expect(server.log.text).toContain("every web page can call")
    expect(server.guard.rules.allowedOrigins).toEqual([])
  })

  test("a star with credentials is refused at start (SV32)", () => {
    const cors = { origins: [APP, "*"], credentials: true }
    expect(() => new Guard({ cors }, systemClock, silentLogger)).toThrow(/Name the origins/)
  })

  test.each([
    [[]],
    [["null"]],
    [["https://app.test/"]],
    [["app.test"]],
    [["https://*.app.test"]],
    [["https://app.test/path"]],
    ["https://app.test"],
  ])("origins that would not work are refused at start: %j", (origins) => {
    const cors = { origins: origins as string[] }
    expect(() => new Guard({ cors }, systemClock, new LogLines())).toThrow(TypeError)
  })
})
