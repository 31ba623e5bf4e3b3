import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { resolveConfig } from "../src/config.ts"
import { createHub } from "../src/hub/create-hub.ts"
import { serveHub } from "../src/hub/serve-hub.ts"
import { createRegistry, FromOpenAPI } from "../src/index.ts"
import { prepareRequest } from "../src/from-openapi.ts"
import type { OpenAPIConfig } from "../src/from-openapi.ts"
import { toHTTP } from "../src/to-http.ts"
import { toMCP } from "../src/to-mcp.ts"

const registry = createRegistry([])
const document = {
  openapi: "3.1.0",
  info: { title: "API", version: "1" },
  paths: { "/ping": { get: { operationId: "ping", responses: { 200: { description: "ok" } } } } },
}
const api = (options: object): unknown => FromOpenAPI(document, { namespace: "api", ...options })

test.each<[string, () => unknown, string]>([
  [
    "text for a flag",
    () => api({ blockPrivate: "true" }),
    'blockPrivate must be true or false, got "true".',
  ],
  [
    "a word in capitals",
    () => api({ auth: { type: "Bearer", token: "x" } }),
    'auth.type must be "bearer", "apiKey", "basic" or "clientCredentials", got "Bearer". Did you mean "bearer"?',
  ],
  [
    "a token that is not set",
    () => api({ auth: { type: "bearer", token: undefined } }),
    "auth.token is required: a string that is not empty or a function, got undefined.",
  ],
  [
    "a named credential that is not set",
    () => api({ credentials: { key: undefined } }),
    "credentials.key is required",
  ],
  [
    "a user and a password that are not set",
    () => api({ auth: { type: "basic", username: undefined } }),
    "auth.username is required",
  ],
  [
    "a filter that is text",
    () => api({ filter: "pets" }),
    'filter must be a function, got "pets".',
  ],
  ["fetch that is none", () => api({ fetch: true }), "fetch must be a function, got true."],
  [
    "a content type in a list",
    () => api({ contentType: ["text/plain"] }),
    "contentType must be a string that is not empty, got an array.",
  ],
  [
    "credentials in a list",
    () => api({ credentials: [] }),
    "credentials must be an object, got an array.",
  ],
  [
    "a timeout in words",
    () => api({ timeout: "5s" }),
    'timeout must be a number of milliseconds above 0, or Infinity, got "5s".',
  ],
  ["a secret as a number", () => api({ auth: 12_345 }), "got a number."],
  [
    "a misspelt name",
    () => toMCP(registry, { expose: { exclud: [] } } as never),
    'toMCP(): expose.exclud is not an option (got an array). Did you mean "exclude"?',
  ],
  [
    "one host without a list",
    () => toHTTP(registry, { allowedHosts: "a.example" } as never),
    'toHTTP(): allowedHosts must be an array, got "a.example".',
  ],
  [
    "one proxy without a list",
    () => toHTTP(registry, { trustedProxies: "10.0.0.1" } as never),
    'toHTTP(): trustedProxies must be an array, got "10.0.0.1".',
  ],
  [
    "half a clock",
    () => createRegistry([], { clock: { now: Date.now } } as never),
    "createRegistry(): clock must be a clock with now(), setTimeout() and clearTimeout(), got an object.",
  ],
  ["null", () => toHTTP(registry, null as never), "toHTTP(): options must be an object, got null."],
])("%s is a TypeError", (_, construct, message) => {
  expect(construct).toThrow(TypeError)
  expect(construct).toThrow(message)
})

test("serveHub refuses an option that it does not have, and opens no port", async () => {
  await using hub = createHub(resolveConfig({ sources: {} }, { baseDir: "." }))

  await expect(serveHub(hub, { auth: {} } as never)).rejects.toThrow(
    "serveHub(): auth is not an option (got an object). Known options: port,",
  )
})

test("an OpenAPI import sends the headers of a Headers object", async () => {
  const [operation] = FromOpenAPI(document, {
    namespace: "api",
    baseUrl: "https://api.example",
    headers: new Headers({ "X-Team": "blue" }),
  })

  const { headers } = await prepareRequest(operation ?? {})
  const other = await prepareRequest(
    operation ?? {},
    {},
    { headers: new Headers({ "X-Team": "red" }) },
  )

  expect([headers["x-team"], other.headers["x-team"]]).toEqual(["blue", "red"])
})

test("an unset variable compiles as a token, and a call never runs without it", async () => {
  const server = createServer((_request, response) => response.end("{}"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const config: OpenAPIConfig = {
    namespace: "api",
    baseUrl: `http://127.0.0.1:${port}`,
    auth: { type: "bearer", token: process.env["OPERATIONS_TEST_UNSET"] },
  }

  expect(() => FromOpenAPI(document, config)).toThrow("FromOpenAPI(): auth.token is required")
  await new Promise((resolve) => server.close(resolve))
})
