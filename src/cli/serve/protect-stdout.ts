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
