import { isRecord, isString, isText, stringsOf } from "../../../internal/guards.ts"
import {
  brokenRefMessage,
  child,
  follow,
  followedChild,
  isBroken,
  membersOf,
  noteAt,
  objectAt,
} from "../document.ts"
import type { Note, ObjectPlace, Place, Raw } from "../document.ts"
import type {
  EncodingModel,
  FieldModel,
  MediaModel,
  ParameterStyle,
  Serialization,
} from "../model.ts"
import { allOfParts, isBinary } from "../schema/lower.ts"
import type { RawOperation } from "./list.ts"
import { correctedType, mediaClass, readContent, type Media } from "./media.ts"
import { legacyStyle } from "./parameter.ts"
import { partEncoding, partHeaders, withTextParts } from "./parts.ts"
import type { LegacyBody } from "./parameters.ts"
import { byRank } from "../request/media.ts"

/** An input for one property of a body. */
export interface FlatProperty {
  readonly key: string
  readonly place: Place
  readonly required: boolean
}

/** A request body, with the places of its schemas. */
export interface Body {
  readonly required: boolean
  readonly description?: string | undefined
  readonly media: readonly Media[]
  /** The fields of a Swagger 2.0 form, which are declared as parameters. */
  readonly form?: readonly Place[] | undefined
}

/** Whether an operation of 3.x declares a body, without reading the body. */
export function declaresBody(operation: RawOperation): boolean {
  return isRecord(operation.raw["requestBody"])
}

/** Reads the body of an operation of any version. */
export function readBody(
  operation: RawOperation,
  legacy: LegacyBody,
  notes: Note[],
): Body | undefined {
  if (operation.document.version === "2.0") return legacyBody(operation, legacy)
  const declared = operation.member("requestBody")
  if (declared === undefined || !isRecord(declared.value)) return undefined
  const place = follow(declared)
  if (isBroken(place) || !isRecord(place.value)) {
    const why = isBroken(place) ? brokenRefMessage(place) : "A body must be an object."
    notes.push(noteAt(declared, `${why} Any body is sent as JSON.`))
    return { required: false, media: [anyJson(declared)] }
  }
  const media = readContent(place, notes).map((one) => withTextParts(one, notes))
  return bodyOf(place.value, media.length > 0 ? media : [anyJson(place)])
}

function anyJson(place: Place): Media {
  return { type: "application/json", class: "json", place: { ...place, value: {} } }
}

function bodyOf({ required, description }: Raw, media: readonly Media[]): Body {
  const text = isString(description) ? description : undefined
  return { required: required === true, description: text, media }
}

function legacyBody(
  operation: RawOperation,
  { body, form, contentType }: LegacyBody,
): Body | undefined {
  const [first] = form
  if (body === undefined && first === undefined) return undefined
  const types = contentTypes(operation.inherited("consumes"))
  if (body !== undefined) {
    const declared = contentType === undefined ? types : [correctedType(contentType)]
    const schema = child(body, "schema")
    const media = (declared.length > 0 ? declared : ["application/json"]).map((type) => ({
      type,
      class: mediaClass(type),
      place: body,
      schema,
    }))
    return bodyOf(body.value as Raw, media)
  }
  const hasFile = form.some((field) => (field.value as Raw)["type"] === "file")
  const kinds = hasFile ? ["multipart"] : ["form", "multipart"]
  const usable = types.filter((type) => kinds.includes(mediaClass(type)))
  const fallback = hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded"
  return {
    required: form.some((field) => (field.value as Raw)["required"] === true),
    media: (usable.length > 0 ? usable : [fallback]).map((type) => ({
      type,
      class: mediaClass(type),
      place: first as Place,
    })),
    form,
  }
}

/** Reads a list of content types and corrects common mistakes; a list without any is not copied. */
export function contentTypes(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  const isRight = value.every((type) => isText(type) && correctedType(type) === type)
  return isRight ? (value as string[]) : value.filter(isText).map(correctedType)
}

/** Creates the request model of one content type of a body. */
export function mediaModel(body: Body, media: Media): MediaModel {
  let fields: ReadonlyMap<string, FieldModel> | undefined
  return {
    type: media.type,
    isBinary:
      media.class === "binary" ||
      (media.class !== "multipart" && isBinary(objectAt(media.schema)?.value ?? {})),
    fields: () => (fields ??= readFields(body, media)),
  }
}

function readFields(body: Body, media: Media): Map<string, FieldModel> {
  const fields = new Map<string, FieldModel>()
  if (body.form !== undefined) {
    for (const { value } of body.form) {
      const raw = value as Raw
      fields.set(String(raw["name"]), { isBinary: raw["type"] === "file", ...legacyEncoding(raw) })
    }
    return fields
  }
  for (const [name, place] of propertiesOf(media.schema)) {
    fields.set(name, { isBinary: holdsBytes(place, 0), ...partEncoding(place) })
  }
  for (const [name, place] of membersOf(followedChild(media.place, "encoding"))) {
    const encoding = objectAt(place)
    if (encoding === undefined) continue
    const known = fields.get(name) ?? { isBinary: false }
    const own = { ...encodingOf(encoding.value), ...partHeaders(name, encoding, []) }
    fields.set(name, { ...known, encoding: { ...known.encoding, ...own } })
  }
  return fields
}

/** Whether a schema is a file or a list of files. */
function holdsBytes(schema: Place | undefined, depth: number): boolean {
  const place = objectAt(schema)
  if (place === undefined || depth > 4) return false
  return isBinary(place.value) || holdsBytes(child(place, "items"), depth + 1)
}

function encodingOf(raw: Raw): EncodingModel {
  const { contentType, style, explode, allowReserved } = raw
  const isDeclared = style !== undefined || explode !== undefined || allowReserved !== undefined
  const serialization: Serialization | undefined = isDeclared
    ? {
        style: (typeof style === "string" ? style : "form") as ParameterStyle,
        explode: typeof explode === "boolean" ? explode : (style ?? "form") === "form",
        allowReserved: allowReserved === true,
      }
    : undefined
  return {
    ...(typeof contentType === "string" && { contentType }),
    ...(serialization && { serialization }),
  }
}

/** The encoding of a Swagger 2.0 form field: lists are separated by commas by default. */
function legacyEncoding(raw: Raw): { encoding?: EncodingModel } {
  if (raw["type"] !== "array") return {}
  return { encoding: { serialization: { ...legacyStyle(raw, "query"), allowReserved: false } } }
}

/** The properties of an object schema, including those of `allOf`. */
export function propertiesOf(schema: Place | undefined): Map<string, Place> {
  const byName = new Map<string, Place>()
  for (const part of allOfParts(schema)) {
    for (const [name, place] of membersOf(part && child(part, "properties"))) {
      if (place.value !== null) byName.set(name, place)
    }
  }
  return byName
}

function fieldsOf({ form }: Body, media: Media | undefined): Map<string, Place> {
  return form === undefined
    ? propertiesOf(media?.schema)
    : new Map(form.map((place) => [nameOf(place), place]))
}

/** The names of all properties that a body can have, whatever its content type. */
export function memberNames(body: Body | undefined): readonly string[] {
  const names = new Set<string>()
  for (const media of body?.media ?? []) {
    for (const [name, place] of fieldsOf(body as Body, media)) {
      if (!isReadOnly(place)) names.add(name)
    }
  }
  return [...names]
}

/** Reduces a body to the chosen content type, if it is declared. */
export function chosenBody(body: Body, contentType: string | undefined): Body {
  if (contentType === undefined) return body
  const wanted = correctedType(contentType).toLowerCase()
  const media = body.media.filter(({ type }) => type.toLowerCase() === wanted)
  return media.length === 0 ? body : { ...body, media }
}

/** The properties of a body as separate inputs. */
export interface Flattened {
  readonly properties: readonly FlatProperty[]
  /** Input key to name of the property. */
  readonly names: ReadonlyMap<string, string>
}

/**
 * Converts the properties of an object body to inputs; `undefined` for other bodies: a list, a text, bytes, a union.
 *
 * A property with the name of a parameter gets a prefix: `body_id`.
 */
export function flatten(
  body: Body,
  taken: ReadonlySet<string>,
  operation: RawOperation,
  notes: Note[],
): Flattened | undefined {
  const [sent] = body.media.length > 1 ? [byRank(body.media, {})] : body.media
  const media = sent && ["json", "form", "multipart"].includes(sent.class) ? sent : undefined
  const parts = allOfParts(media?.schema)
  if (body.form === undefined && !parts.every(isSpreadable)) return undefined
  const fields = fieldsOf(body, media)
  if (fields.size === 0) return undefined
  const needed = new Set(
    body.required ? parts.flatMap((part) => stringsOf(part?.value["required"])) : [],
  )
  // Plain names have priority over prefixed ones, independent of the order in the body.
  const keys = new Set([...taken, ...fields.keys()])
  const properties: FlatProperty[] = []
  const names = new Map<string, string>()
  for (const [name, place] of fields) {
    if (isReadOnly(place)) continue
    let key = taken.has(name) ? `body_${name}` : name
    for (let count = 2; key !== name && keys.has(key); count++) key = `body_${name}_${count}`
    keys.add(key)
    names.set(key, name)
    if (key !== name) {
      const message = `Another input is called "${name}" as well; the property of the body is passed as "${key}".`
      notes.push(noteAt(operation, message, true))
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

/** Whether a part of a schema is an object that is fully described by its properties. */
function isSpreadable(part: ObjectPlace | undefined): boolean {
  if (part === undefined) return false
  const { oneOf, anyOf, additionalProperties, type } = part.value
  if (oneOf !== undefined || anyOf !== undefined) return false
  return (type === undefined || type === "object") && !isRecord(additionalProperties)
}

function isReadOnly(place: Place): boolean {
  if (isRecord(place.value) && place.value["readOnly"] === true) return true
  return objectAt(place)?.value["readOnly"] === true
}
