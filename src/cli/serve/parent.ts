/**
 * When the process that started this one is gone. It never is where that cannot be told.
 *
 * `npm` tells the shell of a script to stop, and many shells end without passing it on: whoever stops
 * `npm start` would otherwise leave a hub behind that nobody knows of.
 */
export function parentGone(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  const parent = process.ppid
  return new Promise((resolve) => {
    if (env["npm_lifecycle_event"] === undefined || process.platform === "win32") return
    const timer = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(timer)
      resolve()
    }, 500)
    timer.unref()
    signal.addEventListener("abort", () => clearInterval(timer), { once: true })
  })
}
