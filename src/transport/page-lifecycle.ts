/** Watches whether code can run; returns a function that stops watching. */
export type WatchLifecycle = (suspended: () => void, resumed: () => void) => () => void

/** The used part of a page's global object. */
interface PageGlobal {
  addEventListener(type: string, listener: () => void, options: { readonly capture: boolean }): void
  removeEventListener(
    type: string,
    listener: () => void,
    options: { readonly capture: boolean },
  ): void
}

const SUSPENDED = ["pagehide", "freeze"]
const RESUMED = ["pageshow", "resume"]
// "freeze" and "resume" are events of the document: the global object sees them while they are captured.
const CAPTURE = { capture: true }

/**
 * Watches the page: it is suspended when it is left, enters the back/forward cache or is frozen.
 *
 * `undefined` where there is no page, as in workers and in Node.
 */
export function pageLifecycle(): WatchLifecycle | undefined {
  const page = globalThis as Partial<PageGlobal>
  if (!("document" in page) || !isPage(page)) return undefined
  return (suspended, resumed) => {
    const listeners = [
      ...SUSPENDED.map((type) => [type, suspended] as const),
      ...RESUMED.map((type) => [type, resumed] as const),
    ]
    for (const [type, listener] of listeners) page.addEventListener(type, listener, CAPTURE)
    return () => {
      for (const [type, listener] of listeners) page.removeEventListener(type, listener, CAPTURE)
    }
  }
}

function isPage(page: Partial<PageGlobal>): page is PageGlobal {
  return (
    typeof page.addEventListener === "function" && typeof page.removeEventListener === "function"
  )
}
