// One self-contained schema, and where its references lead.

import { getOwn, isPlainRecord, pointerTokens } from "../schema/json.ts"
import { Links } from "../schema/refs.ts"
import type { RefKeyword, SchemaNode } from "../schema/refs.ts"
import type { SchemaTexts } from "./texts.ts"

type Schema = Readonly<Record<string, unknown>>

/** A schema that an operation states, with everything it refers to. */
export class SchemaRoot {
  readonly schema: Schema
  /** What a reference to the whole of it is called. */
  readonly name: string
  /** References are pointers from the root, so that the same text means the same place. */
  readonly isPlain: boolean
  #links: Links | undefined

  constructor(schema: Schema, name: string, texts: SchemaTexts) {
    this.schema = schema
    this.name = name
    this.isPlain = !texts.hasIds(schema)
  }

  /** Whether a reference means the same place from wherever it is looked at. */
  isPointer(reference: string): boolean {
    return this.isPlain && (reference === "#" || reference.startsWith("#/"))
  }

  /** What a pointer leads to; anything at all where that is nothing. */
  at(reference: string): SchemaNode {
    let value: unknown = this.schema
    for (const token of pointerTokens(decoded(reference.slice(1))) ?? []) {
      value = typeof value === "object" && value !== null ? getOwn(value, token) : undefined
    }
    return isPlainRecord(value) || typeof value === "boolean" ? value : true
  }

  /** What a reference of a schema in this one leads to. */
  target(schema: Schema, keyword: RefKeyword): SchemaNode {
    const reference = String(schema[keyword])
    if (keyword === "$ref" && this.isPointer(reference)) return this.at(reference)
    const links = (this.#links ??= new Links(this.schema))
    // What others may override is known only where it is used.
    if (keyword === "$dynamicRef" && links.dynamicName(schema)) return true
    return links.target(schema, keyword)
  }

  /** What the schema behind a reference would be called. */
  wantedName(reference: string): string {
    if (reference === "#") return this.name
    const fragment = decoded(reference.slice(reference.indexOf("#") + 1))
    const tokens = pointerTokens(fragment) ?? [fragment]
    return tokens.findLast((token) => /\p{L}/u.test(token) && !STRUCTURE.has(token)) ?? this.name
  }
}

const STRUCTURE: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "properties",
  "items",
  "prefixItems",
  "allOf",
  "anyOf",
  "oneOf",
  "additionalProperties",
])

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
