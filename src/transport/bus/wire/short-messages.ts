import type { CallRequestedEvent, CallRespondedEvent } from "../../../core/events.ts"
import { isResponseEnvelope } from "../../../core/envelope.ts"
import { encodeValue } from "../../../core/envelope-codec.ts"
import type { MessageText } from "./frames.ts"
import type { WorkerMessage } from "./messages.ts"

// The messages of every call are items of lists, and encoded by hand: encoding and parsing JSON is a good part of the
// cost of a call. A list begins with the common part of its items. Requests and results with unusual fields are sent as
// whole events.

/** The part of a request that differs between attempts. */
export interface RequestAttempt {
  readonly attempt: number
  readonly isNow: boolean
  /** The signed identity of the caller. */
  readonly ticket: string | undefined
}

const PLAIN = /^[\w.-]*$/

/** A text as JSON. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** A request whose event is already encoded. */
export function requestText(event: string, { attempt, isNow, ticket }: RequestAttempt): string {
  const signed = ticket === undefined ? "" : `,${JSON.stringify(ticket)}`
  return `["r",${attempt},${isNow ? 1 : 0},${event}${signed}]`
}

/**
 * The input as JSON, if a request contains nothing else but a timeout; otherwise `undefined`.
 *
 * Throws a `CallError` when the input has no JSON form.
 */
export function shortInput(event: CallRequestedEvent): string | undefined {
  if (event.kind !== "call" || saysMore(event)) return undefined
  const { value, binary } = encodeValue(event.input, "strict")
  return binary === undefined ? jsonOf(value) : undefined
}

/** The short form of a request: id, operation, input and timeout. `id` is quoted. */
export function callText(
  call: { readonly id: string; readonly operationId: string; readonly input: string },
  left: number | undefined,
  { attempt, isNow, ticket }: RequestAttempt,
): MessageText {
  const signed = ticket === undefined ? "0" : JSON.stringify(ticket)
  return {
    head: `["c",${quoted(call.operationId)},${attempt},${isNow ? 1 : 0}`,
    text: `${call.id},${left ?? "null"},${call.input},${signed}`,
  }
}

/** Accepts a call. `id` is quoted. */
export function acceptedText(
  id: string,
  { attempt, key, isIdempotent, runs }: Omit<WorkerMessage & { type: "accepted" }, "id" | "type">,
): MessageText {
  const head = `["a",${attempt},${isIdempotent ? 1 : 0},${runs === true ? 1 : 0}`
  return { head, text: `${id},${quoted(key)}` }
}

/** Grants a call. `id` is quoted. */
export function goText(id: string, key: string, left: number): MessageText {
  return { head: `["g"`, text: `${id},${quoted(key)},${left}` }
}

/** Confirms results. `ids` are quoted. */
export function doneText(ids: readonly string[]): string {
  return `["d",${ids.join(",")}]`
}

/** The short form of a result; `undefined` if its metadata has more than source, id and time. `id` is quoted. */
export function resultText(
  id: string,
  { output, seq }: CallRespondedEvent,
): MessageText | undefined {
  if (seq !== undefined || !isResponseEnvelope(output)) return undefined
  const { data, meta } = output
  if (meta.source !== "local" || countOf(meta) !== 3 || countOf(output) !== 2) return undefined
  const { operationId, timestamp } = meta
  if (typeof operationId !== "string" || !Number.isFinite(timestamp)) return undefined
  const { value, binary } = encodeValue(data)
  const json = binary === undefined ? jsonOf(value) : undefined
  if (json === undefined) return undefined
  return { head: `["v",${quoted(operationId)}`, text: `${id},${timestamp},${json}` }
}

/** Checks field by field, because most requests have one shape. A test covers all fields. */
function saysMore(event: CallRequestedEvent): boolean {
  return (
    event.version !== undefined ||
    event.identity !== undefined ||
    event.metadata !== undefined ||
    event.parentRequestId !== undefined ||
    event.depth !== undefined ||
    event.rootRequestId !== undefined ||
    event.progress !== undefined ||
    event.canAnswer !== undefined ||
    event.traceparent !== undefined ||
    event.deadline !== undefined ||
    event.idleTimeout !== undefined ||
    event.window !== undefined ||
    event.policy !== undefined ||
    event.idempotencyKey !== undefined
  )
}

/** `undefined` where JSON would leave it out. */
function jsonOf(value: unknown): string | undefined {
  return JSON.stringify(value)
}

function countOf(value: object): number {
  let count = 0
  for (const _ in value) count++
  return count
}
