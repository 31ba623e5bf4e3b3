// Definitions that schemas share: each becomes one named type, however many operations contain it.

import { isRecord } from "../internal/guards.ts"
import type { RefKeyword, SchemaNode } from "../schema/refs.ts"
import { commentOf } from "./comments.ts"
import { Converter, type Referred } from "./convert.ts"
import { type NamedType, NEVER, type TypeNode, UNKNOWN, type View, type WordNode } from "./model.ts"
import { SchemaRoot, type SchemaTexts } from "./root.ts"

type Schema = Readonly<Record<string, unknown>>

/** A named type and its schema. */
interface Definition {
  readonly type: NamedType
  readonly schema: Schema
  /** Targets of its references; a word for a type without a name. */
  readonly edges: Map<string, Definition | WordNode>
  /** It has been read completely. */
  isRead: boolean
  /** Its references mean the same in every context. */
  isPlain: boolean
}

/** The named types of one namespace. */
export class Definitions {
  /** In order of first use. */
  readonly types: NamedType[] = []
  readonly #texts: SchemaTexts
  readonly #bySchema = new Map<View, Map<object, Definition[]>>()
  /** What was found, by the definitions that schemas of a document share, and by where it starts. */
  readonly #found = new WeakMap<object, Map<Definition, Map<Schema, Definition>>>()

  constructor(texts: SchemaTexts) {
    this.#texts = texts
  }

  /** Converts a schema to a type, and declares what it refers to. */
  convert(schema: unknown, name: string, view: View): TypeNode {
    if (!isRecord(schema)) return UNKNOWN
    return new Reading(new SchemaRoot(schema, name, this.#texts), view, this).run()
  }

  /** Declares a type that is not in a schema. */
  declare(wanted: string, view: View, body: TypeNode): NamedType {
    const type: NamedType = { wanted, view, body, comment: undefined }
    this.types.push(type)
    return type
  }

  /** Adds an empty definition, which the caller fills. */
  add(schema: Schema, wanted: string, view: View): Definition {
    const type = this.declare(wanted, view, UNKNOWN)
    type.comment = commentOf(schema)
    const definition = { type, schema, edges: new Map(), isRead: false, isPlain: true }
    this.#candidates(schema, view).push(definition)
    return definition
  }

  /** Finds existing definitions for a schema and all it refers to; `undefined` when one is missing. */
  find(
    root: SchemaRoot,
    schema: Schema,
    wanted: string,
    view: View,
  ): Map<Schema, Definition> | undefined {
    if (!root.isPlain) return undefined
    for (const candidate of this.#candidates(schema, view)) {
      if (candidate.type.wanted !== wanted) continue
      const definitions = this.#match(root, schema, candidate)
      if (definitions !== undefined) return definitions
    }
    return undefined
  }

  /** Compares a schema and all it refers to with a definition; `undefined` when they differ. */
  #match(root: SchemaRoot, schema: Schema, start: Definition): Map<Schema, Definition> | undefined {
    const found = this.#foundIn(root.schema["$defs"])
    const before = found?.get(start)
    if (before?.get(schema) === start) return before
    const pairs = new Map<Schema, Definition>([[schema, start]])
    let isWithinDefinitions = true
    for (const [at, definition] of pairs) {
      if (!definition.isRead || !definition.isPlain) return undefined
      if (!this.#isSame(at, definition.schema)) return undefined
      for (const [reference, expected] of definition.edges) {
        if (!isExpected(root.at(reference), expected, pairs)) return undefined
        isWithinDefinitions &&= reference.startsWith("#/$defs/")
      }
    }
    if (isWithinDefinitions) found?.set(start, pairs)
    return pairs
  }

  #foundIn($defs: unknown): Map<Definition, Map<Schema, Definition>> | undefined {
    if (!isRecord($defs)) return undefined
    let found = this.#found.get($defs)
    if (found === undefined) this.#found.set($defs, (found = new Map()))
    return found
  }

  #isSame(left: Schema, right: Schema): boolean {
    return left === right || this.#texts.original(left) === this.#texts.original(right)
  }

  #candidates(schema: Schema, view: View): Definition[] {
    let bySchema = this.#bySchema.get(view)
    if (bySchema === undefined) this.#bySchema.set(view, (bySchema = new Map()))
    const original = this.#texts.original(schema)
    let candidates = bySchema.get(original)
    if (candidates === undefined) bySchema.set(original, (candidates = []))
    return candidates
  }
}

/** Whether a reference has the expected target; a target that is new is recorded and compared later. */
function isExpected(
  target: SchemaNode,
  expected: Definition | WordNode,
  pairs: Map<Schema, Definition>,
): boolean {
  const word = wordFor(target)
  if (typeof target === "boolean" || word !== undefined || "kind" in expected) {
    return word === expected
  }
  const previous = pairs.get(target)
  if (previous === undefined) pairs.set(target, expected)
  return previous === undefined || previous === expected
}

/** The type of a schema that needs no name. */
function wordFor(schema: SchemaNode): WordNode | undefined {
  if (schema === false) return NEVER
  return schema === true || Object.keys(schema).length === 0 ? UNKNOWN : undefined
}

/** Converts one root, and the new definitions it refers to. */
class Reading implements Referred {
  readonly #root: SchemaRoot
  readonly #view: View
  readonly #definitions: Definitions
  readonly #converter: Converter
  readonly #definitionsBySchema = new Map<Schema, Definition>()
  readonly #waiting: Definition[] = []
  #current: Definition | undefined

  constructor(root: SchemaRoot, view: View, definitions: Definitions) {
    this.#root = root
    this.#view = view
    this.#definitions = definitions
    this.#converter = new Converter(view, this)
  }

  run(): TypeNode {
    const type = this.#converter.convert(this.#root.schema)
    // Iterative: chains of definitions can be deeper than the stack.
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      this.#current = next
      next.type.body = this.#converter.convert(next.schema)
      next.isRead = true
    }
    return type
  }

  target(schema: Schema, keyword: RefKeyword): unknown {
    return this.#root.target(schema, keyword)
  }

  refer(schema: Schema, keyword: RefKeyword): TypeNode {
    const reference = String(schema[keyword])
    const target = this.#root.target(schema, keyword)
    const isPointer = keyword === "$ref" && this.#root.isPointer(reference)
    if (!isPointer && this.#current !== undefined) this.#current.isPlain = false
    const resolved = wordFor(target) ?? this.#definitionOf(target as Schema, reference)
    this.#current?.edges.set(reference, resolved)
    return "kind" in resolved ? resolved : { kind: "named", type: resolved.type }
  }

  #definitionOf(schema: Schema, reference: string): Definition {
    const existing = this.#definitionsBySchema.get(schema)
    if (existing !== undefined) return existing
    const wanted = this.#root.wantedName(reference)
    const shared = this.#definitions.find(this.#root, schema, wanted, this.#view)
    if (shared !== undefined) {
      for (const [at, definition] of shared) this.#definitionsBySchema.set(at, definition)
      return shared.get(schema) as Definition
    }
    const made = this.#definitions.add(schema, wanted, this.#view)
    this.#definitionsBySchema.set(schema, made)
    this.#waiting.push(made)
    return made
  }
}
