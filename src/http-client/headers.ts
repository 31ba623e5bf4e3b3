import { isSecretName } from "../internal/secret-names.ts"
import { maskValue } from "./secrets.ts"

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
    if (!isSecretName(key, "header")) safe.push([key, maskValue(value, secrets)])
  }
  for (const name of requested) {
    const key = name.toLowerCase()
    const value = key === "set-cookie" ? headers.getSetCookie().join("\n") : headers.get(key)
    if (isSecretName(key, "header") && value) safe.push([key, maskValue(value, secrets)])
  }
  // `fromEntries` defines each name; assigning would lose a header called `__proto__`.
  return Object.fromEntries(safe)
}

/** The credentials among headers: whole values, and the part after a scheme such as `Bearer`. */
export function secretsIn(headers: Readonly<Record<string, string>> | undefined): string[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    isSecretName(name, "header") ? [value, value.replace(/^[A-Za-z][\w-]*\s+/, "")] : [],
  )
}
