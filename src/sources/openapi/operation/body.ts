import { isRecord } from "../../../internal/guards.ts"
import { brokenRefMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, Raw } from "../document.ts"
import { noteAt } from "../note.ts"
import type {
  EncodingModel,
  FieldModel,
  MediaModel,
  ParameterStyle,
  Serialization,
} from "../model.ts"
import type { Note } from "../note.ts"
import { isBinary } from "../schema/lower.ts"
import type { RawOperation } from "./list.ts"
import { child, followedChild, correctedType, itemsAt, mediaClass, readContent } from "./media.ts"
import type { Media } from "./media.ts"
import { legacyStyle } from "./parameter.ts"
import type { LegacyBody } from "./parameters.ts"

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
  document: OpenAPIDocument,
  operation: RawOperation,
  legacy: LegacyBody,
  notes: Note[],
): Body | undefined {
  if (document.version === "2.0") return legacyBody(document, operation, legacy)
  const declared = operation.member("requestBody")
  if (declared === undefined || !isRecord(declared.value)) return undefined
  const place = document.follow(declared)
  if (isBroken(place) || !isRecord(place.value)) {
    const why = isBroken(place) ? brokenRefMessage(place) : "A body must be an object."
    notes.push(noteAt(document, declared, `${why} Any body is sent as JSON.`))
    return { required: false, media: [anyJson(declared)] }
  }
  const { description, required } = place.value
  const media = readContent(document, place, notes)
  return {
    required: required === true,
    ...(typeof description === "string" && { description }),
    media: media.length > 0 ? media : [anyJson(place)],
  }
}

function anyJson({ file, pointer }: Place): Media {
  return { type: "application/json", class: "json", place: { value: {}, file, pointer } }
}

function legacyBody(
  document: OpenAPIDocument,
  operation: RawOperation,
  { body, form, contentType }: LegacyBody,
): Body | undefined {
  if (body === undefined && form.length === 0) return undefined
  const types = contentTypes(operation.raw["consumes"] ?? document.root["consumes"])
  if (body !== undefined) {
    const { description, required } = body.value as Raw
    const declared = contentType === undefined ? types : [correctedType(contentType)]
    const schema = child(body, "schema")
    return {
      required: required === true,
      ...(typeof description === "string" && { description }),
      media: (declared.length > 0 ? declared : ["application/json"]).map((type) => ({
        type,
        class: mediaClass(type),
        place: body,
        schema,
      })),
    }
  }
  const hasFile = form.some((field) => (field.value as Raw)["type"] === "file")
  const place = form[0] as Place
  const forms = types.filter((type) => ["form", "multipart"].includes(mediaClass(type)))
  const usable = hasFile ? forms.filter((type) => mediaClass(type) === "multipart") : forms
  const fallback = hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded"
  return {
    required: form.some((field) => (field.value as Raw)["required"] === true),
    media: (usable.length > 0 ? usable : [fallback]).map((type) => ({
      type,
      class: mediaClass(type),
      place,
    })),
    form,
  }
}

/** Reads a list of content types and corrects common mistakes. */
export function contentTypes(value: unknown): string[] {
  return typesOf(value).map(correctedType)
}

/** Reads a list of strings; skips other values and empty strings. */
export function typesOf(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((type): type is string => typeof type === "string" && type !== "")
    : []
}

/** Creates the request model of one content type of a body. */
export function mediaModel(document: OpenAPIDocument, body: Body, media: Media): MediaModel {
  let fields: ReadonlyMap<string, FieldModel> | undefined
  return {
    type: media.type,
    isBinary:
      media.class === "binary" ||
      (media.class !== "multipart" && isBinaryAt(document, media.schema)),
    fields: () => (fields ??= readFields(document, body, media)),
  }
}

function isBinaryAt(document: OpenAPIDocument, schema: Place | undefined): boolean {
  const place = document.objectAt(schema)
  return place !== undefined && isBinary(place.value)
}

function readFields(document: OpenAPIDocument, body: Body, media: Media): Map<string, FieldModel> {
  const fields = new Map<string, FieldModel>()
  if (body.form !== undefined) {
    for (const { value } of body.form) {
      const raw = value as Raw
      fields.set(String(raw["name"]), { isBinary: raw["type"] === "file", ...legacyEncoding(raw) })
    }
    return fields
  }
  const encodings = followedChild(document, media.place, "encoding")
  for (const [name, place] of propertiesOf(document, media.schema)) {
    fields.set(name, { isBinary: holdsBytes(document, place, 0) })
  }
  if (encodings === undefined || !isRecord(encodings.value)) return fields
  for (const name of Object.keys(encodings.value)) {
    const encoding = followedChild(document, encodings, name)?.value
    if (!isRecord(encoding)) continue
    fields.set(name, {
      isBinary: fields.get(name)?.isBinary ?? false,
      encoding: encodingOf(encoding),
    })
  }
  return fields
}

/** Whether a schema is a file or a list of files. */
function holdsBytes(document: OpenAPIDocument, schema: Place | undefined, depth: number): boolean {
  const place = document.objectAt(schema)
  if (place === undefined || depth > 4) return false
  return isBinary(place.value) || holdsBytes(document, child(place, "items"), depth + 1)
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
export function propertiesOf(
  document: OpenAPIDocument,
  schema: Place | undefined,
  depth = 0,
): Map<string, Place> {
  const byName = new Map<string, Place>()
  const place = depth > 16 ? undefined : document.objectAt(schema)
  if (place === undefined) return byName
  for (const member of itemsAt(place, "allOf")) {
    for (const [name, inner] of propertiesOf(document, member, depth + 1)) byName.set(name, inner)
  }
  const properties = child(place, "properties")
  if (properties === undefined || !isRecord(properties.value)) return byName
  for (const name of Object.keys(properties.value)) {
    const property = child(properties, name)
    if (property !== undefined) byName.set(name, property)
  }
  return byName
}

/** Reduces a body to the chosen content type, if it is declared. */
export function chosenBody(body: Body, contentType: string | undefined): Body {
  if (contentType === undefined) return body
  const wanted = correctedType(contentType).toLowerCase()
  const media = body.media.filter(({ type }) => type.toLowerCase() === wanted)
  return media.length === 0 ? body : { ...body, media }
}
