import type { Path } from "./json.ts"

/** A path as a JSON pointer. */
export function toPointer(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
}

/** The parts of a JSON pointer, or of one behind `#`; every part is a string. */
export function fromPointer(pointer: string): readonly string[] {
  const text = pointer.startsWith("#") ? decoded(pointer.slice(1)) : pointer
  if (text === "") return []
  return text
    .split("/")
    .slice(text.startsWith("/") ? 1 : 0)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** The value at a path; `undefined` where there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== "object" || found === null) return undefined
    if (!Object.hasOwn(found, part)) return undefined
    found = (found as Record<string | number, unknown>)[part]
  }
  return found
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
