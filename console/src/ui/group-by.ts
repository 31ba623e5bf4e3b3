/** Groups values by a key, in their order; `Map.groupBy` is not available everywhere. */
export function groupBy<TValue, TKey>(
  values: Iterable<TValue>,
  keyOf: (value: TValue) => TKey,
): Map<TKey, TValue[]> {
  const groups = new Map<TKey, TValue[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}
