const TIMEOUT_MS = 5000

let stopWaiting: (() => void) | undefined
let isFieldWanted = false

/** Makes the next view that is opened give the focus to the first field of its form, if it has one. */
export function wantField(): void {
  isFieldWanted = true
}

/**
 * Moves the focus to the heading of the view, so that screen readers announce it.
 *
 * Waits for a heading that is not there yet, or is replaced by another one, until the user does
 * something else.
 */
export function focusHeading(): void {
  stopWaiting?.()
  const focusNow = isFieldWanted ? focusField : focusTitle
  isFieldWanted = false
  const observer = new MutationObserver(() => {
    const { activeElement } = document
    // Nothing has the focus, or only the heading of a view whose form is being loaded.
    const isLost = activeElement === null || activeElement === document.body
    if (isLost || activeElement.tagName === "H1") focusNow()
  })
  const timer = setTimeout(() => stop(), TIMEOUT_MS)
  const since = performance.now()
  const stop = (event?: Event): void => {
    // The key that opened the view may still be on its way.
    if (event !== undefined && event.timeStamp < since) return
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

const FIELD = ".request-input .schema-form :is(input, select, textarea):not(:disabled)"

function focusField(): boolean {
  const field = document.querySelector<HTMLElement>(FIELD)
  if (field === null || !isShown(field)) return focusTitle()
  field.focus()
  return true
}

function focusTitle(): boolean {
  const main = document.querySelector("main")
  // Narrow screens show the list instead.
  const heading =
    main !== null && isShown(main)
      ? main.querySelector<HTMLElement>("h1")
      : document.querySelector<HTMLElement>("[data-heading]")
  if (heading === null || !isShown(heading)) return false
  heading.tabIndex = -1
  if (document.activeElement !== heading) heading.focus({ preventScroll: true })
  return true
}

function isShown(element: Element): boolean {
  return element.getClientRects().length > 0
}
