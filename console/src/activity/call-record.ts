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
  traceId: string | undefined,
): readonly CallFact[] {
  const { meta = {}, problem } = typeof record === "object" ? record : NOTHING
  const { attempts, code } = isRecord(problem) ? problem : {}
  const facts: readonly (Omit<CallFact, "text"> & { readonly value: unknown })[] = [
    { name: "Request", value: call.requestId, isCopied: true },
    { name: "Called by", value: call.parentRequestId, isCopied: true },
    { name: "Trace", value: traceId, isCopied: true },
    { name: "Caller", value: call.identity ?? "anonymous" },
    { name: "Source", value: source ?? call.source },
    { name: "Status of the API", value: meta["statusCode"] },
    { name: "Attempts", value: meta["attempts"] ?? attempts },
    { name: "Cache", value: cacheText(meta["cache"]) },
    { name: "Fallback", value: meta["fallback"] === true && "used, because the call failed" },
    {
      name: "Idempotency",
      value: meta["replayed"] === true && "the outcome of an earlier call with the same key",
    },
    { name: "Breaker", value: code === "CIRCUIT_OPEN" && "open: the call was not sent" },
  ]
  return facts.flatMap(({ value, ...fact }) =>
    typeof value === "string" || typeof value === "number"
      ? [{ ...fact, text: String(value) }]
      : [],
  )
}

const NOTHING: Pick<RecordedCall, "meta" | "problem"> = {}

function cacheText(cache: unknown): string | undefined {
  if (!isRecord(cache)) return undefined
  const { age, state } = cache
  return `${String(state)}, ${typeof age === "number" ? formatDuration(age) : "unknown time"} old`
}
