import type { UpgradeRequestLike } from "./upgrade.ts"

/**
 * The address a request came from.
 *
 * `X-Forwarded-For` counts only as far as addresses of `trusted` wrote it: everyone can send one.
 */
export function callerAddress(request: UpgradeRequestLike, trusted: ReadonlySet<string>): string {
  let address = plain(request.socket?.remoteAddress ?? "")
  if (trusted.size === 0 || !trusted.has(address)) return address
  const sent = request.headers["x-forwarded-for"]
  const hops = (typeof sent === "string" ? sent : (sent ?? []).join(",")).split(",")
  for (const hop of hops.toReversed()) {
    const before = plain(hop.trim())
    // A hop that is no address was not written by a proxy that does its work.
    if (!/^[0-9a-f.:]{2,45}$/.test(before)) break
    address = before
    if (!trusted.has(address)) break
  }
  return address
}

/** An address in one spelling: IPv4 within IPv6 is IPv4. */
export function plain(address: string): string {
  const text = address.toLowerCase()
  return text.startsWith("::ffff:") && text.includes(".") ? text.slice(7) : text
}
