/** Whether a host, as the URL parser spells it, is this machine itself. */
function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Whether anyone on the way could read what is sent to an address: no TLS, and not this machine. */
export function isReadableOnTheWay({ protocol, hostname }: URL): boolean {
  return protocol !== "https:" && protocol !== "wss:" && !isLoopbackHost(hostname)
}

/** Whether two absolute URLs have the same scheme, host and port. */
export function sameOrigin(one: string | URL, other: string | URL): boolean {
  const [a, b] = [originOf(one), originOf(other)]
  return a !== undefined && a === b
}

/** The origin of an absolute URL; `undefined` where there is none. */
export function originOf(url: string | URL): string | undefined {
  try {
    const { origin } = typeof url === "string" ? new URL(url) : url
    return origin === "null" ? undefined : origin
  } catch {
    return undefined
  }
}
