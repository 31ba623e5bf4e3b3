import { hasMethods } from "../internal/options.ts"

/** Watches whether code can run; returns a function that stops watching. */
export type WatchLifecycle = (suspended: () => void, resumed: () => void) => () => void

/**
 * Watches the page: it is suspended when it is left, enters the back/forward cache or is frozen.
 *
 * `undefined` where there is no page, as in workers and in Node.
 */
export function pageLifecycle(): WatchLifecycle | undefined {
  const page: EventTarget = globalThis
  if (!("document" in page) || !hasMethods(page, ["addEventListener", "removeEventListener"])) {
    return undefined
  }
  return (suspended, resumed) => {
    const listeners = { pagehide: suspended, freeze: suspended, pageshow: resumed, resume: resumed }
    const each = (change: "addEventListener" | "removeEventListener"): void => {
      for (const [type, listener] of Object.entries(listeners)) {
        // "freeze" and "resume" are events of the document: the global object sees them while they are captured.
        page[change](type, listener, { capture: true })
      }
    }
    each("addEventListener")
    return () => each("removeEventListener")
  }
}
