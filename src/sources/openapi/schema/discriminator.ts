import { isRecord } from "../../../internal/guards.ts"
import { addToList } from "../../../internal/lists.ts"
import { escapeToken, getOwn } from "../../../schema/json.ts"
import { child, isBroken, itemsAt, lookUp, membersOf, objectAt, refOf } from "../document.ts"
import type { OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"
import { allOfParts } from "./lower.ts"

/** Maximum number of subtypes of a reference; more would not be useful. */
const MAX_SUBTYPES = 64

/** A subtype of a parent: its reference and its discriminator values. */
export interface Subtype {
  readonly ref: string
  /** The property with one of `names`; these are undefined if the subtype declares them itself. */
  readonly property: string
  readonly names: readonly string[] | undefined
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
 * The discriminator values of an alternative.
 *
 * `undefined` if the alternative itself declares the values of the property.
 */
export function namesOf(
  { name, mapping }: { readonly name: string; readonly mapping: Raw },
  ref: string,
  file: SourceFile,
): readonly string[] | undefined {
  const place = lookUp(ref, file)
  if (isBroken(place) || decides(place, name)) return undefined
  const mapped = Object.keys(mapping).filter((value) => {
    const target = mappedPlace(mapping[value], file)
    return target?.pointer === place.pointer && target.file === place.file
  })
  return mapped.length > 0 ? mapped : [place.pointer.slice(place.pointer.lastIndexOf("/") + 1)]
}

function mappedPlace(value: unknown, file: SourceFile): Place | undefined {
  if (typeof value !== "string") return undefined
  const isName = /^[A-Za-z0-9._-]+$/.test(value)
  const named = isName ? lookUp(folderOf(file.document) + escapeToken(value), file) : undefined
  const place = named === undefined || isBroken(named) ? lookUp(value, file) : named
  return isBroken(place) ? undefined : place
}

/** Whether a schema, or one of its parts, declares the values of a property. */
function decides(place: Place, name: string): boolean {
  return allOfParts(place).some((part) => {
    const properties = part && child(part, "properties")
    const own = objectAt(properties && child(properties, name))?.value
    return own?.["const"] !== undefined || own?.["enum"] !== undefined
  })
}

/** Index of the schemas that extend others by `allOf`; created on first use. */
export class Subtypes {
  readonly #document: OpenAPIDocument
  #children: Map<unknown, string[]> | undefined

  constructor(document: OpenAPIDocument) {
    this.#document = document
  }

  /** The subtypes of a parent with a discriminator and without alternatives, and the parent itself. */
  of(ref: string, file: SourceFile): readonly Subtype[] | undefined {
    const document = this.#document
    const place = lookUp(ref, file)
    if (file !== document.entry || isBroken(place) || !isRecord(place.value)) return undefined
    const { oneOf, anyOf } = place.value
    const discriminator = discriminatorOf(place.value)
    if (discriminator === undefined || oneOf !== undefined || anyOf !== undefined) return undefined
    const refs = this.#descendants(place.value)
    if (refs.length === 0 || refs.length > MAX_SUBTYPES) return undefined
    // The parent last: it matches most values.
    return [...refs, ref].map((one) => ({
      ref: one,
      property: discriminator.name,
      names: namesOf(discriminator, one, place.file),
    }))
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
