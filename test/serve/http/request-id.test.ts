import { describe, expect, test } from "vitest"
import { CallError, defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { base, demo, eventsOf, post, useServers } from "./support.ts"

const { start, open } = useServers()

const MINTED = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
const JSON_TYPE = { "content-type": "application/json" }

/** Requests for every kind of answer, by the status that they get. */
const REQUESTS: readonly (readonly [what: string, status: number, path: string, RequestInit])[] = [
  ["an envelope", 200, "/operations/demo.echo", { method: "POST" }],
  ["data", 200, "/api/demo/echo?x=1", {}],
  ["a batch", 200, "/batch", { method: "POST", headers: JSON_TYPE, body: "[]" }],
  ["a list", 200, "/operations", {}],
  ["a description", 200, "/operations/demo.echo", {}],
  ["a document", 200, "/openapi.json", {}],
  ["health", 200, "/livez", {}],
  ["a stream", 200, "/api/demo/count?to=1", {}],
  ["headers only", 200, "/operations", { method: "HEAD" }],
  ["no such operation", 404, "/api/demo/nothing", {}],
  ["no such path", 404, "/nothing", {}],
  ["another method", 405, "/operations", { method: "DELETE" }],
  ["no JSON", 400, "/api/demo/echo", { method: "POST", headers: JSON_TYPE, body: "{" }],
  ["an input that does not fit", 400, "/api/demo/count?to=x", {}],
  ["another media type", 415, "/api/demo/echo", { method: "POST", body: "x" }],
  ["not permitted", 403, "/api/demo/secret", {}],
  ["another origin", 403, "/operations", { headers: { origin: "https://evil.test" } }],
]

/** The problem of an answer, if it is one; a problem without an id has none of its own. */
async function problemOf(answer: Response): Promise<{ readonly requestId?: unknown } | undefined> {
  const text = await answer.text()
  const isProblem = answer.headers.get("content-type") === "application/problem+json"
  if (!isProblem || text === "") return undefined
  return { requestId: "none", ...(JSON.parse(text) as object) }
}

describe.each(["a port", "fetch"])("an answer of %s carries the request's id", (way) => {
  test.each(REQUESTS)("%s", async (_, status, path, init) => {
    const { url } = await start()
    await using api = toHTTP(demo().registry, { logger: silentLogger })
    const ask = (headers: Readonly<Record<string, string>>): Promise<Response> => {
      const all = { ...init, headers: { ...(init.headers as object), ...headers } }
      return way === "fetch"
        ? api.fetch(new Request(`http://localhost${path}`, all))
        : fetch(`${url}${path}`, all)
    }
    const named = await ask({ "request-id": "mine:1.a_B-2" })
    expect([named.status, named.headers.get("request-id")]).toEqual([status, "mine:1.a_B-2"])
    expect((await problemOf(named))?.requestId ?? "mine:1.a_B-2").toBe("mine:1.a_B-2")
    for (const wrong of ["a b", "x".repeat(129), "<script>", "ä", "a,b", ""]) {
      const answer = await ask({ "request-id": wrong })
      expect(answer.headers.get("request-id")).toMatch(MINTED)
      await answer.text()
    }
    const [one, other] = [await ask({}), await ask({})]
    const id = one.headers.get("request-id")
    const problem = await problemOf(one)
    await other.text()
    // Where all went well, it is there for those who asked for it.
    if (problem === undefined && id === null) return
    expect(id).toMatch(MINTED)
    expect(other.headers.get("request-id")).not.toBe(id)
    expect(problem?.requestId ?? id).toBe(id)
  })
})

describe("the id", () => {
  const registry = createRegistry(
    [
      defineOperation({
        ...base,
        name: "own",
        type: "query",
        handler: () => {
          throw new CallError("CONFLICT", "No.", { retryable: false })
        },
      }),
      defineOperation({
        ...base,
        name: "outer",
        type: "query",
        handler: (_, { call }) => call("demo.inner", {}),
      }),
      defineOperation({
        ...base,
        name: "inner",
        type: "query",
        inputSchema: { type: "object", required: ["x"] },
        handler: () => 1,
      }),
      defineOperation({
        ...base,
        name: "late",
        type: "subscription",
        async *handler() {
          yield 1
          throw new CallError("CONFLICT", "No.")
        },
      }),
      defineOperation({
        ...base,
        name: "ids",
        type: "query",
        handler: (_, { requestId }) => requestId,
      }),
    ],
    { logger: silentLogger },
  ) as unknown as AnyRegistry

  test("is that of the call", async () => {
    const api = await open(registry)
    const answer = await post(`${api.url}/api/demo/ids`)
    expect(await answer.json()).toBe(answer.headers.get("request-id"))
    const batch = await post(`${api.url}/batch`, [{ id: "demo.ids" }, { id: "demo.ids" }])
    const id = batch.headers.get("request-id")
    expect(await batch.json()).toMatchObject({
      results: [{ envelope: { data: `${id}.0` } }, { envelope: { data: `${id}.1` } }],
    })
  })

  test.each(["own", "outer"])("stands in a problem, whoever made the error: %s", async (name) => {
    const api = await open(registry)
    const headers = { "request-id": "r-1" }
    for (const path of [`/operations/demo.${name}`, `/api/demo/${name}`]) {
      const answer = await post(`${api.url}${path}`, {}, { headers })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(await answer.json()).toMatchObject({ requestId: "r-1" })
    }
    const batch = await post(`${api.url}/batch`, [{ id: `demo.${name}`, input: {} }], { headers })
    expect(await batch.json()).toMatchObject({ results: [{ problem: { requestId: "r-1.0" } }] })
  })

  test("stands in the last event of a stream that fails", async () => {
    const api = await open(registry)
    const answer = await fetch(`${api.url}/api/demo/late`, { headers: { "request-id": "r-2" } })
    const [, last] = eventsOf(await answer.text())
    expect(JSON.parse(last?.data ?? "")).toMatchObject({ code: "CONFLICT", requestId: "r-2" })
  })

  test("stands in refusals of who calls, and of a server that closes", async () => {
    const headers = { "request-id": "r-3" }
    const strict = await open(registry, { authenticate: () => undefined })
    const refused = await fetch(`${strict.url}/operations`, { headers })
    expect([refused.status, await refused.json()]).toMatchObject([401, { requestId: "r-3" }])
    const web = toHTTP(registry, { logger: silentLogger })
    await web.close()
    const late = await web.fetch(new Request("http://localhost/operations", { headers }))
    expect([late.status, await late.json()]).toMatchObject([503, { requestId: "r-3" }])
    expect(late.headers.get("request-id")).toBe("r-3")
  })
})
