/** Passes items on in batches: rendering for each of thousands would block the page. */
export interface Gatherer<TItem> {
  add(item: TItem): void
  /** Passes on the pending items now. */
  flush(): void
}

/** Maximum size of a batch: timers of a page in the background may fire minutes late. */
const MAX_BATCH = 500

/** Gathers items for some milliseconds. Flush it at the end, which clears its timer. */
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
      if (items.length >= MAX_BATCH) flush()
      else timer ??= setTimeout(flush, everyMs)
    },
  }
}
