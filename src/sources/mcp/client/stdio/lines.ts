const NEWLINE = 10
const FIRST_SIZE = 8192
const KEPT_SIZE = 1_048_576

/** Splits a stream of bytes into lines of text. */
export interface LineReader {
  /** Adds bytes; returns `false` once a line has exceeded the limit. */
  push(chunk: Uint8Array): boolean
}

/**
 * Creates a reader that emits each line without its line break; blank lines are skipped.
 *
 * Bytes are decoded line by line, so that a character split between chunks stays whole. The buffer grows by
 * doubling, so that a line in many small pieces costs no more than one in a few.
 */
export function lineReader(limit: number, onLine: (line: string) => void): LineReader {
  const decoder = new TextDecoder()
  let held = new Uint8Array(0)
  let length = 0
  let isOverflown = false

  const hold = (bytes: Uint8Array): void => {
    const needed = length + bytes.length
    if (needed > held.length) {
      const larger = new Uint8Array(Math.max(needed, held.length * 2, FIRST_SIZE))
      larger.set(held.subarray(0, length))
      held = larger
    }
    held.set(bytes, length)
    length = needed
  }

  const emit = (bytes: Uint8Array): void => {
    const line = decoder.decode(bytes).trim()
    if (line !== "") onLine(line)
  }

  const overflow = (): false => {
    isOverflown = true
    held = new Uint8Array(0)
    length = 0
    return false
  }

  return {
    push(chunk) {
      if (isOverflown) return false
      let start = 0
      for (;;) {
        const end = chunk.indexOf(NEWLINE, start)
        const piece = chunk.subarray(start, end === -1 ? chunk.length : end)
        if (length + piece.length > limit) return overflow()
        if (end === -1) {
          if (piece.length > 0) hold(piece)
          return true
        }
        if (length === 0) emit(piece)
        else {
          hold(piece)
          const whole = held.subarray(0, length)
          length = 0
          emit(whole)
          if (held.length > KEPT_SIZE) held = new Uint8Array(0)
        }
        start = end + 1
      }
    },
  }
}
