import type { UpgradeRequestLike } from "./upgrade.ts"

/**
 * The address a request came from, in one spelling.
 *
 * `X-Forwarded-For` counts only as far as addresses of `trusted` wrote it: everyone can send one.
 */
export function callerAddress(request: UpgradeRequestLike, trusted: ReadonlySet<string>): string {
  let address = canonicalAddress(request.socket?.remoteAddress ?? "")
  if (trusted.size === 0 || !trusted.has(address)) return address
  const sent = request.headers["x-forwarded-for"]
  const hops = (typeof sent === "string" ? sent : (sent ?? []).join(",")).split(",")
  for (const hop of hops.toReversed()) {
    const before = parseAddress(hop.trim())
    // A hop that is no address was not written by a proxy that does its work.
    if (before === undefined) break
    address = before
    if (!trusted.has(address)) break
  }
  return address
}

/** An address in one spelling: IPv4 within IPv6 is IPv4. What is no address stays as it is. */
export function canonicalAddress(text: string): string {
  return parseAddress(text) ?? text.toLowerCase()
}

/** What counts as one caller: an IPv4 address, or the /64 that one host of IPv6 has to choose from. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address
  return `${groupsOf(address).slice(0, 4).join(":")}::/64`
}

/** An address, also with a port or a zone behind it, as some proxies write it. */
function parseAddress(text: string): string | undefined {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::\d{1,5})?$/.exec(text)
  if (v4 !== null) {
    const parts = v4.slice(1, 5)
    // A leading zero is octal to some and decimal to others.
    const isSound = parts.every((part) => String(Number(part)) === part && Number(part) <= 255)
    return isSound ? parts.join(".") : undefined
  }
  const v6 = /^\[?([0-9a-f:.]{2,45})(?:%[\w.-]{1,64})?(?:\](?::\d{1,5})?)?$/i.exec(text)?.[1]
  if (v6 === undefined || !URL.canParse(`http://[${v6}]`)) return undefined
  const address = new URL(`http://[${v6}]`).hostname.slice(1, -1)
  const groups = groupsOf(address)
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return address
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}

/** The eight groups of an IPv6 address as the URL parser writes it. */
function groupsOf(address: string): string[] {
  const [head = "", tail] = address.split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after]
}
