/** The eight groups of an IPv6 address that the URL parser has spelled. */
export function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
}
