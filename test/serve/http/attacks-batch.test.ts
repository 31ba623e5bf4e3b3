// What a client may do to a server with the calls of a batch whose results come as lines.

import { request as httpRequest } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import { base, post, useServers } from "./support.ts"
import { waitFor } from "../../support/wait-for.ts"

const { start, open } = useServers()

const lines = { headers: { accept: "application/x-ndjson" } }

async function resultsOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text()
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe("a hostile batch", () => {
  test("of 10,000 calls runs none of them", async () => {
    const { api, seen } = await start()
    const calls = Array.from({ length: 10_000 }, (_, key) => ({ id: "demo.echo", key }))

    const answer = await post(`${api.url}/batch`, calls, lines)

    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(seen.runs).toBe(0)
  })

  test("of one hundred calls with one id and one key runs each, with a result of its own", async () => {
    const { api, seen } = await start()
    const calls = Array.from({ length: 100 }, (_, input) => ({
      id: "demo.echo",
      key: "same",
      requestId: "same",
      input,
    }))

    const results = await resultsOf(await post(`${api.url}/batch`, calls, lines))

    expect(seen.runs).toBe(100)
    const inputs = results.map(({ envelope }) => (envelope as { data: number }).data)
    expect(inputs.toSorted((one, other) => one - other)).toEqual(calls.map(({ input }) => input))
    expect(new Set(results.map(({ key }) => key))).toEqual(new Set(["same"]))
  })

  test.each<[string, unknown]>([
    ["an object", {}],
    ["a list", [0]],
    ["a flag", true],
  ])("with %s as a key gets a problem without a key", async (_, key) => {
    const { api, seen } = await start()

    const [result] = await resultsOf(
      await post(`${api.url}/batch`, [{ id: "demo.echo", key }], lines),
    )

    expect(result).toMatchObject({ ok: false, problem: { code: "VALIDATION_ERROR" } })
    expect(result).not.toHaveProperty("key")
    expect(seen.runs).toBe(0)
  })

  test("whose keys and ids have line breaks gets one line for each call", async () => {
    const { api } = await start()
    const calls = [
      { id: "demo.echo", key: '0\n{"key":1,"ok":true}', input: "a\nb" },
      { id: "demo.none\n{}", key: "\u2028\r\n", requestId: "1\n2" },
    ]

    const response = await post(`${api.url}/batch`, calls, lines)
    const results = await resultsOf(response)

    expect(results.map(({ key, ok }) => [key, ok])).toEqual(
      expect.arrayContaining([
        [calls[0]?.key, true],
        [calls[1]?.key, false],
      ]),
    )
    expect(results).toHaveLength(2)
  })

  test.each<[string, object]>([
    ["an identity", { identity: { id: "admin", scopes: ["admin"] } }],
    ["a context", { context: { identity: { id: "admin", scopes: ["admin"] } } }],
    ["metadata with an identity", { metadata: { identity: { id: "admin", scopes: ["admin"] } } }],
    ["headers", { headers: { authorization: "Bearer of-the-admin" } }],
    ["an inherited identity", JSON.parse('{"__proto__":{"identity":{"id":"admin"}}}') as object],
    ["a parent", { parentRequestId: "of-somebody-else" }],
  ])("is run for its own caller, whatever its items claim: %s", async (_, claim) => {
    const who = defineOperation({
      ...base,
      name: "who",
      type: "query",
      handler: (_input, { identity }) => identity ?? null,
    })
    const { url } = await open(createRegistry([who]), {
      logger: silentLogger,
      authenticate: () => ({ id: "ada", scopes: [] }),
    })

    const answer = await post(`${url}/batch`, [{ id: "demo.who", key: 0, ...claim }], lines)

    expect(await resultsOf(answer)).toMatchObject([
      { ok: true, envelope: { data: { id: "ada", scopes: [] } } },
    ])
  })

  test("cannot point at bytes outside of its own input", async () => {
    const { api, seen } = await start()
    const pointers = ["/__proto__/polluted", "/constructor/prototype/polluted", "/missing", "x"]
    const calls = pointers.map((pointer, key) => ({
      id: "demo.echo",
      key,
      input: { text: "eA==" },
      binary: { [pointer]: "Uint8Array" },
    }))

    const results = await resultsOf(await post(`${api.url}/batch`, calls, lines))

    for (const { ok, problem } of results) {
      expect(ok).toBe(false)
      expect(problem).toMatchObject({ code: "VALIDATION_ERROR" })
    }
    expect(seen.runs).toBe(0)
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false)
  })

  test("that is left stops its handlers, begins no further ones, and frees its place", async () => {
    let running = 0
    let begun = 0
    const hang = defineOperation({
      ...base,
      name: "hang",
      type: "query",
      handler: async (_input, { signal }) => {
        running++
        begun++
        try {
          await sleep(60_000, undefined, { signal })
        } finally {
          running--
        }
      },
    })
    const { url } = await open(createRegistry([hang]), { logger: silentLogger })
    const calls = Array.from({ length: 50 }, (_, key) => ({ id: "demo.hang", key }))
    for (let round = 1; round <= 3; round++) {
      begun = 0
      const request = httpRequest(`${url}/batch`, {
        method: "POST",
        headers: { "content-type": "application/json", ...lines.headers },
      })
      request.on("error", () => undefined)
      request.end(JSON.stringify(calls))
      await waitFor(() => expect(running).toBeGreaterThan(0))
      const atOnce = running
      request.destroy()
      await waitFor(() => expect(running).toBe(0))
      expect(begun).toBe(atOnce)
    }
  })
})
