import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createRegistry } from "../../../src/engine/registry.ts"
import { ANN, apiOf, eventsOf, operation, shop } from "./routes-support.ts"
import type { Api } from "./routes-support.ts"

const { registry, calls } = shop()
let api: Api

beforeAll(() => {
  api = apiOf(registry)
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

interface Page {
  readonly operations: { readonly id: string }[]
  readonly nextCursor?: string
}

const ids = async (path: string, identity = ANN): Promise<string[]> =>
  ((await (await api(path, {}, identity)).json()) as Page).operations.map(({ id }) => id)

describe("GET /operations", () => {
  it("lists what the caller may call, and nothing else", async () => {
    const response = await api("/operations")
    expect(response.status).toBe(200)
    expect(response.headers.get("cache-control")).toBe("no-store")
    const { operations } = (await response.json()) as Page
    const listed = operations.map(({ id }) => id)
    expect(listed).toEqual(listed.toSorted())
    expect(listed).toContain("shop.find")
    expect(listed).not.toContain("shop.secret")
    expect(listed).not.toContain("shop.inner")
    expect(await ids("/operations")).toContain("shop.secret")
    expect(operations.find(({ id }) => id === "shop.find")).toEqual({
      id: "shop.find",
      namespace: "shop",
      name: "find",
      type: "query",
      title: "Find articles",
      description: "Finds articles by their name",
      tags: ["articles"],
    })
  })

  it("filters by namespace and type", async () => {
    expect(await ids("/operations?namespace=other")).toEqual(["other.old"])
    expect(await ids("/operations?type=subscription")).toEqual(["shop.ticks"])
    expect(await ids("/operations?namespace=nowhere")).toEqual([])
  })

  it("searches, by rank", async () => {
    expect((await ids("/operations?query=find+articles"))[0]).toBe("shop.find")
    expect(await ids("/operations?query=inner")).not.toContain("shop.inner")
    const anyone = (await (await api("/operations?query=secret")).json()) as Page
    expect(anyone.operations.map(({ id }) => id)).not.toContain("shop.secret")
    expect(await ids("/operations?query=secret")).toContain("shop.secret")
  })

  it("gives pages that together are the whole list", async () => {
    for (const query of ["", "&query=shop"]) {
      const whole = await ids(`/operations?limit=500${query}`)
      const seen: string[] = []
      let cursor: string | undefined = ""
      while (cursor !== undefined) {
        const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`
        const response = await api(`/operations?limit=2${query}${more}`, {}, ANN)
        const page = (await response.json()) as Page
        expect(page.operations.length).toBeLessThanOrEqual(2)
        seen.push(...page.operations.map(({ id }) => id))
        cursor = page.nextCursor
      }
      expect(seen).toEqual(whole)
    }
  })

  it("sees what is registered later", async () => {
    registry.registerAll([operation({ namespace: "late", name: "one" })])
    expect(await ids("/operations?namespace=late")).toEqual(["late.one"])
    registry.unregister("late.one")
    expect(await ids("/operations?namespace=late")).toEqual([])
  })

  it.each(["limit=0", "limit=-1", "limit=x", "type=drop", "cursor=junk", "query=a&cursor=id:x"])(
    "refuses %s",
    async (query) => {
      const response = await api(`/operations?${query}`)
      expect(response.status).toBe(400)
      expect(response.headers.get("content-type")).toBe("application/problem+json")
      expect(await response.json()).toMatchObject({ code: "VALIDATION_ERROR" })
    },
  )

  it("shows only what is exposed", async () => {
    await using some = apiOf(registry, { expose: { include: ["shop.find"] } })
    const { operations } = (await (await some("/operations")).json()) as Page
    expect(operations.map(({ id }) => id)).toEqual(["shop.find"])
    expect((await some.post("/operations/shop.null")).status).toBe(404)
  })
})

describe("GET /operations/{id}", () => {
  it("gives the spec as JSON, without policy or handler", async () => {
    const response = await api("/operations/shop.order")
    expect(response.status).toBe(200)
    const spec = (await response.json()) as Record<string, unknown>
    expect(spec).toMatchObject({
      id: "shop.order",
      type: "mutation",
      inputSchema: { type: "object", required: ["article"] },
      errorSchemas: [{ code: "SOLD_OUT", httpStatus: 410 }, { code: "ODD" }],
    })
    for (const hidden of ["handler", "composes", "normalize", "visibility", "timeout"]) {
      expect(spec).not.toHaveProperty(hidden)
    }
  })

  it("has the same answer for what is unknown and what is internal", async () => {
    const headers = { "request-id": "same" }
    const answers = await Promise.all(
      ["shop.nothing", "shop.inner"].map(async (id) => {
        const response = await api(`/operations/${id}`, { headers })
        const text = (await response.text()).replaceAll(id, "ID")
        return [response.status, text.replace(/ Did you mean [^?]*\?/, "")]
      }),
    )
    expect(answers[0]?.[0]).toBe(404)
    expect(answers[1]).toEqual(answers[0])
  })

  it("says of what is not permitted what a call of it says, and shows nothing of it", async () => {
    const headers = { "request-id": "same" }
    const path = "/operations/shop.secret"
    const [described, called, ...others] = await Promise.all([
      api(path, { headers }),
      api.post(path, undefined, headers),
      api("/api/shop/secret", { headers }),
      api.post("/api/shop/secret", undefined, headers),
    ])
    const problem = (await described?.json()) as unknown
    expect([described?.status, problem]).toMatchObject([
      403,
      { code: "ACCESS_DENIED", details: { requiredScopes: ["admin"] } },
    ])
    expect(JSON.stringify(problem)).not.toMatch(/schema|Does something/i)
    for (const other of [called, ...others]) {
      expect([other?.status, await other?.json()]).toEqual([403, problem])
    }
    expect((await api(path, { method: "HEAD" })).status).toBe(403)
    expect((await api(path, {}, ANN)).status).toBe(200)
  })
})

describe("POST /operations/{id}", () => {
  it("gives the envelope", async () => {
    const response = await api.post("/operations/shop.find", { name: "lamp" })
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toMatch(/^application\/json/)
    expect(await response.json()).toEqual({
      data: { got: { name: "lamp" } },
      meta: { source: "local", operationId: "shop.find", timestamp: expect.any(Number) },
    })
  })

  it("takes an empty body as no input", async () => {
    expect((await api("/operations/shop.null", { method: "POST" })).status).toBe(200)
    const response = await api("/operations/shop.find", { method: "POST" })
    expect(response.status).toBe(400)
  })

  it.each([
    ["/operations/shop.find?unwrap=1", {}],
    ["/operations/shop.find?unwrap", {}],
    ["/operations/shop.find", { prefer: "return=data" }],
    ["/operations/shop.find", { prefer: `respond-async, Return="data"; x=1` }],
  ])("gives bare data for %s %o", async (path, headers) => {
    const response = await api.post(path, { name: "lamp" }, headers)
    expect(await response.json()).toEqual({ got: { name: "lamp" } })
    const applied = response.headers.get("preference-applied")
    expect(applied).toBe("prefer" in headers ? "return=data" : null)
  })

  it("distinguishes void, null and bytes", async () => {
    const nothing = await api.post("/operations/shop.void?unwrap=1")
    expect([nothing.status, await nothing.text()]).toEqual([204, ""])
    const none = await api.post("/operations/shop.null?unwrap=1")
    expect([none.status, await none.text()]).toEqual([200, "null"])
    expect(await (await api.post("/operations/shop.void")).json()).not.toHaveProperty("data")
    const bytes = await api.post("/operations/shop.bytes")
    expect(await bytes.json()).toMatchObject({
      data: { raw: "AQID" },
      binary: { "/raw": "Uint8Array" },
    })
  })

  it("gives the failure of a tool as it is, and as a problem when bare data is asked for", async () => {
    const whole = await api.post("/operations/shop.tool")
    expect([whole.status, await whole.json()]).toMatchObject([200, { meta: { isError: true } }])
    const bare = await api.post("/operations/shop.tool?unwrap=1")
    expect([bare.status, await bare.json()]).toMatchObject([
      500,
      { code: "EXECUTION_ERROR", detail: "Tool broke" },
    ])
  })

  it.each([
    ["gone", 410, "SOLD_OUT"],
    ["odd", 422, "ODD"],
    ["bug", 500, "EXECUTION_ERROR"],
    ["busy", 500, "BUSY"],
  ])("answers the failure %s with %i", async (article, status, code) => {
    const response = await api.post("/operations/shop.order", { article })
    expect(response.status).toBe(status)
    expect(response.headers.get("content-type")).toBe("application/problem+json")
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ status, code, operationId: "shop.order" })
    expect(text).not.toContain("canary")
    expect(text).not.toMatch(/\.ts:\d/)
    expect(response.headers.get("retry-after")).toBe(article === "busy" ? "2" : null)
  })

  it("says what is wrong with an input, and that nothing has run", async () => {
    const before = calls.length
    const response = await api.post("/operations/shop.order", { article: 5 })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        code: "VALIDATION_ERROR",
        mayHaveExecuted: false,
        details: { errors: [{ path: "/article" }] },
      },
    ])
    expect(calls.length).toBe(before)
  })

  it("refuses a broken query before anything runs", async () => {
    const before = calls.length
    const response = await api.post("/operations/shop.order?unwrap=%zz", { article: "lamp" })
    expect(response.status).toBe(400)
    expect(calls.length).toBe(before)
  })

  it("answers a result that has no form in JSON with a problem", async () => {
    const response = await api.post("/operations/shop.loop")
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { code: "EXECUTION_ERROR", mayHaveExecuted: true },
    ])
  })

  it("does not know internal operations, and refuses what is not permitted", async () => {
    expect((await api.post("/operations/shop.inner")).status).toBe(404)
    expect(calls).not.toContain("inner")
    expect((await api.post("/operations/shop.secret")).status).toBe(403)
    expect((await api.post("/operations/shop.secret", undefined, {}, ANN)).status).toBe(200)
  })

  it("leaves rich forms as plain data", async () => {
    const body = `{"name":"x","__proto__":{"admin":true},"$type":"function"}`
    const response = await api("/operations/shop.find", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    })
    expect(response.status).toBeLessThan(500)
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined()
  })
})

describe("subscriptions of the gateway", () => {
  const events = { accept: "text/event-stream" }

  it("stream by POST, with envelopes", async () => {
    const response = await api.post("/operations/shop.ticks", { to: 2 }, events)
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
    expect(await eventsOf(response)).toMatchObject([
      { data: { data: { at: 1 }, meta: { operationId: "shop.ticks" } } },
      { data: { data: { at: 2 } } },
      { name: "end", data: {} },
    ])
  })

  it("stream by GET, for EventSource", async () => {
    const input = encodeURIComponent(`{"to":1}`)
    const response = await api(`/operations/shop.ticks?input=${input}`, { headers: events })
    expect(await eventsOf(response)).toMatchObject([{ data: { data: { at: 1 } } }, { name: "end" }])
    const broken = await api("/operations/shop.ticks?input=%7B", { headers: events })
    expect(broken.status).toBe(400)
  })

  it("say how when they are not asked for as a stream", async () => {
    for (const accept of [
      "application/json",
      "text/event-stream;q=0",
      "text/event-stream;q=0, */*",
    ]) {
      const headers = { accept }
      const response = await api.post("/operations/shop.ticks", { to: 1 }, headers)
      expect([response.status, await response.json()]).toMatchObject([
        406,
        { code: "INVALID_OPERATION_TYPE", detail: expect.stringContaining("text/event-stream") },
      ])
    }
  })

  it("are described by GET without that header", async () => {
    for (const accept of ["*/*", "application/json", "application/json, text/event-stream;q=0.5"]) {
      const response = await api("/operations/shop.ticks", { headers: { accept } })
      expect(await response.json()).toMatchObject({ id: "shop.ticks", type: "subscription" })
    }
  })

  it("are not what queries are", async () => {
    const before = calls.length
    expect((await api.post("/operations/shop.find", { name: "x" }, events)).status).toBe(406)
    expect((await api("/operations/shop.find", { headers: events })).status).toBe(406)
    expect(calls.length).toBe(before)
    const both = { accept: "application/json, text/event-stream" }
    expect((await api.post("/operations/shop.find", { name: "x" }, both)).status).toBe(200)
  })

  it("answer an input that does not fit with a problem", async () => {
    const response = await api.post("/operations/shop.ticks", { to: "x" }, events)
    expect(response.status).toBe(400)
  })
})

it("a registry without operations has an empty list", async () => {
  await using empty = apiOf(createRegistry([]))
  expect(await (await empty("/operations")).json()).toEqual({ operations: [] })
})
