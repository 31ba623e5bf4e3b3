/** Numbers, the smallest first. */
export class MinHeap {
  readonly #items: number[] = []

  peek(): number | undefined {
    return this.#items[0]
  }

  push(value: number): void {
    const items = this.#items
    let at = items.length
    items.push(value)
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = items[up] as number
      if (parent <= value) break
      items[at] = parent
      at = up
    }
    items[at] = value
  }

  pop(): number | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (items.length === 0 || last === undefined) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && (items[child + 1] as number) < (items[child] as number)) {
        child++
      }
      if ((items[child] as number) >= last) break
      items[at] = items[child] as number
      at = child
    }
    items[at] = last
    return first
  }

  clear(): void {
    this.#items.length = 0
  }
}
