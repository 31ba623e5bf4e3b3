import { isObject } from "./guards.ts"

/** Whether a value has parts that are read later: files, streams or generators. */
export function hasPartsReadLater(value: unknown, seen: Set<object> = new Set()): boolean {
  if (!isObject(value) || seen.has(value)) return false
  seen.add(value)
  if (Symbol.asyncIterator in value || "getReader" in value) return true
  if (typeof (value as Partial<Blob>).stream === "function") return true
  return Object.values(value).some((item) => hasPartsReadLater(item, seen))
}
