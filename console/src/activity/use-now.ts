import { useEffect, useState } from "react"
import { steadyNow } from "../ui/steady-now.ts"

/** The current time, updated about every half second while it is needed and the page is visible. */
export function useNow(isNeeded: boolean, everyMs = 500): number {
  const [now, setNow] = useState(steadyNow)
  useEffect(() => {
    if (!isNeeded) return undefined
    setNow(steadyNow())
    const timer = setInterval(() => {
      if (!document.hidden) setNow(steadyNow())
    }, everyMs)
    return () => clearInterval(timer)
  }, [isNeeded, everyMs])
  return now
}
