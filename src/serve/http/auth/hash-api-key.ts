import { sha256Hex } from "../../../internal/sha256.ts"

const MIN_KEY = 16

/**
 * The hash of a key for a configuration.
 *
 * It is fast to compute, so a key has to be random: 32 random bytes cannot be guessed, words can.
 */
export function hashApiKey(key: string): string {
  if (typeof key !== "string" || key.length < MIN_KEY || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError(
      `hashApiKey(key): key must be at least ${MIN_KEY} visible ASCII characters without spaces, ` +
        'such as crypto.randomBytes(32).toString("base64url").',
    )
  }
  return sha256Hex(key)
}
