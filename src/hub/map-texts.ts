import { isPlainObject } from "../internal/guards.ts"

/** A copy of plain data in which every text is mapped, such as masked. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}
