/**
 * Resolves when the parent process is gone; never if that cannot be detected.
 *
 * `npm` signals the shell of a script, and many shells exit without passing it on: stopping
 * `npm start` would leave a hub running unnoticed.
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

/**
 * Redirects standard output to standard error until the protocol claims it.
 *
 * Configurations and modules run before that, and some of them print.
 */
export function protectStdout(): () => void {
  const { stdout, stderr } = process
  const original = stdout.write.bind(stdout)
  const replaced = stderr.write.bind(stderr)
  stdout.write = replaced
  return () => {
    if (stdout.write === replaced) stdout.write = original
  }
}
