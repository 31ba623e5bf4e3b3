import type { IncomingMessage, ServerResponse } from "node:http"
import { inspect } from "node:util"
import { describe, expect, test } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import type { Credential, Secret } from "../../../src/from-openapi.ts"
import type { Logger } from "../../../src/index.ts"
import { collect, deadUrl, serve, serveRaw } from "../../http-client/server.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { openapi } from "./recorder.ts"

/** Secrets that must be found nowhere; each in a spelling that no other text has. */
const CANARIES = {
  key: "canary-key-1f0e",
  queryKey: "canary/query+key 2d",
  cookieKey: "canary-cookie-3c",
  bearer: "canary.bearer.4b~5a",
  user: "ada",
  password: "canary:pass:69",
  clientSecret: "canary-client-78",
  accessToken: "canary-access-87",
}

const credentials: Record<string, Credential | Secret> = {
  key: CANARIES.key,
  queryKey: () => CANARIES.queryKey,
  cookieKey: async () => CANARIES.cookieKey,
  bearer: { type: "bearer", token: CANARIES.bearer },
  basic: { type: "basic", username: CANARIES.user, password: CANARIES.password },
  oauth: { type: "clientCredentials", clientId: "id", clientSecret: CANARIES.clientSecret },
}

const SCHEMES = {
  key: { type: "apiKey", in: "header", name: "X-Key" },
  queryKey: { type: "apiKey", in: "query", name: "key" },
  cookieKey: { type: "apiKey", in: "cookie", name: "session" },
  bearer: { type: "http", scheme: "bearer" },
  basic: { type: "http", scheme: "basic" },
  oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "/token", scopes: {} } } },
}

const NAMES = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[]
const KINDS = ["json", "text", "error", "stream", "redirect", "html"]

/** A document with one operation for each scheme whose server answers in this way. */
const specOf = (kind: string): object =>
  openapi(
    Object.fromEntries(
      NAMES.map((name) => [
        `/${kind}/${name}`,
        {
          get: {
            operationId: `${kind}_${name}`,
            security: [{ [name]: [] }],
            responses: {
              200: {
                description: "",
                content:
                  kind === "stream"
                    ? { "text/event-stream": { schema: {} } }
                    : { "application/json": { schema: { type: "array" } } },
              },
              default: { description: "", content: { "application/json": { schema: {} } } },
            },
          },
        },
      ]),
    ),
    { components: { securitySchemes: SCHEMES } },
  )

/** Every secret as it is, in percent, and in the base64 of basic authentication. */
const SPELLINGS = [
  ...Object.entries(CANARIES)
    .filter(([name]) => name !== "user")
    .flatMap(([, secret]) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams({ "": secret }).toString().slice(1),
    ]),
  Buffer.from(`${CANARIES.user}:${CANARIES.password}`).toString("base64"),
  Buffer.from(`id:${CANARIES.clientSecret}`).toString("base64"),
]

function expectClean(what: string, value: unknown): void {
  const texts = [
    inspect(value, { depth: 12, showHidden: true, getters: true, maxArrayLength: null }),
    String(value),
    JSON.stringify(value) ?? "",
  ]
  const found = [...SPELLINGS, "canary"].filter((one) => texts.some((text) => text.includes(one)))
  expect(found, what).toEqual([])
}

/** A server that gives back all that it is told, in every place it has. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const echoed = JSON.stringify([request.url, request.headers])
  const plain = decodeURIComponent(request.url ?? "")
  const kind = /^\/(\w+)/.exec(request.url ?? "")?.[1]
  const { authorization = "", cookie = "" } = request.headers
  const headers = {
    "x-echoed": `${authorization} ${cookie} ${String(request.headers["x-key"])}`,
    "x-url": plain,
    "set-cookie": `a=${authorization}`,
    link: `<http://x.test${request.url}>; rel="next"`,
  }
  switch (kind) {
    case "token":
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ access_token: CANARIES.accessToken, expires_in: 3600, echoed }))
      return
    case "json":
      response.writeHead(200, { ...headers, "content-type": "application/json" })
      response.end(JSON.stringify({ echoed, plain, [authorization]: authorization }))
      return
    case "text":
      response.writeHead(200, { ...headers, "content-type": "text/plain" })
      response.end(`${echoed} ${plain}`)
      return
    case "html":
      response.writeHead(200, { ...headers, "content-type": "application/json" })
      response.end(`<html>${echoed} ${plain}`)
      return
    case "stream":
      response.writeHead(200, { ...headers, "content-type": "text/event-stream" })
      response.end(`event: ${authorization}\nid: ${cookie}\ndata: ${echoed}\n\ndata: ${plain}\n\n`)
      return
    case "redirect":
      response.writeHead(302, {
        ...headers,
        location: `https://evil.test/${encodeURIComponent(authorization)}?${request.url}`,
      })
      response.end()
      return
    default:
      response.writeHead(401, `No ${authorization}`, {
        ...headers,
        "www-authenticate": `Bearer error="${authorization}"`,
        "content-type": "application/json",
      })
      response.end(JSON.stringify({ message: `wrong ${echoed} ${plain}` }))
  }
}

describe("a credential is in no spec, envelope, error or log", () => {
  test("of an import", async () => {
    const operations = FromOpenAPI(specOf("json"), {
      namespace: "api",
      credentials,
      baseUrl: "https://a.test",
    })
    const registry = quietRegistry(operations)

    expectClean("operations", operations)
    expectClean("report", operations.report)
    expectClean("list", registry.list())
    expectClean("spec", registry.getSpec("api.json_bearer"))
    expectClean("search", registry.search("json bearer"))
    // The request that would be sent is the one place.
    const request = await prepareRequest(operations[0] ?? {}, {})
    expect(request.headers).toMatchObject({ "x-key": CANARIES.key })
  })

  test.each(KINDS)("of a call whose server echoes it: %s", async (kind) => {
    await using server = await serve(echo)
    const log: unknown[] = []
    const keep = (...line: unknown[]): void => void log.push(line)
    const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep }
    const config = { namespace: "api", credentials, baseUrl: server.url }
    const registry = quietRegistry(FromOpenAPI(specOf(kind), config), { logger })
    for (const name of NAMES) {
      const id = `api.${kind}_${name}`
      const outcome: unknown =
        kind === "stream"
          ? await collect(registry.subscribe(id, {}))
          : kind === "error" || kind === "redirect"
            ? await rejection(registry.execute(id, {}))
            : await registry.execute(id, {})

      expectClean(id, outcome)
    }
    expectClean("log", log)
    // They did arrive.
    const echoed = JSON.stringify([server.requests, server.headers])
    for (const secret of [
      CANARIES.key,
      CANARIES.cookieKey,
      CANARIES.bearer,
      CANARIES.accessToken,
    ]) {
      expect(echoed).toContain(secret)
    }
  })

  test.each(["json", "text", "error", "html"])(
    "of a call whose credential is among the fixed headers: %s",
    async (kind) => {
      await using server = await serve(echo)
      const headers = { Authorization: `Token ${CANARIES.bearer}`, "X-Api-Key": CANARIES.key }
      const config = { namespace: "api", headers, baseUrl: server.url }
      const registry = quietRegistry(FromOpenAPI(specOf(kind), config))
      const call = registry.execute(`api.${kind}_bearer`, {})

      expectClean(kind, kind === "error" ? await rejection(call) : await call)
      expect(JSON.stringify(server.headers)).toContain(CANARIES.bearer)
    },
  )

  test("of a connection that fails", async () => {
    await using closing = await serveRaw((socket) => socket.destroy())
    await using odd = await serveRaw((socket) => socket.end("HTTP/9 what\r\n\r\n"))
    for (const baseUrl of [await deadUrl(), closing.url, odd.url, "http://no-such.invalid"]) {
      const config = { namespace: "api", credentials, baseUrl }
      const registry = quietRegistry(FromOpenAPI(specOf("json"), config))
      for (const name of NAMES) {
        expectClean(name, await rejection(registry.execute(`api.json_${name}`, {})))
      }
    }
  })

  test("of one that cannot be sent", async () => {
    const bad = Object.fromEntries(NAMES.map((name) => [name, `${CANARIES.key}\r\nX: 1`]))
    const thrown = Object.fromEntries(
      NAMES.map((name) => [
        name,
        () => {
          throw new Error(CANARIES.key)
        },
      ]),
    )
    for (const broken of [bad, thrown]) {
      const config = { namespace: "api", credentials: broken, baseUrl: "http://127.0.0.1:9" }
      const registry = quietRegistry(FromOpenAPI(specOf("json"), config))
      for (const name of NAMES.filter((one) => one !== "oauth")) {
        const error = await rejection(registry.execute(`api.json_${name}`, {}))

        expect(error).toMatchObject({ operationId: `api.json_${name}` })
        expectClean(name, error)
      }
    }
  })

  test("of a stream that is opened again with another one", async () => {
    let count = 0
    await using server = await serve((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const { authorization = "" } = request.headers
      const end = count < 2 ? "" : "data: [DONE]\n\n"
      response.end(`id: ${count}\ndata: ${authorization}\n\n${end}`)
    })
    const [operation] = FromOpenAPI(specOf("stream"), {
      namespace: "api",
      baseUrl: server.url,
      credentials: { bearer: () => `canary-token-${++count}` },
      reconnect: { maxAttempts: 3, delayMs: 1, maxDelayMs: 1 },
      filter: ({ operationId }) => operationId === "stream_bearer",
    })
    const items = await collect(
      quietRegistry(operation && [operation]).subscribe("api.stream_bearer", {}),
    )

    expect(items.map(({ data }) => data)).toEqual(["Bearer ***", "Bearer ***"])
    expectClean("items", items)
  })
})
