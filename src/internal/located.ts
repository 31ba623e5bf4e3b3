/** A place in a text, counted from one. */
export interface Place {
  readonly line: number
  readonly column?: number | undefined
}

/** Finds a place in a text by the keys that lead to it. */
export type Locate = (keys: readonly string[]) => Place | undefined

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
export function placeAt(text: string, offset: number): { line: number; column: number } {
  const end = Math.min(Math.max(offset, 0), text.length)
  let line = 1
  let start = 0
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", start)) {
    line++
    start = at + 1
  }
  return { line, column: end - start + 1 }
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
