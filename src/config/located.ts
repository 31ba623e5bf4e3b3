import type { Locate, Place } from "./error.ts"

/** Parsed data, and a lookup for the place of each part in its text. */
export interface LocatedData {
  readonly value: unknown
  readonly where: Locate
}

/** The offsets of a value and its children in the text. */
export interface LocatedNode {
  /** The offset of its key, if it has one. */
  readonly at: number
  readonly children: Map<string, LocatedNode>
}

/** A syntax error in a file. The message quotes nothing of the text, which may contain secrets. */
export class ParseError extends Error {
  readonly place: Place | undefined

  constructor(message: string, place: Place | undefined) {
    super(message)
    this.place = place
  }
}

/** The line and column of a character, counted from one. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, Math.min(Math.max(offset, 0), text.length))
  const start = before.lastIndexOf("\n") + 1
  let line = 1
  for (let at = before.indexOf("\n"); at !== -1; at = before.indexOf("\n", at + 1)) line++
  return { line, column: before.length - start + 1 }
}

/** Finds the place of keys; for missing ones, the place of the nearest parent that exists. */
export function locateIn(text: string, root: LocatedNode): Locate {
  return (keys) => {
    let node = root
    for (const key of keys) {
      const next = node.children.get(key)
      if (next === undefined) break
      node = next
    }
    return placeAt(text, node.at)
  }
}
