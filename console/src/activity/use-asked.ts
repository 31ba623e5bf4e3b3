import { useCallback, useEffect, useState } from "react"
import { asError } from "../app/as-error.ts"
import { isRefusal } from "./refusal.ts"

/** Something that is asked for; what is known stays while it is asked for again, or fails. */
export interface Asked<TValue> {
  readonly value: TValue | undefined
  readonly error: Error | undefined
  readonly again: () => void
}

export interface AskOptions {
  /** Asks again after so many milliseconds. */
  readonly everyMs?: number
  /** Asks again when it becomes another one. */
  readonly version?: unknown
}

/**
 * Asks for something while the view is there and the page is seen.
 *
 * `ask` is to be the same function from one drawing to the next.
 */
export function useAsked<TValue>(
  ask: (signal: AbortSignal) => Promise<TValue>,
  { everyMs, version }: AskOptions = {},
): Asked<TValue> {
  const [value, setValue] = useState<TValue>()
  const [error, setError] = useState<Error>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    let isRefused = false
    const next = (): void => {
      if (everyMs === undefined || signal.aborted || isRefused) return
      timer = setTimeout(run, everyMs)
    }
    const run = (): void => {
      if (everyMs !== undefined && document.hidden) next()
      else ask(signal).then(take, fail).finally(next)
    }
    const take = (answer: TValue): void => {
      if (signal.aborted) return
      setValue(() => answer)
      setError(undefined)
    }
    const fail = (thrown: unknown): void => {
      if (signal.aborted) return
      isRefused = isRefusal(thrown)
      setError(asError(thrown))
    }
    run()
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [ask, everyMs, version, attempt])
  const again = useCallback(() => setAttempt((count) => count + 1), [])
  return { value, error, again }
}
