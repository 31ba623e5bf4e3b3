const TIMEOUT_MS = 5000

let stopWaiting: (() => void) | undefined

/**
 * Moves the focus to the heading of the view, so that screen readers announce it.
 *
 * Waits for a heading that is not there yet, or is replaced by another one, until the user does
 * something else.
 */
export function focusHeading(): void {
  stopWaiting?.()
  const observer = new MutationObserver(() => {
    if (isLost()) focusNow()
  })
  const timer = setTimeout(() => stop(), TIMEOUT_MS)
  const stop = (): void => {
    observer.disconnect()
    clearTimeout(timer)
    removeEventListener("keydown", stop)
    removeEventListener("pointerdown", stop)
    stopWaiting = undefined
  }
  stopWaiting = stop
  addEventListener("keydown", stop)
  addEventListener("pointerdown", stop)
  // A loading view has no heading yet, and the focused element is no longer displayed.
  if (!focusNow() && document.activeElement instanceof HTMLElement) document.activeElement.blur()
  observer.observe(document.body, { childList: true, subtree: true })
}

/** Whether nothing has the focus. */
function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

function focusNow(): boolean {
  const main = document.querySelector("main")
  // Narrow screens show the list instead.
  const heading =
    main !== null && isShown(main)
      ? main.querySelector<HTMLElement>("h1")
      : document.querySelector<HTMLElement>("[data-heading]")
  if (heading === null || !isShown(heading)) return false
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  return true
}

function isShown(element: Element): boolean {
  return element.getClientRects().length > 0
}
