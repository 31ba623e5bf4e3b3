// @isolated: it asks what is loaded before the first use.
// What only streams need is loaded with the first of them.

import { expect, test, vi } from "vitest"
import { createHTTPTransport } from "../../../src/http.ts"
import { createClient } from "../../../src/index.ts"

vi.mock("../../../src/transport/http/streams.ts", () => {
  throw new Error("offline")
})

test("a stream fails with UNAVAILABLE if the rest of the program cannot be loaded; calls do not", async () => {
  const meta = { source: "local", operationId: "demo.any", timestamp: 1 }
  const client = createClient(
    createHTTPTransport("http://localhost", {
      fetch: async () => Response.json({ data: 1, meta }),
    }),
  )

  await expect(client.subscribe("demo.any").next()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining('"demo.any" was not sent: ') as string,
    retryable: true,
    mayHaveExecuted: false,
  })
  expect((await client.call("demo.any")).data).toBe(1)
  await client.close()
})
