import type { Clock } from "../../../internal/platform.ts"
import { deferOn } from "../../../internal/clock.ts"
import {
  BYTES_PER_CHARACTER,
  FrameBuilder,
  frameOverhead,
  lengthOf,
  wholeText,
} from "./frame-builder.ts"
import type { MessageText } from "./frame-builder.ts"

/** The maximum per frame: larger frames save nothing, and peers have a limit. */
const MAX_MESSAGES = 1000

/**
 * Collects the messages to one peer in one turn, and sends them in as few frames as possible.
 *
 * A frame for a hundred messages costs little more than one for a single message.
 */
export class Outbox {
  readonly #maxBytes: () => number
  readonly #clock: Clock
  readonly #send: (text: string) => void
  readonly #frame: FrameBuilder
  #isDue = false

  /** `send` receives whole frames, at the end of a turn. It handles its own errors. */
  constructor(from: string, maxBytes: () => number, clock: Clock, send: (text: string) => void) {
    this.#frame = new FrameBuilder(from)
    this.#maxBytes = maxBytes
    this.#clock = clock
    this.#send = send
  }

  /** Adds a message, in order, or with `head` an item of a list. */
  add(text: string, head?: string): void {
    const frame = this.#frame
    const hasRoom = frame.count < MAX_MESSAGES && frame.fits(text, head, this.#maxBytes())
    if (!hasRoom) this.flush()
    frame.add(text, head)
    if (this.#isDue) return
    this.#isDue = true
    deferOn(this.#clock, this.#onTurn)
  }

  /** Sends queued messages now. */
  flush(): void {
    if (this.#frame.count > 0) this.#send(this.#frame.take())
  }

  readonly #onTurn = (): void => {
    this.#isDue = false
    this.flush()
  }
}

/** The size of a message in a separate frame, in bytes, if it exceeds a limit; otherwise `undefined`. */
export function bytesBeyond(limit: number, from: string, message: MessageText): number | undefined {
  const overhead = frameOverhead(from)
  const { text, head } = message
  if (lengthOf(text, head) * BYTES_PER_CHARACTER + overhead <= limit) return undefined
  const bytes = utf8Length(wholeText(message)) + overhead
  return bytes > limit ? bytes : undefined
}

/** The length of a text in UTF-8, without encoding it. */
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
