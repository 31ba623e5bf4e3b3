import { isResponseEnvelope } from "../../../core/envelope.ts"
import { encodeValue } from "../../../core/envelope-codec.ts"
import { encodeCallEvent } from "../../../core/event-codec.ts"
import type { CallEvent, CallRequestedEvent, CallRespondedEvent } from "../../../core/events.ts"
import type { MessageText } from "./frames.ts"

/** A message of a caller to a worker. Ids are request ids. */
export type CallerMessage =
  /** Requests a call. It runs when the caller sends `go`; with `now` at once, if the operation is idempotent. */
  | {
      readonly type: "request"
      readonly attempt: number
      readonly event: CallRequestedEvent
      readonly now?: boolean | undefined
      /** The signed identity of the caller. */
      readonly ticket?: string | undefined
    }
  /** A request that does not match the schema of events: what `wire.ts` reads instead of it. Never sent. */
  | {
      readonly type: "invalid"
      readonly attempt: number
      readonly event: { readonly requestId: string }
      readonly now: boolean
    }
  /** Grants a call: `key` is from the worker's `accepted`, `left` the remaining milliseconds. */
  | { readonly type: "go"; readonly id: string; readonly key: string; readonly left: number }
  /** Denies a grant: another worker runs the call, or its caller left. */
  | { readonly type: "nogo"; readonly id: string; readonly key: string }
  /** An abort, credit for a stream, or the answer to a question. */
  | { readonly type: "event"; readonly event: CallEvent }
  /** Checks whether the worker is alive, and asks about long-running calls. */
  | {
      readonly type: "ping"
      readonly ids: readonly string[]
      /** The number of the last received item, by stream id. Later items are sent again. */
      readonly streams: Readonly<Record<string, number>>
      /** The time of the last received `pong`: what was sent before it and did not arrive was lost. */
      readonly heard?: number | undefined
    }
  /** Confirms received results. */
  | { readonly type: "done"; readonly ids: readonly string[] }
  /** Asks what the worker serves. */
  | { readonly type: "who" }

/** A message of a worker to a caller. */
export type WorkerMessage =
  /** Accepts a call; `runs` if it has already begun. */
  | {
      readonly type: "accepted"
      readonly id: string
      readonly attempt: number
      readonly key: string
      readonly isIdempotent: boolean
      readonly runs?: boolean | undefined
    }
  /** Refuses a call, which will not begin: the worker is busy, leaving, or not permitted. */
  | {
      readonly type: "refused"
      readonly id: string
      readonly attempt: number
      /** Set if the call was accepted before. */
      readonly key?: string | undefined
      /** Another worker may take it; otherwise `error` is the answer. */
      readonly elsewhere: boolean
      readonly error: CallEvent & { readonly type: "call.error" }
    }
  /** A result, an item of a stream, an end, an error, progress, or a question. */
  | {
      readonly type: "event"
      readonly event: CallEvent
      /** The number of stream items before an error, so that none is missed. */
      readonly after?: number | undefined
    }
  /** Answers a ping, with unknown calls, and with streams whose missing items are no longer kept. */
  | {
      readonly type: "pong"
      readonly unknown: readonly string[]
      readonly lost: readonly string[]
      /** A time of the worker's own clock; opaque to others. */
      readonly at?: number | undefined
    }
  /** Announces operations by their hashes (`hashOperationId`): 1 for idempotent ones, 0 for others. */
  | {
      readonly type: "here"
      readonly operations: Readonly<Record<string, 0 | 1>>
      /** The version of all of them, except for those in `versions`, by hash. */
      readonly version?: string | undefined
      readonly versions?: Readonly<Record<string, string>> | undefined
    }
  /** The served operations have changed: ask again. */
  | { readonly type: "changed" }
  /** Accepts no further requests. */
  | { readonly type: "bye" }

/** A message that is not an item of a list. */
export type WholeMessage = Exclude<
  CallerMessage | WorkerMessage,
  { readonly type: "request" | "invalid" | "go" | "done" | "accepted" }
>

/** Messages that are sent together, and the address of their sender. */
export interface Frame<TMessage> {
  readonly from: string
  readonly messages: readonly TMessage[]
  /** The number of invalid messages. */
  readonly dropped: number
}

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

/** Encodes a message on its own. Throws a `CallError` when a value has no JSON form. */
export function messageText(message: WholeMessage): string {
  if (message.type !== "event") return JSON.stringify(message)
  const after = "after" in message && message.after !== undefined ? `,${message.after}` : ""
  return `["e",${encodeCallEvent(message.event)}${after}]`
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

/** The fields of a short request. */
const SHORT = new Set(["type", "requestId", "operationId", "input", "kind", "timeout"])

/** Whether a request has a field that the short form does not carry. */
function saysMore(event: CallRequestedEvent): boolean {
  for (const name in event) {
    if (!SHORT.has(name) && event[name as keyof CallRequestedEvent] !== undefined) return true
  }
  return false
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
