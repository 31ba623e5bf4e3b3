import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { abortError } from "./request-errors.ts"
import type { RequestContext } from "./request-errors.ts"

/** Work that is done once for many concurrent callers. */
export interface SharedTask<TResult> {
  /** Waits for the work, and starts it unless it is running. Aborting only stops this caller's wait. */
  join(context: RequestContext): Promise<TResult>
}

/** Creates a shared task; its controller is aborted when the last caller stops waiting. */
export function createSharedTask<TResult>(
  work: (controller: AbortController) => Promise<TResult>,
): SharedTask<TResult> {
  let running: Running<TResult> | undefined

  function start(): Running<TResult> {
    const controller = new AbortController()
    const task: Running<TResult> = { controller, result: work(controller), waiting: 0 }
    running = task
    const clear = (): void => {
      if (running === task) running = undefined
    }
    task.result.then(clear, clear)
    return task
  }

  return {
    async join(context) {
      const { signal } = context
      if (signal.aborted) throw abortError(context, false)
      const task = running ?? start()
      let listener: { handleEvent(): void } | undefined
      task.waiting++
      try {
        return await new Promise<TResult>((resolve, reject) => {
          listener = { handleEvent: () => reject(abortError(context, false)) }
          addSignalListener(signal, listener)
          task.result.then(resolve, reject)
        })
      } finally {
        if (listener !== undefined) removeSignalListener(signal, listener)
        // The next caller starts new work instead of joining work that is being aborted.
        if (--task.waiting === 0 && running === task) {
          running = undefined
          task.controller.abort()
        }
      }
    },
  }
}

interface Running<TResult> {
  readonly controller: AbortController
  readonly result: Promise<TResult>
  waiting: number
}
