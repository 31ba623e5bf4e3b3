import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { CallError } from "../../../src/core/errors.ts"
import { createClient } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createHTTPTransport } from "../../../src/http.ts"
import { serveHTTP } from "../../../src/node.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { OperationContext } from "../../../src/core/handler.ts"
import { apiOf, operation, shop } from "./routes-support.ts"
import type { Api } from "./routes-support.ts"

const { registry, calls } = shop()
let api: Api

beforeAll(() => {
  api = apiOf(registry, { maxBatch: 20 })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

describe("POST /batch", () => {
  it("gives each call its own result, in order", async () => {
    const response = await api.post("/batch", [
      { id: "shop.find", input: { name: "a" }, key: "first" },
      { id: "shop.order", input: { article: "gone" }, key: 2 },
      { id: "shop.nothing" },
      { id: "shop.void" },
      { id: "shop.loop" },
    ])
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      results: [
        { key: "first", ok: true, envelope: { data: { got: { name: "a" } } } },
        { key: 2, ok: false, problem: { code: "SOLD_OUT", status: 410 } },
        { ok: false, problem: { code: "OPERATION_NOT_FOUND", status: 404 } },
        { ok: true, envelope: { meta: { operationId: "shop.void" } } },
        { ok: false, problem: { code: "EXECUTION_ERROR", mayHaveExecuted: true } },
      ],
    })
  })

  it("takes an object with calls too, and no calls at all", async () => {
    const response = await api.post("/batch", { calls: [{ id: "shop.null" }] })
    expect(await response.json()).toMatchObject({ results: [{ ok: true }] })
    expect(await (await api.post("/batch", [])).json()).toEqual({ results: [] })
  })

  it("pays for each of its calls, and runs none that it cannot pay for", async () => {
    const limited = apiOf(registry, { rateLimit: { perSecond: 0.001, burst: 3 } })
    const call = { id: "shop.null" }
    const before = calls.length

    const tooMany = await limited.post("/batch", [call, call, call, call])
    // Waiting does not help: the batch is larger than the burst.
    expect(tooMany.status).toBe(413)
    expect(tooMany.headers.get("retry-after")).toBeNull()
    expect(calls).toHaveLength(before)
    // One went for the request that was refused.
    expect((await limited.post("/batch", [call, call])).status).toBe(200)
    expect((await limited.post("/batch", [call])).status).toBe(429)
    await limited[Symbol.asyncDispose]()
  })

  it("lets the calls of one turn of a client run as far as the limit allows", async () => {
    const options = { port: 0, rateLimit: { perSecond: 0.001, burst: 4 }, logger: silentLogger }
    const served = await serveHTTP(registry, options)
    const client = createClient(createHTTPTransport(served.url, { retries: 0 }))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => client.call("shop.null", {})),
    )
    const codes = outcomes.map((one) =>
      one.status === "fulfilled" ? "done" : (one.reason as CallError).code,
    )
    // One call's worth went for the request that held them all.
    expect(codes.toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => "RATE_LIMITED"),
      ...Array.from({ length: 3 }, () => "done"),
    ])
    await client.close()
    await served.close()
  })

  it("writes each result as a line when it is done, to those who ask for lines", async () => {
    const slow = apiOf(
      createRegistry([
        operation({
          name: "slow",
          handler: async (input: unknown, context: OperationContext) => {
            context.progress({ progress: 1, total: 2, message: "half" })
            await new Promise((resolve) => setTimeout(resolve, Number(input)))
            return context.requestId
          },
        }),
      ]),
    )
    const call = { id: "shop.slow", key: 0, input: 100, requestId: "mine", progress: true }
    const response = await slow.post("/batch", [call, { id: "shop.slow", input: 1, key: 1 }], {
      accept: "application/x-ndjson",
    })
    expect(response.headers.get("content-type")).toBe("application/x-ndjson")
    const lines = (await response.text()).trimEnd().split("\n")
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { key: 0, progress: { progress: 1, total: 2, message: "half" } },
      { key: 1, ok: true },
      { key: 0, ok: true, envelope: { data: "mine" } },
    ])
    await slow[Symbol.asyncDispose]()
  })

  it.each([
    ["timeoutMs", 0],
    ["timeoutMs", "5"],
    ["metadata", []],
    ["metadata", "x"],
    ["parentRequestId", 5],
    ["binary", { "/nowhere": "Uint8Array" }],
  ])("refuses a call whose %s is %j, and no other", async (name, value) => {
    const before = calls.length
    const response = await api.post("/batch", [
      { id: "shop.find", input: {}, [name]: value },
      { id: "shop.null" },
    ])
    expect(await response.json()).toMatchObject({
      results: [{ ok: false, problem: { code: "VALIDATION_ERROR" } }, { ok: true }],
    })
    expect(calls.length).toBe(before)
  })

  it("answers items that are no calls one by one", async () => {
    const items = [null, 5, "shop.null", [], {}, { id: 5 }, { id: "shop.null", key: {} }]
    const response = await api.post("/batch", [...items, { id: "shop.null" }])
    const { results } = (await response.json()) as { results: { ok: boolean }[] }
    expect(results.map(({ ok }) => ok)).toEqual([...items.map(() => false), true])
    expect(results[0]).toMatchObject({ problem: { code: "VALIDATION_ERROR" } })
  })

  it("refuses what is no batch, and one that is too long, before anything runs", async () => {
    for (const body of [null, 5, {}, { calls: 5 }]) {
      expect((await api.post("/batch", body)).status).toBe(400)
    }
    expect((await api("/batch", { method: "POST" })).status).toBe(400)
    const before = calls.length
    const many = Array.from({ length: 21 }, () => ({ id: "shop.find", input: { name: "a" } }))
    const response = await api.post("/batch", many)
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false },
    ])
    expect(calls.length).toBe(before)
  })

  it("reads no streams and reaches nothing hidden", async () => {
    const response = await api.post("/batch", [
      { id: "shop.ticks", input: { to: 1 } },
      { id: "shop.inner" },
      { id: "shop.secret" },
    ])
    expect(await response.json()).toMatchObject({
      results: [
        { problem: { code: "INVALID_OPERATION_TYPE" } },
        { problem: { code: "OPERATION_NOT_FOUND" } },
        { problem: { code: "ACCESS_DENIED" } },
      ],
    })
    expect(calls).not.toContain("inner")
  })

  it("runs calls at the same time, but not all of them, each with an id of its own", async () => {
    let running = 0
    let most = 0
    const seen: string[] = []
    const waiting: (() => void)[] = []
    const handler = async (_input: unknown, { requestId }: OperationContext): Promise<void> => {
      seen.push(requestId)
      most = Math.max(most, ++running)
      // The calls that run are let go together once no more can begin.
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        setImmediate(() => setImmediate(() => waiting.splice(0).forEach((go) => go())))
      })
      running--
    }
    await using other = apiOf(createRegistry([operation({ name: "wait", handler })]))
    const batch = Array.from({ length: 50 }, () => ({ id: "shop.wait" }))
    const response = await other.post("/batch", batch, { "request-id": "abc" })
    const { results } = (await response.json()) as { results: { ok: boolean }[] }
    expect(results).toHaveLength(50)
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(16)
    expect(new Set(seen).size).toBe(50)
    expect(seen).toContain("abc.0")
  })

  it("begins nothing more when its client has left", async () => {
    const began: number[] = []
    const left = new AbortController()
    const handler = async (input: unknown, { signal }: OperationContext): Promise<void> => {
      began.push(input as number)
      if (began.length === 16) left.abort()
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    }
    const other = apiOf(createRegistry([operation({ name: "wait", handler })]))
    const response = other("/batch", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(Array.from({ length: 40 }, (_, input) => ({ id: "shop.wait", input }))),
      signal: left.signal,
    })
    await expect(response).rejects.toThrow("abort")
    // Waits for what runs.
    await other[Symbol.asyncDispose]()
    expect(began).toHaveLength(16)
  })
})
