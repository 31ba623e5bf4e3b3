/** One step of a JSON pointer, its slash included. */
export function pointerSegment(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
}

/** The keys of a JSON pointer; `undefined` for any other text. */
export function parsePointer(pointer: string): readonly string[] | undefined {
  if (pointer === "") return []
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** The value at a path of keys, following own properties only; `undefined` if there is none. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  let current = value
  for (const key of keys) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return undefined
    }
    current = (current as Record<string, unknown>)[key]
  }
  return current
}
