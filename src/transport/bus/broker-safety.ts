/** What decides whether a broker may be used: where it is, and how it is spoken to. */
export interface BrokerSafety {
  /** Hosts, without brackets round addresses. */
  readonly hosts: readonly string[]
  readonly hasTls: boolean
  readonly hasCredentials: boolean
  readonly insecure: boolean | undefined
}

/** Whether all that is said to a broker is safe from others: it stays here, or is encrypted and signed for. */
export function isSafe({ hosts, hasTls, hasCredentials }: Omit<BrokerSafety, "insecure">): boolean {
  return (hasTls && hasCredentials) || hosts.every(isLoopback)
}

/**
 * Throws a `TypeError` for a broker elsewhere that is to be used without TLS or without credentials.
 *
 * Whoever reaches such a broker can run every operation and read every answer.
 */
export function checkSafety(user: string, safety: BrokerSafety): void {
  if (safety.insecure === true || isSafe(safety)) return
  const { hasTls, hasCredentials } = safety
  const host = safety.hosts.find((one) => !isLoopback(one))
  const missing =
    hasTls || hasCredentials
      ? `without ${hasTls ? "credentials" : "TLS"}`
      : "without TLS and credentials"
  throw new TypeError(
    `${user}: the broker at "${host}" is not on this machine, and is to be used ${missing}. ` +
      `Give both (see "connect"), or { insecure: true } if its network is yours alone.`,
  )
}

/** Whether a host is this machine, in any spelling that a URL has for it. */
export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[|\]$/g, "")
  return (
    bare === "localhost" ||
    bare === "::1" ||
    /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(bare) ||
    // As the URL parser writes it.
    /^::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}$/.test(bare)
  )
}
