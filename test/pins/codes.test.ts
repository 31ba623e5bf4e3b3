import { expect, test } from "vitest"
import { ERROR_CODES } from "../../src/index.ts"

// Literal on purpose: a changed number is a changed contract. Change this copy in the same commit.
test("error codes and their numbers are what they were", () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { httpStatus, jsonRpc, exitCode, retryable, mayHaveExecuted }]) =>
      `${code} ${httpStatus} ${jsonRpc} ${exitCode} ${retryable} ${mayHaveExecuted}`,
  )
  expect(rows).toEqual([
    "OPERATION_NOT_FOUND 404 -32601 2 false false",
    "INVALID_OPERATION_TYPE 400 -32600 2 false false",
    "UNAUTHENTICATED 401 -32001 1 false false",
    "ACCESS_DENIED 403 -32002 1 false false",
    "VALIDATION_ERROR 400 -32602 2 false false",
    "OUTPUT_VALIDATION_ERROR 502 -32003 1 false true",
    "CALL_DEPTH_EXCEEDED 508 -32004 1 false false",
    "TIMEOUT 504 -32005 1 false true",
    "ABORTED 499 -32006 1 false true",
    "UNAVAILABLE 503 -32007 1 true false",
    "OVERLOADED 503 -32008 1 true false",
    "RATE_LIMITED 429 -32009 1 true false",
    "WORKER_LOST 502 -32010 1 false true",
    "PAYLOAD_TOO_LARGE 413 -32011 1 false false",
    "DATA_LOSS 502 -32012 1 false true",
    "SLOW_CONSUMER 502 -32013 1 false true",
    "CONFLICT 409 -32014 1 false false",
    "EGRESS_BLOCKED 502 -32015 1 false false",
    "CIRCUIT_OPEN 503 -32016 1 true false",
    "DENIED_BY_RULE 403 -32017 1 false false",
    "APPROVAL_REQUIRED 428 -32018 3 false false",
    "DECLINED 403 -32019 1 false false",
    "EXECUTION_ERROR 500 -32000 1 false true",
    "UNKNOWN_ERROR 500 -32603 1 false true",
  ])
})
