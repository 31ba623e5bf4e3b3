import { isFileLike } from "../schema/files.ts"
import { isPlainObject } from "../internal/guards.ts"
import type { CallEvent } from "../core/events.ts"

// Deeper values are left as they are; the receiver validates them.
const MAX_DEPTH = 512

/** Thrown for a file: threads would lose its name, and cannot be sent a stream. */
export const HAS_FILE: unique symbol = Symbol("an event with a file")

/**
 * Copies views of shared buffers in an event. Throws `HAS_FILE` if there is a file in it.
 *
 * A structured clone of a view contains the whole buffer behind it. Node allocates small buffers from a shared pool,
 * and a thread that runs foreign code must not see the rest of that pool.
 */
export function withOwnBytes(event: CallEvent): CallEvent {
  if (event.type === "call.requested") {
    const input = owned(event.input, 0)
    return input === event.input ? event : { ...event, input }
  }
  if (event.type === "call.responded") {
    const data = owned(event.output.data, 0)
    return data === event.output.data ? event : { ...event, output: { ...event.output, data } }
  }
  return event
}

function owned(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value
  if (value instanceof Uint8Array) {
    return value.byteLength === value.buffer.byteLength ? value : Uint8Array.from(value)
  }
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (const [at, item] of value.entries()) {
      const own = owned(item, depth + 1)
      if (own !== item) (copy ??= [...(value as unknown[])])[at] = own
    }
    return copy ?? value
  }
  if (!isPlainObject(value)) {
    if (isFileLike(value)) throw HAS_FILE
    return value
  }
  let changed: [string, unknown][] | undefined
  for (const [key, item] of Object.entries(value)) {
    const own = owned(item, depth + 1)
    if (own !== item) (changed ??= []).push([key, own])
  }
  return changed === undefined ? value : Object.fromEntries([...Object.entries(value), ...changed])
}
