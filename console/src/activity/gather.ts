/** Hands on what came in batches: a page that is drawn for each of thousands stands still. */
export interface Gatherer<TItem> {
  add(item: TItem): void
  /** Hands on what is there, now. */
  flush(): void
}

/** So many are handed on at once: timers of a page in the background may come minutes late. */
const MOST = 500

/** Gathers for some milliseconds. Whoever makes one flushes it at the end: that clears its timer. */
export function createGatherer<TItem>(
  deliver: (items: readonly TItem[]) => void,
  everyMs: number,
): Gatherer<TItem> {
  let items: TItem[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const gathered = items
    items = []
    if (gathered.length > 0) deliver(gathered)
  }
  return {
    flush,
    add: (item) => {
      items.push(item)
      if (items.length >= MOST) flush()
      else timer ??= setTimeout(flush, everyMs)
    },
  }
}
