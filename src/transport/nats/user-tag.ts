/** Characters of a tag: letters and digits. */
export const TAG_LENGTH = 10

/**
 * The first segment of a worker's address: the same for all workers of one user of the broker.
 *
 * Addresses are new with every start, and a broker's permissions name whole segments only. With the tag as a
 * segment, permissions can allow a user to receive only the messages to its own workers. Exported as `workerTag`.
 */
export function tagOf(user: string): string {
  let low = 0x811c9dc5
  let high = 0x9e3779b9
  for (let at = 0; at < user.length; at++) {
    const code = user.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + at), 0x85ebca6b)
  }
  // 50 bits fit into ten digits in base 36.
  const bits = (mixBits(high) >>> 14) * 2 ** 32 + (mixBits(low) >>> 0)
  return bits.toString(36).padStart(TAG_LENGTH, "0")
}

/** Mixes the bits, so that names that differ in one letter get unrelated tags. */
function mixBits(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  return once ^ (once >>> 15)
}
