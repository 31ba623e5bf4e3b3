/** Maximum number of buckets, so that callers with many identities cannot exhaust the memory. */
const MAX_BUCKETS = 10_000

/**
 * Token buckets by key, each as one number: the time at which it will be full again.
 *
 * A full bucket needs no entry. If there are too many, the least recently used one is removed.
 */
export class TokenBuckets {
  readonly #interval: number
  /** A bucket has a token if it will be full within this time. */
  readonly #tolerance: number
  readonly #fullAt = new Map<string, number>()

  constructor(perSecond: number, burst: number) {
    this.#interval = 1000 / perSecond
    this.#tolerance = this.#interval * (burst - 1)
  }

  get size(): number {
    return this.#fullAt.size
  }

  /**
   * Takes a token. Returns the milliseconds to wait before it may be used, at most `maxWait`; or, negative, the
   * milliseconds until there is a token, and none was taken.
   */
  take(key: string, now: number, maxWait: number): number {
    const fullAt = this.#fullAt.get(key) ?? Number.NEGATIVE_INFINITY
    const wait = fullAt - this.#tolerance - now
    if (wait > maxWait && wait > 0) return -wait
    this.#set(key, Math.max(fullAt, now) + this.#interval)
    return Math.max(wait, 0)
  }

  /** When the bucket will be full; needed to return the last token. */
  fullAt(key: string): number | undefined {
    return this.#fullAt.get(key)
  }

  /**
   * Returns a token that was taken and not used. It is lost if others were taken since: whoever waits for those keeps
   * its time, and one more in front of them would be too many at once.
   */
  giveBack(key: string, fullAt: number | undefined): void {
    if (fullAt === undefined || this.#fullAt.get(key) !== fullAt) return
    this.#fullAt.set(key, fullAt - this.#interval)
  }

  /** No token before a time. */
  hold(key: string, until: number): void {
    this.#set(
      key,
      Math.max(this.#fullAt.get(key) ?? Number.NEGATIVE_INFINITY, until + this.#tolerance),
    )
  }

  /** Milliseconds until there is a token. */
  heldFor(key: string, now: number): number {
    return Math.max((this.#fullAt.get(key) ?? Number.NEGATIVE_INFINITY) - this.#tolerance - now, 0)
  }

  #set(key: string, fullAt: number): void {
    // The order of the map is that of the last use.
    if (this.#fullAt.size > 1) this.#fullAt.delete(key)
    this.#fullAt.set(key, fullAt)
    if (this.#fullAt.size <= MAX_BUCKETS) return
    const oldest = this.#fullAt.keys().next().value
    if (oldest !== undefined) this.#fullAt.delete(oldest)
  }
}
