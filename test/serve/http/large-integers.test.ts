import { Type } from "typebox"
import { describe, expect, it } from "vitest"
import { createRegistry } from "../../../src/engine/registry.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { serve } from "../../http-client/server.ts"
import { apiOf, operation } from "./routes-support.ts"

const LARGE = "9007199254740993"

const integer = { type: "integer", format: "int64" }
const taking = { name: "id", in: "path", required: true, schema: integer }
const document = {
  openapi: "3.1.0",
  info: { title: "Ids", version: "1" },
  paths: {
    "/things/{id}": {
      get: {
        operationId: "get",
        parameters: [
          taking,
          { name: "more", in: "query", schema: { type: "array", items: integer } },
        ],
        responses: { 200: { description: "Done" } },
      },
      put: {
        operationId: "put",
        parameters: [taking],
        requestBody: {
          content: {
            "application/json": { schema: { type: "object", properties: { owner: integer } } },
          },
        },
        responses: { 200: { description: "Done" } },
      },
    },
  },
}

function post(text: string): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: text }
}

describe("an integer beyond those that a number keeps", () => {
  it("reaches an API of an OpenAPI document digit for digit", async () => {
    await using upstream = await serve((_, response) => void response.end())
    const registry = createRegistry(
      FromOpenAPI(document, { namespace: "api", baseUrl: upstream.url }),
    )
    await using api = apiOf(registry)

    const input = `{ "id": ${LARGE}, "body": { "owner": -${LARGE} } }`
    expect((await api("/operations/api.put", post(input))).status).toBe(200)
    expect(upstream.requests).toMatchObject([
      { url: `/things/${LARGE}`, body: `{"owner":-${LARGE}}` },
    ])
  })

  it("reaches it from a query, too", async () => {
    await using upstream = await serve((_, response) => void response.end())
    const registry = createRegistry(
      FromOpenAPI(document, { namespace: "api", baseUrl: upstream.url }),
    )
    await using api = apiOf(registry)

    const query = `id=-${LARGE}&more=${LARGE}&more=1`
    expect((await api(`/api/api/get?${query}`)).status).toBe(204)
    expect(upstream.requests).toMatchObject([{ url: `/things/-${LARGE}?more=${LARGE}&more=1` }])
  })

  it("is refused for any other operation, and never rounded", async () => {
    const given: unknown[] = []
    const handler = (input: unknown): null => {
      given.push(input)
      return null
    }
    const number = Type.Object({ n: Type.Number() })
    await using api = apiOf(
      createRegistry([
        operation({ name: "any", handler }),
        operation({ name: "number", inputSchema: number, handler }),
        operation({ name: "read", type: "query", inputSchema: number, handler }),
        operation({
          name: "own",
          type: "query",
          inputSchema: number,
          route: { method: "GET", path: "/own/{n}" },
          handler,
        }),
      ]),
    )
    for (const path of [`/api/shop/read?n=${LARGE}`, `/own/${LARGE}`]) {
      expect(await (await api(path)).json(), path).toMatchObject({
        status: 400,
        detail: expect.stringContaining(`The integer ${LARGE}`),
      })
    }
    for (const id of ["shop.any", "shop.number"]) {
      const response = await api(`/operations/${id}`, post(`{"n":${LARGE}}`))
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: "VALIDATION_ERROR", detail: expect.stringContaining(`The integer ${LARGE}`) },
      ])
    }
    expect(given).toEqual([])
  })

  it("is accepted where a number keeps it, and as a text", async () => {
    await using api = apiOf(
      createRegistry([operation({ name: "any", handler: (input: unknown) => input })]),
    )
    const text = `{"n":9007199254740992,"m":12345678901234567000,"t":"${LARGE}","f":0.12345678901234567}`
    const response = await api("/operations/shop.any", post(text))
    expect(await response.json()).toMatchObject({ data: JSON.parse(text) as unknown })
  })

  it("of any length is refused without the time that its conversion would take", async () => {
    await using upstream = await serve((_, response) => void response.end())
    const operations = FromOpenAPI(document, { namespace: "api", baseUrl: upstream.url })
    await using api = apiOf(createRegistry(operations))
    const text = `{"id":${"9".repeat(500_000)}}`
    expect((await api("/operations/api.put", post(text))).status).toBe(400)
  })
})
