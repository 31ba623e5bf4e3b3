/** A copy of JSON data with every text masked. */
export function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value)
  if (Array.isArray(value)) return value.map((item) => masked(item, mask))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, mask)]))
}
