// What an import gives, from a document to a call.
import { getEventListeners } from "node:events"
import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { fromCall, FromOpenAPI, serveCalls } from "../../../src/index.ts"
import { createMemoryTransports } from "../../../src/testing.ts"
import { compileSchema } from "../../../src/schemas.ts"
import { paginate } from "../../../src/from-openapi.ts"
import { prepareRequest } from "../../../src/from-openapi.ts"
import type { ImportedOperation } from "../../../src/from-openapi.ts"
import { collect, serve, until } from "../../http-client/server.ts"
import { apiOf } from "./api.ts"
import { importOne, oneOperation, openapi, record } from "./recorder.ts"
import type { Raw } from "./recorder.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"

const OK = { responses: { 200: { description: "" } } }

const PETS = openapi(
  {
    "/pets": {
      get: {
        operationId: "listPets",
        summary: "List all pets",
        tags: ["pets"],
        parameters: [
          { name: "page", in: "query", schema: { type: "integer" } },
          { name: "species", in: "query", schema: { type: "string" } },
        ],
        responses: {
          200: {
            description: "",
            content: {
              "application/json": {
                schema: { type: "array", items: { $ref: "#/components/schemas/Pet" } },
              },
            },
          },
        },
      },
      post: {
        operationId: "createPet",
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
        },
        responses: {
          201: { description: "" },
          422: {
            description: "Not a pet",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
          },
        },
      },
    },
    "/pets/events": {
      get: {
        operationId: "watchPets",
        responses: { 200: { description: "", content: { "text/event-stream": { schema: {} } } } },
      },
    },
  },
  {
    components: {
      schemas: {
        Pet: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        Problem: { type: "object", properties: { message: { type: "string" } } },
      },
    },
  },
)

function answerPets(
  request: { method?: string | undefined; url?: string | undefined },
  response: ServerResponse,
): void {
  const page = Number(new URL(request.url ?? "", "http://x").searchParams.get("page") ?? 1)
  if (request.url === "/pets/events") {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end('event: born\nid: 1\ndata: {"name":"Rex"}\n\n')
  } else if (request.method === "POST") {
    response.writeHead(422, { "content-type": "application/json" })
    response.end('{"message":"too many pets"}')
  } else {
    const next = page < 3 ? { link: `</pets?page=${page + 1}>; rel="next"` } : {}
    response.writeHead(200, { "content-type": "application/json", ...next })
    response.end(JSON.stringify([{ name: `pet ${page}` }]))
  }
}

describe("imported operations", () => {
  test("are found, described, called, streamed and paged through in a registry", async () => {
    await using api = await apiOf(PETS, answerPets)
    const { registry } = api
    const pages = await collect(paginate(registry, "api.listPets", { species: "dog" }))

    expect(registry.list().map(({ name, type }) => [name, type])).toEqual([
      ["listPets", "query"],
      ["createPet", "mutation"],
      ["watchPets", "subscription"],
    ])
    expect(registry.getSpec("api.listPets")).toMatchObject({
      title: "List all pets",
      inputSchema: { properties: { species: { type: "string" } } },
      outputSchema: { type: "array", items: { $ref: "#/$defs/Pet" } },
    })
    expect(registry.search("list pets")[0]).toMatchObject({ name: "listPets" })
    expect(registry.search("species")[0]).toMatchObject({ name: "listPets" })
    expect(pages.map(({ data }) => data)).toEqual([
      [{ name: "pet 1" }],
      [{ name: "pet 2" }],
      [{ name: "pet 3" }],
    ])
    expect(api.server.requests.map(({ url }) => url)).toEqual([
      "/pets?species=dog",
      "/pets?page=2&species=dog",
      "/pets?page=3&species=dog",
    ])
  })

  test("are called over the call protocol like any other", async () => {
    await using api = await apiOf(PETS, answerPets)
    const [near, far] = createMemoryTransports()
    const server = serveCalls(api.registry, { transport: far })
    const local = quietRegistry(await fromCall(near))
    const error = await rejection(local.execute("api.createPet", { body: { name: "Rex" } }))

    expect(await local.execute("api.listPets", { page: 3 })).toMatchObject({
      data: [{ name: "pet 3" }],
      meta: { source: "http", statusCode: 200, contentType: "application/json" },
    })
    expect(await collect(local.subscribe("api.watchPets", {}))).toEqual([
      expect.objectContaining({
        data: { name: "Rex" },
        meta: expect.objectContaining({ event: { name: "born", id: "1" } }) as unknown,
      }),
    ])
    expect(error).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { statusCode: 422, declared: "HTTP_422", body: { message: "too many pets" } },
    })
    expect(await rejection(local.execute("api.createPet", { body: {} }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    await server.close()
  })

  test("may be copied and changed, and still work", async () => {
    await using api = await apiOf(PETS, answerPets)
    const config = { namespace: "api", baseUrl: api.server.url }
    const list = FromOpenAPI(PETS, config)[0] as ImportedOperation
    const registry = quietRegistry([
      { ...list, namespace: "mine", name: "dogs", accessControl: { requiredScopes: ["dogs"] } },
    ])

    expect(await rejection(registry.execute("mine.dogs", {}))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    expect(
      (await registry.execute("mine.dogs", {}, { identity: { id: "ada", scopes: ["dogs"] } })).data,
    ).toEqual([{ name: "pet 1" }])
    expect((await prepareRequest({ ...list }, { page: 2 })).url).toMatch(/\/pets\?page=2$/)
  })

  test("may be called without a registry", async () => {
    await using server = await serve(answerPets)
    const [list] = FromOpenAPI(PETS, { namespace: "api", baseUrl: server.url })
    const handler = list?.handler as (input: unknown) => Promise<unknown>

    expect(await handler({ page: 2 })).toMatchObject({ data: [{ name: "pet 2" }] })
    expect(await rejection(Promise.resolve().then(() => handler([])))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })
})

describe("a search finds operations by the members of their bodies", () => {
  const name = { type: "string" }
  const properties = { visibility: { type: "string" }, archivedAt: { ...name, readOnly: true } }
  const parts: Raw = { Part: { allOf: [{ type: "object", properties }] } }
  const ref = { $ref: "#/components/schemas/Part" }
  const body = (type: string): Raw => ({ content: { [type]: { schema: ref } } })
  const json = openapi(
    {
      "/repos/{id}": { patch: { operationId: "change", requestBody: body("application/json") } },
      "/other": { post: { operationId: "other" } },
    },
    { components: { schemas: parts } },
  )
  const form = openapi(
    { "/repos": { patch: { operationId: "change", requestBody: body("multipart/form-data") } } },
    { components: { schemas: parts } },
  )
  const swagger = {
    swagger: "2.0",
    info: { title: "Old", version: "1" },
    paths: {
      "/repos": {
        patch: {
          operationId: "change",
          parameters: [{ name: "visibility", in: "formData", type: "string" }],
        },
      },
    },
  }

  test.each([
    ["in JSON, by reference and allOf", json, {}],
    ["as inputs of their own", json, { flatten: true }],
    ["in a form", form, {}],
    ["in a form of Swagger 2.0", swagger, {}],
  ])("%s", (_, spec, options) => {
    const operations = FromOpenAPI(spec, { namespace: "api", baseUrl: "http://x", ...options })
    const registry = quietRegistry(operations)

    expect(registry.search("visibility").map(({ id }) => id)).toEqual(["api.change"])
    expect(registry.search("archived")).toEqual([])
  })
})

test("a search finds operations by what their schemas say they send or return", () => {
  const link = {
    type: "object",
    description: "An address under which people pay. It can be shared.",
  }
  const nest = { type: "array", items: { $ref: "#/components/schemas/Nest" } }
  const schemas: Raw = { Link: link, Nest: nest }
  const ref = { $ref: "#/components/schemas/Link" }
  const json = (schema: unknown): Raw => ({ content: { "application/json": { schema } } })
  const page = { type: "object", properties: { data: { type: "array", items: ref } } }
  const answers = (schema: unknown): Raw => ({ responses: { 200: json(schema) } })
  const spec = openapi(
    {
      "/a": { post: { operationId: "sent", requestBody: json(ref) } },
      "/b": { get: { operationId: "returned", ...answers(ref) } },
      "/c": { get: { operationId: "listed", ...answers({ type: "array", items: ref }) } },
      "/d": { get: { operationId: "paged", ...answers(page) } },
      "/e": { get: { operationId: "other", ...answers({ type: "object" }) } },
      "/f": { get: { operationId: "endless", ...answers({ $ref: "#/components/schemas/Nest" }) } },
    },
    { components: { schemas } },
  )
  const registry = quietRegistry(FromOpenAPI(spec, { namespace: "api", baseUrl: "http://x" }))
  const found = registry.search("an address where people pay").map(({ name }) => name)

  expect(found.toSorted()).toEqual(["listed", "paged", "returned", "sent"])
  expect(registry.search("shared")).toEqual([])
})

describe("an import is lazy", () => {
  test("nothing of a schema is read before it is needed, and then only that", async () => {
    const touched: string[] = []
    const schemas: Raw = {}
    for (const name of ["One", "Two", "Unused"]) {
      const schema = { type: "object", properties: { a: { type: "integer" } } }
      Object.defineProperty(schemas, name, {
        enumerable: true,
        get: () => {
          touched.push(name)
          return schema
        },
      })
    }
    const using = (name: string): Raw => ({
      operationId: `use${name}`,
      requestBody: {
        content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } },
      },
      ...OK,
    })
    const spec = openapi(
      { "/1": { post: using("One") }, "/2": { post: using("Two") } },
      { components: { schemas } },
    )
    await using server = await record()
    const operations = FromOpenAPI(spec, { namespace: "api", baseUrl: server.url })
    // A look at how deep the document is goes everywhere.
    touched.length = 0
    const registry = quietRegistry(operations)
    const listed = registry.list().map(({ name, description, type }) => [name, description, type])

    expect(listed).toEqual([
      ["useOne", "POST /1", "mutation"],
      ["useTwo", "POST /2", "mutation"],
    ])
    expect(touched).toEqual([])
    await registry.execute("api.useOne", { body: { a: 1 } })
    expect(new Set(touched)).toEqual(new Set(["One"]))
    expect(await rejection(registry.execute("api.useOne", { body: { a: "x" } }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(registry.getSpec("api.useTwo")?.inputSchema).toHaveProperty("$defs.Two")
    expect(new Set(touched)).toEqual(new Set(["One", "Two"]))
    // The first search reads the names of the members of bodies.
    void registry.search("one")
    expect(new Set(touched)).toEqual(new Set(["One", "Two"]))
  })

  test("what was made is kept", () => {
    const [operation] = FromOpenAPI(PETS, { namespace: "api" })

    expect(operation?.inputSchema).toBe(operation?.inputSchema)
    expect(operation?.outputSchema).toBe(operation?.outputSchema)
    expect(operation?.errorSchemas).toBe(operation?.errorSchemas)
    expect(operation?._meta).toBe(operation?._meta)
  })

  test("operations cannot be changed, and have the properties of any other", () => {
    const operation = FromOpenAPI(PETS, { namespace: "api" })[0] as ImportedOperation

    expect(Object.isFrozen(operation)).toBe(true)
    expect(Object.keys(operation)).toEqual(
      expect.arrayContaining(["name", "namespace", "inputSchema", "outputSchema", "handler"]),
    )
    expect(JSON.parse(JSON.stringify(operation))).toMatchObject({
      name: "listPets",
      outputSchema: { $defs: { Pet: { type: "object" } } },
    })
  })
})

describe("prepareRequest", () => {
  test("gives the request of an operation, of its copy, and of the one in a registry", async () => {
    const config = { namespace: "api", baseUrl: "https://api.test/v1", auth: "t0ken" }
    const operations = FromOpenAPI(PETS, config)
    const registry = quietRegistry(operations)
    const expected = {
      method: "POST",
      url: "https://api.test/v1/pets",
      headers: { "content-type": "application/json", authorization: "Bearer t0ken" },
      body: '{"name":"Rex"}',
    }
    const input = { body: { name: "Rex" } }
    const own = operations[1] as ImportedOperation

    expect(await prepareRequest(own, input)).toEqual(expected)
    expect(await prepareRequest({ ...own }, input)).toEqual(expected)
    expect(await prepareRequest(registry.get("api.createPet") ?? {}, input)).toEqual(expected)
  })

  test("takes what is different for this one request", async () => {
    const operation = importOne(oneOperation("/x", "get", {}), {
      baseUrl: "https://api.test",
      headers: { "x-a": "1" },
    })
    const request = await prepareRequest(operation, undefined, {
      baseUrl: "https://other.test/v2",
      headers: { "x-b": "2" },
      auth: { type: "basic", username: "a", password: "b" },
    })

    expect(request).toEqual({
      method: "GET",
      url: "https://other.test/v2/x",
      headers: { "x-b": "2", authorization: "Basic YTpi" },
      body: undefined,
    })
  })

  test("sends nothing, and tells what would be refused", async () => {
    const operation = importOne(oneOperation("/x/{id}", "get", {}), {
      baseUrl: "https://api.test",
      fetch: () => expect.fail("sent"),
    })

    expect(await rejection(prepareRequest(operation, { id: ".." }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect((await prepareRequest(operation, { id: "a" })).url).toBe("https://api.test/x/a")
  })

  test("knows only what was imported", async () => {
    const other = { handler: () => 1 }

    for (const operation of [other, {}, undefined, null] as unknown as (typeof other)[]) {
      expect(await rejection(prepareRequest(operation))).toBeInstanceOf(TypeError)
    }
  })
})

describe("what is left of 200 calls", () => {
  const count = (kind: string): number =>
    process.getActiveResourcesInfo().filter((name) => name === kind).length

  test("no listener, no timer, no connection that is in use", async () => {
    await using api = await apiOf(
      PETS,
      (request, response) => {
        if (request.url === "/pets?page=2") response.socket?.destroy()
        else answerPets(request, response)
      },
      { timeout: 60_000, auth: async () => "token" },
    )
    const { signal } = new AbortController()
    const call = async (index: number): Promise<unknown> => {
      switch (index % 4) {
        case 0:
          return await api.registry.execute("api.listPets", {}, { signal, timeout: 60_000 })
        case 1:
          return await rejection(api.registry.execute("api.listPets", { page: 2 }, { signal }))
        case 2:
          return await rejection(
            api.registry.execute("api.createPet", { body: { name: "x" } }, { signal }),
          )
        default:
          return await collect(api.registry.subscribe("api.watchPets", {}, { signal }))
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_none, index) => call(index)))
    const timers = count("Timeout")
    for (let done = 0; done < 200; done += 20) {
      await Promise.all(Array.from({ length: 20 }, (_none, index) => call(done + index)))
    }

    expect(getEventListeners(signal, "abort")).toEqual([])
    expect(count("Timeout")).toBeLessThanOrEqual(timers + 2)
    await until(() => api.server.open() === 0)
  })
})

test("checking an answer reads only the definitions that it reaches", () => {
  const read = new Set<string>()
  const schemas = {}
  for (let index = 0; index < 300; index++) {
    Object.defineProperty(schemas, `node${index}`, {
      enumerable: true,
      get: () => {
        read.add(`node${index}`)
        const next = { $ref: `#/components/schemas/node${index + 1}` }
        return { type: "object", properties: { value: { type: "string" }, next } }
      },
    })
  }
  const schema = { $ref: "#/components/schemas/node0" }
  const content = { "application/json": { schema } }
  const paths = { "/a": { get: { operationId: "a", responses: { 200: { content } } } } }
  const [operation] = FromOpenAPI(
    { openapi: "3.0.0", info: {}, paths, components: { schemas } },
    { namespace: "api" },
  )
  const compiled = compileSchema(operation?.outputSchema)
  // An object is looked at once for how deep it is.
  read.clear()

  expect(compiled.check({ value: "a", next: { value: "b" } })).toBe(true)
  expect(compiled.check({ value: "a", next: { value: 1 } })).toBe(false)
  expect(read.size).toBeLessThan(40)
})
