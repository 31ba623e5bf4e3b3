type Callback = () => void

let post: Callback | undefined
const waiting: Callback[] = []

/**
 * Calls back after the current task, together with input that has already arrived.
 *
 * Functions are looked up per use, so that faked timers are seen.
 */
export function defer(callback: Callback): void {
  const { setImmediate } = globalThis as { setImmediate?: (callback: Callback) => unknown }
  if (setImmediate !== undefined) {
    setImmediate(callback)
    return
  }
  // Browsers make a timer of 0 wait for 4 milliseconds; a message does not.
  if (typeof MessageChannel === "undefined") {
    globalThis.setTimeout(callback, 0)
    return
  }
  waiting.push(callback)
  post ??= openChannel()
  post()
}

/** Resolves after the current task. */
export function turn(): Promise<void> {
  return new Promise<void>(defer)
}

/** Sets whether a timer or port keeps the process alive, on platforms that support it. */
export function setRef(handle: unknown, hold: boolean): void {
  if (typeof handle !== "object" || handle === null) return
  const { ref, unref } = handle as { readonly ref?: unknown; readonly unref?: unknown }
  const change = hold ? ref : unref
  if (typeof change === "function") change.call(handle)
}

function openChannel(): Callback {
  const { port1, port2 } = new MessageChannel()
  port1.addEventListener("message", () => waiting.shift()?.())
  port1.start()
  setRef(port1, false)
  return () => port2.postMessage(null)
}
