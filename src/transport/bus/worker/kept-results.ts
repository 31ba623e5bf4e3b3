import type { MessageText } from "../wire/frame-builder.ts"

/** A text that may have to be sent again: a result, or an item of a stream. */
export class KeptText<TOwner> {
  readonly owner: TOwner
  readonly text: string
  /** How the list begins that it is an item of. */
  readonly head: string | undefined
  /** When it last went out. */
  sentAt: number
  isKept = false
  older: KeptText<TOwner> | undefined
  newer: KeptText<TOwner> | undefined

  constructor(owner: TOwner, { text, head }: MessageText, sentAt: number) {
    this.owner = owner
    this.text = text
    this.head = head
    this.sentAt = sentAt
  }
}

/**
 * What was sent and may have to be sent again, up to so many bytes in all: the oldest goes first.
 *
 * A list rather than a set, because finding the oldest in a set gets slower with each that was deleted.
 */
export class KeptResults<TOwner> {
  readonly #maxBytes: number
  readonly #onEvicted: (kept: KeptText<TOwner>) => void
  #oldest: KeptText<TOwner> | undefined
  #newest: KeptText<TOwner> | undefined
  #count = 0
  #bytes = 0

  /** `onEvicted` is told of each that had to go because there are too many. */
  constructor(maxBytes: number, onEvicted: (kept: KeptText<TOwner>) => void) {
    this.#maxBytes = maxBytes
    this.#onEvicted = onEvicted
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Keeps one, which may be at the price of others, or of itself when it is larger than all may be. */
  add(kept: KeptText<TOwner>): void {
    kept.isKept = true
    kept.older = this.#newest
    if (this.#newest === undefined) this.#oldest = kept
    else this.#newest.newer = kept
    this.#newest = kept
    this.#count++
    this.#bytes += kept.text.length
    while (this.#bytes > this.#maxBytes && this.#oldest !== undefined) {
      const oldest = this.#oldest
      this.drop(oldest)
      this.#onEvicted(oldest)
    }
  }

  /** Forgets one. Twice is fine. */
  drop(kept: KeptText<TOwner>): void {
    if (!kept.isKept) return
    kept.isKept = false
    const { older, newer } = kept
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    kept.older = undefined
    kept.newer = undefined
    this.#count--
    this.#bytes -= kept.text.length
  }
}
