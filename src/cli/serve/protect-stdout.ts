/**
 * Sends whatever is written to standard output to standard error until the protocol takes it over.
 *
 * Configurations and modules run before that, and some of them talk.
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
