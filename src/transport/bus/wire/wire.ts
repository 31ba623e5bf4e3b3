import { isRecord } from "../../../internal/guards.ts"
import { decodeCallEvent } from "../../../core/event-codec.ts"
import type { CallEvent } from "../../../core/events.ts"
import { isCallEvent, isEventForCaller } from "../../../core/is-event.ts"
import { isIntact } from "./frames.ts"
import type { CallerMessage, Frame, WorkerMessage } from "./messages.ts"
import { isVersion } from "./versions.ts"

/** The maximum number of messages in a frame; no peer of ours sends more. */
const MAX_MESSAGES = 10_000
/** The maximum number of ids in a message. */
const MAX_IDS = 100_000
const ADDRESS = /^[A-Za-z0-9]{1,64}$/

/** A parsed object, not validated. */
type Fields = Readonly<Record<string, unknown>>

/** Reads a frame of a caller; `undefined` if it is invalid. Invalid messages that are not requests are only counted. */
export function readCallerFrame(text: string): Frame<CallerMessage> | undefined {
  return readFrame(text, readCallerList, callerMessage)
}

/** Reads a frame of a worker; `undefined` if it is invalid. Invalid messages in it are only counted. */
export function readWorkerFrame(text: string): Frame<WorkerMessage> | undefined {
  return readFrame(text, readWorkerList, workerMessage)
}

/**
 * Hashes the id of an operation, for announcements: everyone on a broker receives them, but only permitted callers may
 * see names.
 */
export function hashOperationId(operationId: string): string {
  const [low, high] = hashHalves(operationId, 0x01000193)
  return (low >>> 0).toString(36) + (high >>> 0).toString(36)
}

/** Two hashes of a text, of 32 bits each; the second begins with `seed`. */
export function hashHalves(text: string, seed: number): readonly [low: number, high: number] {
  let low = 0x811c9dc5
  let high = seed
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + at), 0x85ebca6b)
  }
  return [low, high]
}

function readFrame<TMessage>(
  text: string,
  readList: (list: readonly unknown[], take: Take<TMessage>) => void,
  read: (fields: Fields) => TMessage | undefined,
): Frame<TMessage> | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(parsed)) return undefined
  const { from, messages, sum, ...others } = parsed
  // A damaged frame may still be JSON. An unknown field may be a damaged checksum.
  if (Object.keys(others).length > 0 || (sum !== undefined && !isIntact(text))) return undefined
  if (typeof from !== "string" || !ADDRESS.test(from)) return undefined
  if (!Array.isArray(messages) || messages.length > MAX_MESSAGES) return undefined
  const sound: TMessage[] = []
  let dropped = 0
  const take: Take<TMessage> = (message) => {
    if (message === undefined || sound.length >= MAX_MESSAGES) dropped++
    else sound.push(message)
  }
  for (const message of messages as unknown[]) {
    if (Array.isArray(message)) readList(message, take)
    else take(isRecord(message) ? read(message) : undefined)
  }
  return { from, messages: sound, dropped }
}

/** Receives the messages of a list, one by one; `undefined` for an invalid one. */
type Take<TMessage> = (message: TMessage | undefined) => void

/** Reads a list of a caller. */
function readCallerList(list: readonly unknown[], take: Take<CallerMessage>): void {
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
function readWorkerList(list: readonly unknown[], take: Take<WorkerMessage>): void {
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

/** Reads a request. If only its content is invalid, the caller gets an error. */
function request(
  wire: unknown,
  attempt: unknown,
  isNow: unknown,
  ticket: unknown,
): CallerMessage | undefined {
  const event = decodeCallEvent(wire)
  if (!isCount(attempt) || !isEventForCaller(event) || event.type !== "call.requested") {
    return undefined
  }
  const now = isNow === 1
  const isSound = isCallEvent(event) && (ticket === undefined || typeof ticket === "string")
  if (isSound) return { type: "request", attempt, event, now, ticket }
  const { requestId } = event
  return isId(requestId) ? { type: "invalid", attempt, event: { requestId }, now } : undefined
}

function callerMessage(fields: Fields): CallerMessage | undefined {
  const { type, id, key, ids, streams, heard } = fields
  switch (type) {
    case "nogo":
      return isId(id) && isId(key) ? { type, id, key } : undefined
    case "ping":
      return isIds(ids) && isCounts(streams)
        ? { type, ids, streams, heard: isTime(heard) ? heard : undefined }
        : undefined
    case "who":
      return { type }
    default:
      return undefined
  }
}

function workerMessage(fields: Fields): WorkerMessage | undefined {
  const { type, unknown, lost, operations, version, versions, at } = fields
  switch (type) {
    case "refused":
      return refusedMessage(fields)
    case "pong":
      return isIds(unknown) && isIds(lost)
        ? { type, unknown, lost, at: isTime(at) ? at : undefined }
        : undefined
    case "here":
      return isCounts(operations)
        ? {
            type,
            operations: operations as Readonly<Record<string, 0 | 1>>,
            version: isVersion(version) ? version : undefined,
            versions: areVersions(versions) ? versions : undefined,
          }
        : undefined
    case "changed":
    case "bye":
      return { type }
    default:
      return undefined
  }
}

function refusedMessage(fields: Fields): WorkerMessage | undefined {
  const { id, attempt, key, elsewhere } = fields
  const error = readEvent(fields["error"])
  if (!isId(id) || !isCount(attempt) || error?.type !== "call.error") return undefined
  if (key !== undefined && !isId(key)) return undefined
  return { type: "refused", id, attempt, key, elsewhere: elsewhere === true, error }
}

function areVersions(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every(isVersion)
}

/** Decodes an event; `undefined` if it is invalid. */
function readEvent(wire: unknown): CallEvent | undefined {
  const event = decodeCallEvent(wire)
  return isCallEvent(event) ? event : undefined
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 256
}

function isIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_IDS && value.every(isId)
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0
}

function isCounts(value: unknown): value is Readonly<Record<string, number>> {
  return isRecord(value) && Object.values(value).every(isCount)
}
