/** Adds an item to the list under a key, which is created if there is none. */
export function addToList<TKey, TItem>(lists: Map<TKey, TItem[]>, key: TKey, item: TItem): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}
