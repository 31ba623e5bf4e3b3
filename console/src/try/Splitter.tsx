import { useEffect, useState } from "react"
import type { KeyboardEvent, PointerEvent, ReactNode } from "react"

const KEY = "operations.split"
const [LEAST, USUAL, MOST, STEP] = [20, 40, 80, 5]

/** The bar between a request and its response; how the room is shared is kept in this browser. */
export function Splitter(): ReactNode {
  const [share, setShare] = useState(readShare)
  useEffect(() => {
    document.documentElement.style.setProperty("--request", `${share}fr`)
    document.documentElement.style.setProperty("--response", `${100 - share}fr`)
    try {
      localStorage.setItem(KEY, String(share))
    } catch {
      // It is kept for as long as the page is open.
    }
  }, [share])
  const drag = ({ currentTarget, clientX, pointerId }: PointerEvent<HTMLElement>): void => {
    const box = currentTarget.parentElement?.getBoundingClientRect()
    if (box === undefined || !currentTarget.hasPointerCapture(pointerId)) return
    setShare(within(Math.round((100 * (clientX - box.left)) / box.width)))
  }
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowLeft" ? -STEP : event.key === "ArrowRight" ? STEP : undefined
    if (step === undefined) return
    event.preventDefault()
    setShare(within(share + step))
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator that can be moved
    <div
      className="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the request"
      aria-valuenow={share}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the same
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => setShare(USUAL)}
      onKeyDown={press}
    />
  )
}

function readShare(): number {
  try {
    return within(Number(localStorage.getItem(KEY)) || USUAL)
  } catch {
    return USUAL
  }
}

function within(share: number): number {
  return Math.min(MOST, Math.max(LEAST, share))
}
