import { deferOn } from "../../../internal/clock.ts"
import type { Clock } from "../../../internal/platform.ts"
import { utf8Length } from "../../../internal/utf8.ts"
import type { Bus } from "../types.ts"

/** The length of a checksum, in characters. */
const CHECKSUM_LENGTH = 7
const PRIME = 0x01000193

/** The maximum of UTF-8 bytes per UTF-16 character, so that most texts need not be measured. */
const BYTES_PER_CHARACTER = 3

/** A message as text; with `head` it is an item of a list that begins with `head`. */
export interface MessageText {
  readonly text: string
  readonly head?: string | undefined
}

/**
 * Builds a frame of messages. Consecutive items with the same `head` share one list.
 *
 * The common part of many messages is then written and read only once.
 */
export class FrameBuilder {
  readonly #from: string
  #text = ""
  /** The beginning of the open list. */
  #head: string | undefined
  /** The number of messages so far. */
  count = 0

  constructor(from: string) {
    this.#from = from
  }

  /** Whether a frame with one more message certainly fits into `maxBytes`. */
  fits(text: string, head: string | undefined, maxBytes: number): boolean {
    // Closing an open list takes one more character.
    const length = this.#text.length + 1 + lengthOf(text, head)
    return length * BYTES_PER_CHARACTER + frameOverhead(this.#from) <= maxBytes
  }

  add(text: string, head?: string): void {
    this.count++
    if (head !== undefined && head === this.#head) {
      this.#text += `,${text}`
      return
    }
    this.#end()
    if (this.#text !== "") this.#text += ","
    this.#text += head === undefined ? text : `${head},${text}`
    this.#head = head
  }

  /** Returns the frame, and starts a new one. */
  take(): string {
    this.#end()
    const text = this.#text
    this.#text = ""
    this.count = 0
    return frameOf(this.#from, text)
  }

  #end(): void {
    if (this.#head !== undefined) this.#text += "]"
    this.#head = undefined
  }
}

type OutgoingBus = Pick<Bus, "address" | "maxPayload">

/** The maximum per frame: larger frames save nothing, and peers have a limit. */
const MAX_MESSAGES = 1000

/**
 * Collects the messages to one peer in one turn, and sends them in as few frames as possible.
 *
 * A frame for a hundred messages costs little more than one for a single message.
 */
export class Outbox {
  readonly #bus: OutgoingBus
  readonly #clock: Clock
  readonly #send: (text: string) => void
  readonly #frame: FrameBuilder
  #isDue = false

  /** `send` receives whole frames, at the end of a turn. It handles its own errors. */
  constructor(bus: OutgoingBus, clock: Clock, send: (text: string) => void) {
    this.#frame = new FrameBuilder(bus.address)
    this.#bus = bus
    this.#clock = clock
    this.#send = send
  }

  /** Adds a message, in order, or with `head` an item of a list. */
  add(text: string, head?: string): void {
    const frame = this.#frame
    const hasRoom = frame.count < MAX_MESSAGES && frame.fits(text, head, this.#bus.maxPayload)
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

/** A frame of encoded messages, separated by commas. */
export function frameOf(from: string, messages: string): string {
  const text = `{"from":"${from}","messages":[${messages}]`
  return `${text}${SUM}${checksum(text, text.length)}"}`
}

const SUM = ',"sum":"'
const SUM_LENGTH = SUM.length + CHECKSUM_LENGTH + 2

/** Whether the checksum of a frame is correct. */
export function isIntact(text: string): boolean {
  const length = text.length - SUM_LENGTH
  return (
    text.startsWith(SUM, length) && text.startsWith(checksum(text, length), length + SUM.length)
  )
}

const EMPTY = frameOf("", "").length

/** The size of an empty frame, in bytes. */
export function frameOverhead(from: string): number {
  return EMPTY + from.length
}

/** The maximum length of a message in a frame, with separators. */
export function lengthOf(text: string, head: string | undefined): number {
  return text.length + (head === undefined ? 1 : head.length + 3)
}

/** The size of a message in a separate frame, in bytes, if it exceeds a limit; otherwise `undefined`. */
export function bytesBeyond(limit: number, from: string, message: MessageText): number | undefined {
  const overhead = frameOverhead(from)
  const { text, head } = message
  if (lengthOf(text, head) * BYTES_PER_CHARACTER + overhead <= limit) return undefined
  const bytes = utf8Length(wholeText(message)) + overhead
  return bytes > limit ? bytes : undefined
}

/** A message on its own, outside of a list. */
export function wholeText({ head, text }: MessageText): string {
  return head === undefined ? text : `${head},${text}]`
}

/**
 * The checksum of the first characters of a text: it differs when any single character differs.
 *
 * It detects damage by the network, not deliberate changes. Two sums run side by side, because each step of one has to
 * wait for the step before it.
 */
function checksum(text: string, length: number): string {
  let even = 0x811c9dc5
  let odd = 0x811c9dc5
  const whole = length - (length % 4)
  for (let at = 0; at < whole; at += 4) {
    even = Math.imul(even ^ (text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)), PRIME)
    odd = Math.imul(odd ^ (text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16)), PRIME)
  }
  for (let at = whole; at < length; at++) even = Math.imul(even ^ text.charCodeAt(at), PRIME)
  const sum = (Math.imul(even, PRIME) ^ odd) >>> 0
  return sum.toString(36).padStart(CHECKSUM_LENGTH, "0")
}
