/** About how many characters a value takes as JSON; counting ends at `limit`. Bytes count as none. */
export function weigh(value: unknown, limit: number): number {
  const open: unknown[] = [value]
  let weight = 0
  while (open.length > 0 && weight < limit) {
    const next = open.pop()
    weight += 4
    if (typeof next === "string") weight += next.length
    else if (typeof next !== "object" || next === null || ArrayBuffer.isView(next)) continue
    else if (Array.isArray(next)) {
      // Each item counts at least 4, so a list that is too long is detected before it is read.
      if (weight + 4 * next.length >= limit) return limit
      for (const item of next as readonly unknown[]) open.push(item)
    } else {
      // Not `Object.entries`: an object may have a million members.
      for (const key in next) {
        if (!Object.hasOwn(next, key)) continue
        weight += key.length + 4
        if (weight >= limit) return limit
        open.push((next as Readonly<Record<string, unknown>>)[key])
      }
    }
  }
  return Math.min(weight, limit)
}
