// Functions in `auth`, `credentials` and `headers` see who calls, and no caller gets another's secret.
import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { FromOpenAPI, paginate, prepareRequest } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { CallError } from "../../../src/index.ts"
import type { CredentialContext, Identity } from "../../../src/index.ts"
import { collect } from "../../http-client/server.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import { importOne, openapi } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const JSON_OUT = { content: { "application/json": { schema: {} } }, description: "" }
const SSE_OUT = { content: { "text/event-stream": { schema: {} } }, description: "" }

const SPEC: Raw = openapi(
  {
    "/whoami": { get: { operationId: "whoami", responses: { 200: JSON_OUT } } },
    "/moved": { get: { operationId: "moved", responses: { 200: JSON_OUT } } },
    "/fails": { post: { operationId: "fails", responses: { 200: JSON_OUT } } },
    "/events": { get: { operationId: "events", responses: { 200: SSE_OUT } } },
    "/pages": {
      get: {
        operationId: "pages",
        parameters: [{ name: "page", in: "query", schema: { type: "integer" } }],
        responses: { 200: JSON_OUT },
      },
    },
  },
  {
    security: [{ login: [] }],
    components: {
      securitySchemes: {
        login: { type: "http", scheme: "bearer" },
        oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "/token" } } },
      },
    },
  },
)

const NAMES = Array.from({ length: 16 }, (_, at) => `user-${at}`)

function identityOf(id: string): Identity {
  return { id, scopes: [] }
}

/** A later turn for some than for others, without a clock. */
async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await Promise.resolve()
}

/** The secret of a caller, which is looked up in no particular order. */
async function tokenOf({ identity }: CredentialContext): Promise<string> {
  await turns(Number(identity?.id.split("-")[1] ?? 0) % 7)
  return `token-of-${identity?.id ?? "anonymous"}`
}

/** Answers with the token that it got, after having asked to come again, elsewhere or later. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://x")
  const who = request.headers.authorization ?? ""
  const tenant = request.headers["x-tenant"]
  const json = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify(value))
  }
  // Echoed as a list of characters: text that is a secret is masked.
  const said = { who: [...who], ...(tenant !== undefined && { tenant }) }
  if (pathname === "/moved") return json(307, {}, { location: "/whoami" })
  if (pathname === "/fails") return json(500, { said: `no, ${who}` })
  if (pathname === "/pages") {
    const page = Number(searchParams.get("page") ?? 1)
    const next: Record<string, string> =
      page < 3 ? { link: `</pages?page=${page + 1}>; rel="next"` } : {}
    return json(200, said, next)
  }
  if (pathname === "/events") {
    const last = Number(request.headers["last-event-id"] ?? 0)
    if (last >= 3) return void response.writeHead(204).end()
    response.writeHead(200, { "content-type": "text/event-stream" })
    // One event for each connection: the next one takes the caller's credential again.
    response.end(`retry: 1\nid: ${last + 1}\ndata: ${JSON.stringify(said)}\n\n`)
    return
  }
  json(200, said)
}

function whoIn(data: unknown): string {
  return (data as { who: string[] }).who.join("")
}

const RECONNECT = { maxAttempts: 5, delayMs: 1, maxDelayMs: 5 }

describe("a function that gives a secret", () => {
  test.each<[string, Partial<OpenAPIConfig>]>([
    ["auth", { auth: tokenOf }],
    ["auth.token", { auth: { type: "bearer", token: tokenOf } }],
    ["credentials", { credentials: { login: tokenOf } }],
    [
      "headers",
      { headers: async (context) => ({ Authorization: `Bearer ${await tokenOf(context)}` }) },
    ],
    [
      "one of headers",
      { headers: { Authorization: async (context) => `Bearer ${await tokenOf(context)}` } },
    ],
    [
      "Headers",
      {
        headers: async (context) =>
          new Headers({ authorization: `Bearer ${await tokenOf(context)}` }),
      },
    ],
  ])("as %s sends to each of many callers at once what is theirs", async (_name, config) => {
    await using api = await apiOf(SPEC, echo, { ...config, reconnect: RECONNECT })
    const { registry } = api

    await Promise.all(
      NAMES.map(async (id) => {
        const options = { identity: identityOf(id) }
        const mine = `Bearer token-of-${id}`
        const plain = await registry.execute("api.whoami", {}, options)
        const moved = await registry.execute("api.moved", {}, options)
        const pages = await collect(paginate(registry, "api.pages", {}, options))
        const events = await collect(registry.subscribe("api.events", {}, options))
        const failed = await rejection(registry.execute("api.fails", {}, options))

        expect([plain, moved, ...pages].map(({ data }) => whoIn(data))).toEqual(
          Array.from({ length: 5 }, () => mine),
        )
        expect(
          events.map(({ data }) => whoIn(typeof data === "string" ? JSON.parse(data) : data)),
        ).toEqual([mine, mine, mine])
        expect(JSON.stringify(failed)).not.toContain("token-of")
      }),
    )
    const anonymous = await registry.execute("api.whoami", {})
    expect(whoIn(anonymous.data)).toBe("Bearer token-of-anonymous")
  })

  test("receives the identity, the operation and a signal", async () => {
    const seen: CredentialContext[] = []
    await using api = await apiOf(SPEC, echo, {
      auth: (context) => {
        seen.push(context)
        return "t"
      },
      headers: {
        "X-Tenant": (context) => {
          seen.push(context)
          return context.identity?.id
        },
        "X-Fixed": "1",
      },
    })
    const identity: Identity & { readonly tenant: string } = { ...identityOf("ada"), tenant: "a" }
    const { data } = await api.registry.execute("api.whoami", {}, { identity })
    const anonymous = await api.registry.execute("api.whoami", {})

    expect(seen).toHaveLength(4)
    expect(seen[0]).toEqual({
      identity: { id: "ada", scopes: [], tenant: "a" },
      operationId: "api.whoami",
      signal: expect.any(AbortSignal) as unknown,
    })
    expect(seen[1]).toEqual(seen[0])
    expect(seen[2]?.identity).toBeUndefined()
    expect(data).toMatchObject({ tenant: "ada" })
    expect(anonymous.data).not.toHaveProperty("tenant")
    expect(api.server.headers[0]).toMatchObject({ "x-fixed": "1" })
  })

  test("keeps the caller in nested calls", async () => {
    await using api = await apiOf(SPEC, echo, { auth: tokenOf })
    api.registry.register({
      namespace: "app",
      name: "outer",
      type: "query",
      version: "1.0.0",
      description: "",
      inputSchema: {},
      outputSchema: {},
      accessControl: { requiredScopes: [] },
      handler: async (_input, context) => (await context.call("api.whoami", {})).data,
    })
    const all = await Promise.all(
      NAMES.map((id) => api.registry.execute("app.outer", {}, { identity: identityOf(id) })),
    )

    expect(all.map(({ data }) => whoIn(data))).toEqual(NAMES.map((id) => `Bearer token-of-${id}`))
  })

  test("tells a caller what to do with an error of its own, and hides any other", async () => {
    await using api = await apiOf(SPEC, echo, {
      auth: ({ identity }) => {
        if (identity === undefined) throw new CallError("UNAUTHENTICATED", "Sign in first.")
        throw new Error("canary-1")
      },
    })
    const anonymous = await rejection(api.registry.execute("api.whoami", {}))
    const known = await rejection(
      api.registry.execute("api.whoami", {}, { identity: identityOf("ada") }),
    )

    expect(anonymous).toMatchObject({ code: "UNAUTHENTICATED", message: "Sign in first." })
    expect(known).toMatchObject({ code: "UNAUTHENTICATED", mayHaveExecuted: false })
    expect(JSON.stringify(known)).not.toContain("canary-1")
    expect(api.server.requests).toEqual([])
  })

  test.each<[string, OpenAPIConfig["headers"]]>([
    ["fails", () => Promise.reject(new Error("canary-1"))],
    ["returns no text", () => ({ "X-Key": 7 }) as never],
    ["returns no headers", () => "canary-1" as never],
  ])("in headers that %s ends the call before it is sent", async (_name, headers) => {
    await using api = await apiOf(SPEC, echo, { headers })
    const error = await rejection(api.registry.execute("api.whoami", {}))

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" })
    expect(JSON.stringify(error)).not.toContain("canary-1")
    expect(api.server.requests).toEqual([])
  })

  test("is given up with its call", async () => {
    await using api = await apiOf(SPEC, echo, {
      headers: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")))
        }),
    })
    const controller = new AbortController()
    const calling = api.registry.execute("api.whoami", {}, { signal: controller.signal })
    controller.abort()

    expect(await rejection(calling)).toMatchObject({ code: "ABORTED" })
  })

  test("is called by prepareRequest with the identity of its options", async () => {
    const operation = importOne(SPEC, { auth: tokenOf, baseUrl: "https://api.test" }, "whoami")
    const identity = identityOf("ada")
    const own = await prepareRequest(operation, {}, { identity })
    const other = await prepareRequest(
      operation,
      {},
      { identity, headers: { "X-A": ({ identity: who }) => who?.id } },
    )

    expect(own.headers).toMatchObject({ authorization: "Bearer token-of-ada" })
    expect(other.headers).toMatchObject({ "x-a": "ada" })
  })

  test.each([{ headers: { "X-A": 7 } }, { headers: "a" }, { headers: 7 }])(
    "is told from what is none: %j",
    (config) => {
      expect(() => FromOpenAPI(SPEC, { namespace: "api", ...(config as object) })).toThrow(
        TypeError,
      )
    },
  )
})

describe("client credentials of callers", () => {
  /** Gives each client a token of its own; each one is revoked once. */
  function tokenServer(): { answer: typeof echo; fetched: Map<string, number> } {
    const fetched = new Map<string, number>()
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      const authorization = request.headers.authorization ?? ""
      const json = (status: number, value: unknown): void => {
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify(value))
      }
      if (request.url === "/token") {
        const pair = Buffer.from(authorization.replace("Basic ", ""), "base64").toString()
        const [client = ""] = pair.split(":")
        const count = (fetched.get(client) ?? 0) + 1
        fetched.set(client, count)
        return json(200, { access_token: `access.${client}.${count}`, expires_in: 3600 })
      }
      if (authorization.endsWith(".1")) return json(401, {})
      json(200, { who: [...authorization] })
    }
    return { answer, fetched }
  }

  test("are fetched once for each, kept, and renewed after a 401 for that caller only", async () => {
    const { answer, fetched } = tokenServer()
    const spec = { ...SPEC, security: [{ oauth: [] }] }
    await using api = await apiOf(spec, answer, {
      credentials: {
        oauth: {
          type: "clientCredentials",
          clientId: ({ identity }) => identity?.id ?? "nobody",
          clientSecret: async (context) => `secret-${await tokenOf(context)}`,
        },
      },
    })
    const calls = [...NAMES, ...NAMES, ...NAMES]
    const all = await Promise.all(
      calls.map((id) => api.registry.execute("api.whoami", {}, { identity: identityOf(id) })),
    )
    const again = await Promise.all(
      NAMES.map((id) => api.registry.execute("api.whoami", {}, { identity: identityOf(id) })),
    )

    const owner = (data: unknown): string => whoIn(data).replace(/^Bearer access\.|\.\d+$/g, "")
    expect(all.map(({ data }) => owner(data))).toEqual(calls)
    expect(again.map(({ data }) => owner(data))).toEqual(NAMES)
    expect(fetched).toEqual(new Map(NAMES.map((id) => [id, 2])))
  })
})

test("an import without functions asks nobody who calls", async () => {
  const [operation] = FromOpenAPI(SPEC, {
    namespace: "api",
    baseUrl: "http://127.0.0.1:9",
    auth: "t",
    headers: { "X-A": "1" },
    filter: ({ operationId }) => operationId === "whoami",
    fetch: async () => Response.json({}),
  })
  const context = {
    signal: new AbortController().signal,
    get identity(): never {
      throw new Error("read")
    },
  }
  const handler = operation?.handler as (input: unknown, context: unknown) => Promise<unknown>

  await expect(handler({}, context)).resolves.toMatchObject({ data: {} })
  await expect(quietRegistry([operation as never]).execute("api.whoami", {})).resolves.toBeDefined()
})
