import { isRecord } from "../../../internal/guards.ts"
import { addToList } from "../../../internal/lists.ts"
import { escapeToken, getOwn } from "../../../schema/json.ts"
import { isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"

const MAX_DEPTH = 8
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
  document: OpenAPIDocument,
  { name, mapping }: { readonly name: string; readonly mapping: Raw },
  ref: string,
  file: SourceFile,
): readonly string[] | undefined {
  const place = document.lookUp(ref, file)
  if (isBroken(place) || decides(document, place, name, 0)) return undefined
  const mapped = Object.keys(mapping).filter((value) => {
    const target = mappedPlace(document, mapping[value], file)
    return target?.pointer === place.pointer && target.file === place.file
  })
  return mapped.length > 0 ? mapped : [place.pointer.slice(place.pointer.lastIndexOf("/") + 1)]
}

function mappedPlace(
  document: OpenAPIDocument,
  value: unknown,
  file: SourceFile,
): Place | undefined {
  if (typeof value !== "string") return undefined
  const isName = /^[A-Za-z0-9._-]+$/.test(value)
  const folder = document.version === "2.0" ? "#/definitions/" : "#/components/schemas/"
  const named = isName ? document.lookUp(folder + escapeToken(value), file) : undefined
  const place = named === undefined || isBroken(named) ? document.lookUp(value, file) : named
  return isBroken(place) ? undefined : place
}

/** Whether a schema, or one of its parts, declares the values of a property. */
function decides(document: OpenAPIDocument, place: Place, name: string, depth: number): boolean {
  const followed = depth > MAX_DEPTH ? undefined : document.objectAt(place)
  if (followed === undefined) return false
  const { properties, allOf } = followed.value
  const property = isRecord(properties) ? getOwn(properties, name) : undefined
  const own = document.objectAt({ value: property, file: followed.file, pointer: "" })?.value
  if (own?.["const"] !== undefined || own?.["enum"] !== undefined) return true
  return (Array.isArray(allOf) ? allOf : []).some((value: unknown) =>
    decides(document, { value, file: followed.file, pointer: "" }, name, depth + 1),
  )
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
    const place = document.lookUp(ref, file)
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
      names: namesOf(document, discriminator, one, place.file),
    }))
  }

  #descendants(parent: unknown): readonly string[] {
    const children = (this.#children ??= this.#find())
    const descendants = new Set(children.get(parent))
    // Iterating a set includes members added during the loop.
    for (const ref of descendants) {
      const place = this.#document.lookUp(ref, this.#document.entry)
      if (isBroken(place) || descendants.size > MAX_SUBTYPES) continue
      for (const below of children.get(place.value) ?? []) descendants.add(below)
    }
    return [...descendants]
  }

  #find(): Map<unknown, string[]> {
    const document = this.#document
    const children = new Map<unknown, string[]>()
    const isLegacy = document.version === "2.0"
    const components = isLegacy ? document.root : getOwn(document.root, "components")
    const schemas = isRecord(components)
      ? getOwn(components, isLegacy ? "definitions" : "schemas")
      : undefined
    if (!isRecord(schemas)) return children
    const folder = isLegacy ? "#/definitions/" : "#/components/schemas/"
    for (const name of Object.keys(schemas)) {
      const schema = schemas[name]
      const allOf = isRecord(schema) ? schema["allOf"] : undefined
      for (const member of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
        const ref = isRecord(member) ? member["$ref"] : undefined
        const parent = typeof ref === "string" ? document.lookUp(ref, document.entry) : undefined
        if (parent === undefined || isBroken(parent)) continue
        addToList(children, parent.value, folder + escapeToken(name))
      }
    }
    return children
  }
}
