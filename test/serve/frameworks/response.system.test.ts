// @isolated: it changes what the whole process uses.
import express from "express"
import { describe, expect, test } from "vitest"
import { defineContextValue, httpResponse } from "../../../src/index.ts"
import { defineOperation } from "../../../src/core/define.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { toHTTP } from "../../../src/to-http.ts"
import type { HTTPServer, HTTPServerOptions } from "../../../src/to-http.ts"
import { base } from "../http/support.ts"
import { listening, MOUNT_WAYS } from "./mounts.ts"

const tenant = defineContextValue<string>("tenant")

/** What a request said, as `context` gets it. */
const seen = defineContextValue<readonly unknown[]>("seen")

const registry = createRegistry([
  defineOperation({
    ...base,
    name: "login",
    type: "mutation",
    handler: (input, context) => {
      const response = httpResponse.read(context)
      response.status = 201
      response.headers.set("location", "/sessions/1")
      response.setCookie("sid", "a b", { maxAge: 60 })
      response.setCookie("lang", "de", { httpOnly: false })
      return input
    },
  }),
  defineOperation({
    ...base,
    name: "logout",
    type: "mutation",
    handler: (_, context) => {
      const response = httpResponse.read(context)
      response.status = 204
      response.deleteCookie("sid")
      return "unsent"
    },
  }),
  defineOperation({
    ...base,
    name: "old",
    type: "query",
    handler: (_, context) => {
      const response = httpResponse.read(context)
      response.status = 302
      response.headers.set("location", "/new?a=1")
      return "unsent"
    },
  }),
  defineOperation({
    ...base,
    name: "page",
    type: "query",
    handler: (_, context) => {
      const { headers } = httpResponse.read(context)
      headers.set("cache-control", "private, max-age=60")
      headers.set("etag", '"v1"')
      return "page"
    },
  }),
  defineOperation({
    ...base,
    name: "who",
    type: "query",
    handler: (_, context) => [tenant.read(context), ...seen.read(context)],
  }),
]) as unknown as AnyRegistry

const options: HTTPServerOptions = {
  logger: silentLogger,
  context: ({ method, url, headers, cookies }, { operationId, identity }) => [
    tenant.provide(headers.get("x-tenant") ?? "none"),
    seen.provide([method, new URL(url).pathname, cookies.get("sid"), operationId, identity?.id]),
  ],
}

const post = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"a":1}',
  redirect: "manual",
} as const

describe.each(MOUNT_WAYS)("a response in $name", (way) => {
  const mounted = (): Promise<{ send: Awaited<ReturnType<typeof way.mount>>["send"] }> =>
    Promise.resolve(way.mount(toHTTP(registry, options), ""))

  test("has the status, headers and cookies that a handler sets", async () => {
    const { send } = await mounted()
    const login = await send("/api/demo/login", post)
    expect(login.status).toBe(201)
    expect(login.headers.get("location")).toBe("/sessions/1")
    // The others are http://localhost.
    const secure = way.name.startsWith("Lambda") ? "; Secure" : ""
    expect(login.headers.getSetCookie()).toEqual([
      `sid=a%20b; Path=/; Max-Age=60; HttpOnly${secure}; SameSite=Lax`,
      `lang=de; Path=/${secure}; SameSite=Lax`,
    ])
    expect(login.headers.get("cache-control")).toBe("no-store")
    expect(await login.json()).toEqual({ a: 1 })

    const logout = await send("/api/demo/logout", post)
    expect([logout.status, await logout.text()]).toEqual([204, ""])
    expect(logout.headers.get("content-type")).toBeNull()
    expect(logout.headers.getSetCookie()).toEqual([
      `sid=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly${secure}; SameSite=Lax`,
    ])

    const old = await send("/api/demo/old", { redirect: "manual" })
    expect([old.status, old.headers.get("location")]).toEqual([302, "/new?a=1"])
    expect(await old.text()).toBe("")
  })

  test("is not sent again to a client that has it", async () => {
    const { send } = await mounted()
    const page = await send("/api/demo/page")
    expect([page.status, await page.json()]).toEqual([200, "page"])
    expect(page.headers.get("cache-control")).toBe("private, max-age=60")
    expect(page.headers.get("etag")).toBe('"v1"')
    for (const method of ["GET", "HEAD"]) {
      const again = await send("/api/demo/page", { method, headers: { "if-none-match": '"v1"' } })
      expect([again.status, await again.text()]).toEqual([304, ""])
      expect(again.headers.get("etag")).toBe('"v1"')
    }
    const other = await send("/api/demo/page", { headers: { "if-none-match": '"v0"' } })
    expect(other.status).toBe(200)
    const head = await send("/api/demo/page", { method: "HEAD" })
    expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, '"v1"', ""])
  })

  test("can depend on values from the request", async () => {
    const { send } = await mounted()
    const headers = { "x-tenant": "acme", cookie: "a=1; sid=a%20b" }
    const who = await send("/api/demo/who?x=1", { headers })
    expect(await who.json()).toEqual(["acme", "GET", "/api/demo/who", "a b", "demo.who", null])
  })
})

describe("Express around the API", () => {
  const inExpress = (add: (app: express.Express, api: HTTPServer) => unknown) => {
    const app = express()
    add(app, toHTTP(registry, options))
    return listening(app)
  }

  test("keeps the cookies of middleware before it", async () => {
    await using app = await inExpress((own, api) => {
      own.use((_request, response, next) => {
        response.cookie("first", "1")
        next()
      })
      own.use(api.node)
    })
    const { headers } = await app.send("/api/demo/login", post)
    const names = headers.getSetCookie().map((one) => one.split("=", 1).join())
    expect(names.toSorted()).toEqual(["first", "lang", "sid"])
  })

  test("gives the whole URL below a path, and the caller that it knows", async () => {
    await using app = await inExpress((own, api) => {
      own.use("/v1", (request, response) => {
        const id = request.header("x-user")
        api.node(request, response, { identity: id === undefined ? null : { id, scopes: [] } })
      })
    })
    const who = await app.send("/v1/api/demo/who", { headers: { "x-user": "ada" } })
    expect(await who.json()).toEqual(["none", "GET", "/v1/api/demo/who", null, "demo.who", "ada"])
  })
})
