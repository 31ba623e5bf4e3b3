import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createRegistry } from "../../../src/engine/registry.ts"
import { createClient, serveCalls } from "../../../src/index.ts"
import { createMemoryTransports } from "../../../src/testing.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { apiOf, operation } from "./routes-support.ts"
import type { Api } from "./routes-support.ts"

const deprecation = {
  since: "2026-03-01",
  sunset: "2026-09-01T12:00:00+02:00",
  replacedBy: "store.v2.find",
  link: "https://example.com/changes?id=7",
}

const registry = createRegistry([
  operation({ name: "find", deprecation }),
  operation({ namespace: "store", name: "v2.find" }),
  operation({ name: "current" }),
  operation({ name: "old", deprecated: true }),
  operation({ name: "soon", deprecation: { sunset: "2026-09-01" } }),
  operation({ name: "moved", deprecation: { since: "2026-03-01", replacedBy: "shop.hidden" } }),
  operation({ name: "hidden", visibility: "internal" }),
  operation({
    name: "fails",
    type: "mutation",
    deprecation,
    handler: () => Promise.reject(new Error("no")),
  }),
  operation({
    name: "ticks",
    type: "subscription",
    deprecation,
    // oxlint-disable-next-line typescript/require-await -- a subscription without waits
    handler: async function* () {
      yield 1
    },
  }),
])

const HEADERS = {
  deprecation: "@1772323200",
  sunset: "Tue, 01 Sep 2026 10:00:00 GMT",
}
const PAGE = '<https://example.com/changes?id=7>; rel="deprecation"'

let api: Api

beforeAll(() => {
  api = apiOf(registry, { cors: { origins: ["https://app.example.com"] }, logger: silentLogger })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

function lifeOf({ headers }: Response): Record<string, string | null> {
  return {
    deprecation: headers.get("deprecation"),
    sunset: headers.get("sunset"),
    link: headers.get("link"),
  }
}

describe("HTTP answers of deprecated operations", () => {
  it("have Deprecation, Sunset and Link over REST", async () => {
    const link = `${PAGE}, <../store/v2.find>; rel="successor-version"`
    for (const response of [await api("/api/shop/find"), await api.post("/api/shop/find", {})]) {
      expect(response.status).toBe(200)
      expect(lifeOf(response)).toEqual({ ...HEADERS, link })
    }
    expect((await api(new URL("../store/v2.find", "http://x/api/shop/find").pathname)).status).toBe(
      200,
    )
  })

  it("have them over the gateway, for calls and descriptions", async () => {
    const link = `${PAGE}, <store.v2.find>; rel="successor-version"`
    for (const response of [
      await api.post("/operations/shop.find", {}),
      await api.post("/operations/shop.find", {}, { prefer: "return=data" }),
      await api("/operations/shop.find"),
    ]) {
      expect(response.status).toBe(200)
      expect(lifeOf(response)).toEqual({ ...HEADERS, link })
    }
  })

  it("have them when the call fails or is refused, and when it streams", async () => {
    for (const path of ["/api/shop/fails", "/operations/shop.fails"]) {
      const response = await api.post(path, {})
      expect(response.status).toBe(500)
      expect(lifeOf(response)).toMatchObject(HEADERS)
    }
    const malformed = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    }
    const json = { headers: { accept: "application/json" } }
    const events = { headers: { accept: "text/event-stream" } }
    for (const [status, response] of [
      [400, await api("/api/shop/find", malformed)],
      [400, await api("/operations/shop.find", malformed)],
      [400, await api("/operations/shop.ticks?input={", events)],
      [405, await api("/api/shop/fails")],
      [406, await api("/api/shop/ticks", json)],
      [406, await api("/operations/shop.find", events)],
      [406, await api.post("/operations/shop.ticks", {}, json.headers)],
    ] as const) {
      expect(response.status).toBe(status)
      expect(lifeOf(response)).toMatchObject(HEADERS)
    }
    for (const path of ["/api/shop/ticks", "/operations/shop.ticks"]) {
      const response = await api(path, { headers: { accept: "text/event-stream" } })
      expect(response.headers.get("content-type")).toContain("text/event-stream")
      expect(lifeOf(response)).toMatchObject(HEADERS)
      await response.text()
    }
  })

  it("name no date that is not known, and no successor that is not served", async () => {
    const none = { deprecation: null, sunset: null, link: null }
    expect(lifeOf(await api("/api/shop/old"))).toEqual(none)
    expect(lifeOf(await api("/api/shop/soon"))).toEqual({
      ...none,
      sunset: "Tue, 01 Sep 2026 00:00:00 GMT",
    })
    expect(lifeOf(await api("/api/shop/moved"))).toEqual({
      ...none,
      deprecation: HEADERS.deprecation,
    })
  })

  it("differ from those of other operations, which have none of these headers", async () => {
    for (const response of [
      await api("/api/shop/current"),
      await api.post("/operations/shop.current", {}),
      await api.post("/batch", [{ id: "shop.find" }]),
    ]) {
      expect(response.status).toBe(200)
      expect(lifeOf(response)).toEqual({ deprecation: null, sunset: null, link: null })
    }
  })

  it("can be read by pages of other origins", async () => {
    const response = await api("/api/shop/find", { headers: { origin: "https://app.example.com" } })
    const exposed = response.headers.get("access-control-expose-headers")
    for (const name of ["deprecation", "sunset", "link"]) expect(exposed).toContain(name)
  })

  it("are described as deprecated in listings and documents", async () => {
    const { operations } = (await (await api("/operations")).json()) as {
      operations: { id: string; deprecated?: boolean }[]
    }
    expect(operations.find(({ id }) => id === "shop.find")?.deprecated).toBe(true)
    expect(await (await api("/operations/shop.find")).json()).toMatchObject({ deprecation })
    expect(await (await api("/openapi.json")).json()).toMatchObject({
      paths: { "/api/shop/find": { post: { deprecated: true } } },
    })
  })
})

describe("replacedBy", () => {
  const handler = (): number => 1
  const restricted = { accessControl: { requiredScopes: ["admin"] } }
  const old = (replacedBy: string) => ({
    deprecation: { since: "2026-03-01", replacedBy },
    handler,
  })
  const secured = createRegistry([
    operation({ name: "a", ...old("shop.admin") }),
    operation({ name: "b", ...old("shop.hidden") }),
    operation({ name: "c", ...old("shop.open") }),
    operation({ name: "admin", handler, ...restricted }),
    operation({ name: "hidden", handler, visibility: "internal" }),
    operation({ name: "open", handler }),
  ])

  it.each([
    ["ada", ["shop.admin", undefined, "shop.open"]],
    [undefined, [undefined, undefined, "shop.open"]],
  ] as const)(
    "names only what %s may see, in the document, descriptions, lists and links",
    async (name, expected) => {
      const scopes = name === undefined ? [] : ["admin"]
      await using served = apiOf(secured, {
        logger: silentLogger,
        authenticate: () => ({ id: name ?? "eve", scopes }),
      })
      const get = async (path: string): Promise<Response> => await served(path)
      const { paths } = (await (await get("/openapi.json")).json()) as {
        paths: Record<string, Record<string, Record<string, { replacedBy?: string }>>>
      }
      const seen: unknown[] = []
      const described: unknown[] = []
      const linked: unknown[] = []
      for (const one of ["a", "b", "c"]) {
        const [item] = Object.values(paths[`/api/shop/${one}`] ?? {})
        seen.push(item?.["x-operation-deprecation"]?.replacedBy)
        const body = (await (await get(`/operations/shop.${one}`)).json()) as {
          deprecation: { since: string; replacedBy?: string }
        }
        expect(body.deprecation.since).toBe("2026-03-01")
        described.push(body.deprecation.replacedBy)
        for (const path of [`/api/shop/${one}`, `/operations/shop.${one}`]) {
          linked.push((await get(path)).headers.get("link") !== null)
        }
      }
      expect(seen).toEqual(expected)
      expect(described).toEqual(expected)
      const listed = await (await get("/operations")).text()
      expect(listed).not.toContain("hidden")
      expect(listed.includes("shop.admin")).toBe(name !== undefined)
      expect(linked).toEqual(expected.flatMap((id) => [id !== undefined, id !== undefined]))
    },
  )

  it.each([
    [["admin"], ["shop.admin", undefined, "shop.open", "else.where"]],
    [[], [undefined, undefined, "shop.open", "else.where"]],
  ])(
    "names only what a peer with the scopes %j may see, in specs over a link",
    async (scopes, expected) => {
      const served = createRegistry([
        ...secured.getAllSpecs().map((spec) => ({ ...spec, handler })),
        operation({ name: "d", ...old("else.where") }),
      ])
      const [near, far] = createMemoryTransports()
      serveCalls(served, {
        transport: far,
        resolveIdentity: () => ({ id: "eve", scopes }),
      })
      await using client = createClient(near)
      const ids = ["shop.a", "shop.b", "shop.c", "shop.d"]
      const { data } = await client.call("services.schema", { ids })
      const { specs } = data as { specs: { deprecation: { replacedBy?: string } }[] }
      expect(specs.map((spec) => spec.deprecation.replacedBy)).toEqual(expected)
    },
  )
})
