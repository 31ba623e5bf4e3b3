import { isRecord } from "../../../internal/guards.ts"
import { decodeCallEvent } from "../../../core/event-codec.ts"
import type { CallEvent } from "../../../core/events.ts"
import { isCallEvent } from "../../../core/is-event.ts"

const MAX_IDS = 100_000

/** A parsed object, not validated. */
export type Fields = Readonly<Record<string, unknown>>

/** Decodes an event; `undefined` if it is invalid. */
export function readEvent(wire: unknown): CallEvent | undefined {
  const event = decodeCallEvent(wire)
  return isCallEvent(event) ? event : undefined
}

export function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 256
}

export function isIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_IDS && value.every(isId)
}

export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

export function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0
}

export function isCounts(value: unknown): value is Readonly<Record<string, number>> {
  return isRecord(value) && Object.values(value).every(isCount)
}
