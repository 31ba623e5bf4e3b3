import { describe, expect, test } from "vitest"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, openapi, record, reply, sent, sentTo, swagger } from "./recorder.ts"
import type { Raw, Recorded } from "./recorder.ts"

const SCHEMES: Raw = {
  key: { type: "apiKey", in: "header", name: "X-Key" },
  queryKey: { type: "apiKey", in: "query", name: "api key" },
  cookieKey: { type: "apiKey", in: "cookie", name: "session" },
  basic: { type: "http", scheme: "basic" },
  bearer: { type: "http", scheme: "Bearer" },
  digest: { type: "http", scheme: "hmac" },
  oauth: {
    type: "oauth2",
    flows: {
      clientCredentials: { tokenUrl: "/token", scopes: { "pets:read": "", "pets:write": "" } },
    },
  },
  oidc: { type: "openIdConnect", openIdConnectUrl: "https://login.test" },
  tls: { type: "mutualTLS" },
}

/** A document with one operation that has this `security`; none at all for `undefined`. */
function secured(security: unknown, root?: unknown): Raw {
  const ok = { responses: { 200: { description: "" } } }
  return openapi(
    { "/x": { get: { operationId: "op", ...(security !== undefined && { security }), ...ok } } },
    { components: { securitySchemes: SCHEMES }, ...(root !== undefined && { security: root }) },
  )
}

/** What of a request proves who is calling. */
function proof({ line, headers }: Recorded): Raw {
  const query = line.split(" ")[1]?.split("?")[1]
  return { ...headers, ...(query !== undefined && { query }) }
}

describe("a credential goes where its scheme says", () => {
  const basic = `Basic ${Buffer.from("ada:pa:ss").toString("base64")}`

  test.each<[string, OpenAPIConfig["auth"], Raw]>([
    ["key", "k1", { "x-key": "k1" }],
    ["queryKey", "k 1&", { query: "api%20key=k%201%26" }],
    ["cookieKey", "k1", { cookie: "session=k1" }],
    ["basic", { type: "basic", username: "ada", password: "pa:ss" }, { authorization: basic }],
    ["basic", { type: "basic", token: "ada:pa:ss" }, { authorization: basic }],
    ["basic", "ada:pa:ss", { authorization: basic }],
    ["bearer", "t1", { authorization: "Bearer t1" }],
    ["bearer", () => "t1", { authorization: "Bearer t1" }],
    ["bearer", async () => "t1", { authorization: "Bearer t1" }],
    ["bearer", { type: "bearer", token: "t1", prefix: "Bot " }, { authorization: "Bot t1" }],
    ["digest", "abc", { authorization: "hmac abc" }],
    ["oauth", "t1", { authorization: "Bearer t1" }],
    ["oidc", "t1", { authorization: "Bearer t1" }],
    ["tls", "t1", {}],
  ])("%s", async (scheme, credential, expected) => {
    const spec = secured([{ [scheme]: [] }])

    expect(proof(await sent(spec, {}, { auth: credential }))).toEqual(expected)
    expect(proof(await sent(spec, {}, { credentials: { [scheme]: credential ?? "" } }))).toEqual(
      expected,
    )
  })

  test("in Swagger 2.0 as well", async () => {
    const ok = { responses: {} }
    const spec = swagger(
      {
        "/x": { get: { operationId: "op", security: [{ basic: [] }], ...ok } },
        "/y": { get: { operationId: "keyed", security: [{ key: [] }], ...ok } },
      },
      {
        securityDefinitions: {
          basic: { type: "basic" },
          key: { type: "apiKey", in: "query", name: "key" },
        },
      },
    )
    const credentials = { basic: "a:b", key: "k" }

    expect(proof(await sent(spec, {}, { credentials }))).toEqual({ authorization: "Basic YTpi" })
    expect(proof(await sent(spec, {}, { credentials }, "keyed"))).toEqual({ query: "key=k" })
  })
})

describe("the operation's security decides", () => {
  const credentials = { key: "k1", bearer: "t1", cookieKey: "c1" }

  test.each<[string, unknown, unknown, Raw]>([
    [
      "the document's, where the operation says nothing",
      undefined,
      [{ key: [] }],
      { "x-key": "k1" },
    ],
    [
      "its own over the document's",
      [{ bearer: [] }],
      [{ key: [] }],
      { authorization: "Bearer t1" },
    ],
    ["none, where it says so", [], [{ key: [] }], {}],
    ["the first alternative that can be met", [{ basic: [] }, { key: [] }], [], { "x-key": "k1" }],
    [
      "all that are needed together",
      [{ key: [], bearer: [], cookieKey: [] }],
      [],
      { "x-key": "k1", authorization: "Bearer t1", cookie: "session=c1" },
    ],
    ["what is there, where none is needed", [{}, { key: [] }], [], { "x-key": "k1" }],
    ["nothing, where all is optional and nothing fits", [{}, { basic: [] }], [], {}],
  ])("%s", async (_what, security, root, expected) => {
    expect(proof(await sent(secured(security, root), {}, { credentials }))).toEqual(expected)
  })

  test("and a credential that is missing is named, before anything is sent", async () => {
    await using server = await record()
    const spec = secured([{ basic: [] }, { key: [], oauth: [] }])
    const operation = importOne(spec, { baseUrl: server.url, credentials: { bearer: "t1" } })
    const error = await rejection(quietRegistry([operation]).execute("api.op", {}))

    expect(error).toMatchObject({ code: "UNAUTHENTICATED", operationId: "api.op" })
    expect(String(error)).toContain('"basic"')
    expect(String(error)).toContain('"key" with "oauth"')
    expect(server.requests).toEqual([])
  })

  test("but where no operation says what it needs, one for everything goes as a scheme takes it", async () => {
    expect(proof(await sent(secured(undefined), {}, { auth: "t1" }))).toEqual({ "x-key": "t1" })
    expect(
      proof(await sent(secured(undefined), {}, { auth: { type: "apiKey", token: "k1" } })),
    ).toEqual({ "x-key": "k1" })
  })

  test("and no input can take its place", async () => {
    const spec = secured([{ key: [], queryKey: [], cookieKey: [] }]) as {
      paths: { "/x": { get: Raw } }
    }
    spec.paths["/x"].get["parameters"] = [
      { name: "x-key", in: "header", schema: {} },
      { name: "api key", in: "query", schema: {} },
      { name: "session", in: "cookie", schema: {} },
    ]
    const request = await sent(
      spec,
      { "x-key": "evil", "api key": "evil", session: "evil" },
      { credentials: { key: "k1", queryKey: "k2", cookieKey: "k3" } },
    )

    expect(proof(request)).toEqual({ "x-key": "k1", query: "api%20key=k2", cookie: "session=k3" })
  })
})

describe("client credentials", () => {
  const auth = { type: "clientCredentials", clientId: "id", clientSecret: "s3cret" } as const
  const token = (name: string): string =>
    reply(200, JSON.stringify({ access_token: name, expires_in: 3600 }))

  test("fetch one token for all calls, and the operation's scopes with it", async () => {
    await using server = await record(({ line }) =>
      line.includes("/token") ? token("tok") : reply(),
    )
    const operation = importOne(secured([{ oauth: ["pets:read"] }]), { baseUrl: server.url, auth })
    const registry = quietRegistry([operation])
    await Promise.all(Array.from({ length: 5 }, () => registry.execute("api.op", {})))
    const [asked, ...calls] = server.requests

    expect(asked).toMatchObject({
      line: "POST /token HTTP/1.1",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        authorization: `Basic ${Buffer.from("id:s3cret").toString("base64")}`,
      },
      body: "grant_type=client_credentials&scope=pets%3Aread",
    })
    expect(calls.map(({ headers }) => headers["authorization"])).toEqual(
      Array.from({ length: 5 }, () => "Bearer tok"),
    )
  })

  test("fetch another one when the first is refused, once", async () => {
    let count = 0
    await using server = await record(({ line, headers }) => {
      if (line.includes("/token")) return token(`tok${++count}`)
      return headers["authorization"] === "Bearer tok2" ? reply() : reply(401)
    })
    const operation = importOne(secured([{ oauth: [] }]), { baseUrl: server.url, auth })
    const registry = quietRegistry([operation])
    await registry.execute("api.op", {})
    await registry.execute("api.op", {})

    expect(server.requests.map(({ line }) => line.split(" ")[1])).toEqual([
      "/token",
      "/x",
      "/token",
      "/x",
      "/x",
    ])
  })

  test("that are refused for good end in one error", async () => {
    await using server = await record(({ line }) =>
      line.includes("/token") ? token("tok") : reply(401),
    )
    const operation = importOne(secured([{ oauth: [] }]), { baseUrl: server.url, auth })
    const error = await rejection(quietRegistry([operation]).execute("api.op", {}))

    expect(error).toMatchObject({ code: "EXECUTION_ERROR", details: { statusCode: 401 } })
    expect(server.requests.length).toBe(4)
  })

  test("are not shown to a token endpoint that only the document trusts", async () => {
    await using evil = await record(() => token("x"))
    await using server = await record()
    const spec = secured([{ oauth: [] }])
    ;(spec["components"] as Raw)["securitySchemes"] = {
      oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: `${evil.url}/token` } } },
    }
    const operation = importOne(spec, { baseUrl: server.url, auth })
    const error = await rejection(quietRegistry([operation]).execute("api.op", {}))
    const own = { ...auth, tokenUrl: `${evil.url}/token` }

    expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect([evil.requests, server.requests]).toEqual([[], []])
    // The user's own word is another matter.
    await quietRegistry([importOne(spec, { baseUrl: server.url, auth: own })]).execute("api.op", {})
    expect(evil.requests.length).toBe(1)
  })
})

describe("a credential stays at home", () => {
  test.each([301, 302, 303, 307, 308])("when %i leads to another origin", async (status) => {
    await using evil = await record()
    await using server = await record(() => reply(status, "", { location: `${evil.url}/x` }))
    const spec = secured([{ bearer: [], key: [] }])
    const credentials = { bearer: "t1", key: "k1" }
    const operation = importOne(spec, { baseUrl: server.url, credentials })
    const error = await rejection(quietRegistry([operation]).execute("api.op", {}))

    expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(evil.requests).toEqual([])
  })

  test("and goes along within its origin", async () => {
    await using server = await record(({ line }) =>
      line.includes("/x ") ? reply(307, "", { location: "/moved" }) : reply(200, '"there"'),
    )
    const operation = importOne(secured([{ bearer: [] }]), { baseUrl: server.url, auth: "t1" })
    const envelope = await quietRegistry([operation]).execute("api.op", {})

    expect(envelope.data).toBe("there")
    expect(server.requests[1]).toMatchObject({
      line: "GET /moved HTTP/1.1",
      headers: { authorization: "Bearer t1" },
    })
  })

  test("is asked for with each call, so that it can change", async () => {
    await using server = await record()
    let count = 0
    const auth = (): string => `t${++count}`
    const operation = importOne(secured([{ bearer: [] }]), { baseUrl: server.url, auth })
    const registry = quietRegistry([operation])
    await registry.execute("api.op", {})
    await registry.execute("api.op", {})

    expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer t1",
      "Bearer t2",
    ])
  })

  test("goes to an operation's own server where the user allowed that", async () => {
    await using server = await record()
    const spec = secured([{ bearer: [] }]) as { paths: { "/x": Raw } }
    spec.paths["/x"]["servers"] = [{ url: server.url }]
    const request = await sentTo(
      server,
      { ...spec, servers: [{ url: "https://api.test" }] },
      {},
      { baseUrl: "https://api.test", allowedOrigins: [server.url], auth: "t1" },
    )

    expect(request.headers).toEqual({ authorization: "Bearer t1" })
  })
})
