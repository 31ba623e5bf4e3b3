import { describe, expect, test } from "vitest"
import { prepareRequest } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, oneOperation, openapi, record, sentTo, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }

async function refusal(spec: Raw, config: Partial<OpenAPIConfig>): Promise<unknown> {
  const registry = quietRegistry([importOne(spec, config)])
  return await rejection(registry.execute("api.op", {}))
}

describe("where requests go", () => {
  test("nowhere, until the user says so", async () => {
    const spec = oneOperation("/x", "get", {}, { servers: [{ url: "https://api.test" }] })
    const error = await refusal(spec, {})

    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(error)).toContain('`baseUrl`, or `servers: "document"`')
  })

  test("to the user's baseUrl, whatever servers the document names", async () => {
    await using server = await record()
    const spec = oneOperation("/x", "get", {}, { servers: [{ url: "http://169.254.169.254/v9" }] })

    expect((await sentTo(server, spec, {}, { baseUrl: new URL("/v1", server.url) })).line).toBe(
      "GET /v1/x HTTP/1.1",
    )
  })

  test("to the document's first server, if the user says so", async () => {
    await using server = await record()
    const servers = [{ url: `${server.url}/v2/` }, { url: "https://other.test" }]
    const spec = oneOperation("/x", "get", {}, { servers })
    const config = { servers: "document", allowedOrigins: [server.url] } as const

    expect((await sentTo(server, spec, {}, config)).line).toBe("GET /v2/x HTTP/1.1")
  })

  test("to a server with variables: the user's values, else the defaults", async () => {
    const spec = oneOperation(
      "/x",
      "get",
      {},
      {
        servers: [
          {
            url: "https://{region}.api.test/{version}",
            variables: {
              region: { default: "eu", enum: ["eu", "us"] },
              version: { default: "v1" },
            },
          },
        ],
      },
    )
    const url = async (serverVariables: Record<string, string>): Promise<string> =>
      (await prepareRequest(importOne(spec, { servers: "document", serverVariables }), {})).url

    expect(await url({})).toBe("https://eu.api.test/v1/x")
    expect(await url({ region: "us", version: "v2" })).toBe("https://us.api.test/v2/x")
    await expect(url({ region: "mars" })).rejects.toThrow('must be one of "eu", "us"')
  })

  test("to a relative server, from where the document came", async () => {
    await using server = await record()
    const spec = oneOperation("/x", "get", {}, { servers: [{ url: "../api" }] })
    const documentUrl = `${server.url}/docs/v1/openapi.json`

    expect((await sentTo(server, spec, {}, { servers: "document", documentUrl })).line).toBe(
      "GET /docs/api/x HTTP/1.1",
    )
    expect(await refusal(spec, { servers: "document" })).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(await refusal(spec, { servers: "document" }))).toContain("set `baseUrl`")
  })

  test("to the document's own place when it names no server", async () => {
    await using server = await record()
    const spec = oneOperation("/x", "get", {}, { servers: [] })
    const documentUrl = `${server.url}/docs/openapi.json`

    expect((await sentTo(server, spec, {}, { servers: "document", documentUrl })).line).toBe(
      "GET /x HTTP/1.1",
    )
  })

  test("to host and basePath of Swagger 2.0", async () => {
    await using server = await record()
    const spec = swagger(
      { "/x": { get: { operationId: "op", ...OK } } },
      { host: server.url.slice("http://".length), basePath: "/v2", schemes: ["http"] },
    )
    const config = { servers: "document", allowedOrigins: [server.url] } as const
    const secure = swagger(
      { "/x": { get: { operationId: "op", ...OK } } },
      { host: "api.test", basePath: "/v2", schemes: ["http", "wss", "https"] },
    )

    expect((await sentTo(server, spec, {}, config)).line).toBe("GET /v2/x HTTP/1.1")
    expect((await prepareRequest(importOne(secure, { servers: "document" }), {})).url).toBe(
      "https://api.test/v2/x",
    )
  })
})

describe("an operation with a server of its own", () => {
  test("goes there only if its origin is allowed; otherwise nothing is sent", async () => {
    await using root = await record()
    await using uploads = await record()
    const spec = openapi(
      {
        "/upload": {
          post: { operationId: "op", servers: [{ url: `${uploads.url}/files` }], ...OK },
        },
      },
      { servers: [{ url: "https://api.test" }] },
    )
    const config = { baseUrl: root.url, auth: "secret-token" }
    const error = await refusal(spec, config)

    expect(error).toMatchObject({ code: "EGRESS_BLOCKED", operationId: "api.op" })
    expect(String(error)).toContain(`add "${uploads.url}" to \`allowedOrigins\``)
    expect([root.requests, uploads.requests]).toEqual([[], []])
    expect(
      (await sentTo(uploads, spec, {}, { ...config, allowedOrigins: [uploads.url] })).line,
    ).toBe("POST /files/upload HTTP/1.1")
    expect(root.requests).toEqual([])
  })

  test("on the document's origin moves along with baseUrl", async () => {
    await using server = await record()
    const spec = openapi(
      {
        "/x": {
          servers: [{ url: "https://api.test/beta" }],
          get: { operationId: "op", ...OK },
          post: { operationId: "own", servers: [{ url: "/gamma" }], ...OK },
        },
      },
      { servers: [{ url: "https://api.test/v1" }] },
    )
    const config = { baseUrl: `${server.url}/proxy/v1` }

    expect((await sentTo(server, spec, {}, config)).line).toBe("GET /proxy/beta/x HTTP/1.1")
    expect((await sentTo(server, spec, {}, config, "own")).line).toBe(
      "POST /proxy/gamma/x HTTP/1.1",
    )
  })
})

describe("private addresses", () => {
  const privates = [
    "http://127.0.0.1",
    "http://2130706433",
    "http://0x7f.1",
    "http://0",
    "http://[::ffff:127.0.0.1]",
    "http://[64:ff9b::7f00:1]",
    "http://localhost",
    "http://169.254.169.254",
    "http://10.1.2.3",
    "http://metadata.google.internal",
  ]

  test.each(privates)("%s is not called because a document says so", async (url) => {
    const spec = oneOperation("/x", "get", {}, { servers: [{ url }] })

    expect(await refusal(spec, { servers: "document" })).toMatchObject({ code: "EGRESS_BLOCKED" })
  })

  test.each(privates)("%s is not called at all under blockPrivate", async (baseUrl) => {
    const spec = oneOperation("/x", "get", {})

    expect(await refusal(spec, { baseUrl, blockPrivate: true })).toMatchObject({
      code: "EGRESS_BLOCKED",
    })
  })
})

describe("what a user gives as baseUrl", () => {
  test.each([
    ["a relative address", "/v1"],
    ["without a scheme", "api.test/very-secret"],
    ["a host and a port without a scheme", "localhost:3000"],
    ["empty but for white space", " "],
    ["another scheme", "ftp://api.test"],
    ["a query", "https://api.test/?key=very-secret"],
    ["a password", "https://user:very-secret@api.test"],
  ])("may not be %s, which the import refuses", async (_what, baseUrl) => {
    const spec = oneOperation("/x", "get", {})
    const refuse = (run: () => unknown): void => {
      expect(run).toThrow(TypeError)
      expect(run).toThrow(/baseUrl (?:is|starts|has|contains)/)
      expect(run).not.toThrow("very-secret")
    }

    refuse(() => importOne(spec, { baseUrl }))
    const error = await rejection(prepareRequest(importOne(spec), {}, { baseUrl }))
    refuse(() => {
      throw error
    })
  })
})

describe("fixed headers", () => {
  test.each([
    ["one of them", { "x-a": undefined, "x-b": "b" }],
    ["a function beside it", { "x-a": undefined, "x-b": () => "b" }],
  ])("may not be undefined, as a variable that is not set: %s", (_what, headers) => {
    const spec = oneOperation("/x", "get", {})

    expect(() => importOne(spec, { headers: headers as never })).toThrow(
      "headers.x-a is required: a string",
    )
  })

  test("go with each request, under parameters and credentials", async () => {
    await using server = await record()
    const spec = oneOperation("/x", "get", {
      parameters: [{ name: "X-A", in: "header", schema: {} }],
    })
    const operation = importOne(spec, {
      baseUrl: server.url,
      headers: { "X-A": "fixed", Authorization: "fixed", "User-Agent": "mine" },
      auth: { type: "bearer", token: "t0ken" },
    })
    await quietRegistry([operation]).execute("api.op", { "X-A": "input" })

    expect(server.requests[0]?.headers).toEqual({ "x-a": "input", authorization: "Bearer t0ken" })
    expect(server.requests[0]?.rawHeaders).toContainEqual(["user-agent", "mine"])
  })
})
