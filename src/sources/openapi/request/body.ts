import { encodeValue } from "../../../core/envelope-codec.ts"
import { fileHeaders } from "../../../http-client/file-bodies.ts"
import { essenceOf } from "../../../http-client/media-type.ts"
import { isRecord } from "../../../internal/guards.ts"
import { isFileLike } from "../../../schema/files.ts"
import { getOwn, setOwn } from "../../../schema/json.ts"
import type { BodyModel, MediaModel, OperationInput, RequestPlan } from "../model.ts"
import type { PreparedRequest } from "../../../http-client/request.ts"
import { Unwritable, invalidInputError, isByteStream, isBytes, withValueName } from "./text.ts"
import type { Bytes } from "./text.ts"
import { formText } from "./serialize.ts"
import { checkJson, jsonText, type JsonCheck } from "./json.ts"
import { chooseMedia, type ChosenMedia } from "./media.ts"
import { StreamedForm, formDataOf, streamOf } from "./multipart.ts"
import { textOrJson } from "./styles.ts"

/** A body and its content type; the platform sets that of a `FormData`. */
export interface WrittenBody {
  readonly body: PreparedRequest["body"]
  readonly contentType?: string | undefined
  /** `Content-Disposition` with the name of a file. */
  readonly disposition?: string | undefined
}

/** `fetch` sends no body with these methods. */
export const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "TRACE"])
const NO_BODY: WrittenBody = { body: undefined }

/**
 * Writes the body of a request.
 *
 * `wanted` has to be a declared content type; `labelled` is the value of a `Content-Type` parameter, and is sent
 * whether it is declared or not.
 */
export function writeBody(
  plan: RequestPlan,
  input: OperationInput,
  wanted: string | undefined,
  labelled: string | undefined,
): WrittenBody {
  const model = plan.body
  if (model === undefined) return NO_BODY
  const bodyInput = bodyValue(model, input)
  if (BODILESS.has(plan.method)) {
    if (isEmpty(bodyInput)) return NO_BODY
    throw invalidInputError(
      plan.id,
      `a ${plan.method} request cannot carry a body, though the document declares one; leave the ` +
        `body out, or call the same operation by another method if the API has it`,
    )
  }
  const value = withFixed(bodyInput, plan.fixed?.body)
  if (value === undefined) {
    if (model.required) throw invalidInputError(plan.id, "the body is missing")
    return NO_BODY
  }
  return withValueName(plan.id, "the body", () => {
    const jsonCheck = checkJson(value)
    const chosen = chooseMedia(model, value, jsonCheck, wanted ?? declaredLabel(model, labelled))
    const isBase64 = model.isOurs === true && jsonCheck.bytesAt !== undefined
    const body =
      chosen.kind === "json" && isBase64
        ? jsonText(encodeValue(value).value)
        : contentOf(chosen, value, jsonCheck)
    if (body instanceof FormData) return { body }
    if (body instanceof StreamedForm) return { body: body.stream, contentType: body.contentType }
    if (model.isOurs === true && chosen.kind === "binary" && isFileLike(value)) {
      const { "content-type": contentType, "content-disposition": disposition } = fileHeaders(
        value,
        chosen.type,
      )
      return { body, contentType, disposition }
    }
    return { body, contentType: wanted === undefined ? (labelled ?? chosen.type) : chosen.type }
  })
}

function bodyValue(model: BodyModel, input: OperationInput): unknown {
  if (model.flat === undefined) return getOwn(input, "body")
  const value: Record<string, unknown> = {}
  for (const [key, name] of model.flat) {
    const member = getOwn(input, key)
    if (member !== undefined) setOwn(value, name, member)
  }
  return Object.keys(value).length > 0 || model.required ? value : undefined
}

function withFixed(value: unknown, fixed: Readonly<Record<string, unknown>> | undefined): unknown {
  if (fixed === undefined) return value
  if (value instanceof FormData || value instanceof URLSearchParams) {
    // A copy: the caller may send the same form again.
    const form = value instanceof FormData ? copyOf(value) : new URLSearchParams(value)
    for (const [name, member] of Object.entries(fixed)) form.set(name, String(member))
    return form
  }
  if (value === undefined) return fixed
  return isRecord(value) && !isBytes(value) ? { ...value, ...fixed } : value
}

function copyOf(form: FormData): FormData {
  const copy = new FormData()
  for (const [name, entry] of form) {
    if (typeof entry === "string") copy.append(name, entry)
    else copy.append(name, entry, entry.name)
  }
  return copy
}

function contentOf(
  chosen: ChosenMedia,
  value: unknown,
  jsonCheck: JsonCheck,
): PreparedRequest["body"] | StreamedForm {
  const { media, kind } = chosen
  switch (kind) {
    case "json":
      return jsonText(value, jsonCheck)
    case "sequence":
      return isBytes(value) ? rawOf(value) : sequenceText(chosen.type, value)
    case "form":
      return formText(media.fields(), value)
    case "multipart":
      return formDataOf(chosen.type, media.fields(), value)
    case "text":
      return isBytes(value) ? rawOf(value) : plainText(value)
    case "xml":
      if (isBytes(value)) return rawOf(value)
      if (typeof value === "string") return value
      throw new Unwritable(`is to be sent as "${chosen.type}": pass the XML as text`)
    case "binary":
      return isBytes(value) ? rawOf(value) : unknownContent(chosen, media, value)
  }
}

/** The content for an unknown type: strings unchanged, data as JSON. */
function unknownContent(chosen: ChosenMedia, media: MediaModel, value: unknown): string {
  if (typeof value === "string") return value
  const isRaw = /^(application\/octet-stream|image\/|audio\/|video\/)/.test(essenceOf(chosen.type))
  if (!media.isBinary && !isRaw) return plainText(value)
  throw new Unwritable(
    `is to be sent as "${chosen.type}": pass a Uint8Array, an ArrayBuffer, a Blob, a stream or text`,
  )
}

function plainText(value: unknown): string {
  return value === null ? "" : textOrJson(value)
}

function sequenceText(type: string, value: unknown): string {
  if (typeof value === "string") return value
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  const start = essenceOf(type).endsWith("json-seq") ? "\u001e" : ""
  return items.map((item) => `${start}${jsonText(item)}\n`).join("")
}

function rawOf(value: Bytes): Uint8Array | Blob | ReadableStream<Uint8Array> {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (isByteStream(value)) return streamOf(value)
  if (!ArrayBuffer.isView(value) || value instanceof Uint8Array) return value
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

/** The content type of a label, if it is declared. */
function declaredLabel(model: BodyModel, labelled: string | undefined): string | undefined {
  if (labelled === undefined) return undefined
  const essence = essenceOf(labelled)
  return model.media.some(({ type }) => essenceOf(type) === essence) ? labelled : undefined
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true
  if (value instanceof URLSearchParams || value instanceof FormData) return [...value].length === 0
  if (!isRecord(value) || isBytes(value) || value instanceof Date) return false
  return Object.values(value).every((member) => member === undefined)
}
