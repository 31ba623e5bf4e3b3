// @isolated: it replaces a module.
// A refused call whose error cannot be read, because the module for that was not loaded.
import { describe, expect, test, vi } from "vitest"
import { createClient } from "../../../src/index.ts"
import { createHTTPTransport } from "../../../src/http.ts"

vi.mock("../../../src/transport/http/problem-of.ts", () => {
  throw new Error("the page is offline")
})

describe("a refused call over HTTP", () => {
  test("fails and may have been executed while its reader cannot be loaded", async () => {
    const fetch = vi.fn(async () => new Response("busy", { status: 503 }))
    const transport = createHTTPTransport("https://example.com", { fetch, retries: 2 })
    await using client = createClient(transport)

    const error: unknown = await client.call("task.create").catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: true,
      retryable: false,
    })
    expect(String(error)).toContain("https://example.com")
    expect(fetch).toHaveBeenCalledOnce()
  })
})
