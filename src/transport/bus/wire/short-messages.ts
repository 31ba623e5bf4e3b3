import type { CallEvent, CallRequestedEvent, CallRespondedEvent } from "../../../core/events.ts"
import { isResponseEnvelope } from "../../../core/envelope.ts"
import { encodeValue } from "../../../core/envelope-codec.ts"
import type { MessageText } from "./frame-builder.ts"
import type { CallerMessage, WorkerMessage } from "./messages.ts"
import { isCount, isId, isIds, isTime, readEvent } from "./checks.ts"

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

/** Receives the messages of a list, one by one; `undefined` for an invalid one. */
export type Take<TMessage> = (message: TMessage | undefined) => void

/** Reads a list of a caller. */
export function readCallerList(list: readonly unknown[], take: Take<CallerMessage>): void {
  switch (list[0]) {
    case "c": {
      const [, operationId, attempt, now] = list
      const type = "call.requested"
      return readItems(list, 4, 4, take, (at) => {
        const requestId = list[at]
        const timeout = list[at + 1] ?? undefined
        const input = list[at + 2]
        const ticket = list[at + 3] === 0 ? undefined : list[at + 3]
        // The same object shape as that of outgoing requests, which keeps readers fast.
        const event = { type, requestId, operationId, input, kind: "call", timeout }
        return request(event, attempt, now, ticket)
      })
    }
    case "g":
      return readItems(list, 1, 3, take, (at): CallerMessage | undefined => {
        const id = list[at]
        const key = list[at + 1]
        const left = list[at + 2]
        return isId(id) && isId(key) && isTime(left) ? { type: "go", id, key, left } : undefined
      })
    case "d": {
      const ids = list.slice(1)
      return take(ids.length > 0 && isIds(ids) ? { type: "done", ids } : undefined)
    }
    case "r":
      return take(request(list[3], list[1], list[2], list[4]))
    default:
      take(list[0] === "e" ? eventMessage(list[1], list[2]) : undefined)
  }
}

/** Reads a list of a worker. */
export function readWorkerList(list: readonly unknown[], take: Take<WorkerMessage>): void {
  switch (list[0]) {
    case "a": {
      const attempt = list[1]
      const isIdempotent = list[2] === 1
      const runs = list[3] === 1
      return readItems(list, 4, 2, take, (at): WorkerMessage | undefined => {
        const id = list[at]
        const key = list[at + 1]
        return isId(id) && isId(key) && isCount(attempt)
          ? { type: "accepted", id, attempt, key, isIdempotent, runs }
          : undefined
      })
    }
    case "v": {
      const operationId = list[1]
      return readItems(list, 2, 3, take, (at) => {
        const requestId = list[at]
        const meta = { source: "local", operationId, timestamp: list[at + 1] }
        const output = { data: list[at + 2], meta }
        return eventMessage({ type: "call.responded", requestId, output }, undefined)
      })
    }
    default:
      take(list[0] === "e" ? eventMessage(list[1], list[2]) : undefined)
  }
}

/** Reads the items of a list, each of `size` values; an incomplete rest counts as one invalid message. */
function readItems<TMessage>(
  list: readonly unknown[],
  start: number,
  size: number,
  take: Take<TMessage>,
  read: (at: number) => TMessage | undefined,
): void {
  let at = start
  for (; at + size <= list.length; at += size) take(read(at))
  if (at < list.length || list.length <= start) take(undefined)
}

/** A message with an event, and the number of stream items before it. */
function eventMessage(
  wire: unknown,
  after: unknown,
): { type: "event"; event: CallEvent; after?: number } | undefined {
  const event = readEvent(wire)
  if (event === undefined) return undefined
  return isCount(after) ? { type: "event", event, after } : { type: "event", event }
}

function request(
  wire: unknown,
  attempt: unknown,
  now: unknown,
  ticket: unknown,
): CallerMessage | undefined {
  const event = readEvent(wire)
  if (event?.type !== "call.requested" || !isCount(attempt)) return undefined
  if (ticket !== undefined && typeof ticket !== "string") return undefined
  return { type: "request", attempt, event, now: now === 1, ticket }
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
