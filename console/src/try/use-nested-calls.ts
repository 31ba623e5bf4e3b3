import { useEffect, useState } from "react"
import type { CallTrace } from "../api/model.ts"
import { useHub, useHubInfo } from "../app/context.tsx"

/** Most calls are over before. */
const DELAY_MS = 400
const MAX_SHOWN = 50

/** The traces of calls that a running call has made, by their ids: the hub reports them to administrators. */
export function useNestedCalls(requestId: string | undefined): readonly CallTrace[] {
  const hub = useHub()
  const { isAdmin } = useHubInfo()
  const [calls, setCalls] = useState<ReadonlyMap<string, CallTrace>>(NONE)
  useEffect(() => {
    if (requestId === undefined || !isAdmin) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const known = new Set([requestId])
    const read = async (): Promise<void> => {
      await hub.events({
        signal,
        onEvent(event) {
          if (event.kind !== "call") return
          const { trace } = event
          if (!known.has(trace.parentRequestId ?? "")) return
          if (known.size > MAX_SHOWN && !known.has(trace.requestId)) return
          known.add(trace.requestId)
          setCalls((before) => new Map(before).set(trace.requestId, trace))
        },
      })
    }
    // Without events nothing is shown: the call itself does not need them.
    const timer = setTimeout(() => void read().catch(() => undefined), DELAY_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
      setCalls(NONE)
    }
  }, [hub, isAdmin, requestId])
  return [...calls.values()]
}

const NONE: ReadonlyMap<string, CallTrace> = new Map()
