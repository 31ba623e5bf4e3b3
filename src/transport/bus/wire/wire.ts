import { isRecord } from "../../../internal/guards.ts"
import { encodeCallEvent } from "../../../core/event-codec.ts"
import { frameOf, isIntact, wholeText } from "./frame-builder.ts"
import type { CallerMessage, Frame, WorkerMessage } from "./messages.ts"
import {
  acceptedText,
  doneText,
  goText,
  quoted,
  readCallerList,
  readWorkerList,
  requestText,
} from "./short-messages.ts"
import type { Take } from "./short-messages.ts"
import { isCount, isCounts, isId, isIds, isTime, readEvent } from "./checks.ts"
import type { Fields } from "./checks.ts"
import { isVersion } from "./versions.ts"

/** The maximum number of messages in a frame; no peer of ours sends more. */
const MAX_MESSAGES = 10_000
const ADDRESS = /^[A-Za-z0-9]{1,64}$/

/** Encodes a message on its own. Throws a `CallError` when a value has no JSON form. */
export function messageText(message: CallerMessage | WorkerMessage): string {
  switch (message.type) {
    case "event": {
      const after = "after" in message && message.after !== undefined ? `,${message.after}` : ""
      return `["e",${encodeCallEvent(message.event)}${after}]`
    }
    case "accepted":
      return wholeText(acceptedText(quoted(message.id), message))
    case "go":
      return wholeText(goText(quoted(message.id), message.key, message.left))
    case "done":
      return doneText(message.ids.map(quoted))
    case "request": {
      const { event, attempt, now: isNow = false, ticket } = message
      return requestText(encodeCallEvent(event), { attempt, isNow, ticket })
    }
    default:
      return JSON.stringify(message)
  }
}

/** A frame of encoded messages. */
export function frameText(from: string, messages: readonly string[]): string {
  return frameOf(from, messages.join(","))
}

/** Reads a frame of a caller; `undefined` if it is invalid. Invalid messages in it are only counted. */
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
  let low = 0x811c9dc5
  let high = 0x01000193
  for (let at = 0; at < operationId.length; at++) {
    const code = operationId.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + at), 0x85ebca6b)
  }
  return (low >>> 0).toString(36) + (high >>> 0).toString(36)
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
