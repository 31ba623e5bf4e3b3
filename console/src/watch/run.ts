import { createGatherer } from "../activity/gather.ts"
import type { HubClient, WatchItem } from "../api/model.ts"
import { asError } from "../app/as-error.ts"
import type { WatchAction } from "./model.ts"

/** How long items are gathered before they are displayed: nobody reads faster. */
const GATHER_MS = 100

export interface RunOptions {
  readonly hub: Pick<HubClient, "watch">
  readonly id: string
  readonly input: unknown
  readonly dispatch: (action: WatchAction) => void
  readonly now: () => number
}

/** A stream that is being read. Stop it when you are done; stopping twice is fine. */
export interface Run {
  stop(): void
}

/** Reads a stream until it ends, fails or is stopped, and dispatches its items in batches. */
export function startRun({ hub, id, input, dispatch, now }: RunOptions): Run {
  const controller = new AbortController()
  const { signal } = controller
  const items = createGatherer<WatchItem>(
    (gathered) => dispatch({ type: "items", items: gathered }),
    GATHER_MS,
  )
  const finish = (action: WatchAction): void => {
    if (signal.aborted) return
    items.flush()
    dispatch(action)
  }
  const onItem = (item: WatchItem): void => {
    // Items that were read before the abort may still arrive.
    if (!signal.aborted) items.add(item)
  }

  dispatch({ type: "start", at: now() })
  hub.watch(id, input, { signal, onItem }).then(
    () => finish({ type: "end", at: now() }),
    (thrown: unknown) => finish({ type: "fail", at: now(), error: asError(thrown) }),
  )
  return {
    stop: () => {
      finish({ type: "stop", at: now() })
      controller.abort()
    },
  }
}
