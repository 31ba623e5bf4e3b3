import { maskValue } from "./secrets.ts"

const SECRET_NAME =
  /^(?:set-cookie2?|cookie|(?:proxy-)?authorization|(?:proxy-)?authentication-info)$|(?:^|[-_])(?:token|jwt|secret|password|passwd|credentials?|(?:api|access|auth|private|subscription|functions?)[-_]?key|[a-z]*token)(?:$|[-_])/
// Cursors, which callers need to go on.
const CURSOR_NAME = /(?:^|[-_])(?:continuation|page|next|prev|previous|sync|cursor)[-_]?token$/

/**
 * Headers of a response that may be shown: lower-case, without cookies and credentials.
 *
 * `www-authenticate` stays, since it says how to sign in. Counts such as
 * `x-ratelimit-remaining-tokens` and cursors such as `x-next-page-token` are no credentials. Those that
 * are `requested` are shown as well; several cookies stand on a line each, since a comma may be part of one.
 */
export function safeHeaders(
  headers: Headers,
  secrets: readonly string[],
  requested: readonly string[] = [],
): Readonly<Record<string, string>> {
  const shown: [string, string][] = []
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!isSecretHeader(key)) shown.push([key, maskValue(value, secrets)])
  }
  for (const name of requested) {
    const key = name.toLowerCase()
    const value = key === "set-cookie" ? headers.getSetCookie().join("\n") : headers.get(key)
    if (isSecretHeader(key) && value) shown.push([key, maskValue(value, secrets)])
  }
  // Defines each name as it is; assigning would lose a header called `__proto__`.
  return Object.fromEntries(shown)
}

/** Whether a header of this name holds a credential. */
export function isSecretHeader(name: string): boolean {
  const key = name.toLowerCase()
  return SECRET_NAME.test(key) && !CURSOR_NAME.test(key)
}

/** The credentials among headers: whole values, and what follows a scheme such as `Bearer`. */
export function secretsIn(headers: Readonly<Record<string, string>> | undefined): string[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    isSecretHeader(name) ? [value, value.replace(/^[A-Za-z][\w-]*\s+/, "")] : [],
  )
}
