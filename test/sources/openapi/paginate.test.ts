import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import fc from "fast-check"
import { Type } from "typebox"
import { afterEach, describe, expect, test } from "vitest"
import {
  CallError,
  type ResponseEnvelope,
  createRegistry,
  defineOperation,
  httpEnvelope,
} from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import {
  type PaginateOptions,
  type PaginateRegistry,
  paginate,
} from "../../../src/sources/openapi/paginate.ts"
import { linkOf } from "../../../src/sources/openapi/paginate/link.ts"
import { TOO_LONG } from "../../support/patience.ts"

const cleanUps: Array<() => Promise<unknown>> = []

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

type Answer = (query: URLSearchParams, origin: string) => { body: unknown; link?: string }

interface Served {
  readonly registry: PaginateRegistry
  /** The query of each request. */
  readonly queries: string[]
}

/** A registry with one operation, `api.list`, that asks a server on loopback. */
async function serve(
  parameters: Readonly<Record<string, object>>,
  answer: Answer,
  meta: object = {},
): Promise<Served> {
  const queries: string[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "", `http://${request.headers.host}`)
    queries.push(url.search)
    const { body, link } = answer(url.searchParams, url.origin)
    response.setHeader("content-type", "application/json")
    if (link !== undefined) response.setHeader("link", link)
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  cleanUps.push(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  const { port } = server.address() as AddressInfo
  const list = defineOperation({
    namespace: "api",
    name: "list",
    version: "1.0.0",
    type: "query",
    description: "Lists things",
    inputSchema: Type.Unsafe<Record<string, unknown>>({ type: "object", properties: parameters }),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    _meta: {
      openapi: {
        method: "GET",
        path: "/items",
        inputs: Object.keys(parameters).map((key) => ({
          key,
          in: "query",
          name: key.replace(/^query_/, ""),
        })),
        ...meta,
      },
    },
    async handler(input, { signal }) {
      const url = new URL(`http://127.0.0.1:${port}/items`)
      for (const [key, value] of Object.entries(input)) {
        url.searchParams.set(key.replace(/^query_/, ""), String(value))
      }
      const response = await fetch(url, { signal })
      return httpEnvelope(await response.json(), {
        statusCode: response.status,
        headers: Object.fromEntries(response.headers),
        contentType: "application/json",
      })
    },
  })
  return { registry: createRegistry([list], { logger: silentLogger }), queries }
}

/** The items of all pages. */
async function collect(
  registry: PaginateRegistry,
  input: Record<string, unknown> = {},
  options: PaginateOptions = {},
): Promise<unknown[]> {
  const pages: unknown[] = []
  for await (const { data } of paginate(registry, "api.list", input, options)) pages.push(data)
  return pages
}

const ITEMS = [1, 2, 3, 4, 5, 6, 7]
const string = { type: "string" }
const integer = { type: "integer" }

/** Some items from a place on. */
function slice(from: number, size = 3): number[] {
  return ITEMS.slice(from, from + size)
}

describe("paginate by Link header", () => {
  test("maps the address of the next page to inputs, and keeps the others", async () => {
    const { registry, queries } = await serve(
      { query_page: integer, sort: string },
      (query, origin) => {
        const page = Number(query.get("page") ?? 1)
        const next = `<${origin}/items?sort=up&page=${page + 1}>; rel="next"`
        const last = `<${origin}/items?page=3>; rel="last"`
        return { body: slice((page - 1) * 3), link: page < 3 ? `${last}, ${next}` : last }
      },
    )

    const pages = await collect(registry, { sort: "up" })

    expect(pages).toEqual([[1, 2, 3], [4, 5, 6], [7]])
    expect(queries).toEqual(["?sort=up", "?sort=up&page=2", "?sort=up&page=3"])
  })

  test("keeps lists and other values that the address only repeats", async () => {
    const { registry, queries } = await serve(
      {
        tags: { type: "array" },
        ids: { type: "array" },
        all: { type: "boolean" },
        page: { anyOf: [integer, string] },
      },
      (query) => ({
        body: [],
        link: query.has("page")
          ? ""
          : '</items?tags=a&tags=b&all=true&ids=1,2&page=2&page[x]=1>; rel="next"',
      }),
    )
    await collect(registry, { tags: ["a", "b"], all: true })
    expect(queries).toEqual(["?tags=a%2Cb&all=true", "?tags=a%2Cb&all=true&ids=1%2C2&page=2"])
  })

  test("takes an address that is only a query, and one with several values", async () => {
    const { registry, queries } = await serve(
      { q: { type: "array" }, "%": string },
      (query) => ({
        body: [],
        ...(query.size === 0 && { link: "<?q=1&q=2&%25=>; rel=next" }),
      }),
      { path: "/items/{id}" },
    )

    await collect(registry)
    expect(queries).toEqual(["", "?q=1%2C2&%25="])
  })

  test("asks our server whatever host the address names, and ignores what is not declared", async () => {
    const { registry, queries } = await serve({ page: integer }, (query) => ({
      body: slice(0),
      ...(query.has("page")
        ? { link: "<https://api.test/>; rel=prev" }
        : { link: '<https://attacker.test/other/items?page=2&token=steal>; rel="next"' }),
    }))

    expect(await collect(registry)).toHaveLength(2)
    expect(queries).toEqual(["", "?page=2"])
  })

  test.each([
    ['</other?page=2>; rel="next"', 'ends in "other"'],
    ['</items?secret=2>; rel="next"', '"secret" only, which the operation does not take'],
    ['</items?page=1>; rel="next"', "asks for the same page again"],
    ['<http://[>; rel="next"', "is not an address"],
  ])("says why it cannot follow %s", async (link, message) => {
    const { registry } = await serve({ page: integer }, () => ({ body: slice(0), link }))

    await expect(collect(registry, { page: 1 })).rejects.toThrow(message)
  })

  test("stops at a circle", async () => {
    const { registry, queries } = await serve({ page: integer }, (query) => ({
      body: query.get("page"),
      link: `</items?page=${query.get("page") === "2" ? 3 : 2}>; rel="next"`,
    }))

    await expect(collect(registry)).rejects.toThrow("was read already")
    expect(queries).toHaveLength(3)
  })
})

describe("linkOf", () => {
  test.each([
    ['<a>; rel="next"', "a"],
    ["<a>; rel=next", "a"],
    ['<a>; REL="prev NEXT"', "a"],
    ['<a,b;c>; title="x, <y>; rel=next"; rel="first", <b>;rel="next"', "b"],
    ['<a>; rel="nextish"', undefined],
    ["", undefined],
    ["<", undefined],
  ])("%j: %j", (header, expected) => {
    expect(linkOf(header, "next")).toBe(expected)
  })

  test("is quick and quiet with any text", () => {
    const part = fc.constantFrom("<", ">", ";", ",", '"', "\\", "rel=", "next", " ", "a")
    fc.assert(
      fc.property(fc.array(part, { maxLength: 200 }), (parts) => {
        expect(["string", "undefined"]).toContain(typeof linkOf(parts.join(""), "next"))
      }),
    )
    const start = performance.now()
    linkOf('<>"'.repeat(100_000), "next")
    expect(performance.now() - start).toBeLessThan(TOO_LONG)
  })
})

describe("paginate by what the answer holds", () => {
  type Case = readonly [
    name: string,
    parameter: string,
    body: (items: number[], next: number | undefined, origin: string) => object,
  ]
  test.each<Case>([
    [
      "next_cursor",
      "cursor",
      (data, next) => ({ data, next_cursor: next === undefined ? null : `${next}` }),
    ],
    [
      "Slack",
      "cursor",
      (channels, next) => ({ channels, response_metadata: { next_cursor: `${next ?? ""}` } }),
    ],
    [
      "Google",
      "pageToken",
      (items, next) => ({ items, ...(next !== undefined && { nextPageToken: `${next}` }) }),
    ],
    [
      "Kubernetes",
      "continue",
      (items, next) => ({ items, metadata: { continue: next === undefined ? "" : `${next}` } }),
    ],
    [
      "HubSpot",
      "after",
      (results, next) => ({
        results,
        ...(next !== undefined && { paging: { next: { after: `${next}` } } }),
      }),
    ],
    [
      "GraphQL-like",
      "after",
      (edges, next) => ({
        edges,
        pageInfo: { hasNextPage: next !== undefined, endCursor: `${next ?? 99}` },
      }),
    ],
    [
      "OData",
      "$skip",
      (value, next, origin) => ({
        value,
        ...(next !== undefined && { "@odata.nextLink": `${origin}/v1/items?$skip=${next}` }),
      }),
    ],
    [
      "Django",
      "offset",
      (results, next, origin) => ({
        count: 7,
        results,
        next: next === undefined ? null : `${origin}/items?offset=${next}`,
      }),
    ],
    [
      "HAL",
      "from",
      (items, next) => ({
        items,
        _links: { next: next === undefined ? undefined : { href: `/items?from=${next}` } },
      }),
    ],
  ])("%s", async (_name, parameter, body) => {
    const { registry } = await serve({ [parameter]: string }, (query, origin) => {
      const from = Number(query.get(parameter) ?? 0)
      return { body: body(slice(from), from + 3 < ITEMS.length ? from + 3 : undefined, origin) }
    })

    const pages = (await collect(registry)) as Record<string, unknown>[]

    const lists = pages.map((page) => Object.values(page).find((value) => Array.isArray(value)))
    expect(lists).toEqual([[1, 2, 3], [4, 5, 6], [7]])
  })

  test("Stripe: has_more, and the last item's id", async () => {
    const { registry, queries } = await serve({ starting_after: string }, (query) => {
      const from = Number(query.get("starting_after") ?? 0)
      const data = slice(from).map((id) => ({ id: `${id}` }))
      return { body: { object: "list", data, has_more: from + 3 < ITEMS.length } }
    })

    expect(await collect(registry)).toHaveLength(3)
    expect(queries).toEqual(["", "?starting_after=3", "?starting_after=6"])
  })

  test("stops with a clear error when a cursor comes again", async () => {
    const { registry, queries } = await serve({ cursor: string }, () => ({
      body: { data: [1], next_cursor: "same" },
    }))

    await expect(collect(registry)).rejects.toThrow(
      /next page of "api.list" would be one that was read/,
    )
    expect(queries).toHaveLength(2)
  })

  test("gives one page of what is not paged, and of an empty answer", async () => {
    const plain = await serve({ id: string }, () => ({ body: { name: "x", next_cursor: "y" } }))
    const empty = await serve({ cursor: string }, () => ({ body: null }))

    expect(await collect(plain.registry, { id: "1" })).toHaveLength(1)
    expect(await collect(empty.registry)).toEqual([null])
  })
})

describe("paginate by numbers", () => {
  const byPage: Answer = (query) => ({
    body: { items: slice((Number(query.get("page") ?? 1) - 1) * 3) },
  })

  test("counts pages until one is empty", async () => {
    const { registry, queries } = await serve({ page: integer }, byPage)

    expect(await collect(registry)).toHaveLength(4)
    expect(queries).toEqual(["", "?page=2", "?page=3", "?page=4"])
  })

  test("begins where the caller does, and at 0 where the schema does", async () => {
    const one = await serve({ page: integer }, byPage)
    const zero = await serve({ page: { type: "integer", default: 0 } }, (query) => ({
      body: slice(Number(query.get("page") ?? 0) * 3),
    }))

    await collect(one.registry, { page: 3 })
    expect(one.queries).toEqual(["?page=3", "?page=4"])
    expect(await collect(zero.registry)).toEqual([[1, 2, 3], [4, 5, 6], [7], []])
  })

  test("stops early when the answer says how many there are", async () => {
    const pages = await serve({ page: integer }, (query) => ({
      body: { ...(byPage(query, "").body as object), total_pages: 3 },
    }))
    const items = await serve({ offset: integer }, (query) => ({
      body: { results: slice(Number(query.get("offset") ?? 0)), total: 7 },
    }))

    expect(await collect(pages.registry)).toHaveLength(3)
    expect(await collect(items.registry)).toHaveLength(3)
    expect(items.queries).toEqual(["", "?offset=3", "?offset=6"])
  })

  test("notices a server that does not count", async () => {
    const { registry, queries } = await serve({ page: integer }, () => ({ body: [1, 2] }))

    await expect(collect(registry)).rejects.toThrow("its number has no effect")
    expect(queries).toHaveLength(2)
  })

  test("says what it needs to know", async () => {
    const lost = await serve({ page: integer }, () => ({ body: { a: [1], b: [2] } }))
    const none = await serve({ id: string }, () => ({ body: [1] }))

    await expect(collect(lost.registry)).rejects.toThrow('option "items"')
    expect(await collect(lost.registry, {}, { items: "/a", maxPages: 1 })).toHaveLength(1)
    await expect(collect(none.registry, {}, { by: "page" })).rejects.toThrow('option "page"')
  })
})

describe("paginate with options", () => {
  test("follows a cursor from a place in the answer to a place in the input", async () => {
    const seen: unknown[] = []
    const registry: PaginateRegistry = {
      execute(_id, input) {
        seen.push(input)
        const { offset = 0 } = (input as { body: { offset?: number } }).body
        const next = offset + 3 < ITEMS.length ? offset + 3 : null
        return Promise.resolve(envelope({ result: { points: slice(offset), next } }))
      },
    }
    const input = Object.freeze({ id: "c", body: Object.freeze({ limit: 3 }) })

    const pages = await collect(registry, input, {
      cursor: { from: "/result/next", to: "/body/offset" },
    })

    expect(pages).toHaveLength(3)
    expect(seen).toEqual([
      { id: "c", body: { limit: 3 } },
      { id: "c", body: { limit: 3, offset: 3 } },
      { id: "c", body: { limit: 3, offset: 6 } },
    ])
  })

  test("counts in the input that the caller names, of any registry", async () => {
    const inputs: unknown[] = []
    const registry: PaginateRegistry = {
      execute(_id, input) {
        inputs.push(input)
        const from = Number((input as { from?: unknown }).from ?? 0)
        return Promise.resolve(envelope({ deep: { list: slice(from) }, other: [1] }))
      },
    }
    await collect(registry, { from: "3" }, { offset: "from", items: "/deep/list" })
    expect(inputs).toEqual([{ from: "3" }, { from: 6 }, { from: 7 }])

    inputs.length = 0
    await collect(registry, {}, { page: "from", items: "/deep/list", maxPages: 2 })
    expect(inputs).toEqual([{}, { from: 2 }])
  })

  test("follows an address where the caller says it is, and only that", async () => {
    const { registry, queries } = await serve(
      { at: integer, flag: { type: "boolean" } },
      (query) => ({
        body: { next: "/wrong", more: { url: query.has("at") ? null : "/items?at=5&flag=true" } },
      }),
    )

    expect(await collect(registry, {}, { nextUrl: "/more/url" })).toHaveLength(2)
    expect(queries).toEqual(["", "?at=5&flag=true"])
    expect(await collect(registry, {}, { by: "link" })).toHaveLength(1)
  })

  test("finds the input in a body, also behind a reference", async () => {
    const bodies: unknown[] = []
    const spec = {
      inputSchema: {
        type: "object",
        properties: { body: { $ref: "#/$defs/Body" } },
        $defs: { Body: { type: "object", properties: { start_cursor: { type: "string" } } } },
      },
      _meta: { openapi: { inputs: [{ key: "body", in: "body", name: "body" }, null, { key: 1 }] } },
    }
    const registry: PaginateRegistry = {
      getSpec: () => spec as never,
      execute(_id, input) {
        bodies.push(input)
        return Promise.resolve(envelope({ has_more: bodies.length < 2, next_cursor: 5 }))
      },
    }
    await collect(registry, {})
    expect(bodies).toEqual([{}, { body: { start_cursor: "5" } }])
  })

  test("takes a plain operation's own inputs", async () => {
    const registry = createRegistry(
      [
        defineOperation({
          namespace: "api",
          name: "list",
          version: "1.0.0",
          type: "query",
          description: "Lists numbers",
          inputSchema: Type.Object({ skip: Type.Optional(Type.Integer()) }),
          outputSchema: Type.Object({ data: Type.Object({ items: Type.Array(Type.Number()) }) }),
          accessControl: { requiredScopes: [] },
          handler: async ({ skip = 0 }) => ({ data: { items: slice(skip) } }),
        }),
      ],
      { logger: silentLogger },
    )
    expect(await collect(registry)).toHaveLength(4)
  })

  test("lets a function decide", async () => {
    const registry: PaginateRegistry = { execute: (_id, input) => Promise.resolve(envelope(input)) }

    const pages = await collect(
      registry,
      { n: 1 },
      {
        next: ({ data }) => {
          const { n } = data as { n: number }
          return n < 4 ? { n: n * 2 } : undefined
        },
      },
    )
    expect(pages).toEqual([{ n: 1 }, { n: 2 }, { n: 4 }])
  })

  test("takes the document's hint before it guesses", async () => {
    const { registry, queries } = await serve(
      { page: integer, marker: string },
      (query) => ({ body: { items: [1], more: query.has("marker") ? undefined : "m" } }),
      { pagination: { cursor: { from: "/more", to: "marker" } } },
    )

    expect(await collect(registry)).toHaveLength(2)
    expect(queries).toEqual(["", "?marker=m"])
  })

  test("ends after maxPages; without it, 1,000 pages are an error", async () => {
    let at = 0
    const registry: PaginateRegistry = {
      execute: () => Promise.resolve(envelope({ next: `${++at}` })),
    }
    const cursor = { from: "/next", to: "after" }

    expect(await collect(registry, {}, { cursor, maxPages: 5 })).toHaveLength(5)
    await expect(collect(registry, {}, { cursor })).rejects.toThrow('Set "maxPages"')
    expect(at).toBe(1005)
  })

  test("keeps `__proto__` an ordinary input", async () => {
    const registry: PaginateRegistry = {
      execute: (_id, input) =>
        Promise.resolve(envelope({ keys: Object.keys(input as object), next: "n" })),
    }
    const options = { cursor: { from: "/next", to: "/__proto__/polluted" }, maxPages: 2 }

    const [, second] = (await collect(registry, { a: 1 }, options)) as { keys: string[] }[]

    expect(second?.keys).toEqual(["a", "__proto__"])
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  test("passes the call's options on, with one request id for one request", async () => {
    const contexts: unknown[] = []
    const registry: PaginateRegistry = {
      execute(_id, _input, context) {
        contexts.push([context?.requestId, context?.timeout, context?.metadata])
        return Promise.resolve(envelope({ next: contexts.length === 1 ? "n" : null }))
      },
    }
    await collect(
      registry,
      {},
      {
        cursor: { from: "/next", to: "after" },
        requestId: "r",
        timeout: 5,
        metadata: { a: 1 },
      },
    )
    expect(contexts).toEqual([
      ["r", 5, { a: 1 }],
      [undefined, 5, { a: 1 }],
    ])
  })

  test("refuses what is no input or no way", async () => {
    const registry: PaginateRegistry = { execute: () => Promise.resolve(envelope(1)) }

    await expect(collect(registry, [] as never)).rejects.toThrow(TypeError)
    expect(() => paginate(registry, "api.list", {}, { by: "magic" as never })).toThrow("by must be")
  })
})

describe("paginate, left or failing", () => {
  test("asks for nothing before and after what the consumer wants", async () => {
    const { registry, queries } = await serve({ page: integer }, () => ({
      body: [1],
      link: '</items?page=2>; rel="next"',
    }))
    const pages = paginate(registry, "api.list")
    expect(queries).toEqual([])

    for await (const page of pages) {
      expect(page.data).toEqual([1])
      break
    }
    expect(queries).toEqual([""])
    expect(await pages.next()).toMatchObject({ done: true })
  })

  test("ends with ABORTED when its signal fires between or in pages", async () => {
    const controller = new AbortController()
    const { registry, queries } = await serve({ page: integer }, () => ({ body: [Math.random()] }))

    const reading = (async () => {
      for await (const _page of paginate(registry, "api.list", {}, { signal: controller.signal })) {
        controller.abort()
      }
    })()

    await expect(reading).rejects.toMatchObject({ code: "ABORTED" })
    expect(queries).toHaveLength(1)
  })

  test("passes errors of a page through", async () => {
    const failure = new CallError("EXECUTION_ERROR", "HTTP 500")
    let calls = 0
    const registry: PaginateRegistry = {
      execute: () =>
        ++calls === 2 ? Promise.reject(failure) : Promise.resolve(envelope({ next: "n" })),
    }
    await expect(collect(registry, {}, { cursor: { from: "/next", to: "a" } })).rejects.toBe(
      failure,
    )
    const { registry: real } = await serve({}, () => ({ body: 1 }))
    const pages = paginate(real, "api.nothing")
    await expect(pages.next()).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" })
  })
})

function envelope(data: unknown): ResponseEnvelope {
  return { data, meta: { source: "local", operationId: "api.list", timestamp: 0 } }
}
