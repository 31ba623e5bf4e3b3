import { deferred, withTimeout } from "../../../src/internal/wait.ts"
import { createGatherer } from "../activity/gather.ts"
import type { HubClient, HubEvent } from "../api/model.ts"

/** How long a call waits for the stream of events to open. */
const MAX_WAIT_MS = 1000
/** How long events are read after the result: they arrive a little later. */
const GRACE_MS = 1000
const GATHER_MS = 150
/** Maximum number of nested calls that are reported. */
const MAX_CALLS = 50

/** Reads the events of one call. */
export interface CallWatch {
  /** Resolves when events are being read, or cannot be; after a second at the latest. */
  readonly opened: Promise<void>
  /** The call was sent. */
  started(requestId: string): void
  /** The call is over; events that are still on their way are read. */
  ended(): void
  /** Reads no further events. */
  stop(): void
}

/**
 * Watches what a call leads to: the calls that it makes, and what MCP servers log during them. The hub reports both to
 * administrators. Without events nothing is reported: the call itself does not need them.
 */
export function watchCall(
  hub: HubClient,
  delayMs: number,
  onEvents: (events: readonly HubEvent[]) => void,
): CallWatch {
  const controller = new AbortController()
  const { signal } = controller
  const requestIds = new Set<string>()
  const gathered = createGatherer<HubEvent>((events) => {
    if (!signal.aborted) onEvents(events)
  }, GATHER_MS)
  const isOfCall = (event: HubEvent): boolean => {
    if (event.kind === "log") return requestIds.has(event.line.requestId ?? "")
    if (event.kind !== "call" || !requestIds.has(event.trace.parentRequestId ?? "")) return false
    const { requestId } = event.trace
    if (requestIds.size > MAX_CALLS && !requestIds.has(requestId)) return false
    requestIds.add(requestId)
    return true
  }
  const opening = deferred()
  const read = async (): Promise<void> => {
    const onEvent = (event: HubEvent): void => {
      if (isOfCall(event)) gathered.add(event)
    }
    await hub.events({ signal, onOpen: opening.resolve, onEvent }).catch(() => undefined)
    opening.resolve()
  }
  const timer = setTimeout(() => void read(), delayMs)
  const stop = (): void => {
    clearTimeout(timer)
    controller.abort()
  }
  const finish = (): void => {
    gathered.flush()
    stop()
  }
  return {
    opened: withTimeout(opening.promise, MAX_WAIT_MS, () => undefined),
    started: (requestId) => void requestIds.add(requestId),
    ended: () => void setTimeout(finish, GRACE_MS),
    stop,
  }
}
