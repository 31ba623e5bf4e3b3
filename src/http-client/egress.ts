import { CallError } from "../core/errors.ts"

/** Whether two absolute URLs have the same scheme, host and port. */
export function sameOrigin(one: string | URL, other: string | URL): boolean {
  const [a, b] = [originOf(one), originOf(other)]
  return a !== undefined && a === b
}

/** The origin of an absolute URL; `undefined` when it has none. */
export function originOf(url: string | URL): string | undefined {
  const origin = (typeof url === "string" ? parseUrl(url) : url)?.origin
  return origin === "null" ? undefined : origin
}

/** Parses a URL, which may be relative to `base`; `undefined` when it is invalid. */
export function parseUrl(url: string | URL, base?: string | URL): URL | undefined {
  try {
    return new URL(url, base)
  } catch {
    return undefined
  }
}

/** The error for a blocked host; `why` follows the word "it". */
export function egressBlocked(host: string, why: string): CallError {
  return new CallError("EGRESS_BLOCKED", `Nothing was sent to "${host}": it ${why}.`, {
    retryable: false,
    mayHaveExecuted: false,
  })
}
