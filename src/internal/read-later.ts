import { isObject } from "./guards.ts"

/** Whether a value has streams or generators inside, which can be read only once. */
export function hasStreams(value: unknown, isStream: (part: object) => boolean = isOnce): boolean {
  const found = new Set([value])
  // The loop also visits what is added meanwhile, and each object once.
  for (const part of found) {
    if (!isObject(part) || ArrayBuffer.isView(part)) continue
    if (isStream(part)) return true
    for (const inner of Object.values(part)) if (isObject(inner)) found.add(inner)
  }
  return false
}

/** Whether a value has parts that are read later: files, streams or generators. */
export function hasPartsReadLater(value: unknown): boolean {
  const isFile = (part: Partial<Blob>): boolean => typeof part.stream === "function"
  return hasStreams(value, (part) => isOnce(part) || isFile(part))
}

function isOnce(part: object): boolean {
  return Symbol.asyncIterator in part || "getReader" in part
}
