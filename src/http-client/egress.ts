/** Whether two absolute URLs have the same scheme, host and port. */
export function sameOrigin(one: string | URL, other: string | URL): boolean {
  const [a, b] = [originOf(one), originOf(other)]
  return a !== undefined && a === b
}

/** The origin of an absolute URL; `undefined` when it has none. */
export function originOf(url: string | URL): string | undefined {
  try {
    const { origin } = typeof url === "string" ? new URL(url) : url
    return origin === "null" ? undefined : origin
  } catch {
    return undefined
  }
}
