import { groupsOf } from "../internal/ipv6.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

/**
 * The canonical address that a request came from.
 *
 * `X-Forwarded-For` counts only as far as `trusted` proxies wrote it: anyone can send one.
 */
export function callerAddress(request: UpgradeRequestLike, trusted: ReadonlySet<string>): string {
  let address = canonicalAddress(request.socket?.remoteAddress ?? "")
  if (trusted.size === 0 || !trusted.has(address)) return address
  const sent = request.headers["x-forwarded-for"]
  const hops = (typeof sent === "string" ? sent : (sent ?? []).join(",")).split(",")
  for (const hop of hops.toReversed()) {
    const before = parseAddress(hop.trim())
    // A working proxy writes only addresses.
    if (before === undefined) break
    address = before
    if (!trusted.has(address)) break
  }
  return address
}

/** The canonical form of an address: IPv4-mapped IPv6 becomes IPv4. Other text stays unchanged. */
export function canonicalAddress(text: string): string {
  return parseAddress(text) ?? text.toLowerCase()
}

/** The network that counts as one caller: an IPv4 address, or an IPv6 /64. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address
  const hex = groupsOf(address).map((group) => group.toString(16))
  return `${hex.slice(0, 4).join(":")}::/64`
}

/** Parses an address, which may have a port or a zone, as some proxies write it. */
function parseAddress(text: string): string | undefined {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::\d{1,5})?$/.exec(text)
  if (v4 !== null) {
    const parts = v4.slice(1, 5)
    // Leading zeros are ambiguous: octal for some parsers, decimal for others.
    const isSound = parts.every((part) => String(Number(part)) === part && Number(part) <= 255)
    return isSound ? parts.join(".") : undefined
  }
  const v6 = /^\[?([0-9a-f:.]{2,45})(?:%[\w.-]{1,64})?(?:\](?::\d{1,5})?)?$/i.exec(text)?.[1]
  if (v6 === undefined || !URL.canParse(`http://[${v6}]`)) return undefined
  const address = new URL(`http://[${v6}]`).hostname.slice(1, -1)
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6)
  if (groups.slice(0, 6).join() !== "0,0,0,0,0,65535") return address
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}
