import { describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { initialize } from "../mcp/support/clients.ts"
import { demo, eventsOf, useServers } from "./support.ts"

const { start } = useServers()

describe("the root of a server", () => {
  test("lists the endpoints of the server", async () => {
    const { registry } = demo()
    await using mcp = toMCP(registry, { logger: silentLogger })
    const mounts = { "/page": () => ({ status: 200, headers: {} }) }
    const { url } = await start({ title: "Shop", version: "2.0.0", mcp, mounts })
    const response = await fetch(`${url}/`)
    expect(response.headers.get("content-type")).toBe("application/json")
    expect(await response.json()).toEqual({
      title: "Shop",
      version: "2.0.0",
      endpoints: [
        { path: "/operations", methods: ["GET"] },
        { path: "/operations/{id}", methods: ["GET", "POST"] },
        { path: "/batch", methods: ["POST"] },
        { path: "/api/{namespace}/{name}", methods: ["POST", "GET"] },
        { path: "/openapi.json", methods: ["GET"] },
        { path: "/mcp", protocol: "mcp" },
        { path: "/page" },
        { path: "/ws", protocol: "websocket" },
      ],
    })
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200)
    expect((await fetch(url, { method: "DELETE" })).status).toBe(405)
  })

  test("is at the base path, with a slash and without", async () => {
    await using mcp = toMCP(demo().registry, { logger: silentLogger })
    const { api } = await start({ basePath: "/v1", rest: false, mcp })
    for (const url of [api.url, `${api.url}/`]) {
      expect(await (await fetch(url)).json()).toMatchObject({
        endpoints: [
          { path: "/v1/operations" },
          { path: "/v1/operations/{id}" },
          { path: "/v1/batch" },
          { path: "/v1/mcp" },
          { path: "/v1/ws" },
        ],
      })
    }
    const opened = await fetch(`${api.url}/mcp`, initialize())
    expect(await opened.text()).toContain("serverInfo")
    expect((await fetch(new URL("/", api.url))).status).toBe(404)
    expect((await fetch(new URL("/v1x", api.url))).status).toBe(404)
  })

  test("requires authentication for the list of endpoints", async () => {
    const { url } = await start({ authenticate: () => undefined })
    expect((await fetch(`${url}/`)).status).toBe(401)
  })
})

describe("a subscription", () => {
  const ways: readonly (readonly [string, string, RequestInit])[] = [
    ["REST by GET", "/api/demo/count?to=2", {}],
    ["REST by POST", "/api/demo/count", { method: "POST", body: '{"to":2}' }],
    ["the gateway", "/operations/demo.count", { method: "POST", body: '{"to":2}' }],
  ]
  const accepted = ["text/event-stream", "*/*", "text/*", "application/json, text/plain, */*", ""]
  const refused = ["application/json", "text/html", "text/event-stream;q=0, */*", "text/*;q=0"]

  async function ask(path: string, init: RequestInit, accept?: string): Promise<Response> {
    await using api = toHTTP(demo().registry, { logger: silentLogger })
    const headers = new Headers({ "content-type": "application/json" })
    if (accept !== undefined) headers.set("accept", accept)
    const response = await api.fetch(new Request(`http://localhost${path}`, { ...init, headers }))
    return new Response(await response.text(), response)
  }

  describe.each(ways)("over %s", (_, path, init) => {
    test.each([undefined, ...accepted])("is a stream of events for Accept: %s", async (accept) => {
      const response = await ask(path, init, accept)
      expect(response.status).toBe(200)
      expect(eventsOf(await response.text())).toHaveLength(3)
    })

    test.each(refused)("is 406 for Accept: %s", async (accept) => {
      const response = await ask(path, init, accept)
      expect(response.status).toBe(406)
      expect(await response.json()).toMatchObject({
        code: "INVALID_OPERATION_TYPE",
        detail: expect.stringContaining('Send "Accept: text/event-stream"') as string,
      })
    })
  })

  test("is described by the gateway for a GET that does not ask for events", async () => {
    for (const accept of [undefined, "*/*", "application/json"]) {
      const response = await ask("/operations/demo.count", {}, accept)
      expect(await response.json()).toMatchObject({ id: "demo.count", type: "subscription" })
    }
  })
})
