import type { UpgradeRequestLike } from "./upgrade.ts"

/**
 * Reads a cookie of a request; `undefined` when there is none. Use it in `authenticate`.
 *
 * Anyone can send any cookie: look it up, or check its signature.
 */
export function readCookie(request: UpgradeRequestLike, name: string): string | undefined {
  return readCookies(request).get(name)
}

/** All cookies of a request, as `setCookie` encodes them. Of several with one name the first counts. */
export function readCookies({ headers }: UpgradeRequestLike): ReadonlyMap<string, string> {
  const { cookie = "" } = headers
  const cookies = new Map<string, string>()
  for (const pair of (typeof cookie === "string" ? cookie : cookie.join("; ")).split(";")) {
    const at = pair.indexOf("=")
    const name = pair.slice(0, Math.max(at, 0)).trim()
    if (name === "" || cookies.has(name)) continue
    cookies.set(
      name,
      decoded(
        pair
          .slice(at + 1)
          .trim()
          .replace(/^"(.*)"$/, "$1"),
      ),
    )
  }
  return cookies
}

/** The text of a value; one that was not encoded stays as it is. */
function decoded(value: string): string {
  if (!value.includes("%")) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
