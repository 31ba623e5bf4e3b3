/** Keeps the last bytes of a stream. */
export interface Tail {
  push(chunk: Uint8Array): void
  /** The kept bytes as text. */
  text(): string
}

/** Keeps the last `size` bytes in a ring buffer: long output costs copying but no memory. */
export function tail(size: number): Tail {
  let ring: Uint8Array | undefined
  let written = 0

  return {
    push(chunk) {
      ring ??= new Uint8Array(size)
      const rest = chunk.length > size ? chunk.subarray(chunk.length - size) : chunk
      const at = (written + chunk.length - rest.length) % size
      const first = rest.subarray(0, size - at)
      ring.set(first, at)
      ring.set(rest.subarray(first.length), 0)
      written += chunk.length
    },
    text() {
      if (ring === undefined) return ""
      if (written <= size) return decode(ring.subarray(0, written))
      const at = written % size
      const bytes = new Uint8Array(size)
      bytes.set(ring.subarray(at), 0)
      bytes.set(ring.subarray(0, at), size - at)
      return decode(bytes.subarray(firstCharacter(bytes)))
    },
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** The offset of the first whole character: at most three bytes of a cut one precede it. */
function firstCharacter(bytes: Uint8Array): number {
  let at = 0
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}
