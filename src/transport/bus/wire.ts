import { decodeCallEvent, encodeCallEvent } from "../../call-codec.ts"
import type { CallEvent } from "../../call-events.ts"
import { isCallEvent } from "../../is-call-event.ts"
import type { CallerMessage, Frame, WorkerMessage } from "./messages.ts"

/** Messages of one frame; whoever sends more is not one of us. */
const MOST_MESSAGES = 10_000
const MOST_IDS = 100_000
const ADDRESS = /^[A-Za-z0-9]{1,64}$/

/** A message as text. Throws a `CallError` where a value has no JSON form. */
export function messageText(message: CallerMessage | WorkerMessage): string {
  // Those that every call takes are lists, and written out: that takes a tenth of the time, and half to read.
  switch (message.type) {
    case "event": {
      const after = "after" in message && message.after !== undefined ? `,${message.after}` : ""
      return `["e",${encodeCallEvent(message.event)}${after}]`
    }
    case "accepted": {
      const { id, attempt, key, isIdempotent, runs } = message
      const flags = `${isIdempotent ? 1 : 0},${runs === true ? 1 : 0}`
      return `["a",${quoted(id)},${attempt},${quoted(key)},${flags}]`
    }
    case "go": {
      const { id, key, left } = message
      return `["g",${quoted(id)},${quoted(key)},${left}]`
    }
    case "request": {
      const { event, attempt, now = false, ticket } = message
      return requestText(encodeCallEvent(event), attempt, now, ticket)
    }
    default:
      return JSON.stringify(message)
  }
}

/** A request, whose event is text already. */
export function requestText(
  event: string,
  attempt: number,
  isNow: boolean,
  ticket: string | undefined,
): string {
  const signed = ticket === undefined ? "" : `,${JSON.stringify(ticket)}`
  return `["r",${attempt},${isNow ? 1 : 0},${event}${signed}]`
}

const PLAIN = /^[\w.-]*$/

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** Messages, each as text, that travel together. */
export function frameText(from: string, messages: readonly string[]): string {
  return `{"from":"${from}","messages":[${messages.join(",")}]}`
}

/** What a caller sent; `undefined` when that is no frame. Messages that are none are counted only. */
export function readCallerFrame(text: string): Frame<CallerMessage> | undefined {
  return readFrame(text, callerMessage)
}

/** What a worker sent; `undefined` when that is no frame. Messages that are none are counted only. */
export function readWorkerFrame(text: string): Frame<WorkerMessage> | undefined {
  return readFrame(text, workerMessage)
}

/**
 * What stands for an operation where its name is nobody's business: who serves what is told to everyone on a
 * broker, and names are only told to those who may call.
 */
export function markOf(operationId: string): string {
  let low = 0x811c9dc5
  let high = 0x01000193
  for (let at = 0; at < operationId.length; at++) {
    const code = operationId.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + at), 0x85ebca6b)
  }
  return (low >>> 0).toString(36) + (high >>> 0).toString(36)
}

type Fields = Readonly<Record<string, unknown>>

function readFrame<TMessage>(
  text: string,
  read: (fields: Fields) => TMessage | undefined,
): Frame<TMessage> | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(parsed)) return undefined
  const { from, messages } = parsed
  if (typeof from !== "string" || !ADDRESS.test(from)) return undefined
  if (!Array.isArray(messages) || messages.length > MOST_MESSAGES) return undefined
  const sound: TMessage[] = []
  for (const message of messages as unknown[]) {
    const fields = Array.isArray(message) ? fieldsOf(message) : message
    const one = isObject(fields) ? read(fields) : undefined
    if (one !== undefined) sound.push(one)
  }
  return { from, messages: sound, dropped: messages.length - sound.length }
}

/** What a list says, by its names. */
function fieldsOf(list: readonly unknown[]): Fields | undefined {
  switch (list[0]) {
    case "r":
      return {
        type: "request",
        attempt: list[1],
        now: list[2] === 1,
        event: list[3],
        ticket: list[4],
      }
    case "a":
      return {
        type: "accepted",
        id: list[1],
        attempt: list[2],
        key: list[3],
        isIdempotent: list[4] === 1,
        runs: list[5] === 1,
      }
    case "g":
      return { type: "go", id: list[1], key: list[2], left: list[3] }
    case "e":
      return { type: "event", event: list[1], after: list[2] }
    default:
      return undefined
  }
}

function callerMessage(fields: Fields): CallerMessage | undefined {
  const { type, id, key, left, ids, streams, heard } = fields
  switch (type) {
    case "request":
      return requestMessage(fields)
    case "go":
      return isId(id) && isId(key) && isTime(left) ? { type, id, key, left } : undefined
    case "nogo":
      return isId(id) && isId(key) ? { type, id, key } : undefined
    case "event":
      return eventMessage(fields)
    case "ping":
      return isIds(ids) && isCounts(streams)
        ? { type, ids, streams, heard: isTime(heard) ? heard : undefined }
        : undefined
    case "done":
      return isIds(ids) ? { type, ids } : undefined
    case "who":
      return { type }
    default:
      return undefined
  }
}

function workerMessage(fields: Fields): WorkerMessage | undefined {
  const { type, id, attempt, key, isIdempotent, runs, unknown, lost, operations, at } = fields
  switch (type) {
    case "accepted":
      return isId(id) && isCount(attempt) && isId(key) && typeof isIdempotent === "boolean"
        ? { type, id, attempt, key, isIdempotent, runs: runs === true }
        : undefined
    case "refused":
      return refusedMessage(fields)
    case "event":
      return eventMessage(fields)
    case "pong":
      return isIds(unknown) && isIds(lost)
        ? { type, unknown, lost, at: isTime(at) ? at : undefined }
        : undefined
    case "here":
      return isCounts(operations)
        ? { type, operations: operations as Readonly<Record<string, 0 | 1>> }
        : undefined
    case "changed":
    case "bye":
      return { type }
    default:
      return undefined
  }
}

function requestMessage(fields: Fields): CallerMessage | undefined {
  const { attempt, now, ticket } = fields
  const event = readEvent(fields["event"])
  if (event?.type !== "call.requested" || !isCount(attempt)) return undefined
  if (ticket !== undefined && typeof ticket !== "string") return undefined
  return { type: "request", attempt, event, now: now === true, ticket }
}

function refusedMessage(fields: Fields): WorkerMessage | undefined {
  const { id, attempt, key, elsewhere } = fields
  const error = readEvent(fields["error"])
  if (!isId(id) || !isCount(attempt) || error?.type !== "call.error") return undefined
  if (key !== undefined && !isId(key)) return undefined
  return { type: "refused", id, attempt, key, elsewhere: elsewhere === true, error }
}

function eventMessage(
  fields: Fields,
): { type: "event"; event: CallEvent; after?: number } | undefined {
  const { after } = fields
  const event = readEvent(fields["event"])
  if (event === undefined) return undefined
  return isCount(after) ? { type: "event", event, after } : { type: "event", event }
}

function readEvent(wire: unknown): CallEvent | undefined {
  const event = decodeCallEvent(wire)
  return isCallEvent(event) ? event : undefined
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 256
}

function isIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MOST_IDS && value.every(isId)
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0
}

function isCounts(value: unknown): value is Readonly<Record<string, number>> {
  return isObject(value) && Object.values(value).every(isCount)
}
