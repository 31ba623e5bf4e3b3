import { expect, test } from "vitest"
import { toHTTP } from "../../../src/to-http.ts"
import type { OperationContext } from "../../../src/index.ts"
import { operation, quietRegistry } from "../../support/operations.ts"

test("an operation that asks a caller over HTTP is answered with 428: repeating it later would not help", async () => {
  const asks = operation("own.asks", {
    handler: async (_: unknown, context: OperationContext) =>
      (await context.requestInput({ type: "form", message: "Sure?", schema: { type: "object" } }))
        .action,
  })
  await using api = toHTTP(quietRegistry([asks]))
  const response = await api.fetch(
    new Request("http://localhost/operations/own.asks", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    }),
  )
  expect(response.status).toBe(428)
  expect(response.headers.get("retry-after")).toBeNull()
  expect(await response.json()).toMatchObject({
    code: "UNAVAILABLE",
    status: 428,
    retryable: false,
    details: { reason: "INPUT_UNAVAILABLE" },
  })
})
