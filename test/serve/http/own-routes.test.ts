import fc from "fast-check"
import { Type } from "typebox"
import { afterEach, describe, expect, test, vi } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { CallError, fromCall, serveCalls } from "../../../src/index.ts"
import type { AnyOperation, OperationRegistry, RestRoute } from "../../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../../src/testing.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { FileStream } from "../../../src/type.ts"
import { quietRegistry } from "../../support/operations.ts"
import { faultsOf } from "./openapi-back.ts"
import { ANN, apiOf, eventsOf, operation, type Api } from "./routes-support.ts"

const id = Type.Integer()
const echo = (input: unknown): unknown => ({ got: input })

function at(
  method: RestRoute["method"],
  path: string,
  name: string,
  more: Partial<AnyOperation> & { readonly status?: number; readonly handler?: unknown } = {},
): AnyOperation {
  const { status, ...fields } = more
  return operation({
    namespace: "user",
    name,
    type: method === "GET" ? "query" : "mutation",
    inputSchema: Type.Object({ id, name: Type.Optional(Type.String()) }),
    handler: echo,
    route: { method, path, ...(status !== undefined && { status }) },
    ...fields,
  })
}

const list = Type.Object({
  page: Type.Optional(Type.Integer()),
  tags: Type.Optional(Type.Array(Type.String())),
})
const USERS: readonly AnyOperation[] = [
  at("GET", "/users", "list", { inputSchema: list }),
  at("POST", "/users", "create", {
    inputSchema: Type.Object({ name: Type.String() }),
    status: 201,
  }),
  at("GET", "/users/me", "me", { inputSchema: Type.Object({}) }),
  at("GET", "/users/{id}", "get"),
  at("PUT", "/users/{id}", "update"),
  at("PATCH", "/users/{id}", "patch"),
  at("DELETE", "/users/{id}", "remove", { outputSchema: Type.Void(), handler: () => undefined }),
  at("GET", "/users/{id}/posts", "posts"),
  at("GET", "/users/me/posts/{name}", "own-post", {
    inputSchema: Type.Object({ name: Type.String() }),
  }),
  at("GET", "/texts/{name}", "text", { inputSchema: Type.Object({ name: Type.String() }) }),
]

const opened: Api[] = []
function serve(
  operations: readonly AnyOperation[] = USERS,
  options?: Parameters<typeof apiOf>[1],
): Api {
  const api = apiOf(quietRegistry(operations), options)
  opened.push(api)
  return api
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((api) => api[Symbol.asyncDispose]()))
})

function send(api: Api, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" }
  return api(path, { method, ...(body !== undefined && { headers, body: JSON.stringify(body) }) })
}

describe("own routes", () => {
  test.each([
    ["GET", "/users", undefined, 200, {}],
    ["GET", "/users?page=2&tags=a&tags=b", undefined, 200, { page: 2, tags: ["a", "b"] }],
    ["POST", "/users", { name: "Ada" }, 201, { name: "Ada" }],
    ["GET", "/users/7", undefined, 200, { id: 7 }],
    ["GET", "/users/7?name=Ada%20L", undefined, 200, { id: 7, name: "Ada L" }],
    ["GET", "/users/7?id=7", undefined, 200, { id: 7 }],
    ["PUT", "/users/7", { name: "Ada" }, 200, { id: 7, name: "Ada" }],
    ["PUT", "/users/7", { id: 7 }, 200, { id: 7 }],
    ["PATCH", "/users/7", undefined, 200, { id: 7 }],
    ["GET", "/users/me", undefined, 200, {}],
    ["GET", "/users/7/posts", undefined, 200, { id: 7 }],
    ["GET", "/users/me/posts/first", undefined, 200, { name: "first" }],
    ["GET", "/texts/7", undefined, 200, { name: "7" }],
    ["GET", "/texts/%C3%BCber%20%2B+", undefined, 200, { name: "über ++" }],
    ["GET", "/texts/__proto__", undefined, 200, { name: "__proto__" }],
    ["GET", "/api/user/get?id=7", undefined, 200, { id: 7 }],
    ["POST", "/api/user/create", { name: "Ada" }, 200, { name: "Ada" }],
  ])("%s %s with %j answers %i", async (method, path, body, status, got) => {
    const response = await send(serve(), method, path, body)
    expect([response.status, await response.json()]).toEqual([status, { got }])
  })

  test.each([
    ["PUT", "/users/me", undefined, 400, /\/id/],
    ["GET", "/users/x", undefined, 400, /\/id/],
    ["GET", "/users/7?id=8", undefined, 400, /"id" is in the path. Leave it out of the query/],
    ["GET", "/users/7?id=7&id=8", undefined, 400, /in the path/],
    ["PUT", "/users/7", { id: 8 }, 400, /"id" is in the path. Leave it out of the body/],
    ["PUT", "/users/7", { id: "7" }, 400, /in the path/],
    ["PUT", "/users/7", [1], 400, /must be a JSON object/],
    ["PUT", "/users/7", null, 400, /must be a JSON object/],
    ["DELETE", "/users/7", { name: "Ada" }, 400, /Send no body/],
    ["GET", "/users/%zz", undefined, 404, /Nothing is served/],
    ["GET", "/users/a%2Fb", undefined, 400, /\/id/],
    ["GET", "/users/", undefined, 404, /but "\/users" is, without a slash at its end/],
    ["PUT", "/users/7/", undefined, 404, /but "\/users\/7" is, without a slash at its end/],
    ["GET", "/Users/7", undefined, 404, /Nothing is served/],
    ["GET", "/users/7/posts/8/9", undefined, 404, /Nothing is served/],
  ])("%s %s with %j is refused with %i", async (method, path, body, status, detail) => {
    const response = await send(serve(), method, path, body)
    expect(response.status).toBe(status)
    expect(((await response.json()) as { detail: string }).detail).toMatch(detail)
  })

  test("take any text in their paths, also from an imported document", async () => {
    const api = serve()
    const fetchApi: typeof fetch = async (input, init) => {
      const { pathname, search } = new URL(new Request(input, init).url)
      return await api(pathname + search, init)
    }
    const document = await (await api("/openapi.json")).text()
    const options = { namespace: "back", baseUrl: "http://api.test", fetch: fetchApi }
    const back = quietRegistry(FromOpenAPI(document, options))
    const text = `back.${back.list().find(({ name }) => name.includes("text"))?.name}`
    // URLs have no segments of dots alone.
    const names = fc.string({ unit: "grapheme", minLength: 1 }).filter((one) => !/^\.+$/.test(one))
    const slashes = fc.constantFrom("a/b", "/", "..\\..", "../users", "a%2Fb", "\n", "a?b#c")
    await fc.assert(
      fc.asyncProperty(fc.oneof(slashes, names), async (name) => {
        const response = await fetchApi(`http://api.test/texts/${encodeURIComponent(name)}`)
        expect(await response.json()).toEqual({ got: { name } })
        expect((await back.execute(text, { name })).data).toEqual({ got: { name } })
      }),
    )
  })

  test("answer other methods with 405, and HEAD like GET", async () => {
    const api = serve()
    for (const [method, path, allow] of [
      ["POST", "/users/7", "GET, PUT, PATCH, DELETE, HEAD"],
      ["DELETE", "/users", "GET, POST, HEAD"],
      ["POST", "/users/me", "GET, PUT, PATCH, DELETE, HEAD"],
      ["OPTIONS", "/texts/x", "GET, HEAD"],
    ] as const) {
      const response = await send(api, method, path)
      expect([response.status, response.headers.get("allow")], path).toEqual([405, allow])
    }
    const head = await api("/users/7", { method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
    expect((await send(api, "DELETE", "/users/7")).status).toBe(204)
  })

  test("answer statuses that fit the result", async () => {
    const gone = { outputSchema: Type.Void(), handler: () => undefined }
    const api = serve([
      at("POST", "/none", "none", { ...gone, inputSchema: {}, status: 202 }),
      at("DELETE", "/empty", "empty", {
        ...gone,
        inputSchema: {},
        status: 204,
        handler: () => "more",
      }),
      at("POST", "/bad", "bad", {
        inputSchema: {},
        status: 201,
        handler: () => {
          throw new CallError("CONFLICT", "Exists")
        },
      }),
    ])
    const answers = await Promise.all([send(api, "POST", "/none"), send(api, "DELETE", "/empty")])
    expect(await Promise.all(answers.map(async (one) => [one.status, await one.text()]))).toEqual([
      [202, ""],
      [204, ""],
    ])
    expect((await send(api, "POST", "/bad")).status).toBe(409)
    const web = toHTTP(
      quietRegistry([
        at("POST", "/none", "none", { ...gone, inputSchema: {}, status: 204, handler: () => 1 }),
      ]),
    )
    const request = new Request("http://localhost/none", { method: "POST" })
    expect((await web.fetch(request)).status).toBe(204)
  })

  test("take inputs that are no objects, and files", async () => {
    const api = serve([
      at("GET", "/twice", "twice", { inputSchema: Type.Integer() }),
      at("PUT", "/users/{id}/photo", "photo", {
        inputSchema: Type.Object({ id, photo: FileStream(), name: Type.Optional(Type.String()) }),
        handler: async (input: { id: number; name?: string; photo: Blob }) => [
          input.id,
          input.name,
          await input.photo.text(),
        ],
      }),
    ])
    expect(await (await api("/twice?input=4")).json()).toEqual({ got: 4 })
    const raw = await api("/users/7/photo?name=me", {
      method: "PUT",
      headers: { "content-type": "image/png" },
      body: "bytes",
    })
    expect(await raw.json()).toEqual([7, "me", "bytes"])
    const form = new FormData()
    form.append("name", "you")
    form.append("photo", new Blob(["more"]), "a.png")
    expect(await (await api("/users/8/photo", { method: "PUT", body: form })).json()).toEqual([
      8,
      "you",
      "more",
    ])
    const text = { method: "PUT", headers: { "content-type": "text/plain" }, body: "x" }
    const other = serve()
    expect((await other("/users/7", text)).status).toBe(415)
    expect((await other("/users/7", { ...text, method: "DELETE" })).status).toBe(415)
  })

  test("stream subscriptions", async () => {
    const route = {
      type: "subscription",
      inputSchema: Type.Object({ to: Type.Integer() }),
    } as const
    const handler = async function* ({ to }: { to: number }): AsyncGenerator<number> {
      for (let n = 1; n <= to; n++) yield n
    }
    const api = serve([at("GET", "/ticks/{to}", "ticks", { ...route, handler })])
    const events = await eventsOf(await api("/ticks/2"))
    expect(events.map(({ data }) => data)).toEqual([1, 2, {}])
    expect((await api("/ticks/2", { headers: { accept: "application/json" } })).status).toBe(406)
  })

  test("are checked like the default path, and hidden ones do not exist", async () => {
    const api = serve(
      [
        at("GET", "/secret", "secret", {
          accessControl: { requiredScopes: ["admin"] },
          inputSchema: {},
        }),
        at("GET", "/inner", "inner", { visibility: "internal", inputSchema: {} }),
        at("GET", "/left-out", "hidden", { inputSchema: {} }),
        at("PUT", "/shared", "shared", { inputSchema: {} }),
        at("GET", "/shared", "hidden2", { inputSchema: {} }),
      ],
      { expose: { exclude: ["user.hidden", "user.hidden2"] } },
    )
    const unknown = (await (await api("/unknown")).json()) as object
    for (const path of ["/inner", "/left-out"]) {
      const response = await api(path)
      const known = (await response.json()) as object
      expect([response.status, known]).toMatchObject([
        404,
        { ...unknown, requestId: expect.anything() as string },
      ])
    }
    expect((await api("/shared")).headers.get("allow")).toBe("PUT")
    expect((await api("/secret")).status).toBe(403)
    expect((await api("/secret", {}, ANN)).status).toBe(200)
  })

  test("have the headers of deprecated operations, with links to default paths", async () => {
    const old = { deprecation: { since: "2026-01-01", replacedBy: "user.get" } }
    for (const [rest, link] of [
      [true, "<../../api/user/get>"],
      [{ path: "/" }, "<../../user/get>"],
    ] as const) {
      const api = serve([...USERS, at("GET", "/old/{id}/users", "old", old)], { rest })
      const { headers } = await api("/old/7/users")
      expect(headers.get("link")).toBe(`${link}; rel="successor-version"`)
      expect(headers.get("deprecation")).toBe("@1767225600")
      const [, to = ""] = /<(.*)>/.exec(headers.get("link") ?? "") ?? []
      expect(new URL(to, "http://a/v1/old/7/users").pathname).toBe(
        rest === true ? "/v1/api/user/get" : "/v1/user/get",
      )
    }
  })

  test("are below the base path, beside default paths that are elsewhere or at the root", async () => {
    const based = serve(USERS, { basePath: "/v1" })
    expect((await based("/v1/users/7")).status).toBe(200)
    expect((await based("/users/7")).status).toBe(404)
    const atRoot = serve(
      [
        ...USERS,
        at("GET", "/{name}", "slug", { inputSchema: Type.Object({ name: Type.String() }) }),
      ],
      { rest: { path: "/" } },
    )
    expect(await (await atRoot("/users/7")).json()).toEqual({ got: { id: 7 } })
    expect(await (await atRoot("/user/get?id=7")).json()).toEqual({ got: { id: 7 } })
    expect(await (await atRoot("/anything")).json()).toEqual({ got: { name: "anything" } })
    expect(await (await atRoot("/operations")).json()).toHaveProperty("operations")
    expect((await atRoot("/livez")).status).toBe(200)
    expect((await serve(USERS, { rest: false })("/users/7")).status).toBe(404)
  })

  test.each([
    ["/operations/{id}", {}, '"/operations"'],
    ["/batch", {}, '"/batch"'],
    ["/openapi.json", {}, '"/openapi.json"'],
    ["/livez", {}, '"/livez"'],
    ["/healthz", {}, '"/healthz"'],
    ["/ws", {}, '"/ws"'],
    ["/api/users/{id}", {}, '"/api"'],
    ["/api", {}, '"/api"'],
    ["/rpc/users", { rest: { path: "/rpc" } }, '"/rpc"'],
    ["/mcp/{id}", { mounts: { "/mcp": () => ({ status: 200, headers: {} }) } }, '"/mcp"'],
    [
      "/mcp/{id}",
      { basePath: "/v1", mounts: { "/v1/mcp": () => ({ status: 200, headers: {} }) } },
      '"/mcp"',
    ],
  ])("cannot be among the server's own paths: %s with %j", (path, options, taken) => {
    const registry = quietRegistry([at("GET", path, "x")])
    expect(() => toHTTP(registry, options)).toThrow(
      new TypeError(
        `toHTTP(): the route GET ${path} of "user.x" is among the server's own paths. Choose one that does not begin with ${taken}.`,
      ),
    )
    expect(() => toHTTP(registry, { ...options, rest: false })).not.toThrow()
    expect(() => toHTTP(registry, { ...options, expose: { exclude: ["user.x"] } })).not.toThrow()
  })

  test("may have names that other options free", () => {
    const of = (path: string): OperationRegistry => quietRegistry([at("GET", path, "x")])
    expect(() => {
      toHTTP(of("/operations/{id}"), { gateway: false })
      toHTTP(of("/api/users/{id}"), { rest: { path: "/rpc" } })
      toHTTP(of("/apis/{id}"))
      toHTTP(of("/assets/{id}"))
    }).not.toThrow()
  })

  test("follow the registry while the server runs", async () => {
    const registry = quietRegistry([at("GET", "/a/{id}", "a")])
    const error = vi.fn()
    await using api = apiOf(registry, { logger: { ...silentLogger, error } })
    const statuses = async (): Promise<number[]> =>
      await Promise.all(["/a/1", "/b/1", "/c/1"].map(async (path) => (await api(path)).status))
    expect(await statuses()).toEqual([200, 404, 404])
    registry.registerAll([at("GET", "/b/{id}", "b")])
    expect(await statuses()).toEqual([200, 200, 404])
    registry.registerAll([at("GET", "/c/{id}", "a")], { replace: true })
    expect(await statuses()).toEqual([404, 200, 200])
    registry.registerAll([at("GET", "/a/{id}", "a", { route: undefined })], { replace: true })
    registry.unregister("user.b")
    expect(await statuses()).toEqual([404, 404, 404])
    expect((await api("/api/user/a?id=1")).status).toBe(200)
    expect(error).not.toHaveBeenCalled()
    registry.registerAll([at("GET", "/operations/{id}", "late")])
    expect(error).toHaveBeenCalledWith(expect.stringContaining('of "user.late" is among'))
    expect((await api("/operations/user.late")).status).toBe(200)
    const document = (await (await api("/openapi.json")).json()) as { paths: object }
    expect(Object.keys(document.paths)).toEqual(["/api/user/a", "/api/user/late"])
  })

  test("of a peer are not served, unless the program says so", async () => {
    const [near, far] = createMemoryTransports()
    await using _server = serveCalls(quietRegistry(USERS), { transport: far })
    const imported = await fromCall(near)
    const gateway = quietRegistry(imported)
    await using api = apiOf(gateway)
    expect(gateway.getSpec("user.get")?.route).toBeUndefined()
    expect((await api("/users/7")).status).toBe(404)
    const own = imported.find(({ name }) => name === "get") as AnyOperation
    gateway.registerAll([{ ...own, route: { method: "GET", path: "/users/{id}" } }], {
      replace: true,
    })
    expect(await (await api("/users/7")).json()).toEqual({ got: { id: 7 } })
    await imported.close()
  })
})

describe("the OpenAPI document", () => {
  test("has own routes in place of default paths, and is valid", async () => {
    const api = serve(USERS, { basePath: "/v1" })
    const document = (await (await api("/v1/openapi.json")).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>
    }
    expect(await faultsOf(document)).toBeUndefined()
    expect(
      Object.entries(document.paths).map(([path, item]) => `${Object.keys(item).join()} ${path}`),
    ).toEqual([
      "post,get /v1/users",
      "get,patch,delete,put /v1/users/{id}",
      "get /v1/users/me",
      "get /v1/users/me/posts/{name}",
      "get /v1/users/{id}/posts",
      "get /v1/texts/{name}",
    ])
    const { put } = document.paths["/v1/users/{id}"] ?? {}
    expect(put).toMatchObject({
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      requestBody: {
        content: {
          "application/json": {
            schema: { properties: { name: { type: "string" } }, required: [] },
          },
        },
      },
    })
    expect(document.paths["/v1/users"]?.["post"]?.["responses"]).toHaveProperty("201")
  })

  test("of own routes is read back, and its operations can be called", async () => {
    const registry = quietRegistry([
      ...USERS,
      at("POST", "/users/{id}/notes", "note", {
        inputSchema: Type.Object({ id, text: Type.String(), tags: Type.Array(Type.String()) }),
        examples: [{ id: 7, text: "a", tags: [] }],
        status: 201,
      }),
      at("GET", "/find/{id}", "find", {
        inputSchema: Type.Object({
          id,
          by: Type.Union([Type.Null(), Type.String()]),
          at: Type.Object({ x: id }),
        }),
      }),
      at("DELETE", "/things", "clear", { inputSchema: Type.Union([Type.String(), Type.Null()]) }),
      at("PATCH", "/deep/{id}", "deep", {
        inputSchema: Type.Intersect([Type.Object({ id }), Type.Object({ name: Type.String() })]),
      }),
    ])
    await using api = apiOf(registry)
    const text = await (await api("/openapi.json")).text()
    expect(await faultsOf(JSON.parse(text) as object)).toBeUndefined()
    const imported = FromOpenAPI(text, {
      namespace: "back",
      baseUrl: "http://api.test",
      fetch: async (input, init) => {
        const request = new Request(input, init)
        const { pathname, search } = new URL(request.url)
        const { method, headers } = request
        const body = method === "GET" || method === "DELETE" ? null : await request.text()
        return await api(pathname + search, { method, headers, ...(body && { body }) })
      },
    })
    expect(imported).toHaveLength(14)
    const back = quietRegistry(imported)
    const named = new Map(
      imported.map((one) => [
        String((one._meta?.["openapi"] as { operationId?: string } | undefined)?.operationId),
        `${one.namespace}.${one.name}`,
      ]),
    )
    const call = async (name: string, input: unknown): Promise<unknown> =>
      (await back.execute(named.get(`user.${name}`) ?? name, input)).data
    expect(await call("get", { id: 7, name: "a b" })).toEqual({ got: { id: 7, name: "a b" } })
    expect(await call("create", { body: { name: "Ada" } })).toEqual({ got: { name: "Ada" } })
    expect(await call("update", { id: 7, body: { name: "Ada" } })).toEqual({
      got: { id: 7, name: "Ada" },
    })
    expect(await call("remove", { id: 7 })).toBeUndefined()
    expect(await call("note", { id: 7, body: { text: "x", tags: ["y"] } })).toEqual({
      got: { id: 7, text: "x", tags: ["y"] },
    })
    expect(await call("find", { id: 7, by: "me", at: { x: 1 } })).toEqual({
      got: { id: 7, by: "me", at: { x: 1 } },
    })
    expect(await call("clear", { input: "all" })).toEqual({ got: "all" })
    expect(await call("deep", { id: 7, body: { id: 7, name: "x" } })).toEqual({
      got: { id: 7, name: "x" },
    })
    expect(back.getSpec(named.get("user.update") ?? "")).toMatchObject({ type: "mutation" })
  })
})

test("pages of other origins may use the methods of own routes", async () => {
  const api = serve(USERS, { cors: { origins: ["https://app.test"] } })
  const headers = { origin: "https://app.test", "access-control-request-method": "PATCH" }
  const response = await api("/users/7", { method: "OPTIONS", headers })
  expect(response.headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, PATCH, DELETE")
})
