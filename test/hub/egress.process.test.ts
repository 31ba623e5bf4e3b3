import dns from "node:dns"
import { afterEach, describe, expect, test, vi } from "vitest"
import { resolverOf } from "../http-client/dns-server.ts"
import { serve } from "../http-client/server.ts"
import { hubOf, sourceOf } from "./support.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

describe("sources with blockPrivate", () => {
  test("cannot reach a private address under any name", async () => {
    await using server = await serve((_request, response) => void response.end("{}"))
    await using resolver = await resolverOf({ "inside.example.test": [["127.0.0.1"]] })
    vi.spyOn(dns, "lookup").mockImplementation(((
      name: string,
      _options: object,
      callback: (error: Error | null, addresses: unknown) => void,
    ) => resolver.lookup(name, { all: true }, callback)) as never)
    const inside = `http://inside.example.test:${new URL(server.url).port}`
    const hub = hubOf([
      sourceOf("api", { openapi: `${inside}/openapi.json`, blockPrivate: true }),
      sourceOf("near", { openapi: `${server.url}/openapi.json`, blockPrivate: true }),
      sourceOf("tools", { mcp: `${inside}/mcp`, blockPrivate: true }),
      sourceOf("hub", { remote: inside, blockPrivate: true }),
      sourceOf("bus", { remote: "nats://127.0.0.1:1", blockPrivate: true }),
    ])
    await hub.ready()

    expect(server.requests).toEqual([])
    for (const { reason } of hub.sources.slice(0, 4)) expect(reason).toContain("private address")
    expect(hub.sources[4]?.reason).toContain("blockPrivate")
    expect(new Set(resolver.asked)).toEqual(new Set(["inside.example.test"]))
  })
})

describe("a remote source with a credential", () => {
  test.each<[string, object]>([
    ["token", { remote: "http://hub.example.test", token: "canary-55aa" }],
    ["token", { remote: "ws://hub.example.test/ws", token: "canary-55aa" }],
    ["headers", { remote: "http://10.0.0.1", headers: { "x-key": "canary-55aa" } }],
  ])("does not send its %s over plain HTTP to another host: %j", async (what, source) => {
    const hub = hubOf([sourceOf("far", source as never)])
    await hub.ready()
    const { reason } = hub.sources[0] ?? {}

    expect(reason).toContain(`its "${what}" is not sent`)
    expect(reason).toContain('"insecure": true')
    expect(reason).not.toContain("canary-55aa")
  })

  test("sends the credential where that is allowed, and to this machine", async () => {
    await using server = await serve((_request, response) => void response.writeHead(404).end())
    await using resolver = await resolverOf({ "hub.example.test": [["127.0.0.1"]] })
    vi.spyOn(dns, "lookup").mockImplementation(((
      name: string,
      options: { readonly all?: boolean },
      callback: (error: Error | null, address: unknown, family?: number) => void,
    ) =>
      resolver.lookup(name, { all: true }, (error, found) =>
        options.all === true
          ? callback(error, found)
          : callback(error, found[0]?.address, found[0]?.family),
      )) as never)
    const { port } = new URL(server.url)
    const hub = hubOf([
      sourceOf("far", { remote: `http://hub.example.test:${port}`, token: "t", insecure: true }),
      sourceOf("near", { remote: server.url, token: "t" }),
    ])
    await hub.ready()

    for (const { reason } of hub.sources) expect(reason).not.toContain("is not sent")
  })
})
