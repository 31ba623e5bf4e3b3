import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"

/**
 * The SHA-256 of a text in UTF-8, as 64 hexadecimal digits.
 *
 * Not the platform's own, which is asynchronous: names and fingerprints are computed while tools are listed.
 */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)))
}
