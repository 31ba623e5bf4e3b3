// Imported operations that are served again.
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import { apiOf as serverOf } from "../../sources/openapi/api.ts"
import { oneOperation } from "../../sources/openapi/recorder.ts"
import type { Raw } from "../../sources/openapi/recorder.ts"
import { createDocument } from "./create-document.ts"
import { wayBack } from "./openapi-back.ts"
import { apiOf, eventsOf, operation } from "./routes-support.ts"

const TEXT = { type: ["string", "null"] }
const LIST = { type: ["array", "null"], items: { type: "string" } }
const NUMBER = { type: ["integer", "null"] }

function listing(...parameters: readonly Raw[]): Raw {
  return oneOperation("/x", "get", {
    parameters,
    responses: {
      200: { description: "", content: { "application/json": { schema: { type: "object" } } } },
    },
  })
}

const query = (name: string, schema: Raw, more: Raw = {}): Raw => ({
  in: "query",
  name,
  schema,
  ...more,
})

describe("a query with parameters that may be null, served again", () => {
  test("is a GET with the same inputs", () => {
    const spec = listing(query("iterator", TEXT), query("types", LIST), query("limit", NUMBER))
    const [imported] = FromOpenAPI(spec, { namespace: "api" })
    const { document, pairs } = wayBack([imported as never])

    expect(Object.keys(document.paths["/api/api/op"] ?? {})).toEqual(["get"])
    expect(pairs.map(({ back }) => back.inputSchema)).toEqual([imported?.inputSchema])
  })

  test("reaches the API as before, and null leaves the parameter out", async () => {
    const spec = listing(query("iterator", TEXT), query("types", LIST), query("limit", NUMBER))
    await using server = await serverOf(spec, (request, response) => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ url: request.url }))
    })
    const { registry } = server
    await using api = apiOf(registry)
    const document = createDocument(registry, { title: "", version: "1.0.0", restPath: "/api" })
    const fetchThere: typeof fetch = async (input, init) => {
      const { pathname, search } = new URL(input as string)
      return await api(pathname + search, init)
    }
    const [again] = FromOpenAPI(document, {
      namespace: "api",
      baseUrl: "https://api.test",
      fetch: fetchThere,
    })
    const there = createRegistry([again as never])
    for (const [input, url] of [
      [
        { iterator: "a b", types: ["x", "y"], limit: 3 },
        "/x?iterator=a%20b&types=x&types=y&limit=3",
      ],
      [{ iterator: null, types: null, limit: null }, "/x"],
      [{ iterator: "null" }, "/x?iterator=null"],
      [{}, "/x"],
    ] as const) {
      expect((await there.execute("api.op", input)).data).toEqual({ url })
    }
  })

  test.each<[string, Raw]>([
    ["it is required", query("iterator", TEXT, { required: true })],
    ["it is part of a list", query("types", { type: "array", items: TEXT })],
  ])("is a POST if %s", (_what, parameter) => {
    const [imported] = FromOpenAPI(listing(parameter), { namespace: "api" })
    const { document } = wayBack([imported as never])

    expect(Object.keys(document.paths["/api/api/op"] ?? {})).toEqual(["post"])
  })

  test("is a POST if it is an operation of this registry, for which null is a value", () => {
    const inputSchema = Type.Object({ q: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
    const { document } = wayBack([operation({ inputSchema })])

    expect(Object.keys(document.paths["/api/shop/x"] ?? {})).toEqual(["post"])
  })
})

describe("a stream that changes something", () => {
  const stream = (readOnly: boolean | undefined, calls: string[] = []) =>
    operation({
      type: "subscription",
      ...(readOnly !== undefined && { annotations: { readOnly } }),
      inputSchema: Type.Object({ to: Type.Integer() }),
      handler: async function* ({ to }: { to: number }) {
        calls.push("ran")
        yield to
      },
    })

  test.each([
    [false, "post"],
    [true, "get"],
    [undefined, "get"],
  ] as const)("readOnly %s: is declared as %s", (readOnly, method) => {
    const { document, pairs } = wayBack([stream(readOnly)])

    expect(Object.keys(document.paths["/api/shop/x"] ?? {})).toEqual([method])
    expect(pairs[0]?.back.type).toBe("subscription")
  })

  test("runs by POST, and never by GET", async () => {
    const calls: string[] = []
    await using api = apiOf(createRegistry([stream(false, calls)]))
    const headers = { accept: "text/event-stream" }
    for (const path of ["/api/shop/x?to=3", "/operations/shop.x?input=%7B%22to%22%3A3%7D"]) {
      const response = await api(path, { headers })

      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
      expect(await response.json()).toMatchObject({ code: "INVALID_OPERATION_TYPE" })
    }
    expect(calls).toEqual([])
    for (const path of ["/api/shop/x", "/operations/shop.x"]) {
      const response = await api.post(path, { to: 3 }, headers)
      expect(response.status).toBe(200)
      expect(JSON.stringify(await eventsOf(response))).toContain("3")
    }
    expect(calls).toEqual(["ran", "ran"])
  })
})
