import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createHTTPTransport, type HTTPTransportOptions } from "../../../src/http.ts"
import { createClient } from "../../../src/index.ts"
import type { AnyOperation, Client, RegisteredOperations } from "../../../src/index.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { operation, quietRegistry } from "../../support/operations.ts"

const ran: string[] = []
const asked: {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
}[] = []

function one(
  name: string,
  type: AnyOperation["type"],
  handler?: (input: never) => unknown,
): AnyOperation {
  return operation(`shop.${name}`, {
    type,
    inputSchema: Type.Unknown(),
    handler: (input: unknown) => {
      ran.push(name)
      return handler === undefined ? { input } : handler(input as never)
    },
  })
}

const registry = quietRegistry([
  one("find", "query"),
  one("bytes", "query", () => new Uint8Array([1, 2])),
  one("fails", "query", () => {
    throw Object.assign(new Error("no"), { code: "INVALID_OPERATION_TYPE" })
  }),
  one("order", "mutation"),
  operation("shop.ticks", {
    type: "subscription",
    handler: async function* () {
      yield 1
    },
  }),
  operation("shop.secret", {
    type: "query",
    accessControl: { requiredScopes: ["a"] },
    handler: () => 1,
  }),
])
const api = toHTTP(registry)
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  asked.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers })
  api.node(request, response)
})

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening")
})

afterAll(async () => {
  await api.close()
  server.closeAllConnections()
  server.close()
})

function connect(options: HTTPTransportOptions): Client<RegisteredOperations> {
  asked.length = 0
  ran.length = 0
  const { port } = server.address() as AddressInfo
  return createClient(createHTTPTransport(`http://127.0.0.1:${port}`, options))
}

function methods(): string[] {
  return asked.map(({ method, url }) => `${method} ${url.split("?")[0]}`)
}

describe("the option queries", () => {
  test("is off by default", async () => {
    await using client = connect({})
    await client.call("shop.find", { a: 1 })
    await client.call("shop.find", { a: 1 })
    expect(methods()).toEqual(["POST /operations/shop.find", "POST /operations/shop.find"])
    expect(asked[0]?.headers["prefer"]).toBe("return=file")
  })

  test("GET learns from the first response which operations are queries", async () => {
    await using client = connect({ queries: "GET" })
    for (const input of [undefined, { text: "a&b=c#d %/ü" }, null, 0, [1]]) {
      expect((await client.call("shop.find", input)).data).toEqual({
        ...(input !== undefined && { input }),
      })
      expect((await client.call("shop.order", input)).data).toEqual({
        ...(input !== undefined && { input }),
      })
    }
    expect(methods()).toEqual([
      "POST /operations/shop.find",
      "POST /operations/shop.order",
      ...Array.from({ length: 4 }, () => [
        "GET /operations/shop.find",
        "POST /operations/shop.order",
      ]).flat(),
    ])
    // The input of a mutation is never in a URL, and each ran once.
    expect(asked.filter(({ url }) => url.includes("order?"))).toEqual([])
    expect(ran).toHaveLength(10)
  })

  test("a function says so for the first call, and is checked by the server", async () => {
    await using client = connect({ queries: (id) => id !== "shop.bytes" })
    await client.call("shop.find", { a: 1 })
    await client.call("shop.bytes", {})
    await client.call("shop.bytes", {})
    await client.call("shop.order", {})
    await client.call("shop.order", {})
    expect(methods()).toEqual([
      "GET /operations/shop.find",
      "POST /operations/shop.bytes",
      "POST /operations/shop.bytes",
      "GET /operations/shop.order",
      "POST /operations/shop.order",
      "POST /operations/shop.order",
    ])
    expect(ran).toEqual(["find", "bytes", "bytes", "order", "order"])
  })

  test("does not apply to long inputs, files and options of a batch", async () => {
    await using client = connect({ queries: () => true })
    await client.call("shop.find", { text: "x".repeat(3000) })
    await client.call("shop.find", {}, { policy: { cache: "skip" } })
    await client.call("shop.find", { file: new Uint8Array([1]) })
    expect(asked.map(({ method }) => method)).toEqual(["POST", "POST", "POST"])
    expect((await client.call("shop.bytes", {})).data).toEqual(new Uint8Array([1, 2]))
    expect(asked.at(-1)?.method).toBe("GET")
  })

  test("leaves errors as they are, and repeats nothing that ran", async () => {
    for (const queries of ["GET", () => true] as const) {
      await using client = connect({ queries })
      for (let round = 0; round < 2; round++) {
        await expect(client.call("shop.fails", {})).rejects.toThrow("failed")
        await expect(client.call("shop.secret", {})).rejects.toMatchObject({
          code: "ACCESS_DENIED",
        })
        await expect(client.call("shop.none", {})).rejects.toMatchObject({
          code: "OPERATION_NOT_FOUND",
        })
        await expect(client.call("shop.ticks", {})).rejects.toMatchObject({
          code: "INVALID_OPERATION_TYPE",
        })
      }
      expect(ran).toEqual(["fails", "fails"])
    }
  })

  test("keeps streams, headers and batches of other calls", async () => {
    await using client = connect({ queries: "GET", headers: { authorization: "Bearer x" } })
    for await (const item of client.subscribe("shop.ticks", {})) expect(item.data).toBe(1)
    await client.call("shop.order", {})
    await client.call("shop.find", {})
    asked.length = 0
    await Promise.all([
      client.call("shop.order", {}),
      client.call("shop.order", {}),
      client.call("shop.find", {}),
    ])
    expect(methods().toSorted()).toEqual(["GET /operations/shop.find", "POST /batch"])
    const get = asked.find(({ method }) => method === "GET")
    expect(get?.headers).toMatchObject({
      authorization: "Bearer x",
      "request-id": expect.anything() as string,
    })
    expect(get?.url).toBe("/operations/shop.find?input=%7B%7D")
  })
})

describe("GET /operations/{id}?input=…", () => {
  const ask = async (path: string, headers = {}): Promise<Response> =>
    await api.fetch(new Request(`http://localhost${path}`, { headers }))

  test("answers with the result, which caches keep apart by headers", async () => {
    const response = await ask("/operations/shop.find?input=%7B%22a%22%3A1%7D")
    expect(await response.json()).toMatchObject({
      data: { input: { a: 1 } },
      meta: { operationId: "shop.find" },
    })
    expect(response.headers.get("vary")).toBe("Accept, Prefer")
    expect(response.headers.get("cache-control")).toBe("no-store")
    const bare = await ask("/operations/shop.find?input=1&unwrap=1")
    expect(await bare.json()).toEqual({ input: 1 })
    expect(await (await ask("/operations/shop.find")).json()).toHaveProperty("inputSchema")
  })

  test("never runs a mutation", async () => {
    ran.length = 0
    const response = await ask("/operations/shop.order?input=1")
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
    expect((await ask("/operations/shop.find?input=%7B")).status).toBe(400)
    expect(
      (await ask("/operations/shop.ticks?input=1", { accept: "application/json" })).status,
    ).toBe(406)
    expect(ran).toEqual([])
  })
})
