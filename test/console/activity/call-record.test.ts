import { describe, expect, test } from "vitest"
import type { RecordedCall } from "../../../console/src/api/model.ts"
import type { LoggedCall } from "../../../console/src/activity/call-forest.ts"
import { factsOf, findRecord } from "../../../console/src/activity/call-record.ts"

const call: LoggedCall = {
  key: "k",
  requestId: "r",
  parentRequestId: undefined,
  operationId: "a.b",
  type: "query",
  at: 5,
  identity: undefined,
  state: "ok",
  durationMs: 1,
  code: undefined,
  source: "http",
  items: 0,
}

function record(more: Partial<RecordedCall>): RecordedCall {
  return { requestId: "r", operationId: "a.b", at: 5, isHidden: false, ...more }
}

function lines(more: Partial<LoggedCall>, found: RecordedCall | "none" | undefined): string[] {
  return factsOf(
    { ...call, ...more },
    undefined,
    found,
    typeof found === "object" ? found.traceId : undefined,
  ).map(({ name, text }) => `${name}: ${text}`)
}

describe("factsOf", () => {
  test("says what the hub counts of every call", () => {
    expect(lines({}, undefined)).toEqual(["Request: r", "Caller: anonymous", "Source: http"])
    expect(lines({ parentRequestId: "p", identity: "ada", source: undefined }, "none")).toEqual([
      "Request: r",
      "Called by: p",
      "Caller: ada",
    ])
  })

  test("adds the trace and what policies did, where that was recorded", () => {
    const meta = {
      statusCode: 200,
      attempts: 3,
      cache: { age: 4200, state: "stale" },
      fallback: true,
      replayed: true,
    }
    expect(lines({}, record({ traceId: "t", meta })).slice(1)).toEqual([
      "Trace: t",
      "Caller: anonymous",
      "Source: http",
      "Status of the API: 200",
      "Attempts: 3",
      "Cache: stale, 4.2 s old",
      "Fallback: used, because the call failed",
      "Idempotency: the outcome of an earlier call with the same key",
    ])
    const problem = { code: "CIRCUIT_OPEN", attempts: 2 }
    expect(lines({}, record({ problem })).slice(3)).toEqual([
      "Attempts: 2",
      "Breaker: open: the call was not sent",
    ])
    expect(lines({}, record({ meta: { cache: { state: "fresh" }, attempts: {} } }))).toContain(
      "Cache: fresh, unknown time old",
    )
  })
})

test("findRecord chooses among calls with one request id", () => {
  const records = [record({ at: 9 }), record({ operationId: "a.c" }), record({ traceId: "t" })]
  expect(findRecord(records, call)?.traceId).toBe("t")
  expect(findRecord([], call)).toBeUndefined()
})
