// The tree of a schema. A node is made when its parent is opened, so recursion costs nothing.

import { factsOf } from "../../../../src/schema/read/facts.ts"
import type { Facts } from "../../../../src/schema/read/facts.ts"
import { flatten } from "../../../../src/schema/read/flatten.ts"
import type { Flat } from "../../../../src/schema/read/flatten.ts"
import { childParts, hasChildParts } from "./children.ts"
import type { ChildKind } from "./children.ts"
import { scopeOf } from "../../../../src/schema/read/resolve-ref.ts"
import type { Part } from "../../../../src/schema/read/resolve-ref.ts"
import { valuesOf } from "../../../../src/schema/read/values.ts"

/** One place in a schema. */
export interface SchemaNode {
  /** Names the place among all others of the tree. */
  readonly key: string
  readonly kind: ChildKind | "root"
  /** A property's name, an item's number, an option's name. */
  readonly label: string
  readonly isRequired: boolean
  readonly facts: Facts
  /** The schema is one of those it is inside of. */
  readonly isRecursive: boolean
  readonly hasChildren: boolean
  /** Values that are allowed; 0 where they are not listed. Cheaper than all of `facts`. */
  readonly valueCount: number
  /** Made at the first call. */
  children(): readonly SchemaNode[]
}

/** The tree of a schema. */
export function schemaTree(schema: unknown): SchemaNode {
  const part = { schema, scope: scopeOf(schema) }
  return new Node({ key: "", kind: "root", label: "", isRequired: false, parts: [part] }, undefined)
}

interface NodeInit extends Pick<SchemaNode, "key" | "kind" | "label" | "isRequired"> {
  readonly parts: readonly Part[]
}

class Node implements SchemaNode {
  readonly key: string
  readonly kind: ChildKind | "root"
  readonly label: string
  readonly isRequired: boolean
  readonly #flat: Flat
  readonly #parent: Node | undefined
  #facts: Facts | undefined
  #children: readonly SchemaNode[] | undefined
  #hasChildren: boolean | undefined

  constructor({ key, kind, label, isRequired, parts }: NodeInit, parent: Node | undefined) {
    this.key = key
    this.kind = kind
    this.label = label
    this.isRequired = isRequired
    this.#flat = flatten(parts)
    this.#parent = parent
  }

  get facts(): Facts {
    return (this.#facts ??= factsOf(this.#flat))
  }

  get hasChildren(): boolean {
    return (this.#hasChildren ??= hasChildParts(this.#flat))
  }

  get valueCount(): number {
    return valuesOf(this.#flat)?.length ?? 0
  }

  get isRecursive(): boolean {
    const { layers } = this.#flat
    // Only a reference leads back; the schema that it leads to is the first without one.
    if (!layers.some(({ schema }) => isReference(schema))) return false
    const target = layers.find(({ schema }) => !isReference(schema))
    for (let at = this.#parent; at !== undefined; at = at.#parent) {
      if (target !== undefined && at.#flat.seen.has(target.schema)) return true
    }
    return false
  }

  children(): readonly SchemaNode[] {
    this.#children ??= childParts(this.#flat).map(
      (child, index) => new Node({ ...child, key: `${this.key}/${index}` }, this),
    )
    return this.#children
  }
}

function isReference(schema: object): boolean {
  return Object.hasOwn(schema, "$ref") || Object.hasOwn(schema, "$dynamicRef")
}
