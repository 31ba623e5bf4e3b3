import { useCallback, useEffect, useState } from "react"
import type { SourceInfo, SourceStatus } from "../api/model.ts"
import { asError } from "../app/as-error.ts"
import { useHub } from "../app/context.tsx"
import { isRefusal } from "../api/problems.ts"

/** A requested value; the last one stays while it is requested again, or the request fails. */
export interface Requested<TValue> {
  readonly value: TValue | undefined
  readonly error: Error | undefined
  readonly again: () => void
}

export interface RequestOptions {
  /** Requests again after this many milliseconds. */
  readonly everyMs?: number
  /** Requests again when it changes. */
  readonly version?: unknown
}

/**
 * Requests a value while the view is mounted and the page is visible.
 *
 * Pass the same `ask` function in each render.
 */
export function useRequested<TValue>(
  ask: (signal: AbortSignal) => Promise<TValue>,
  { everyMs, version }: RequestOptions = {},
): Requested<TValue> {
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

/** The credentials that a source needs and does not have. */
export function useMissing({ name, state, operations }: SourceStatus): SourceInfo["missing"] {
  const hub = useHub()
  const ask = useCallback((signal: AbortSignal) => hub.source(name, signal), [hub, name])
  return useRequested(ask, { version: `${state} ${operations}` }).value?.missing ?? []
}
