import type { Note, Place } from "../document.ts"

export type SchemaNode = Readonly<Record<string, unknown>> | boolean

/** Inputs hide read-only properties, outputs hide write-only ones. */
export type View = "input" | "output"

/** A converted schema and its dependencies. */
export interface Converted {
  readonly schema: SchemaNode
  /** The definitions it refers to; may contain duplicates. */
  readonly refs: readonly Definition[]
  readonly notes: readonly Note[]
}

/** A set of definitions closed under references. */
export interface Closure {
  readonly members: readonly Definition[]
  readonly $defs: Readonly<Record<string, SchemaNode>>
}

/** A schema that others refer to by name. */
export class Definition {
  readonly name: string
  readonly place: Place
  /** A schema that is only a reference to this one. */
  readonly reference: { readonly $ref: string }
  readonly converted: Record<View, Converted | undefined> = { input: undefined, output: undefined }
  readonly closures: Record<View, Closure | undefined> = { input: undefined, output: undefined }
  /** The last search that visited it: cheaper than a set for each of thousands of searches. */
  visitedBy = 0

  constructor(name: string, place: Place) {
    this.name = name
    this.place = place
    this.reference = Object.freeze({ $ref: `#/$defs/${name}` })
  }

  get ref(): string {
    return this.reference.$ref
  }
}
