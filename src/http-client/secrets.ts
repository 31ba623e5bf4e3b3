import { isSecretName } from "../internal/secret-names.ts"

/** The replacement of a secret. */
const MASK = "***"

// Shorter secrets occur by chance: masking them would spoil responses and hide nothing.
const MIN_LENGTH_IN_TEXT = 8
const MIN_LENGTH_IN_VALUE = 4

/** Masks the secrets of a request in a text, in every encoding in which a server may have echoed them. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return replaceAll(text, secrets, MIN_LENGTH_IN_TEXT)
}

/** Like `maskSecrets`, for short values such as headers and URLs, where a shorter match is not a coincidence. */
export function maskValue(value: string, secrets: readonly string[]): string {
  return replaceAll(value, secrets, MIN_LENGTH_IN_VALUE)
}

function replaceAll(text: string, secrets: readonly string[], atLeast: number): string {
  let out = text
  // Longest first: otherwise a secret that starts with a shorter one would keep its end.
  const ordered = secrets.length > 1 ? secrets.toSorted((a, b) => b.length - a.length) : secrets
  for (const secret of ordered) {
    if (secret.length < atLeast) continue
    for (const spelling of spellings(secret)) out = out.replaceAll(spelling, MASK)
  }
  return out
}

/** The spellings of a secret: plain, in a JSON string, and in a URL. */
function spellings(secret: string): readonly string[] {
  if (/^[\w.~-]+$/.test(secret)) return [secret]
  const spelt = new Set([secret, JSON.stringify(secret).slice(1, -1)])
  try {
    spelt.add(encodeURIComponent(secret))
  } catch {
    // A lone surrogate cannot be URL-encoded.
  }
  return [...spelt].toSorted((a, b) => b.length - a.length)
}

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
