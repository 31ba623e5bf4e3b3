import type { Clock } from "../../platform.ts"
import { frameText } from "./wire.ts"

/** A character is at most three bytes, so that texts need not be measured. */
const BYTES_PER_CHARACTER = 3
/** More in one frame save nothing, and peers take so many only. */
const MOST_MESSAGES = 1000

/**
 * Collects what goes to one peer in one turn, so that it leaves in one frame, or in as few as the bus takes.
 *
 * A frame for a hundred messages costs little more than one for a single message.
 */
export class Outbox {
  readonly #from: string
  readonly #maxBytes: () => number
  readonly #clock: Clock
  readonly #send: (text: string) => void
  #texts: string[] = []
  #length = 0
  #isDue = false

  /** `send` gets whole frames, at the end of a turn: it deals with its own errors. */
  constructor(from: string, maxBytes: () => number, clock: Clock, send: (text: string) => void) {
    this.#from = from
    this.#maxBytes = maxBytes
    this.#clock = clock
    this.#send = send
  }

  /** Adds a message, in order. What would not fit with others leaves alone. */
  add(messageText: string): void {
    const length = messageText.length + 1
    const isFull =
      this.#texts.length >= MOST_MESSAGES ||
      (this.#length + length) * BYTES_PER_CHARACTER > this.#room()
    if (isFull) this.flush()
    this.#texts.push(messageText)
    this.#length += length
    if (this.#isDue) return
    this.#isDue = true
    if (this.#clock.defer === undefined) this.#clock.setTimeout(this.#onTurn, 0)
    else this.#clock.defer(this.#onTurn)
  }

  /** Sends what waits now. */
  flush(): void {
    if (this.#texts.length === 0) return
    const texts = this.#texts
    this.#texts = []
    this.#length = 0
    this.#send(frameText(this.#from, texts))
  }

  #room(): number {
    return this.#maxBytes() - frameOverhead(this.#from)
  }

  readonly #onTurn = (): void => {
    this.#isDue = false
    this.flush()
  }
}

/** Bytes of a frame besides its messages. */
export function frameOverhead(from: string): number {
  return frameText(from, []).length
}

/** Bytes that a message takes in a frame of its own, when that is more than a limit; otherwise `undefined`. */
export function bytesBeyond(limit: number, from: string, messageText: string): number | undefined {
  const overhead = frameOverhead(from)
  if (messageText.length * BYTES_PER_CHARACTER + overhead <= limit) return undefined
  const bytes = utf8Length(messageText) + overhead
  return bytes > limit ? bytes : undefined
}

/** Bytes of a text as UTF-8, without making them. */
function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    bytes += code < 0x800 ? 1 : 2
    // A pair is four bytes, and two characters: the second half has been counted.
    if (code >= 0xd800 && code <= 0xdbff && isTail(text.charCodeAt(at + 1))) at++
  }
  return bytes
}

function isTail(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
