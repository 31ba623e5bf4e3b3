const MAX_IDS = 10_000

/**
 * Recently refused requests that might have run without a grant.
 *
 * If such a request arrives a second time, it must not run: its caller was already informed that it did not. Two
 * generations bound the memory: when the newer one is full, the older one is dropped.
 */
export class RecentRefusals {
  #newer = new Set<string>()
  #older = new Set<string>()

  has(requestId: string): boolean {
    return this.#newer.has(requestId) || this.#older.has(requestId)
  }

  add(requestId: string): void {
    if (this.#newer.size >= MAX_IDS) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(requestId)
  }
}
