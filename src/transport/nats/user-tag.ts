import { hashHalves } from "../bus/wire/wire.ts"

/** Characters of a tag: letters and digits. */
export const TAG_LENGTH = 10

/**
 * The first segment of a worker's address: the same for all workers of one user of the broker.
 *
 * Addresses are new with every start, and a broker's permissions name whole segments only. With the tag as a
 * segment, permissions can allow a user to receive only the messages to its own workers. Exported as `workerTag`.
 */
export function tagOf(user: string): string {
  const [low, high] = hashHalves(user, 0x9e3779b9)
  // 50 bits fit into ten digits in base 36.
  const bits = (mixBits(high) >>> 14) * 2 ** 32 + (mixBits(low) >>> 0)
  return bits.toString(36).padStart(TAG_LENGTH, "0")
}

/** Mixes the bits, so that names that differ in one letter get unrelated tags. */
function mixBits(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  return once ^ (once >>> 15)
}
