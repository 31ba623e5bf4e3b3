import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ANN, apiOf, eventsOf, shop } from "./routes-support.ts"
import type { Api } from "./routes-support.ts"

const { registry, calls } = shop()
let api: Api

beforeAll(() => {
  api = apiOf(registry)
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

describe("REST", () => {
  it("takes the input as the body and gives bare data", async () => {
    const response = await api.post("/api/shop/find", { name: "lamp", limit: 3 })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ got: { name: "lamp", limit: 3 } })
  })

  it("takes queries by GET, with parameters of the schema's types", async () => {
    const response = await api("/api/shop/find?name=12&limit=3&tags=a&tags=b%20c")
    expect(await response.json()).toEqual({ got: { name: "12", limit: 3, tags: ["a", "b c"] } })
  })

  it("says what is wrong with a parameter", async () => {
    const response = await api("/api/shop/find?name=x&limit=many")
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "VALIDATION_ERROR", details: { errors: [{ path: "/limit" }] } },
    ])
    expect((await api("/api/shop/find?name=%zz")).status).toBe(400)
  })

  it("never runs a mutation by GET", async () => {
    const before = calls.length
    const response = await api("/api/shop/order?article=lamp")
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
    expect(await response.json()).toMatchObject({ code: "INVALID_OPERATION_TYPE" })
    await api("/api/shop/order?article=lamp", { method: "HEAD" })
    expect(calls.length).toBe(before)
  })

  it("gives 204 for a void result, and null for null", async () => {
    expect((await api.post("/api/shop/void")).status).toBe(204)
    const none = await api("/api/shop/null")
    expect([none.status, await none.json()]).toEqual([200, null])
  })

  it("answers errors with the statuses that operations declare", async () => {
    expect((await api.post("/api/shop/order", { article: "gone" })).status).toBe(410)
    expect((await api.post("/api/shop/order", { article: "odd" })).status).toBe(422)
    expect((await api.post("/api/shop/tool")).status).toBe(500)
    expect((await api.post("/api/shop/loop")).status).toBe(500)
  })

  it("has one path per operation", async () => {
    expect(await (await api("/api/shop/dotted.name")).json()).toBe("dotted")
    for (const path of ["/api/shop.dotted/name", "/api/shop/", "/api/shop/inner", "/api/shop/no"]) {
      expect((await api(path)).status, path).toBe(404)
      expect((await api.post(path)).status, path).toBe(404)
    }
    expect(calls).not.toContain("inner")
  })

  it("refuses what the caller may not call", async () => {
    expect((await api("/api/shop/secret")).status).toBe(403)
    expect(await (await api("/api/shop/secret", {}, ANN)).json()).toBe("s")
  })

  it("streams subscriptions as bare data", async () => {
    const expected = [{ data: { at: 1 } }, { data: { at: 2 } }, { name: "end", data: {} }]
    expect(await eventsOf(await api("/api/shop/ticks?to=2"))).toEqual(expected)
    expect(await eventsOf(await api.post("/api/shop/ticks", { to: 2 }))).toEqual(expected)
    expect((await api("/api/shop/ticks?to=x")).status).toBe(400)
  })

  it("is elsewhere, or nowhere, on request", async () => {
    await using moved = apiOf(registry, { rest: { path: "/v1" } })
    expect((await moved("/v1/shop/null")).status).toBe(200)
    expect((await moved("/api/shop/null")).status).toBe(404)
    await using none = apiOf(registry, { rest: false })
    expect((await none("/api/shop/null")).status).toBe(404)
  })
})
