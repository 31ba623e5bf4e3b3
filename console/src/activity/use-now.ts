import { useEffect, useState } from "react"

/** The time, told anew about each half second while it is needed and the page is seen. */
export function useNow(isNeeded: boolean, everyMs = 500): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isNeeded) return undefined
    setNow(Date.now())
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now())
    }, everyMs)
    return () => clearInterval(timer)
  }, [isNeeded, everyMs])
  return now
}
