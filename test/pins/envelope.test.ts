import { expect, test } from "vitest"
import {
  CallError,
  httpEnvelope,
  localEnvelope,
  mcpEnvelope,
  OperationType,
  RESPONSE_SOURCES,
} from "../../src/index.ts"
import { encodeEnvelope } from "../../src/schemas.ts"

// Literal on purpose: these are what other processes read. Change this copy in the same commit.
test("envelopes, their wire form and errors look as they did", () => {
  const local = { ...localEnvelope({ a: 1 }, "task.create") }
  expect(JSON.stringify({ ...local, meta: { ...local.meta, timestamp: 0 } })).toBe(
    `{"data":{"a":1},"meta":{"source":"local","operationId":"task.create","timestamp":0}}`,
  )
  const http = { statusCode: 200, headers: { etag: "x" }, contentType: "application/json" }
  expect(JSON.stringify(encodeEnvelope(httpEnvelope(new Uint8Array([1, 2]), http)))).toBe(
    `{"data":"AQI=","meta":{"statusCode":200,"headers":{"etag":"x"},"contentType":"application/json","source":"http"},"binary":{"":"Uint8Array"}}`,
  )
  expect(
    JSON.stringify(encodeEnvelope(mcpEnvelope(undefined, { isError: false, content: [] }))),
  ).toBe(`{"meta":{"isError":false,"content":[],"source":"mcp"}}`)
  expect(JSON.stringify(new CallError("GONE", "It is gone", { details: { id: 1 } }))).toBe(
    `{"code":"GONE","message":"It is gone","details":{"id":1},"retryable":false,"mayHaveExecuted":true}`,
  )
  expect(RESPONSE_SOURCES).toEqual(["local", "http", "mcp"])
  expect(OperationType).toEqual({
    QUERY: "query",
    MUTATION: "mutation",
    SUBSCRIPTION: "subscription",
  })
})
