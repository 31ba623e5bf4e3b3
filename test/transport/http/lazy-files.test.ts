// @isolated: it asks what is loaded before the first use.
// The first test here is the first to need what only bytes need: nothing has loaded it yet.

import { expect, test } from "vitest"
import { createHTTPTransport } from "../../../src/http.ts"
import {
  createClient,
  createRegistry,
  defineOperation,
  PendingRequestMap,
} from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toHTTP } from "../../../src/to-http.ts"

const registry = createRegistry([
  defineOperation({
    namespace: "demo",
    name: "echo",
    type: "mutation",
    description: "Of a test",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    handler: (input) => input,
  }),
])

function transport() {
  const api = toHTTP(registry, { logger: silentLogger })
  return createHTTPTransport("http://localhost", {
    fetch: (url, init) => api.fetch(new Request(url, init)),
  })
}

test("bytes are sent as they were when the call was made, also while something is loaded", async () => {
  const client = createClient(transport())
  const bytes = new Uint8Array([1, 2])
  const input = { list: [bytes, new Uint8Array([3]).buffer], name: "a" }

  for (const _round of ["loads", "is loaded"]) {
    bytes.fill(7)
    input.name = "a"
    const called = client.call("demo.echo", input)
    bytes.fill(9)
    input.name = "b"
    const { data } = await called
    expect(data).toEqual({
      list: [new Uint8Array([7, 7]), new Uint8Array([3]).buffer],
      name: "a",
    })
  }
  await client.close()
})

test("a value without a JSON form in an HTTP batch fails only its own call", async () => {
  const map = new PendingRequestMap(transport(), { logger: silentLogger })
  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = [cyclic]

  for (const input of [cyclic, { big: 1n }]) {
    await expect(map.call("demo.echo", input)).rejects.toThrow("This has no form in JSON")
  }
  expect((await map.call("demo.echo", { a: 1 })).data).toEqual({ a: 1 })
  expect(map.getPendingCount()).toBe(0)
  await map.close()
})
