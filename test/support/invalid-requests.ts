/** Fields that make a request invalid, as a peer of another version or a hand-written client sends them. */
export const INVALID_FIELDS: readonly object[] = [
  { canAnswer: "true" },
  { kind: "other" },
  { metadata: [] },
  { identity: { id: "ada" } },
  { idempotencyKey: "" },
  { idempotencyKey: "x".repeat(1000) },
  { depth: -1 },
  { rootRequestId: {} },
]

export const REQUEST = { type: "call.requested", requestId: "r1", operationId: "a.b", input: {} }

/** The answer to an invalid request. */
export const REFUSED = {
  type: "call.error",
  requestId: "r1",
  code: "VALIDATION_ERROR",
  message: "The request does not match CallEventSchema. It was not run.",
  retryable: false,
  mayHaveExecuted: false,
}
