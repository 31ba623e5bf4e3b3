// One self-contained schema and the targets of its references.

import { isSchema, pointerTokens } from "../schema/json.ts"
import { resolveRef } from "../schema/read/resolve-ref.ts"
import { percentDecoded } from "../internal/percent.ts"
import { Links } from "../schema/refs.ts"
import type { RefKeyword, SchemaNode } from "../schema/refs.ts"
import type { SchemaTexts } from "./schema-texts.ts"

type Schema = Readonly<Record<string, unknown>>

/** A schema of an operation, with everything it refers to. */
export class SchemaRoot {
  readonly schema: Schema
  /** Name of a reference to the root. */
  readonly name: string
  /** All references are pointers from the root, so equal texts mean equal targets. */
  readonly isPlain: boolean
  #links: Links | undefined

  constructor(schema: Schema, name: string, texts: SchemaTexts) {
    this.schema = schema
    this.name = name
    this.isPlain = !texts.hasIds(schema)
  }

  /** Whether a reference has the same target in every context. */
  isPointer(reference: string): boolean {
    return this.isPlain && (reference === "#" || reference.startsWith("#/"))
  }

  /** The target of a pointer; `true` (any value) when it does not exist. */
  at(reference: string): SchemaNode {
    const target = resolveRef(this.schema, reference)
    return isSchema(target) ? target : true
  }

  /** The target of a reference within this schema. */
  target(schema: Schema, keyword: RefKeyword): SchemaNode {
    const reference = String(schema[keyword])
    if (keyword === "$ref" && this.isPointer(reference)) return this.at(reference)
    const links = (this.#links ??= new Links(this.schema))
    // A dynamic reference is resolved only where it is used.
    if (keyword === "$dynamicRef" && links.dynamicName(schema)) return true
    return links.target(schema, keyword)
  }

  /** The preferred name of a reference's target. */
  wantedName(reference: string): string {
    if (reference === "#") return this.name
    const fragment = percentDecoded(reference.slice(reference.indexOf("#") + 1))
    const tokens = pointerTokens(fragment) ?? [fragment]
    return tokens.findLast((token) => /\p{L}/u.test(token) && !STRUCTURE.has(token)) ?? this.name
  }
}

const STRUCTURE: ReadonlySet<string> = new Set([
  ...["$defs", "definitions", "properties", "additionalProperties", "items", "prefixItems"],
  ...["allOf", "anyOf", "oneOf"],
])
