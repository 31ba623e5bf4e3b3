import { isRecord } from "../../../src/internal/guards.ts"
import type { RecordedCall } from "../api/model.ts"
import { formatDuration } from "../ui/format.ts"
import type { LoggedCall } from "./call-forest.ts"

/** A line about a call. */
export interface CallFact {
  readonly name: string
  readonly text: string
  /** It is copied rather than read. */
  readonly isCopied?: boolean | undefined
}

/** The record of a call: clients choose request ids, so that several calls may have one. */
export function findRecord(
  records: readonly RecordedCall[],
  { operationId, at }: Pick<LoggedCall, "operationId" | "at">,
): RecordedCall | undefined {
  return records.find((record) => record.operationId === operationId && record.at === at)
}

/** What is known of a call besides its values. */
export function factsOf(
  call: LoggedCall,
  source: string | undefined,
  record: RecordedCall | "none" | undefined,
): readonly CallFact[] {
  const { traceId, meta = {}, problem } = typeof record === "object" ? record : NOTHING
  const attempts = meta["attempts"] ?? (isRecord(problem) ? problem["attempts"] : undefined)
  return [
    { name: "Request", text: call.requestId, isCopied: true },
    ...(call.parentRequestId === undefined
      ? []
      : [{ name: "Called by", text: call.parentRequestId, isCopied: true }]),
    ...(traceId === undefined ? [] : [{ name: "Trace", text: traceId, isCopied: true }]),
    { name: "Caller", text: call.identity ?? "anonymous" },
    ...line("Source", source ?? call.source),
    ...line("Status of the API", meta["statusCode"]),
    ...line("Attempts", attempts),
    ...line("Cache", cacheText(meta["cache"])),
    ...(meta["fallback"] === true
      ? [{ name: "Fallback", text: "used, because the call failed" }]
      : []),
    ...(meta["replayed"] === true
      ? [{ name: "Idempotency", text: "the outcome of an earlier call with the same key" }]
      : []),
    ...(problem !== undefined && isRecord(problem) && problem["code"] === "CIRCUIT_OPEN"
      ? [{ name: "Breaker", text: "open: the call was not sent" }]
      : []),
  ]
}

const NOTHING: Pick<RecordedCall, "traceId" | "meta" | "problem"> = {}

function cacheText(cache: unknown): string | undefined {
  if (!isRecord(cache)) return undefined
  const { age, state } = cache
  return `${String(state)}, ${typeof age === "number" ? formatDuration(age) : "unknown time"} old`
}

function line(name: string, value: unknown): readonly CallFact[] {
  return typeof value === "string" || typeof value === "number"
    ? [{ name, text: String(value) }]
    : []
}
