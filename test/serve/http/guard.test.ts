import { describe, expect, test } from "vitest"
import { systemClock } from "../../../src/internal/clock.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { checkListenAddress, Guard } from "../../../src/serve/http/guard.ts"
import { answerHealth } from "../../../src/serve/http/endpoints.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { admitted, incoming, LogLines, serveGuarded } from "./guarded.ts"

const ada = { id: "ada", scopes: ["read"] }
const JSON_TYPE = { "content-type": "application/json" }

describe("where requests come from", () => {
  test.each(["evil.test", "evil.test:80", "localhost.evil.test", "127.0.0.1.evil.test"])(
    "a host that is not this machine is refused on loopback: %j (SV1)",
    async (host) => {
      await using server = await serveGuarded()
      const reply = await server.send({ headers: { host } })
      expect(reply.status).toBe(403)
      expect(server.runs).toEqual([])
    },
  )

  test("an empty host is no name of this machine (SV1)", async () => {
    const guard = new Guard({}, systemClock, silentLogger)
    expect(await guard.admit(incoming({ host: "" }))).toMatchObject({ status: 403 })
  })

  test("the host rule holds with authentication and on loopback too (SV1)", async () => {
    await using server = await serveGuarded({ authenticate: () => ada })
    expect((await server.send({ headers: { host: "evil.test" } })).status).toBe(403)
    expect(server.runs).toEqual([])
  })

  test("without authentication the host rule holds wherever it listens", async () => {
    const guard = new Guard({ allowedHosts: ["api.test"] }, systemClock, silentLogger)
    const elsewhere = { localAddress: "10.0.0.5" }
    const refused = await guard.admit(incoming({ host: "evil.test" }, elsewhere))
    expect(refused).toMatchObject({ kind: "refused", status: 403 })
    await admitted(guard, incoming({ host: "api.test" }, elsewhere))
  })

  test.each(["https://evil.test", "null", "http://127.0.0.1.evil.test", "garbage"])(
    "a page of the origin %s is refused, whatever it sends (SV2)",
    async (origin) => {
      await using server = await serveGuarded({ authenticate: () => ada })
      for (const headers of [{ origin }, { origin, accept: "text/event-stream" }]) {
        for (const method of ["GET", "POST"]) {
          const reply = await server.send({ method, headers: { ...headers, ...JSON_TYPE } })
          expect(reply.status).toBe(403)
          expect(reply.headers["access-control-allow-origin"]).toBeUndefined()
        }
      }
      expect(server.runs).toEqual([])
    },
  )

  test("the same origin and allowed origins get in", async () => {
    await using server = await serveGuarded({ allowedOrigins: ["https://app.test"] })
    const own = `http://127.0.0.1:${server.port}`
    expect((await server.send({ headers: { origin: own } })).status).toBe(200)
    expect((await server.send({ headers: { origin: "https://app.test" } })).status).toBe(200)
  })

  test.each(["cross-site", "same-site", "same-origin, cross-site", "None", ""])(
    "what a page causes without an origin is refused, links included: %j",
    async (site) => {
      await using server = await serveGuarded({ allowedOrigins: ["https://app.test"] })
      for (const mode of ["no-cors", "navigate", "cors", "websocket"]) {
        const headers = { "sec-fetch-site": site, "sec-fetch-mode": mode }
        expect((await server.send({ headers })).status).toBe(403)
        const own = { ...headers, origin: `http://127.0.0.1:${server.port}` }
        expect((await server.send({ headers: own })).status).toBe(403)
        const allowed = { ...headers, origin: "https://app.test" }
        expect((await server.send({ headers: allowed })).status).toBe(200)
      }
    },
  )

  test.each(["same-origin", "none"])("its own pages and the user get in: %s", async (site) => {
    await using server = await serveGuarded()
    for (const mode of ["no-cors", "navigate", "cors"]) {
      const headers = { "sec-fetch-site": site, "sec-fetch-mode": mode }
      expect((await server.send({ headers })).status).toBe(200)
    }
  })

  test("what is public can be linked to, and not embedded", () => {
    const guard = new Guard({}, systemClock, silentLogger)
    const from = (mode: string, method: string): unknown =>
      guard.checkSource(
        incoming({ "sec-fetch-site": "cross-site", "sec-fetch-mode": mode }, { method }),
        true,
      )?.status
    expect([from("navigate", "GET"), from("navigate", "HEAD")]).toEqual([undefined, undefined])
    expect([from("navigate", "POST"), from("no-cors", "GET"), from("cors", "GET")]).toEqual([
      403, 403, 403,
    ])
  })

  test("what was fine once does not make anything else fine", async () => {
    const guard = new Guard({}, systemClock, silentLogger)
    const elsewhere = { localAddress: "10.0.0.5" }
    for (let i = 0; i < 100; i++) {
      await admitted(guard, incoming({ host: "evil.test" }, { ...elsewhere, identity: ada }))
      ;(await admitted(guard, incoming({ host: "localhost:3000" }))).release()
      const wrong = [
        incoming({ host: "evil.test" }, elsewhere),
        incoming({ host: "evil.test" }, { identity: ada }),
        incoming({ host: "localhost:3000", origin: "https://evil.test" }),
        incoming({ host: "localhost:3000", "sec-fetch-site": "cross-site" }),
      ]
      for (const request of wrong) expect(guard.admit(request)).toMatchObject({ status: 403 })
    }
  })

  test("a passed identity does not admit pages of other origins", async () => {
    const guard = new Guard({}, systemClock, silentLogger)
    const request = incoming({ origin: "https://evil.test" }, { identity: ada })
    expect(await guard.admit(request)).toMatchObject({ status: 403 })
  })
})

describe("what is sent", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json garbage",
    "application/json\ta",
    "application/jsonp",
    "text/plain; a=application/json",
    "application/json, text/plain",
    "application/json; charset=utf-16",
  ])("a body as %j is refused (SV4)", async (type) => {
    await using server = await serveGuarded()
    const reply = await server.send({
      method: "POST",
      headers: { "content-type": type },
      body: "{}",
    })
    expect(reply.status).toBe(415)
    expect(server.runs).toEqual([])
  })

  test("a body without a type, or compressed, is refused (SV4)", async () => {
    await using server = await serveGuarded()
    expect((await server.send({ method: "POST", body: "{}" })).status).toBe(415)
    const chunked = { "transfer-encoding": "chunked" }
    expect((await server.send({ method: "POST", headers: chunked, body: "{}" })).status).toBe(415)
    const packed = { ...JSON_TYPE, "content-encoding": "gzip" }
    expect((await server.send({ method: "POST", headers: packed, body: "{}" })).status).toBe(415)
    expect(server.runs).toEqual([])
  })

  test.each([
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json;charset="utf-8"',
  ])("a body as %j is taken", async (type) => {
    await using server = await serveGuarded()
    const headers = { "content-type": type }
    expect((await server.send({ method: "POST", headers, body: "{}" })).status).toBe(200)
  })

  test("no body needs no type", async () => {
    await using server = await serveGuarded()
    expect((await server.send({ method: "POST", headers: { "content-length": "0" } })).status).toBe(
      200,
    )
  })
})

describe("where it listens", () => {
  test.each(["0.0.0.0", "::", "", "192.168.1.2", "example.com", "127.0.0.1.evil.test"])(
    "%j without authentication is refused with what to do (SV5)",
    (host) => {
      const open = new Guard({}, systemClock, silentLogger)
      expect(() => checkListenAddress(host, open)).toThrow(/Give auth or authenticate/)
      const closed = new Guard({ authenticate: () => null }, systemClock, silentLogger)
      expect(() => checkListenAddress(host, closed)).not.toThrow()
    },
  )

  test.each(["127.0.0.1", "localhost", "::1", "[::1]"])("%s needs no authentication", (host) => {
    const open = new Guard({}, systemClock, silentLogger)
    expect(() => checkListenAddress(host, open)).not.toThrow()
  })
})

describe("who is asked", () => {
  test("authenticate is not called when the identity is passed", async () => {
    const guard = new Guard({ authenticate: () => undefined }, systemClock, silentLogger)
    const known = await admitted(guard, incoming({}, { identity: ada }))
    expect(known.identity).toBe(ada)
    expect((await admitted(guard, incoming({}, { identity: null }))).identity).toBeUndefined()
  })

  test("a refusal says how to do better, and carries a challenge", async () => {
    await using server = await serveGuarded({ authenticate: () => undefined })
    const without = await server.send()
    expect(without.status).toBe(401)
    expect(without.headers["www-authenticate"]).toBe("Bearer")
    expect(without.body).toContain("Authorization header")
    const wrong = await server.send({ headers: { authorization: "Bearer wrong" } })
    expect(wrong.headers["www-authenticate"]).toBe('Bearer error="invalid_token"')
  })

  test.each([
    ["throws", () => Promise.reject(new Error("database is down"))],
    [
      "throws at once",
      () => {
        throw new Error("no")
      },
    ],
    [
      "throws nothing at all",
      () => {
        throw undefined
      },
    ],
    ["gives something else", () => ({ id: 1 }) as never],
    ["gives scopes that are none", () => ({ id: "x", scopes: [1] }) as never],
  ])("a function that %s lets nobody in", async (_, authenticate) => {
    await using server = await serveGuarded({ authenticate })
    const reply = await server.send()
    expect(reply.status).toBe(401)
    expect(reply.body).not.toContain("database")
  })

  test("a function that never answers is waited for only so long", async () => {
    const clock = new VirtualClock()
    const options = { authenticate: () => new Promise<never>(() => {}), authenticateTimeout: 50 }
    const waiting = new Guard(options, clock, silentLogger).admit(incoming())
    await clock.advance(50)
    expect(await waiting).toMatchObject({ kind: "refused", status: 401 })
    expect(clock.timers).toBe(0)
  })

  test("what a function throws about a credential is not logged with it", async () => {
    const log = new LogLines()
    const canary = "canary-0123456789abcdef"
    const authenticate = (): never => {
      throw new Error(`no user for ${canary}`)
    }
    const guard = new Guard({ authenticate }, systemClock, log)
    await guard.admit(incoming({ authorization: `Bearer ${canary}` }))
    await guard.admit(incoming({ "x-api-key": canary }))
    expect(log.text).toContain("no user for ***")
    expect(log.text).not.toContain(canary)
  })

  test("auth and authenticate together make no sense", () => {
    const authenticate = (): null => null
    const both = { authenticate, auth: { authenticate } }
    expect(() => new Guard(both, systemClock, silentLogger)).toThrow(/either auth or authenticate/)
  })
})

describe("what answers carry", () => {
  test("authenticated answers are not stored and vary (SV33)", async () => {
    await using server = await serveGuarded({
      authenticate: (request) => (request.headers["authorization"] === undefined ? undefined : ada),
    })
    const yes = await server.send({ headers: { authorization: "Bearer x" } })
    const no = await server.send()
    expect([yes.status, no.status]).toEqual([200, 401])
    for (const { headers } of [yes, no]) {
      expect(headers["cache-control"]).toBe("no-store")
      expect(headers["vary"]).toMatch(/Authorization/)
      expect(headers["vary"]).toMatch(/X-API-Key/)
      expect(headers["x-content-type-options"]).toBe("nosniff")
    }
  })

  test("a passed identity makes responses vary too (SV33)", async () => {
    const guard = new Guard({}, systemClock, silentLogger)
    const { headers } = await admitted(guard, incoming({}, { identity: ada }))
    expect(headers).toMatchObject({ "cache-control": "no-store" })
    expect(headers["vary"]).toMatch(/Cookie/)
  })
})

describe("health", () => {
  test("says yes or no and nothing else, to anyone (SV36)", async () => {
    await using server = await serveGuarded({ authenticate: () => undefined })
    for (const path of ["/livez", "/healthz", "/readyz"]) {
      const reply = await server.send({ path, headers: { host: "10.1.2.3:8080" } })
      expect([reply.status, reply.body]).toEqual([200, '{"status":"ok"}'])
      const headers = { ...reply.headers, date: "", connection: "", "transfer-encoding": "" }
      expect(JSON.stringify(headers)).not.toMatch(/\d\.\d|server|powered/i)
    }
    expect((await server.send({ path: "/metrics" })).status).toBe(401)
  })

  test("is not ready while draining, but alive", () => {
    expect(answerHealth("GET", "/readyz", false)).toMatchObject({
      status: 503,
      body: '{"status":"unavailable"}',
    })
    expect(answerHealth("GET", "/livez", false)?.status).toBe(200)
    expect(answerHealth("GET", "/healthz", false)?.status).toBe(200)
    expect(answerHealth("HEAD", "/livez", true)?.body).toBeUndefined()
    expect(answerHealth("POST", "/livez", true)?.status).toBe(405)
    expect(answerHealth("GET", "/livez/x", true)).toBeUndefined()
  })
})
