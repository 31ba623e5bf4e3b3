import { checksum, CHECKSUM_LENGTH } from "./checksum.ts"

/** A character is at most three bytes, so that texts need not be measured. */
export const BYTES_PER_CHARACTER = 3

/** A message as text; with `head` it is an item of a list that begins so, up to what comes before its items. */
export interface MessageText {
  readonly text: string
  readonly head?: string | undefined
}

/**
 * Messages on their way into one frame. Items that follow each other and whose lists begin alike share one list.
 *
 * What many messages have in common is then written and read once.
 */
export class FrameBuilder {
  readonly #from: string
  #text = ""
  /** How the list begins that is not ended yet. */
  #head: string | undefined
  #count = 0

  constructor(from: string) {
    this.#from = from
  }

  /** Messages so far. */
  get count(): number {
    return this.#count
  }

  /** Whether a frame with one more is certain to have no more than so many bytes. */
  fits(text: string, head: string | undefined, maxBytes: number): boolean {
    // Its own end is one character more.
    const length = this.#text.length + 1 + lengthOf(text, head)
    return length * BYTES_PER_CHARACTER + frameOverhead(this.#from) <= maxBytes
  }

  add(text: string, head?: string): void {
    this.#count++
    if (head !== undefined && head === this.#head) {
      this.#text += `,${text}`
      return
    }
    this.#end()
    if (this.#text !== "") this.#text += ","
    this.#text += head === undefined ? text : `${head},${text}`
    this.#head = head
  }

  /** The frame, and a new beginning. */
  take(): string {
    this.#end()
    const text = this.#text
    this.#text = ""
    this.#count = 0
    return frameOf(this.#from, text)
  }

  #end(): void {
    if (this.#head !== undefined) this.#text += "]"
    this.#head = undefined
  }
}

/** A frame with messages that are text already, with commas between. */
export function frameOf(from: string, messages: string): string {
  const text = `{"from":"${from}","messages":[${messages}]`
  return `${text}${SUM}${checksum(text, text.length)}"}`
}

const SUM = ',"sum":"'
const SUM_LENGTH = SUM.length + CHECKSUM_LENGTH + 2

/** Whether a frame arrived as it was sent, where it ends with a checksum. */
export function isIntact(text: string): boolean {
  const length = text.length - SUM_LENGTH
  return (
    text.startsWith(SUM, length) && text.startsWith(checksum(text, length), length + SUM.length)
  )
}

const EMPTY = frameOf("", "").length

/** Bytes of a frame besides its messages. */
export function frameOverhead(from: string): number {
  return EMPTY + from.length
}

/** Characters that a message takes in a frame at most, with what separates it from others. */
export function lengthOf(text: string, head: string | undefined): number {
  return text.length + (head === undefined ? 1 : head.length + 3)
}

/** A message that stands alone. */
export function wholeText({ head, text }: MessageText): string {
  return head === undefined ? text : `${head},${text}]`
}
