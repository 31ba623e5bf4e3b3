import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import { eachSubschema, IN_PLACE } from "../../../schema/keywords.ts"
import { brokenRefMessage, isBroken, lookUp } from "../document.ts"
import type { Note, OpenAPIDocument, Place, SourceFile } from "../document.ts"
import { NO_NOTES, NO_REFS, Walk, type ConversionContext } from "./convert.ts"
import { Definition } from "./definition.ts"
import type { Closure, Converted, SchemaNode, View } from "./definition.ts"
import { Subtypes } from "./discriminator.ts"
import { onlyRef } from "./lower.ts"
import { isUnchanged } from "./unchanged.ts"

const NOTHING: Closure = { members: [], $defs: Object.freeze({}) }

/** Maximum number of nodes of a schema; more is an attack, or impossible to check. */
const MAX_NODES = 200_000

/**
 * The schemas of a document: each is converted once, on first use, and shared by all operations that use it.
 */
export class SchemaStore implements ConversionContext {
  readonly document: OpenAPIDocument
  readonly subtypes: Subtypes
  readonly hasTextIntegers: boolean
  readonly #definitions = new Map<SourceFile, Map<string, Definition>>()
  readonly #named = new Map<string, Definition>()
  /** Schemas that are only a reference. */
  readonly #references = new Map<SourceFile, Map<string, Converted>>()
  #searches = 0

  /** With `hasTextIntegers`, integers beyond 2^53 are strings in outputs. */
  constructor(document: OpenAPIDocument, hasTextIntegers = false) {
    this.document = document
    this.subtypes = new Subtypes(document)
    this.hasTextIntegers = hasTextIntegers
  }

  /** Converts a schema of an operation. */
  convert(raw: unknown, file: SourceFile, pointer: string, view: View): Converted {
    const isWritten = view === "output" && this.hasTextIntegers
    if (!isWritten && isUnchanged(raw, this.document.hidesProperties)) {
      return { schema: raw, refs: NO_REFS, notes: NO_NOTES }
    }
    const ref = onlyRef(raw)
    const cached = ref === undefined ? undefined : this.#references.get(file)?.get(ref)
    if (cached !== undefined) return cached
    const walk = new Walk(this, view, file, pointer, undefined, MAX_NODES)
    const schema = walk.schema(raw, false)
    const converted = { schema, refs: walk.refs, notes: walk.notes }
    // The target does not depend on the place; only notes do.
    const isSame = walk.notes.length === 0 && !walk.dependsOnView
    if (ref !== undefined && isSame) this.#keep(file, ref, converted)
    return converted
  }

  #keep(file: SourceFile, ref: string, converted: Converted): void {
    let byRef = this.#references.get(file)
    if (byRef === undefined) this.#references.set(file, (byRef = new Map()))
    byRef.set(ref, converted)
  }

  /** All definitions that these need, directly or indirectly; cached. */
  closure(refs: readonly Definition[], view: View): Closure {
    const [first] = refs
    if (first === undefined) return NOTHING
    let largest = this.#closureOf(first, view)
    let others = false
    for (const ref of refs) {
      if (ref === first) continue
      others = true
      const closure = this.#closureOf(ref, view)
      if (closure.members.length > largest.members.length) largest = closure
    }
    if (!others) return largest
    const search = ++this.#searches
    const members: Definition[] = []
    for (const ref of refs) add(this.#closureOf(ref, view).members, members, search)
    return members.length === largest.members.length ? largest : this.#collect(members, view)
  }

  /** Whether these need more than `count` definitions; converts no more than that. */
  hasMoreThan(refs: readonly Definition[], view: View, count: number): boolean {
    const members = new Set(refs)
    // Iterating a set includes members added during the loop.
    for (const member of members) {
      if (members.size > count) return true
      for (const ref of this.#convert(member, view).refs) members.add(ref)
    }
    return members.size > count
  }

  /** Finds a definition by name. */
  named(name: string, view: View): SchemaNode | undefined {
    const definition = this.#named.get(name)
    return definition && this.#convert(definition, view).schema
  }

  /** The notes of definitions. */
  notes(members: readonly Definition[], view: View): Note[] {
    const collected: Note[] = []
    for (const member of members) {
      const { notes } = this.#convert(member, view)
      if (notes.length > 0) collected.push(...notes)
    }
    return collected
  }

  refer(ref: string, walk: Walk, inPlace: boolean): Definition | undefined {
    const place = lookUp(ref, walk.file)
    if (isBroken(place)) {
      walk.note(`${brokenRefMessage(place)} Anything is accepted here.`)
      return undefined
    }
    if (typeof place.value !== "object" && typeof place.value !== "boolean") {
      walk.note(`Reference "${ref}" does not refer to a schema.`)
      return undefined
    }
    const definition = this.#at(place)
    if (inPlace && walk.definition !== undefined && this.#returns(definition, walk.definition)) {
      walk.note(`Reference "${ref}" leads back to itself; anything is accepted here.`)
      return undefined
    }
    if (!walk.refs.includes(definition)) walk.refs = [...walk.refs, definition]
    return definition
  }

  #convert(definition: Definition, view: View): Converted {
    const cached = definition.converted[view]
    if (cached !== undefined) return cached
    const { value, file, pointer } = definition.place
    const walk = new Walk(this, view, file, pointer, definition, MAX_NODES)
    const schema = walk.schema(value, true)
    const converted = { schema, refs: walk.refs, notes: walk.notes }
    definition.converted[view] = converted
    if (!walk.dependsOnView) definition.converted[view === "input" ? "output" : "input"] = converted
    return converted
  }

  #closureOf(root: Definition, view: View): Closure {
    const cached = root.closures[view]
    if (cached !== undefined) return cached
    const search = ++this.#searches
    const members = [root]
    root.visitedBy = search
    let largest: Closure | undefined
    // The list grows during the loop.
    for (const member of members) {
      const inner = member.closures[view]
      if (inner === undefined) {
        add(this.#convert(member, view).refs, members, search)
        continue
      }
      if (largest === undefined || inner.members.length > largest.members.length) largest = inner
      add(inner.members, members, search)
    }
    const closure =
      members.length === largest?.members.length ? largest : this.#collect(members, view)
    root.closures[view] = closure
    return closure
  }

  #collect(members: readonly Definition[], view: View): Closure {
    const $defs: Record<string, SchemaNode> = {}
    for (const member of members) $defs[member.name] = this.#convert(member, view).schema
    return { members, $defs }
  }

  #at(place: Place): Definition {
    const { file, pointer } = place
    let definitions = this.#definitions.get(file)
    if (definitions === undefined) this.#definitions.set(file, (definitions = new Map()))
    let definition = definitions.get(pointer)
    if (definition === undefined) {
      const wanted = definitionName(pointer, file)
      let name = wanted
      for (let count = 2; this.#named.has(name); count++) name = `${wanted}_${count}`
      definition = new Definition(name, place)
      this.#named.set(name, definition)
      definitions.set(pointer, definition)
    }
    return definition
  }

  /** Whether a definition leads to another without a step into the value, which would be an endless check. */
  #returns(from: Definition, to: Definition): boolean {
    const seen = new Set([from])
    for (const definition of seen) {
      if (definition === to) return true
      const { value, file } = definition.place
      this.#eachInPlace(value, file, 0, (next) => seen.add(next))
    }
    return false
  }

  #eachInPlace(
    schema: unknown,
    file: SourceFile,
    depth: number,
    visit: (definition: Definition) => void,
  ): void {
    if (!isRecord(schema) || depth > 64) return
    const ref = getOwn(schema, "$ref")
    if (typeof ref === "string") {
      const place = lookUp(ref, file)
      if (!isBroken(place)) visit(this.#at(place))
    }
    const visitPart = (part: unknown): void => this.#eachInPlace(part, file, depth + 1, visit)
    eachSubschema(schema, visitPart, IN_PLACE)
  }
}

/** Adds definitions that this search has not visited. */
function add(definitions: readonly Definition[], members: Definition[], search: number): void {
  for (const definition of definitions) {
    if (definition.visitedBy === search) continue
    definition.visitedBy = search
    members.push(definition)
  }
}

/** The name of a component; for other places, a name made of the pointer. */
function definitionName(pointer: string, file: SourceFile): string {
  const component = /^\/(?:components\/schemas|definitions|\$defs)\/([^/]+)$/.exec(pointer)?.[1]
  const text =
    component ?? (pointer === "" ? (file.url.split("/").pop() ?? "document") : pointer.slice(1))
  const safe = text.replaceAll(/[^A-Za-z0-9._-]+/g, "_")
  return safe === "" || safe === "__proto__" ? "definition" : safe
}
