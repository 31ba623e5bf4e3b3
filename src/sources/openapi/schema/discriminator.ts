import { isRecord } from "../../../internal/guards.ts"
import { addToList } from "../../../internal/lists.ts"
import { escapeToken, getOwn } from "../../../schema/json.ts"
import { child, isBroken, itemsAt, lookUp, membersOf, refOf } from "../document.ts"
import type { OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"
import { allOfParts } from "./lower.ts"

/** Maximum number of subtypes of a reference; more would not be useful. */
const MAX_SUBTYPES = 64

/** Limits of the search for declared values: alternatives may be nested, also in circles. */
const MAX_DEPTH = 8
const MAX_SCHEMAS = 1000

/** The discriminator property of a union or a parent, and the values that select each alternative. */
export interface Selection {
  readonly property: string
  readonly choices: readonly Choice[]
}

/** The discriminator values of an alternative. */
interface Choice {
  readonly values: readonly unknown[]
  /** The alternative declares them itself, and refuses all others. */
  readonly isClosed: boolean
}

/** The subtypes of a parent, which is the last of them. */
interface Hierarchy extends Selection {
  readonly refs: readonly string[]
}

/** The discriminator property of a schema. */
export function discriminatorOf(
  raw: Raw,
): { readonly name: string; readonly mapping: Raw } | undefined {
  const discriminator = getOwn(raw, "discriminator")
  // In Swagger 2.0 it is just the name.
  const name = isRecord(discriminator) ? discriminator["propertyName"] : discriminator
  if (typeof name !== "string" || name === "") return undefined
  const mapping = isRecord(discriminator) ? discriminator["mapping"] : undefined
  return { name, mapping: isRecord(mapping) ? mapping : {} }
}

/**
 * The values that select each alternative of a union: those that it declares, else those of the mapping, else the
 * name of its schema, if it selects no other.
 */
export function selectionOf(
  { name, mapping }: { readonly name: string; readonly mapping: Raw },
  members: readonly unknown[],
  file: SourceFile,
): Selection {
  const budget = { left: MAX_SCHEMAS }
  const targets = Object.keys(mapping).map((key) => [key, mappedPlace(mapping[key], file)] as const)
  const places = members.map((value): Place => {
    const place = { value, file, pointer: "" }
    const ref = refOf(place)
    const target = ref === undefined ? place : lookUp(ref, file)
    return isBroken(target) ? place : target
  })
  const declared = places.map((place) => declaredValues(place, name, budget, 0))
  const mapped = places.map(({ file: at, pointer }) =>
    targets.filter(([, to]) => to?.file === at && to.pointer === pointer).map(([key]) => key),
  )
  const taken = new Set<unknown>([...declared.flatMap(({ values }) => values), ...mapped.flat()])
  const choices = declared.map((choice, index): Choice => {
    if (choice.isClosed) return choice
    const { pointer } = places[index] as Place
    const own = pointer.slice(pointer.lastIndexOf("/") + 1)
    const guessed = own === "" || taken.has(own) ? [] : [own]
    const names = mapped[index] as readonly string[]
    return { ...choice, values: [...choice.values, ...(names.length > 0 ? names : guessed)] }
  })
  return { property: name, choices }
}

function mappedPlace(value: unknown, file: SourceFile): Place | undefined {
  if (typeof value !== "string") return undefined
  const isName = /^[A-Za-z0-9._-]+$/.test(value)
  const named = isName ? lookUp(folderOf(file.document) + escapeToken(value), file) : undefined
  const place = named === undefined || isBroken(named) ? lookUp(value, file) : named
  return isBroken(place) ? undefined : place
}

/** The values that a schema declares for a property of its own, or for itself without a name. */
function declaredValues(
  schema: Place | undefined,
  name: string | undefined,
  budget: { left: number },
  depth: number,
): Choice {
  if (depth > MAX_DEPTH || --budget.left < 0) return OPEN
  const inner = (place: Place | undefined, of: string | undefined): Choice =>
    declaredValues(place, of, budget, depth + 1)
  let choice = OPEN
  for (const part of allOfParts(schema)) {
    if (part === undefined) continue
    const properties = child(part, "properties")
    choice = both(
      choice,
      name === undefined
        ? ownValues(part.value)
        : inner(properties && child(properties, name), undefined),
    )
    for (const keyword of ["oneOf", "anyOf"]) {
      const members = itemsAt(part, keyword).map((member) => inner(member, name))
      const isClosed = members.length > 0 && members.every((member) => member.isClosed)
      choice = both(choice, { values: members.flatMap(({ values }) => values), isClosed })
    }
  }
  return choice
}

const OPEN: Choice = { values: [], isClosed: false }

function ownValues({ const: only, enum: list, type }: Raw): Choice {
  const values = only === undefined ? (type === "null" ? [null] : list) : [only]
  return Array.isArray(values) ? { values, isClosed: true } : OPEN
}

/** Combines two schemas that both apply. */
function both(left: Choice, right: Choice): Choice {
  if (left.isClosed !== right.isClosed) return left.isClosed ? left : right
  const { isClosed } = left
  const values = isClosed
    ? left.values.filter((value) => right.values.includes(value))
    : [...left.values, ...right.values]
  return { values, isClosed }
}

/** Index of the schemas that extend others by `allOf`; created on first use. */
export class Subtypes {
  readonly #document: OpenAPIDocument
  readonly #hierarchies = new Map<string, Hierarchy | undefined>()
  #children: Map<unknown, string[]> | undefined

  constructor(document: OpenAPIDocument) {
    this.#document = document
  }

  /** The subtypes of a parent with a discriminator and without alternatives, and the parent itself. */
  of(ref: string, file: SourceFile): Hierarchy | undefined {
    if (file !== this.#document.entry) return undefined
    if (!this.#hierarchies.has(ref)) this.#hierarchies.set(ref, this.#read(ref, file))
    return this.#hierarchies.get(ref)
  }

  #read(ref: string, file: SourceFile): Hierarchy | undefined {
    const place = lookUp(ref, file)
    if (isBroken(place) || !isRecord(place.value)) return undefined
    const { oneOf, anyOf } = place.value
    const discriminator = discriminatorOf(place.value)
    if (discriminator === undefined || oneOf !== undefined || anyOf !== undefined) return undefined
    const below = this.#descendants(place.value)
    if (below.length === 0 || below.length > MAX_SUBTYPES) return undefined
    // The parent last: it matches most values.
    const refs = [...below, ref]
    const members = refs.map(($ref) => ({ $ref }))
    return { refs, ...selectionOf(discriminator, members, place.file) }
  }

  #descendants(parent: unknown): readonly string[] {
    const children = (this.#children ??= this.#find())
    const descendants = new Set(children.get(parent))
    // Iterating a set includes members added during the loop.
    for (const ref of descendants) {
      const place = lookUp(ref, this.#document.entry)
      if (isBroken(place) || descendants.size > MAX_SUBTYPES) continue
      for (const below of children.get(place.value) ?? []) descendants.add(below)
    }
    return [...descendants]
  }

  #find(): Map<unknown, string[]> {
    const { place, version } = this.#document
    const children = new Map<unknown, string[]>()
    const isLegacy = version === "2.0"
    const holder = isLegacy ? place : child(place, "components")
    const schemas = holder && child(holder, isLegacy ? "definitions" : "schemas")
    for (const [name, schema] of membersOf(schemas)) {
      for (const member of itemsAt(schema, "allOf")) {
        const ref = refOf(member)
        const parent = ref === undefined ? undefined : lookUp(ref, member.file)
        if (parent === undefined || isBroken(parent)) continue
        addToList(children, parent.value, folderOf(this.#document) + escapeToken(name))
      }
    }
    return children
  }
}

/** The start of references to the schemas of a document. */
function folderOf({ version }: OpenAPIDocument): string {
  return version === "2.0" ? "#/definitions/" : "#/components/schemas/"
}
