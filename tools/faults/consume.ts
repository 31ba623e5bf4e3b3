import { setTimeout as sleep } from "node:timers/promises"
import type { PendingRequestMap } from "../../src/index.ts"
import { now } from "./now.ts"
import { itemText } from "./operations.ts"
import { recordError } from "./records.ts"
import type { StreamRecord } from "./records.ts"

/** A stream to open, and how to consume it. */
export interface StreamOrder {
  readonly count: number
  readonly bytes: number
  /** Milliseconds between two items, at their source. */
  readonly every?: number | undefined
  /** The time that the consumer needs per item, in milliseconds. */
  readonly perItem?: number | undefined
  /** It leaves after this many items. */
  readonly leaveAfter?: number | undefined
  /** It pauses for `ms` milliseconds after `after` items. */
  readonly pause?: { readonly after: number; readonly ms: number } | undefined
  readonly idleTimeout?: number | undefined
}

/** Consumes a stream, and checks each item. Never rejects. */
export async function consume(
  map: PendingRequestMap,
  record: StreamRecord,
  order: StreamOrder,
): Promise<void> {
  const { count, bytes, every, perItem, leaveAfter, pause, idleTimeout } = order
  const input = { id: record.id, count, bytes, ...(every !== undefined && { every }) }
  const options = idleTimeout === undefined ? {} : { idleTimeout }
  let lastAt = now()
  try {
    for await (const { data } of map.subscribe("lab.items", input, options)) {
      record.longestWait = Math.max(record.longestWait, now() - lastAt)
      take(record, data, bytes)
      if (record.received === leaveAfter) {
        record.isLeft = true
        record.settledAt = now()
        break
      }
      if (perItem !== undefined) await sleep(perItem)
      if (record.received === pause?.after) await sleep(pause.ms)
      lastAt = now()
    }
    if (record.isLeft !== true) record.isComplete = true
  } catch (error) {
    record.error = recordError(error)
  }
  record.settledAt ??= now()
}

/** Records an item, and any errors in it. */
function take(record: StreamRecord, data: unknown, bytes: number): void {
  const { n, text } = (data ?? {}) as { readonly n?: unknown; readonly text?: unknown }
  const next = record.received + record.gaps + 1
  if (typeof n !== "number" || text !== itemText(n, bytes)) record.wrong++
  else if (n < next) {
    record.repeats++
    return
  } else record.gaps += n - next
  record.received++
}
