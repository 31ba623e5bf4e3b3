import { isPlainRecord } from "../../schema/json.ts"
import type { EncodingModel, FieldModel } from "../model.ts"
import { Unwritable } from "./fault.ts"
import { orderedFields, settledType } from "./form.ts"
import { jsonText } from "./json.ts"
import { essenceOf } from "./media.ts"
import { VERBATIM } from "./serialize.ts"
import { pairsOf } from "./styles.ts"
import { isBytes, shapeOf } from "./text.ts"

/** A multipart body as bytes, with the header that says where its parts end. */
export interface EncodedMultipart {
  readonly contentType: string
  /** Made of its parts without reading them: a file stays where it is until it is sent. */
  readonly body: Blob
}

// `FormData` cannot say of a typed part that it is no file, nor that the whole is not `form-data`.
const plainParts = new WeakSet<Blob>()
const essences = new WeakMap<FormData, string>()

/** Writes the fields of an object as the parts of a multipart body. */
export function formDataOf(
  type: string,
  fields: ReadonlyMap<string, FieldModel>,
  value: unknown,
): FormData {
  if (value instanceof FormData) {
    essences.set(value, essenceOf(type))
    return value
  }
  if (!isPlainRecord(value) || isBytes(value)) {
    throw new Unwritable("must be an object with one member per part to be sent as multipart")
  }
  const form = new FormData()
  essences.set(form, essenceOf(type))
  for (const [name, item] of orderedFields(fields, value)) {
    try {
      appendField(form, name, item, fields.get(name))
    } catch (thrown) {
      if (thrown instanceof Unwritable) throw new Unwritable(`at /${name} ${thrown.message}`)
      throw thrown
    }
  }
  return form
}

/**
 * Encodes a multipart body just before it is sent.
 *
 * Left to itself the platform gives each typed part a file name, and servers then look for JSON parts
 * among the uploaded files.
 */
export function encodeMultipart(form: FormData): EncodedMultipart {
  const boundary = `form-boundary-${randomText()}`
  const pieces: BlobPart[] = []
  for (const [name, entry] of form) {
    pieces.push(`--${boundary}\r\n${partHead(name, entry)}\r\n\r\n`, entry, "\r\n")
  }
  pieces.push(`--${boundary}--\r\n`)
  const contentType = `${essences.get(form) ?? "multipart/form-data"}; boundary=${boundary}`
  return { contentType, body: new Blob(pieces, { type: contentType }) }
}

function appendField(
  form: FormData,
  name: string,
  value: unknown,
  field: FieldModel | undefined,
): void {
  const how: EncodingModel["serialization"] = field?.encoding?.serialization
  if (how !== undefined && !isBytes(value)) {
    for (const [key, text] of pairsOf(name, value, how, VERBATIM)) form.append(key, text)
    return
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  for (const item of items) appendPart(form, name, item, field)
}

function appendPart(
  form: FormData,
  name: string,
  value: unknown,
  field: FieldModel | undefined,
): void {
  if (value === undefined || value === null) return
  const type = settledType(field)
  if (isBytes(value)) {
    form.append(name, fileOf(name, value, type))
    return
  }
  const shape = shapeOf(value)
  const isText = shape.kind === "scalar"
  if (isText && field?.isBinary === true) {
    form.append(name, new File([shape.text], name, { type: type ?? "application/octet-stream" }))
    return
  }
  const text = isText ? shape.text : jsonText(value)
  const partType = type ?? (isText ? "text/plain" : "application/json")
  if (isText && essenceOf(partType) === "text/plain") form.append(name, text)
  else form.append(name, plainPart(name, text, partType))
}

/** A typed part that is no file; the platform needs a name for it all the same. */
function plainPart(name: string, text: string, type: string): File {
  const part = new File([text], name, { type })
  plainParts.add(part)
  return part
}

function fileOf(name: string, value: unknown, type: string | undefined): File {
  if (value instanceof ReadableStream) {
    throw new Unwritable("is a stream; a part needs a Blob, a File or bytes, whose length is known")
  }
  if (value instanceof File && (value.type !== "" || type === undefined)) return value
  const own = value instanceof Blob ? value.type : ""
  const fileName = value instanceof File ? value.name : name
  return new File([value as BlobPart], fileName, {
    type: own || type || "application/octet-stream",
  })
}

function partHead(name: string, entry: FormDataEntryValue): string {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`
  if (typeof entry === "string") return disposition
  const fileName = plainParts.has(entry) ? "" : `; filename="${quoted(entry.name)}"`
  return `${disposition}${fileName}\r\nContent-Type: ${entry.type || "application/octet-stream"}`
}

/** As browsers write names in a `Content-Disposition`. */
function quoted(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")
}

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}
