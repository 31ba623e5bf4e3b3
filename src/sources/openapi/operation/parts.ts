import { isRecord } from "../../../internal/guards.ts"
import { child, followedChild, membersOf, noteAt, objectAt } from "../document.ts"
import type { Note, ObjectPlace, Place } from "../document.ts"
import type { EncodingModel } from "../model.ts"
import { contentKind } from "../request/media.ts"
import type { Media } from "./media.ts"

/** How the schema of a part says that it is sent, as of 3.1. */
export function partEncoding(schema: Place): { encoding?: EncodingModel } {
  const { contentMediaType: contentType, contentEncoding } = objectAt(schema)?.value ?? {}
  const encoding = {
    ...(isHeaderText(contentType) && { contentType }),
    ...(isHeaderText(contentEncoding) && { transferEncoding: contentEncoding }),
  }
  return Object.keys(encoding).length === 0 ? {} : { encoding }
}

/** The headers of a part that have one value: declared ones, and the name of the part as its `Content-ID`. */
export function partHeaders(
  part: string,
  encoding: ObjectPlace,
  notes: Note[],
): Pick<EncodingModel, "headers"> {
  const headers = new Map<string, string | undefined>()
  for (const [name, declared] of membersOf(followedChild(encoding, "headers"))) {
    const header = objectAt(declared)
    if (header === undefined || IGNORED.test(name)) continue
    const schema = objectAt(child(header, "schema"))?.value ?? {}
    const { const: only, default: preset, enum: values } = schema
    const value = only ?? preset ?? (Array.isArray(values) && values.length === 1 && values[0])
    if (/^[\w-]+$/.test(name) && (isHeaderText(value) || /^content-id$/i.test(name))) {
      headers.set(name, isHeaderText(value) ? value : undefined)
      continue
    }
    const message = `The header "${name}" of the part "${part}" cannot be set; it is left out.`
    notes.push(noteAt(declared, message, header.value["required"] !== true))
  }
  return headers.size === 0 ? {} : { headers }
}

/** Headers that other members of the document describe. */
const IGNORED = /^content-(?:type|disposition|transfer-encoding)$/i

function isHeaderText(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]+$/.test(value)
}

/** Takes parts that are XML or other text as text, whatever their schemas; notes what cannot be sent. */
export function withTextParts(media: Media, notes: Note[]): Media {
  const schema = media.class === "multipart" ? objectAt(media.schema) : undefined
  const properties = schema?.value["properties"]
  if (schema === undefined || !isRecord(properties)) return media
  const texts: [string, unknown][] = []
  for (const [name, place] of membersOf(followedChild(media.place, "encoding"))) {
    const encoding = objectAt(place)
    if (encoding === undefined) continue
    partHeaders(name, encoding, notes)
    const { contentType } = encoding.value
    const kind = typeof contentType === "string" ? contentKind(contentType) : undefined
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined
    if ((kind !== "xml" && kind !== "text") || !isObjectSchema({ ...schema, value: declared }))
      continue
    const text = { type: "string" }
    // Data in other text is written as JSON.
    texts.push([name, kind === "xml" ? text : { anyOf: [declared, text] }])
    if (kind !== "xml") continue
    notes.push(noteAt(place, `${contentType as string} is passed as text; its schema is not used.`))
  }
  if (texts.length === 0) return media
  const value = { ...schema.value, properties: { ...properties, ...Object.fromEntries(texts) } }
  return { ...media, schema: { ...schema, value } }
}

function isObjectSchema(schema: Place): boolean {
  const { type, properties } = objectAt(schema)?.value ?? {}
  return type === "object" || (type === undefined && isRecord(properties))
}
