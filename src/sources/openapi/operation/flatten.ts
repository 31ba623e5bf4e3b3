import { isRecord, stringsOf } from "../../../internal/guards.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import { byRank } from "../request/media.ts"
import { propertiesOf } from "./body.ts"
import type { Body } from "./body.ts"
import type { RawOperation } from "./list.ts"
import { itemsAt } from "./media.ts"
import type { FlatProperty } from "./schemas.ts"

/** The properties of a body as separate inputs. */
export interface Flattened {
  readonly properties: readonly FlatProperty[]
  /** Input key to name of the property. */
  readonly names: ReadonlyMap<string, string>
}

/**
 * Converts the properties of an object body to inputs; `null` for other bodies: a list, a text, bytes, a union.
 *
 * A property with the name of a parameter gets a prefix: `body_id`.
 */
export function flatten(
  document: OpenAPIDocument,
  body: Body,
  taken: ReadonlySet<string>,
  operation: RawOperation,
  notes: Note[],
): Flattened | null {
  const [sent] = body.media.length > 1 ? [byRank(body.media, {})] : body.media
  const media = sent && ["json", "form", "multipart"].includes(sent.class) ? sent : undefined
  const fields =
    body.form === undefined
      ? isSpreadable(document, media?.schema)
        ? propertiesOf(document, media?.schema)
        : new Map<string, Place>()
      : new Map(body.form.map((place) => [nameOf(place), place]))
  if (fields.size === 0) return null
  const needed = body.required ? requiredOf(document, media?.schema, 0) : new Set<string>()
  // Plain names have priority over prefixed ones, independent of the order in the body.
  const keys = new Set([...taken, ...fields.keys()])
  const properties: FlatProperty[] = []
  const names = new Map<string, string>()
  for (const [name, place] of fields) {
    if (isReadOnly(document, place)) continue
    let key = taken.has(name) ? `body_${name}` : name
    for (let count = 2; key !== name && keys.has(key); count++) key = `body_${name}_${count}`
    keys.add(key)
    names.set(key, name)
    if (key !== name) {
      const message = `Another input is called "${name}" as well; the property of the body is passed as "${key}".`
      notes.push(noteAt(document, operation, message, true))
    }
    const required =
      body.form === undefined
        ? needed.has(name)
        : isRecord(place.value) && place.value["required"] === true
    properties.push({ key, place, required })
  }
  return { properties, names }
}

function nameOf(place: Place): string {
  return isRecord(place.value) ? String(place.value["name"]) : ""
}

/** Whether a schema is an object that is fully described by its properties. */
function isSpreadable(document: OpenAPIDocument, schema: Place | undefined, depth = 0): boolean {
  const place = depth > 16 ? undefined : document.objectAt(schema)
  if (place === undefined) return false
  const { oneOf, anyOf, additionalProperties, type } = place.value
  if (oneOf !== undefined || anyOf !== undefined) return false
  if (type !== undefined && type !== "object") return false
  if (isRecord(additionalProperties)) return false
  return itemsAt(place, "allOf").every((member) => isSpreadable(document, member, depth + 1))
}

function requiredOf(
  document: OpenAPIDocument,
  schema: Place | undefined,
  depth: number,
): Set<string> {
  const place = depth > 16 ? undefined : document.objectAt(schema)
  if (place === undefined) return new Set()
  const inherited = itemsAt(place, "allOf").flatMap((member) => [
    ...requiredOf(document, member, depth + 1),
  ])
  return new Set([...stringsOf(place.value["required"]), ...inherited])
}

function isReadOnly(document: OpenAPIDocument, place: Place): boolean {
  if (isRecord(place.value) && place.value["readOnly"] === true) return true
  return document.objectAt(place)?.value["readOnly"] === true
}
