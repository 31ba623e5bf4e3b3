import { isRecord } from "../internal/guards.ts"

const NEWLINE = 10
const FIRST_SIZE = 8192
const KEPT_SIZE = 1_048_576

/**
 * Creates a reader that emits each line without its line break; blank lines are skipped. `push` adds bytes, and
 * returns `false` once a line has exceeded the limit.
 *
 * Bytes are decoded line by line, so that a character split between chunks stays whole. The buffer grows by
 * doubling, so that a line in many small pieces costs no more than one in a few.
 */
export function lineReader(
  limit: number,
  onLine: (line: string) => void,
): { push(chunk: Uint8Array): boolean } {
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

/** Keeps the last `size` bytes of a stream: long output costs copying but no memory. */
export class Tail {
  readonly #size: number
  #bytes: Uint8Array | undefined
  #end = 0

  constructor(size: number) {
    this.#size = size
  }

  push(chunk: Uint8Array): void {
    const size = this.#size
    const rest = chunk.subarray(-size)
    // Twice the size: the kept bytes are moved to the front once per `size` bytes.
    const bytes = (this.#bytes ??= new Uint8Array(2 * size))
    if (this.#end + rest.length > bytes.length) {
      bytes.copyWithin(0, this.#end - size, this.#end)
      this.#end = size
    }
    bytes.set(rest, this.#end)
    this.#end += rest.length
  }

  /** The kept bytes as text, without the rest of a character that was cut: at most three bytes. */
  text(): string {
    const bytes = this.#bytes?.subarray(Math.max(0, this.#end - this.#size), this.#end)
    let at = 0
    while (at < 3 && ((bytes?.[at] ?? 0) & 0xc0) === 0x80) at++
    return new TextDecoder().decode(bytes?.subarray(at))
  }
}

/**
 * Parses the messages of one line; `undefined` when it is not a message.
 *
 * An array is a batch, which one revision of the protocol allows. JSON without `jsonrpc` is a log line.
 */
export function messagesOf(line: string): readonly object[] | undefined {
  // Cheaper than a parser exception, for servers that print a lot.
  if (!line.startsWith("{") && !line.startsWith("[")) return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (isMessage(value)) return [value]
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.every(isMessage) ? value : undefined
}

function isMessage(value: unknown): value is object {
  return isRecord(value) && value["jsonrpc"] === "2.0"
}

/** A message as a line, also for readers that end lines at U+2028 and U+2029, as `node:readline` of Node 24 does. */
export function asLine(json: string): string {
  const escaped = json.replaceAll(/[\u2028\u2029]/g, (one) =>
    one === "\u2028" ? "\\u2028" : "\\u2029",
  )
  return `${escaped}\n`
}
