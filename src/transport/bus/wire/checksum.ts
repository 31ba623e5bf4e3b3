const DIGITS = 7
const PRIME = 0x01000193

/** The length of a checksum, in characters. */
export const CHECKSUM_LENGTH: number = DIGITS

/**
 * The checksum of the first characters of a text: it differs when any single character differs.
 *
 * It detects damage by the network, not deliberate changes. Two sums run side by side, because each step of one has to
 * wait for the step before it.
 */
export function checksum(text: string, length: number): string {
  let even = 0x811c9dc5
  let odd = 0x811c9dc5
  const whole = length - (length % 4)
  for (let at = 0; at < whole; at += 4) {
    even = Math.imul(even ^ (text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)), PRIME)
    odd = Math.imul(odd ^ (text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16)), PRIME)
  }
  for (let at = whole; at < length; at++) even = Math.imul(even ^ text.charCodeAt(at), PRIME)
  const sum = (Math.imul(even, PRIME) ^ odd) >>> 0
  return sum.toString(36).padStart(DIGITS, "0")
}
