import { isRecord } from "../internal/guards.ts"
import type { ApprovalDecision, Verdict } from "./approvals.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import type { CallOptions } from "./types.ts"

/** An HTTP request that a call would send; credentials masked. */
export interface ShownRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** What a call would do: the data of its envelope with `dryRun`. */
export interface DryRun extends Pick<ApprovalDecision, "rule" | "reason"> {
  readonly dryRun: true
  /** What the rules of `approvals` decide; `allow` without rules. */
  readonly decision: Verdict
  /** The request that an operation of an HTTP API would send. */
  readonly request?: ShownRequest | undefined
}

/** Whether an envelope has the report of a dry run instead of a result. */
export function isDryRun(envelope: ResponseEnvelope): envelope is ResponseEnvelope<DryRun> {
  const { data, meta } = envelope
  return meta.source === "local" && isRecord(data) && data["dryRun"] === true && "decision" in data
}

/** Where the handler of an imported operation has what it was made from. */
export const ORIGIN: unique symbol = Symbol("origin")

/** Shows the request of a call, and sends nothing. */
export interface ShowsRequest {
  show(input: unknown, context: CallOptions): Promise<ShownRequest>
}

/** What shows the requests of a handler; `undefined` for handlers that do not say. */
export function showerOf(handler: object | undefined): ShowsRequest | undefined {
  const tagged: { readonly [ORIGIN]?: ShowsRequest } | undefined = handler
  return tagged?.[ORIGIN]
}
