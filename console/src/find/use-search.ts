import { useEffect, useMemo, useRef, useState } from "react"
import { asError } from "../app/as-error.ts"
import { useHub, useOperations } from "../app/context.tsx"
import type { OperationSummary } from "../api/model.ts"

/** The results of a query to the hub. */
export interface Search {
  /** The best first; those of the previous query until this one is answered. `undefined` without an answer. */
  readonly matches: readonly OperationSummary[] | undefined
  /** Whether this query has not been answered yet. */
  readonly isPending: boolean
  readonly error: Error | undefined
  /** Calls back with the matches of this query once it is answered; never if the query changes before. */
  readonly whenFound: (then: (matches: readonly OperationSummary[]) => void) => void
}

interface Answer {
  readonly query: string
  readonly ids: readonly string[]
  readonly error?: Error
}

const NOTHING: Answer = { query: "", ids: [] }

/** Searches the index of the hub as the user types. An empty query finds nothing. */
export function useSearch(text: string): Search {
  const query = text.trim()
  const hub = useHub()
  const { operations } = useOperations()
  const byId = useMemo(() => new Map(operations.map((one) => [one.id, one])), [operations])
  const [answer, setAnswer] = useState(NOTHING)
  const waiting = useRef<(matches: readonly OperationSummary[]) => void>(undefined)
  useEffect(() => {
    waiting.current = undefined
    if (query === "") {
      setAnswer(NOTHING)
      return undefined
    }
    const controller = new AbortController()
    const { signal } = controller
    hub.search(query, signal).then(
      (ids) => {
        if (!signal.aborted) setAnswer({ query, ids })
      },
      (error: unknown) => {
        if (!signal.aborted) setAnswer({ query, ids: [], error: asError(error) })
      },
    )
    return () => controller.abort()
    // A changed list may have other results.
  }, [hub, query, operations])
  const isNothing = query === "" || answer === NOTHING
  const matches = useMemo(
    () => (isNothing ? undefined : answer.ids.flatMap((id) => byId.get(id) ?? [])),
    [isNothing, answer, byId],
  )
  const isPending = query !== answer.query
  useEffect(() => {
    if (isPending || matches === undefined) return
    waiting.current?.(matches)
    waiting.current = undefined
  }, [isPending, matches])
  return {
    matches,
    isPending,
    error: isPending ? undefined : answer.error,
    whenFound: (then) => {
      if (isPending) waiting.current = then
      else if (matches !== undefined) then(matches)
    },
  }
}
