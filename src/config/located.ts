import type { Locate, Place } from "./error.ts"

/** Data that was read from a text, and where its parts were. */
export interface LocatedData {
  readonly value: unknown
  readonly where: Locate
}

/** Where the parts of a value stand in its text. */
export interface LocatedNode {
  /** Of its key, where it has one. */
  readonly at: number
  readonly children: Map<string, LocatedNode>
}

/** A text that could not be read. The message shows nothing of it: secrets may be in it. */
export class TextFault extends Error {
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

/** Finds the place of keys, or of as many of them as there are: what is missing is missing there. */
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
