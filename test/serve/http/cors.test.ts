import { describe, expect, test } from "vitest"
import { systemClock } from "../../../src/internal/clock.ts"
import { silentLogger } from "../../../src/logger.ts"
import { createGuard } from "../../../src/serve/http/guard.ts"
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
      "access-control-allow-methods": "GET, POST",
      vary: expect.stringContaining("Origin"),
    })
    expect(reply.headers["access-control-allow-headers"]).toContain("authorization")
    expect(reply.headers["access-control-allow-credentials"]).toBeUndefined()
    expect(server.runs).toEqual([])
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
    expect(() => createGuard({ cors }, systemClock, silentLogger)).toThrow(/Name the origins/)
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
    expect(() => createGuard({ cors }, systemClock, new LogLines())).toThrow(TypeError)
  })
})
