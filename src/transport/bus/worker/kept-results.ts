import type { MessageText } from "../wire/frames.ts"

/** A message that may have to be sent again: a result, a stream item, or a question. */
export class KeptText<TOwner> {
  readonly owner: TOwner
  readonly text: string
  /** The beginning of the list that it is an item of. */
  readonly head: string | undefined
  /** When it was last sent. */
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
 * Messages that may have to be sent again, up to a total size; the oldest are evicted first.
 *
 * A linked list rather than a set, because finding the oldest entry of a set gets slower with each deletion.
 */
export class KeptResults<TOwner> {
  readonly #maxBytes: number
  readonly #onEvicted: (kept: KeptText<TOwner>) => void
  #oldest: KeptText<TOwner> | undefined
  #newest: KeptText<TOwner> | undefined
  #count = 0
  #bytes = 0

  /** `onEvicted` is called for each evicted message. */
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

  /** Keeps a message, which may evict others, or itself if it is larger than the limit. */
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

  /** Drops a message. Dropping twice is fine. */
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
