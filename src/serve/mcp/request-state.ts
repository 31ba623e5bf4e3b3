import { fromBase64, toBase64 } from "../../internal/base64.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import { canonicalJson } from "../../mcp/canonical.ts"

/** The caller and call that a sealed state is bound to. */
export interface StateBinding {
  /** Empty for an anonymous caller. */
  readonly principal: string
  readonly tool: string
  readonly input: unknown
}

const PREFIX = "v1."
const MIN_KEY_BYTES = 32

/**
 * Seals the state that a caller carries from one round of a call to the next.
 *
 * Signed, not encrypted: it contains the caller's own answers. It opens only for the same
 * principal, tool and input, and until it expires.
 */
export class StateSeal {
  readonly #key: Promise<CryptoKey>
  readonly #ttlMs: number
  readonly #now: () => number

  constructor(
    key: string | Uint8Array | undefined,
    ttlMs: number,
    now = (): number => wallTimeOf(systemClock),
  ) {
    this.#key = importKey(keyBytes(key))
    // The error is reported where the key is used.
    this.#key.catch(() => undefined)
    this.#ttlMs = ttlMs
    this.#now = now
  }

  async seal(payload: unknown, binding: StateBinding): Promise<string> {
    const content = JSON.stringify({ exp: this.#now() + this.#ttlMs, p: payload })
    const body = toUrl(toBase64(utf8(content)))
    const mac = await subtle().sign("HMAC", await this.#key, signed(body, binding))
    return `${PREFIX}${body}.${toUrl(toBase64(new Uint8Array(mac)))}`
  }

  /** Opens a state; `undefined` when it was changed, belongs to another caller, or has expired. */
  async open(state: string, binding: StateBinding): Promise<unknown> {
    const dot = state.lastIndexOf(".")
    if (!state.startsWith(PREFIX) || dot < PREFIX.length) return undefined
    const body = state.slice(PREFIX.length, dot)
    const mac = fromUrl(state.slice(dot + 1))
    if (mac === undefined) return undefined
    const isOurs = await subtle().verify("HMAC", await this.#key, mac, signed(body, binding))
    const bytes = isOurs ? fromUrl(body) : undefined
    if (bytes === undefined) return undefined
    const { exp, p } = JSON.parse(new TextDecoder().decode(bytes)) as { exp: number; p: unknown }
    return exp < this.#now() ? undefined : p
  }
}

function signed(body: string, { principal, tool, input }: StateBinding): Uint8Array<ArrayBuffer> {
  return utf8(canonicalJson([PREFIX, body, principal, tool, input]))
}

function keyBytes(key: string | Uint8Array | undefined): Uint8Array<ArrayBuffer> {
  if (key === undefined) return crypto.getRandomValues(new Uint8Array(MIN_KEY_BYTES))
  const bytes = typeof key === "string" ? utf8(key) : Uint8Array.from(key)
  if (bytes.length < MIN_KEY_BYTES) {
    throw new TypeError(
      `toMCP(): stateKey must have at least ${MIN_KEY_BYTES} bytes, got ${bytes.length}. Leave it out for a random one.`,
    )
  }
  return bytes
}

function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  return subtle().importKey("raw", bytes, algorithm, false, ["sign", "verify"])
}

function subtle(): SubtleCrypto {
  return globalThis.crypto.subtle
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function toUrl(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")
}

// The decoder tolerates spaces and the like, but two texts must not mean the same state.
function fromUrl(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"))
  return bytes !== undefined && toUrl(toBase64(bytes)) === text ? bytes : undefined
}
