import { maskValue } from "./secrets.ts"

const SECRET_NAME =
  /^(?:set-cookie2?|cookie|(?:proxy-)?authorization|(?:proxy-)?authentication-info)$|(?:^|[-_])(?:token|jwt|secret|password|passwd|credentials?|(?:api|access|auth|private|subscription|functions?)[-_]?key|[a-z]*token)(?:$|[-_])/
// Cursors, which callers need for the next page.
const CURSOR_NAME = /(?:^|[-_])(?:continuation|page|next|prev|previous|sync|cursor)[-_]?token$/

/**
 * The headers of a response that callers may see: lower-case, without cookies and credentials.
 *
 * `www-authenticate` stays, since it says how to sign in. Counts such as
 * `x-ratelimit-remaining-tokens` and cursors such as `x-next-page-token` are not credentials. `requested`
 * headers are included in any case; cookies are joined by line breaks, since a cookie may contain a comma.
 */
export function safeHeaders(
  headers: Headers,
  secrets: readonly string[],
  requested: readonly string[] = [],
): Readonly<Record<string, string>> {
  const safe: [string, string][] = []
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!isSecretHeader(key)) safe.push([key, maskValue(value, secrets)])
  }
  for (const name of requested) {
    const key = name.toLowerCase()
    const value = key === "set-cookie" ? headers.getSetCookie().join("\n") : headers.get(key)
    if (isSecretHeader(key) && value) safe.push([key, maskValue(value, secrets)])
  }
  // `fromEntries` defines each name; assigning would lose a header called `__proto__`.
  return Object.fromEntries(safe)
}

/** Whether a header of this name contains a credential. */
export function isSecretHeader(name: string): boolean {
  const key = name.toLowerCase()
  return SECRET_NAME.test(key) && !CURSOR_NAME.test(key)
}

/** The credentials among headers: whole values, and the part after a scheme such as `Bearer`. */
export function secretsIn(headers: Readonly<Record<string, string>> | undefined): string[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    isSecretHeader(name) ? [value, value.replace(/^[A-Za-z][\w-]*\s+/, "")] : [],
  )
}
