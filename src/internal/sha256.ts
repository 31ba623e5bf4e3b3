// SHA-256 in one turn: the platform's own is asynchronous, and a list of tools is mapped in one go.

const ROUND_CONSTANTS = fractionsOfPrimes(64, 1 / 3)
const START = fractionsOfPrimes(8, 1 / 2)

/** The SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  const message = padded(new TextEncoder().encode(text))
  const state = Uint32Array.from(START)
  const words = new Uint32Array(64)
  for (let offset = 0; offset < message.byteLength; offset += 64) {
    for (let i = 0; i < 16; i++) words[i] = message.getUint32(offset + i * 4)
    mix(state, words)
  }
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("")
}

function mix(state: Uint32Array, words: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const w15 = at(words, i - 15)
    const w2 = at(words, i - 2)
    const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3)
    const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10)
    words[i] = at(words, i - 16) + s0 + at(words, i - 7) + s1
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(ROUND_CONSTANTS, i) + at(words, i)) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = at(state, i) + value
}

/** The message, a one bit, zeros, and its length in bits at the end of the last block of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const size = Math.ceil((bytes.length + 9) / 64) * 64
  const view = new DataView(new ArrayBuffer(size))
  new Uint8Array(view.buffer).set(bytes)
  view.setUint8(bytes.length, 0x80)
  view.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(size - 4, bytes.length << 3)
  return view
}

/** The first 32 bits of the fractions of roots of the first primes: where the constants are from. */
function fractionsOfPrimes(count: number, exponent: number): Uint32Array {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  }
  return Uint32Array.from(primes, (prime) => (prime ** exponent % 1) * 2 ** 32)
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0
}
