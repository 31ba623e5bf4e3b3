import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { abortion } from "./failure.ts"
import type { RequestContext } from "./failure.ts"

/** Work that many wait for and that is done once. */
export interface SharedTask<TResult> {
  /** Waits for the work, and starts it when it is not under way. Whoever aborts only stops waiting. */
  join(context: RequestContext): Promise<TResult>
}

/** Makes a task of some work; its controller is aborted when nobody waits any more. */
export function createSharedTask<TResult>(
  work: (controller: AbortController) => Promise<TResult>,
): SharedTask<TResult> {
  let running: Running<TResult> | undefined

  function start(): Running<TResult> {
    const controller = new AbortController()
    const task: Running<TResult> = { controller, result: work(controller), waiting: 0 }
    running = task
    const settle = (): void => {
      if (running === task) running = undefined
    }
    task.result.then(settle, settle)
    return task
  }

  return {
    async join(context) {
      const { signal } = context
      if (signal.aborted) throw abortion(context, false)
      const task = running ?? start()
      let listener: { handleEvent(): void } | undefined
      task.waiting++
      try {
        return await new Promise<TResult>((resolve, reject) => {
          listener = { handleEvent: () => reject(abortion(context, false)) }
          addSignalListener(signal, listener)
          task.result.then(resolve, reject)
        })
      } finally {
        if (listener !== undefined) removeSignalListener(signal, listener)
        // The next one to come starts afresh rather than with work that is being stopped.
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
