import { setTimeout as sleep } from "node:timers/promises"
import type { PendingRequestMap } from "../src/index.ts"
import { now } from "./now.ts"
import { itemText } from "./operations.ts"
import { toldError } from "./told.ts"
import type { ToldStream } from "./told.ts"

/** A stream to open, and how to take its items. */
export interface StreamOrder {
  readonly count: number
  readonly bytes: number
  /** Milliseconds between two items, at their source. */
  readonly every?: number | undefined
  /** Milliseconds that the consumer needs for each. */
  readonly perItem?: number | undefined
  /** It leaves after so many. */
  readonly leaveAfter?: number | undefined
  /** It takes so many, and then none for so many milliseconds. */
  readonly pause?: { readonly after: number; readonly ms: number } | undefined
  readonly idleTimeout?: number | undefined
}

/** Takes the items of a stream and looks at each. Never rejects. */
export async function consume(
  map: PendingRequestMap,
  told: ToldStream,
  order: StreamOrder,
): Promise<void> {
  const { count, bytes, every, perItem, leaveAfter, pause, idleTimeout } = order
  const input = { id: told.id, count, bytes, ...(every !== undefined && { every }) }
  const options = idleTimeout === undefined ? {} : { idleTimeout }
  let lastAt = now()
  try {
    for await (const { data } of map.subscribe("lab.items", input, options)) {
      told.longestWait = Math.max(told.longestWait, now() - lastAt)
      take(told, data, bytes)
      if (told.received === leaveAfter) {
        told.isLeft = true
        told.settledAt = now()
        break
      }
      if (perItem !== undefined) await sleep(perItem)
      if (told.received === pause?.after) await sleep(pause.ms)
      lastAt = now()
    }
    if (told.isLeft !== true) told.isComplete = true
  } catch (error) {
    told.error = toldError(error)
  }
  told.settledAt ??= now()
}

/** Counts an item, and what is wrong with it. */
function take(told: ToldStream, data: unknown, bytes: number): void {
  const { n, text } = (data ?? {}) as { readonly n?: unknown; readonly text?: unknown }
  const next = told.received + told.gaps + 1
  if (typeof n !== "number" || text !== itemText(n, bytes)) told.wrong++
  else if (n < next) {
    told.repeats++
    return
  } else told.gaps += n - next
  told.received++
}
