import { groupsOf } from "./ipv6.ts"

// Names of one machine or one network, regardless of what they resolve to.
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|home\.arpa)$|^ip6-(?:localhost|loopback)$/

// First address and length of each prefix that is not a public host: IANA's special-purpose registry.
const PRIVATE_V4: readonly (readonly [number, number])[] = [
  /* @__PURE__ */ v4Prefix(0, 0, 0, 8),
  /* @__PURE__ */ v4Prefix(10, 0, 0, 8),
  /* @__PURE__ */ v4Prefix(100, 64, 0, 10),
  /* @__PURE__ */ v4Prefix(127, 0, 0, 8),
  /* @__PURE__ */ v4Prefix(169, 254, 0, 16),
  /* @__PURE__ */ v4Prefix(172, 16, 0, 12),
  /* @__PURE__ */ v4Prefix(192, 0, 0, 24),
  /* @__PURE__ */ v4Prefix(192, 0, 2, 24),
  /* @__PURE__ */ v4Prefix(192, 168, 0, 16),
  /* @__PURE__ */ v4Prefix(198, 18, 0, 15),
  /* @__PURE__ */ v4Prefix(198, 51, 100, 24),
  /* @__PURE__ */ v4Prefix(203, 0, 113, 24),
  /* @__PURE__ */ v4Prefix(224, 0, 0, 3),
]

/**
 * Whether a host is on this machine, in a private network, or not a public address at all.
 *
 * Takes any spelling that a URL may have (`2130706433`, `0x7f.1`, `[::ffff:7f00:1]`). An invalid
 * host counts as private. A public name may still resolve to a private address, which only the connection
 * itself can show.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = normalize(hostname)
  if (host === undefined) return true
  if (host.startsWith("[")) return isPrivateV6(groupsOf(host.slice(1, -1)))
  const v4 = addressOf(host)
  if (v4 !== undefined) return isPrivateV4(v4)
  return PRIVATE_NAME.test(host)
}

/** The host as the URL parser spells it, which is how a connection would be made. */
function normalize(hostname: string): string | undefined {
  const isBareV6 = hostname.includes(":") && !hostname.startsWith("[")
  try {
    const { hostname: host } = new URL(`http://${isBareV6 ? `[${hostname}]` : hostname}/`)
    return host === "" ? undefined : host.replace(/\.$/, "")
  } catch {
    return undefined
  }
}

function addressOf(host: string): number | undefined {
  const parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(host)
  if (parts === null) return undefined
  return parts.slice(1).reduce((address, part) => address * 256 + Number(part), 0)
}

function isPrivateV4(address: number): boolean {
  return PRIVATE_V4.some(([first, size]) => address >= first && address < first + size)
}

function isPrivateV6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const last = isPrivateV4(g * 0x10000 + h)
  const startsEmpty = a === 0 && b === 0 && c === 0 && d === 0
  // `::1`, `::` and the old IPv4-compatible form; then IPv4-mapped and IPv4-translated.
  if (startsEmpty && e === 0 && f === 0) return last
  if (startsEmpty && ((e === 0 && f === 0xffff) || (e === 0xffff && f === 0))) return last
  // NAT64: the well-known prefix stands for an IPv4 host, the other one is for local use.
  if (a === 0x64 && b === 0xff9b) return c === 0 && d === 0 && e === 0 && f === 0 ? last : true
  // 6to4, and Teredo, which writes the client's address inverted.
  if (a === 0x2002) return isPrivateV4(b * 0x10000 + c)
  if (a === 0x2001 && b === 0) {
    return isPrivateV4(c * 0x10000 + d) || isPrivateV4((g ^ 0xffff) * 0x10000 + (h ^ 0xffff))
  }
  // ISATAP carries an IPv4 address in its last half.
  if ((e & 0xfdff) === 0 && f === 0x5efe && last) return true
  if (a === 0x2001 && b === 0xdb8) return true
  // Global unicast is 2000::/3; unique local, link-local, multicast and the rest are outside it.
  return (a & 0xe000) !== 0x2000
}

function v4Prefix(a: number, b: number, c: number, length: number): readonly [number, number] {
  return [((a * 256 + b) * 256 + c) * 256, 2 ** (32 - length)]
}
