// Parameters of every style and place, as they arrive.
import { describe, expect, test } from "vitest"
import { prepareRequest } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { CallError } from "../../../src/index.ts"
import type { CredentialContext } from "../../../src/index.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, oneOperation, openapi, record, sent, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const COLORS = ["blue", "black", "brown"]
const RGB = { R: 100, G: 200, B: 150 }

function withParameters(path: string, parameters: readonly Raw[], more: Raw = {}): Raw {
  return oneOperation(path, "get", { parameters }, more)
}

function target(line: string): string {
  const [, path = ""] = line.split(" ")
  return path
}

/** The rows of the table "Style Examples" of OpenAPI 3.2: what `color` looks like. */
describe("a parameter arrives as the specification's table of styles has it", () => {
  test.each([
    ["matrix", false, "/;color=blue", "/;color=blue,black,brown", "/;color=R,100,G,200,B,150"],
    ["matrix", true, "/;color=blue", "/;color=blue;color=black;color=brown", "/;R=100;G=200;B=150"],
    ["label", false, "/.blue", "/.blue,black,brown", "/.R,100,G,200,B,150"],
    ["label", true, "/.blue", "/.blue.black.brown", "/.R=100.G=200.B=150"],
    ["simple", false, "/blue", "/blue,black,brown", "/R,100,G,200,B,150"],
    ["simple", true, "/blue", "/blue,black,brown", "/R=100,G=200,B=150"],
  ])("in the path: %s, explode %s", async (style, explode, text, list, object) => {
    const schema = {}
    const spec = withParameters("/{color}", [
      { name: "color", in: "path", required: true, style, explode, schema },
    ])

    expect(target((await sent(spec, { color: "blue" })).line)).toBe(text)
    expect(target((await sent(spec, { color: COLORS })).line)).toBe(list)
    expect(target((await sent(spec, { color: RGB })).line)).toBe(object)
  })

  test.each([
    ["form", false, "?color=blue,black,brown", "?color=R,100,G,200,B,150"],
    ["form", true, "?color=blue&color=black&color=brown", "?R=100&G=200&B=150"],
    ["spaceDelimited", false, "?color=blue%20black%20brown", "?color=R%20100%20G%20200%20B%20150"],
    ["pipeDelimited", false, "?color=blue%7Cblack%7Cbrown", "?color=R%7C100%7CG%7C200%7CB%7C150"],
    [
      "deepObject",
      true,
      "?color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown",
      "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
    ],
  ])("in the query: %s, explode %s", async (style, explode, list, object) => {
    const spec = withParameters("/c", [{ name: "color", in: "query", style, explode, schema: {} }])

    expect(target((await sent(spec, { color: "blue" })).line)).toBe("/c?color=blue")
    expect(target((await sent(spec, { color: "" })).line)).toBe("/c?color=")
    expect(target((await sent(spec, { color: COLORS })).line)).toBe(`/c${list}`)
    expect(target((await sent(spec, { color: RGB })).line)).toBe(`/c${object}`)
    expect(target((await sent(spec)).line)).toBe("/c")
  })

  test.each([
    [false, "blue,black,brown", "R,100,G,200,B,150"],
    [true, "blue,black,brown", "R=100,G=200,B=150"],
  ])("in a header: simple, explode %s", async (explode, list, object) => {
    const spec = withParameters("/c", [{ name: "X-Color", in: "header", explode, schema: {} }])

    expect((await sent(spec, { "X-Color": "blue; é" })).headers).toEqual({ "x-color": "blue; é" })
    expect((await sent(spec, { "X-Color": COLORS })).headers).toEqual({ "x-color": list })
    expect((await sent(spec, { "X-Color": RGB })).headers).toEqual({ "x-color": object })
    expect((await sent(spec)).headers).toEqual({})
  })

  test.each([
    ["form", false, "color=blue,black,brown", "color=R,100,G,200,B,150", "color=a%20b"],
    ["cookie", false, "color=blue,black,brown", "color=R,100,G,200,B,150", "color=a b"],
    ["cookie", true, "color=blue; color=black; color=brown", "R=100; G=200; B=150", "color=a b"],
  ])("in a cookie: %s, explode %s", async (style, explode, list, object, text) => {
    const parameters = [{ name: "color", in: "cookie", style, explode, schema: {} }]
    const spec = withParameters("/c", parameters, { openapi: "3.2.0" })

    expect((await sent(spec, { color: COLORS })).headers).toEqual({ cookie: list })
    expect((await sent(spec, { color: RGB })).headers).toEqual({ cookie: object })
    expect((await sent(spec, { color: "a b" })).headers).toEqual({ cookie: text })
  })
})

describe("a parameter of OpenAPI 3", () => {
  test("has the default style of its place", async () => {
    const spec = withParameters("/{p}", [
      { name: "p", in: "path", required: true, schema: { type: "array" } },
      { name: "q", in: "query", schema: { type: "array" } },
      { name: "X-H", in: "header", schema: { type: "array" } },
      { name: "c", in: "cookie", schema: { type: "string" } },
      { name: "d", in: "cookie", schema: { type: "string" } },
    ])
    const request = await sent(spec, { p: [1, 2], q: [1, 2], "X-H": [1, 2], c: "1", d: "2" })

    expect(request.line).toBe("GET /1,2?q=1&q=2 HTTP/1.1")
    expect(request.headers).toEqual({ "x-h": "1,2", cookie: "c=1; d=2" })
  })

  test("is written with nothing but unreserved characters, whatever it holds", async () => {
    const spec = withParameters("/{p}/x", [
      { name: "p", in: "path", required: true, schema: { type: "string" } },
      { name: "q", in: "query", schema: { type: "string" } },
    ])
    const text = `a/b?c#d%e f&g=h+i"<>é🐢!*'()~`
    const encoded = "a%2Fb%3Fc%23d%25e%20f%26g%3Dh%2Bi%22%3C%3E%C3%A9%F0%9F%90%A2%21%2A%27%28%29~"

    expect((await sent(spec, { p: text, q: text })).line).toBe(
      `GET /${encoded}/x?q=${encoded} HTTP/1.1`,
    )
  })

  test("keeps reserved characters where it says allowReserved, but none that ends it", async () => {
    const spec = withParameters(
      "/{p}",
      [
        { name: "p", in: "path", required: true, allowReserved: true, schema: {} },
        { name: "q", in: "query", allowReserved: true, schema: {} },
      ],
      { openapi: "3.2.0" },
    )

    expect((await sent(spec, { p: "a/b:c?d#e", q: "/a:b?c&d=e#f+g%20" })).line).toBe(
      "GET /a/b:c%3Fd%23e?q=/a:b?c%26d=e%23f%2Bg%20 HTTP/1.1",
    )
  })

  test("is JSON where it is described by content", async () => {
    const content = { "application/json": { schema: { type: "object" } } }
    const spec = withParameters("/c", [
      { name: "filter", in: "query", content },
      { name: "X-Filter", in: "header", content },
      { name: "plain", in: "query", content: { "text/plain": { schema: { type: "string" } } } },
    ])
    const request = await sent(spec, {
      filter: { a: [1, "é"] },
      "X-Filter": { a: "é" },
      plain: "a b",
    })

    expect(request.line).toBe(
      "GET /c?filter=%7B%22a%22%3A%5B1%2C%22%C3%A9%22%5D%7D&plain=a%20b HTTP/1.1",
    )
    expect(request.headers).toEqual({ "x-filter": String.raw`{"a":"\u00e9"}` })
  })

  test("may be the whole query in 3.2", async () => {
    const form = "application/x-www-form-urlencoded"
    const inForm = withParameters(
      "/c",
      [{ name: "q", in: "querystring", content: { [form]: { schema: { type: "object" } } } }],
      { openapi: "3.2.0" },
    )
    const inJson = withParameters(
      "/c",
      [{ name: "q", in: "querystring", content: { "application/json": { schema: {} } } }],
      { openapi: "3.2.0" },
    )

    expect((await sent(inForm, { q: { foo: "a + b", bar: true } })).line).toBe(
      "GET /c?foo=a+%2B+b&bar=true HTTP/1.1",
    )
    expect((await sent(inJson, { q: { numbers: [1, 2] } })).line).toBe(
      "GET /c?%7B%22numbers%22%3A%5B1%2C2%5D%7D HTTP/1.1",
    )
  })

  test.each([
    ["true", true, "?q=true"],
    ["a number", 1.5, "?q=1.5"],
    ["a large number", 9007199254740991, "?q=9007199254740991"],
    ["a big integer", 12345678901234567890n, "?q=12345678901234567890"],
    ["a date", new Date(0), "?q=1970-01-01T00%3A00%3A00.000Z"],
    ["null", null, ""],
    ["undefined", undefined, ""],
    ["an empty list", [], ""],
    ["an object in a list", [{ a: 1 }, "b"], "?q=%7B%22a%22%3A1%7D&q=b"],
  ])("with %s says so", async (_what, value, query) => {
    const spec = withParameters("/c", [{ name: "q", in: "query", schema: {} }])

    expect(target((await sent(spec, { q: value })).line)).toBe(`/c${query}`)
  })

  test("without a value is sent where it may be empty", async () => {
    const spec = withParameters("/c", [
      { name: "q", in: "query", allowEmptyValue: true, schema: { type: "array" } },
    ])

    expect(target((await sent(spec, { q: [] })).line)).toBe("/c?q=")
  })

  test("goes by any name", async () => {
    const names = [
      "a-b",
      "$top",
      "a.b",
      "a[b]",
      "a:b",
      "a<",
      "__proto__",
      "constructor",
      "toString",
    ]
    const spec = withParameters(
      "/c",
      names.map((name) => ({ name, in: "query", schema: { type: "integer" } })),
    )
    const input = JSON.parse(
      `{${names.map((name, index) => `${JSON.stringify(name)}: ${index}`).join()}}`,
    ) as Raw

    expect(target((await sent(spec, input)).line)).toBe(
      "/c?a-b=0&%24top=1&a.b=2&a%5Bb%5D=3&a%3Ab=4&a%3C=5&__proto__=6&constructor=7&toString=8",
    )
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })

  test("beyond what the specification says is written in brackets or as JSON", async () => {
    const spec = withParameters("/c", [
      { name: "deep", in: "query", style: "deepObject", schema: { type: "object" } },
      { name: "when", in: "query", style: "deepObject", schema: {} },
    ])

    expect(
      decodeURIComponent(
        target(
          (await sent(spec, { deep: { a: [{ b: 1 }, { b: [2] }], c: { d: "x" } }, when: 5 })).line,
        ),
      ),
    ).toBe("/c?deep[a][0][b]=1&deep[a][1][b][0]=2&deep[c][d]=x&when=5")
  })
})

describe("parameters of a path", () => {
  const spec = openapi({
    "/pets/{id}": {
      parameters: [
        { name: "id", in: "path", required: true, schema: { type: "string" } },
        { name: "limit", in: "query", schema: { type: "integer" } },
        { name: "X-Trace", in: "header", schema: { type: "string" } },
      ],
      get: {
        operationId: "op",
        // Another `limit`, and a `X-Trace` in another place: only the first is an override.
        parameters: [
          { name: "limit", in: "query", explode: false, schema: { type: "array" } },
          { name: "X-Trace", in: "query", schema: { type: "string" } },
        ],
        responses: { 200: { description: "" } },
      },
    },
  })

  test("hold for its operations, which may override them by name and place", async () => {
    const request = await sent(spec, {
      id: "7",
      limit: [1, 2],
      "X-Trace": "in query",
      "header_X-Trace": "in header",
    })

    expect(request.line).toBe("GET /pets/7?limit=1,2&X-Trace=in%20query HTTP/1.1")
    expect(request.headers).toEqual({ "x-trace": "in header" })
  })

  test("that share a name are told apart by where they go", () => {
    expect(importOne(spec)._meta?.["openapi"]).toEqual({
      method: "GET",
      path: "/pets/{id}",
      operationId: "op",
      inputs: [
        { key: "limit", in: "query", name: "limit" },
        { key: "X-Trace", in: "query", name: "X-Trace" },
        { key: "id", in: "path", name: "id" },
        { key: "header_X-Trace", in: "header", name: "X-Trace" },
      ],
    })
  })

  test("may have one name in every place, and beside a body", async () => {
    const everywhere = oneOperation("/{id}/{body}", "post", {
      parameters: ["path", "query", "header", "cookie"].flatMap((place) =>
        ["id", "body"].map((name) => ({ name, in: place, required: true, schema: {} })),
      ),
      requestBody: { content: { "application/json": { schema: { type: "object" } } } },
    })
    const request = await sent(everywhere, {
      id: "p",
      query_id: "q",
      header_id: "h",
      cookie_id: "c",
      body: { id: "b" },
      path_body: "P",
      query_body: "Q",
      header_body: "H",
      cookie_body: "C",
    })

    expect(request.line).toBe("POST /p/P?id=q&body=Q HTTP/1.1")
    expect(request.headers).toEqual({
      id: "h",
      body: "H",
      cookie: "id=c; body=C",
      "content-type": "application/json",
    })
    expect(request.body).toBe('{"id":"b"}')
  })

  test("of two names that differ in case are both there", async () => {
    const cased = withParameters("/c", [
      { name: "id", in: "query", schema: {} },
      { name: "ID", in: "query", schema: {} },
    ])

    expect(target((await sent(cased, { id: 1, ID: 2 })).line)).toBe("/c?id=1&ID=2")
  })
})

describe("headers that other parts of a document speak of", () => {
  const parameters = ["Accept", "Content-Type", "Authorization"].map((name) => ({
    name,
    in: "header",
    required: true,
    schema: { type: "string" },
    type: "string",
  }))

  test("are no parameters in OpenAPI 3", async () => {
    const spec = withParameters("/c", parameters)

    expect((await sent(spec)).headers).toEqual({})
    expect(importOne(spec).inputSchema).toMatchObject({ properties: {} })
  })

  test("are parameters in Swagger 2.0", async () => {
    const spec = swagger({ "/c": { get: { operationId: "op", parameters, responses: {} } } })
    const input = { Accept: "text/x", "Content-Type": "text/y", Authorization: "Key 1" }

    expect((await sent(spec, input)).headers).toEqual({
      accept: "text/x",
      "content-type": "text/y",
      authorization: "Key 1",
    })
  })

  test("a Content-Type of Swagger 2.0 names the body's type, also by its default", async () => {
    const spec = swagger({
      "/build": {
        post: {
          operationId: "op",
          consumes: ["application/octet-stream"],
          parameters: [
            { name: "inputStream", in: "body", schema: { type: "string", format: "binary" } },
            {
              name: "Content-type",
              in: "header",
              type: "string",
              enum: ["application/x-tar"],
              default: "application/x-tar",
            },
          ],
          responses: {},
        },
      },
    })
    const request = await sent(spec, { body: new Uint8Array([1, 2, 255]) })

    expect(request.headers).toEqual({ "content-type": "application/x-tar" })
    expect([...request.bytes]).toEqual([1, 2, 255])
  })
})

describe("lists of Swagger 2.0", () => {
  test.each([
    [undefined, "/a,b?q=a,b", "a,b"],
    ["csv", "/a,b?q=a,b", "a,b"],
    ["ssv", "/a%20b?q=a%20b", "a b"],
    ["tsv", "/a%09b?q=a%09b", "a\tb"],
    ["pipes", "/a%7Cb?q=a%7Cb", "a|b"],
  ])("collectionFormat %s", async (collectionFormat, expected, header) => {
    const list = { type: "array", items: { type: "string" }, collectionFormat }
    const spec = swagger({
      "/{p}": {
        get: {
          operationId: "op",
          parameters: [
            { name: "p", in: "path", required: true, ...list },
            { name: "q", in: "query", ...list },
            { name: "X-H", in: "header", ...list },
          ],
          responses: {},
        },
      },
    })
    const value = ["a", "b"]
    const request = await sent(spec, { p: value, q: value, "X-H": value })

    expect(target(request.line)).toBe(expected)
    expect(request.headers).toEqual({ "x-h": header })
  })

  test("collectionFormat multi repeats the name", async () => {
    const list = { type: "array", items: { type: "string" }, collectionFormat: "multi" }
    const spec = swagger({
      "/c": {
        get: {
          operationId: "op",
          parameters: [{ name: "q", in: "query", ...list }],
          responses: {},
        },
      },
    })

    expect(target((await sent(spec, { q: ["a", "b"] })).line)).toBe("/c?q=a&q=b")
  })
})

describe("what cannot be sent", () => {
  const spec = withParameters("/{p}", [
    { name: "p", in: "path", required: true, schema: {} },
    { name: "X-H", in: "header", schema: {} },
    { name: "c", in: "cookie", style: "cookie", schema: {} },
  ])

  test.each([
    ["a missing path value", {}],
    ["an empty path value", { p: "" }],
    ["a null path value", { p: null }],
    ["an empty list in the path", { p: [] }],
    ["a dot", { p: "." }],
    ["two dots", { p: ".." }],
    ["a line break in a header", { p: "a", "X-H": "a\r\nX-Evil: 1" }],
    ["a NUL in a header", { p: "a", "X-H": "a\0b" }],
    ["an emoji in a header", { p: "a", "X-H": "🐢" }],
    ["a second cookie", { p: "a", c: "x; admin=1" }],
    ["half a surrogate pair", { p: "\ud800" }],
    ["NaN", { p: Number.NaN }],
    ["a function", { p: () => 1 }],
    ["bytes", { p: new Uint8Array(1) }],
  ])("%s is refused, and nothing leaves", async (_what, input) => {
    await using server = await record()
    const registry = quietRegistry([importOne(spec, { baseUrl: server.url })])
    const error = await rejection(registry.execute("api.op", input))

    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ code: "VALIDATION_ERROR", operationId: "api.op" })
    expect(server.requests).toEqual([])
  })
  test("dots in percent are a name like any other: their percent signs are encoded", async () => {
    expect((await sent(spec, { p: "%2e%2e" })).line).toBe("GET /%252e%252e HTTP/1.1")
  })
})

/** A header that a user sets once, and what else an operation may need. */
describe("a required parameter that need not be given", () => {
  const header = (more: Raw = {}): Raw => ({
    name: "X-Version",
    in: "header",
    required: true,
    schema: { type: "string", ...more },
  })
  const components = { schemas: { Version: { type: "string", default: "v3" } } }

  test.each<[string, Raw, Raw]>([
    ["a header", header({ default: "v1" }), { "x-version": "v1" }],
    [
      "a header whose schema is elsewhere",
      { ...header(), schema: { $ref: "#/components/schemas/Version" } },
      { "x-version": "v3" },
    ],
    ["a cookie", { ...header({ default: "v1" }), name: "v", in: "cookie" }, { cookie: "v=v1" }],
  ])("is sent with its default: %s", async (_name, parameter, expected) => {
    const spec = withParameters("/x", [parameter], { components })
    const { required } = importOne(spec).inputSchema as { required?: readonly string[] }

    expect(required).toEqual([])
    expect((await sent(spec)).headers).toEqual(expected)
  })

  test("is sent with its default in a query, also of a list and in Swagger 2.0", async () => {
    const of = (name: string, schema: Raw): Raw => ({ name, in: "query", required: true, schema })
    const spec = withParameters("/x", [
      of("a", { type: "integer", default: 0 }),
      of("b", { type: "array", items: { type: "string" }, default: ["x", "y"] }),
      of("c", { type: "boolean", default: false }),
    ])
    const legacy = swagger({
      "/x": {
        get: {
          operationId: "op",
          parameters: [{ name: "v", in: "query", required: true, type: "string", default: "1" }],
          responses: {},
        },
      },
    })

    expect(target((await sent(spec)).line)).toBe("/x?a=0&b=x&b=y&c=false")
    expect(target((await sent(spec, { a: 2, c: undefined })).line)).toBe("/x?a=2&b=x&b=y&c=false")
    expect(target((await sent(legacy)).line)).toBe("/x?v=1")
  })

  test("stays required in a path, and where the default is none", () => {
    const spec = withParameters("/{id}", [
      { name: "id", in: "path", required: true, schema: { type: "string", default: "1" } },
      header({ default: null }),
    ])

    expect(importOne(spec).inputSchema).toMatchObject({ required: ["id", "X-Version"] })
  })

  test("leaves the defaults of optional ones to the server", async () => {
    const spec = withParameters("/x", [{ ...header({ default: "v1" }), required: false }])

    expect((await sent(spec)).headers).toEqual({})
  })

  test.each<[string, NonNullable<OpenAPIConfig["headers"]>]>([
    ["an object", { "x-VERSION": "v9" }],
    ["Headers", new Headers({ "X-Version": "v9" })],
    ["a function for one", { "X-Version": () => "v9" }],
    ["a function", () => ({ "x-version": "v9" })],
  ])("may come from the configured headers: %s", async (_name, headers) => {
    const spec = withParameters("/x", [header()])
    const { required } = importOne(spec, { headers }).inputSchema as { required?: unknown }

    expect(required).toEqual([])
    expect((await sent(spec, {}, { headers })).headers).toEqual({ "x-version": "v9" })
    expect((await sent(spec, { "X-Version": "v2" }, { headers })).headers).toEqual({
      "x-version": "v2",
    })
  })

  test("prefers the configuration to the default of the document", async () => {
    const spec = withParameters("/x", [header({ default: "v1" })])
    const headers = { "X-Version": "v9" }
    const operation = importOne(spec, { baseUrl: "https://api.test" })

    expect((await sent(spec, {}, { headers })).headers).toEqual({ "x-version": "v9" })
    expect((await prepareRequest(operation, {}, { headers })).headers).toEqual({
      "x-version": "v9",
    })
  })

  test("is asked for when the function of the configuration does not give it", async () => {
    await using server = await record()
    const spec = withParameters("/x", [header()])
    const headers = ({ identity }: CredentialContext): Record<string, string> =>
      identity === undefined ? {} : { "X-Version": identity.id }
    const registry = quietRegistry([importOne(spec, { baseUrl: server.url, headers })])
    const error = await rejection(registry.execute("api.op", {}))
    await registry.execute("api.op", {}, { identity: { id: "v7", scopes: [] } })

    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(error)).toContain('header parameter "X-Version" is required')
    expect(server.requests.map(({ headers: given }) => given)).toEqual([{ "x-version": "v7" }])
  })
})

describe("a declared default of Accept", () => {
  const accept = { name: "Accept", in: "header", required: true, schema: { type: "string" } }
  const responses = { 200: { description: "", content: { "application/json": { schema: {} } } } }
  const type = "application/vnd.api.v2+json"

  test.each<[string, Raw, Raw, Raw]>([
    ["is sent", { ...accept, schema: { type: "string", default: type } }, {}, { accept: type }],
    [
      "gives way to the configuration",
      { ...accept, schema: { default: type } },
      { headers: { Accept: "a/b" } },
      { accept: "a/b" },
    ],
    ["is what the document declares without one", accept, {}, { accept: "application/json" }],
  ])("%s", async (_name, parameter, config, expected) => {
    const spec = oneOperation("/x", "get", { parameters: [parameter], responses })

    expect((await sent(spec, {}, config)).headers).toEqual(expected)
  })

  test("may be overridden in Swagger 2.0, where it is an input", async () => {
    const parameter = {
      name: "Accept",
      in: "header",
      required: true,
      type: "string",
      default: type,
    }
    const operation = {
      operationId: "op",
      produces: ["application/json"],
      parameters: [parameter],
      responses: {},
    }
    const spec = swagger({ "/x": { get: operation } })

    expect((await sent(spec)).headers).toEqual({ accept: type })
    expect((await sent(spec, { Accept: "a/b" })).headers).toEqual({ accept: "a/b" })
  })
})

describe("values that JSON has no form for", () => {
  const of = (name: string, location: string, schema: Raw): Raw => ({
    name,
    in: location,
    required: location === "path",
    schema,
  })
  const day = { type: "string", format: "date" }
  const time = { type: "string", format: "date-time" }
  const long = { type: "integer", format: "int64", minimum: 0 }
  const at = new Date("2026-03-04T05:06:07.008Z")
  const big = 9_007_199_254_740_993n
  const spec = withParameters(
    "/{day}",
    [
      of("day", "path", { $ref: "#/components/schemas/Day" }),
      of("at", "query", time),
      of("days", "query", { type: "array", items: day }),
      of("id", "query", long),
      of("ids", "query", { type: "array", items: long }),
      of("range", "query", { type: "object", properties: { from: time, id: long } }),
      of("X-At", "header", { ...time, type: ["string", "null"] }),
      of("X-Id", "header", long),
    ],
    { components: { schemas: { Day: day } } },
  )

  test("are accepted for dates and integers, and written as those", async () => {
    const input = {
      day: at,
      at,
      days: [at, "2026-01-01"],
      id: big,
      ids: [1, big],
      range: { from: at, id: big },
      "X-At": at,
      "X-Id": big,
    }
    const { line, headers } = await sent(spec, input)
    const text = "2026-03-04T05%3A06%3A07.008Z"

    expect(target(line)).toBe(
      `/2026-03-04?at=${text}&days=2026-03-04&days=2026-01-01&id=${big}&ids=1&ids=${big}` +
        `&from=${text}&id=${big}`,
    )
    expect(headers).toEqual({ "x-at": at.toISOString(), "x-id": String(big) })
  })

  test("are checked like what they stand for", async () => {
    const registry = quietRegistry([importOne(spec, { baseUrl: "http://127.0.0.1:9" })])
    const faulty: Raw[] = [
      { day: 5n },
      { day: new Date(Number.NaN) },
      { day: at, id: at },
      { day: at, id: -1n },
      { day: at, at: [at] },
      { day: at, none: at },
      { day: new Map() },
    ]

    for (const input of faulty) {
      expect(await rejection(registry.execute("api.op", input))).toMatchObject({
        code: "VALIDATION_ERROR",
      })
    }
  })

  test("stay what they are when an operation is copied", async () => {
    await using server = await record()
    const operation = importOne(spec, { baseUrl: server.url })
    const registry = quietRegistry([{ ...operation, name: "copy" }])
    await registry.execute("api.copy", { day: at, id: big })

    expect(target(server.requests[0]?.line ?? "")).toBe(`/2026-03-04?id=${big}`)
  })

  test("may be integers in a body, which has its dates as text", async () => {
    const content = {
      "application/json": { schema: { type: "object", properties: { id: long, at: time } } },
    }
    const posting = oneOperation("/x", "post", { requestBody: { content } })
    const registry = quietRegistry([importOne(posting, { baseUrl: "http://127.0.0.1:9" })])

    expect((await sent(posting, { body: { id: big } })).body).toBe(`{"id":${big}}`)
    expect(await rejection(registry.execute("api.op", { body: { at } }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })
})
