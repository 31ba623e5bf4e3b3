import { isRecord } from "../../../internal/guards.ts"
import { escapeToken, getOwn } from "../../../schema/json.ts"
import { brokenRefMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import { contentTypes, propertiesOf } from "./body.ts"
import type { RawOperation } from "./list.ts"
import { child, isStream, isStreamType, mediaClass, readContent } from "./media.ts"
import type { Media } from "./media.ts"

/** A declared response of an operation. */
export interface Response {
  /** As written: `200`, `4XX`, `default`. */
  readonly code: string
  readonly description: string
  readonly media: readonly Media[]
  /** No content is declared: a 204, or a response without `content`. */
  readonly isEmpty: boolean
  readonly place: Place
}

/** The parents of the responses of an operation, by code. */
type Declared = ReadonlyMap<string, Place>

/** Finds the declared responses; broken references are noted. */
function declaredResponses(
  document: OpenAPIDocument,
  operation: RawOperation,
  notes: Note[],
): Declared {
  const byCode = new Map<string, Place>()
  const member = operation.member("responses")
  if (member === undefined) return byCode
  const parts = document.parts(member)
  if (isBroken(parts)) {
    notes.push(noteAt(document, member, `${brokenRefMessage(parts)} Any answer is accepted.`))
    return byCode
  }
  for (const part of parts) {
    if (!isRecord(part.value)) continue
    const codes = Object.keys(part.value)
    for (let index = 0; index < codes.length; index++) {
      const code = codes[index] as string
      if (code !== "$ref" && !byCode.has(code)) byCode.set(code, part)
    }
  }
  return byCode
}

/** Splits the codes of an operation into successes and failures. */
function codesOf(responses: Declared): { success: string[]; failure: string[] } {
  const success: string[] = []
  const failure: string[] = []
  let other = false
  for (const code of responses.keys()) {
    if (isSuccess(code)) success.push(code)
    else if (/^[45](?:\d\d|XX)$/i.test(code)) failure.push(code)
    else if (code !== "default" && !code.startsWith("x-")) other = true
  }
  if (responses.has("default")) {
    // Without any other success, `default` is one.
    if (success.length === 0 && !other) success.push("default")
    else failure.push("default")
  }
  // 200, 201, the others in order, then ranges.
  if (success.length > 1) success.sort((left, right) => rank(left) - rank(right))
  return { success, failure }
}

/** Whether a code is a success: 200, any other 2xx, or `2XX`. */
export function isSuccess(code: string): boolean {
  return code === "200" || (code.startsWith("2") && /^2(?:\d\d|XX)$/i.test(code))
}

function rank(code: string): number {
  if (code === "default") return 1000
  return /X/i.test(code) ? 999 : Number(code)
}

/** Whether an operation returns a plain response, a stream, or either. */
export type ResponseMode = "plain" | "stream" | "both"

/** Determines from its content types whether an operation streams. */
export function responseMode(document: OpenAPIDocument, operation: RawOperation): ResponseMode {
  const { raw } = operation
  const { responses } = raw
  let types: unknown
  if (document.version === "2.0") types = raw["produces"] ?? document.root["produces"]
  else if (isRecord(responses)) types = contentTypesOf(document, operation, responses)
  if (!Array.isArray(types) || !types.some(isStreamType)) return "plain"
  return types.every(isStreamType) ? "stream" : "both"
}

/** The content types of the successful responses of an operation. */
function contentTypesOf(
  document: OpenAPIDocument,
  operation: RawOperation,
  responses: Raw,
): readonly string[] {
  if (typeof responses["$ref"] === "string") {
    const success = readResponses(document, operation, "success", [])
    return success.flatMap(({ media }) => media.map(({ type }) => type))
  }
  let declaredTypes: readonly string[] = []
  const codes = Object.keys(responses)
  const isDefault = codes.length === 1 && codes[0] === "default"
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] as string
    if (!isDefault && !isSuccess(code)) continue
    let response = responses[code]
    let file: SourceFile | undefined
    if (isRecord(response) && response["$ref"] !== undefined) {
      const place = document.follow({
        value: response,
        file: fileOf(operation),
        pointer: "",
      })
      if (isBroken(place)) continue
      response = place.value
      file = place.file
    }
    let content = isRecord(response) ? response["content"] : undefined
    if (isRecord(content) && content["$ref"] !== undefined) {
      const place = document.follow({
        value: content,
        file: file ?? fileOf(operation),
        pointer: "",
      })
      content = isBroken(place) ? undefined : place.value
    }
    if (!isRecord(content)) continue
    const types = Object.keys(content)
    declaredTypes = declaredTypes.length === 0 ? types : declaredTypes.concat(types)
  }
  return declaredTypes
}

function fileOf(operation: RawOperation): SourceFile {
  if (operation.isDirect) return operation.file
  return operation.member("responses")?.file ?? operation.file
}

/** The content types of the successes that are not streams, JSON first. */
export function acceptOf(document: OpenAPIDocument, operation: RawOperation): string[] {
  const types =
    document.version === "2.0"
      ? producedTypes(document, operation)
      : readResponses(document, operation, "success", []).flatMap(({ media }) =>
          media.map(({ type }) => type),
        )
  return [...new Set(types)]
    .filter((type) => !isStream(mediaClass(type)))
    .toSorted((left, right) => weight(left) - weight(right))
}

function weight(type: string): number {
  if (type.toLowerCase() === "application/json") return 0
  return mediaClass(type) === "json" ? 1 : 2
}

/** Reads the successful or the failed responses of an operation. */
export function readResponses(
  document: OpenAPIDocument,
  operation: RawOperation,
  which: "success" | "failure",
  notes: Note[],
): Response[] {
  const declared = declaredResponses(document, operation, notes)
  return codesOf(declared)[which].map((code) =>
    readResponse(document, operation, code, declared.get(code) as Place, notes),
  )
}

function readResponse(
  document: OpenAPIDocument,
  operation: RawOperation,
  code: string,
  { value: responses, file, pointer: holder }: Place,
  notes: Note[],
): Response {
  const value = (responses as Raw)[code]
  const pointer = `${holder}/${escapeToken(code)}`
  const followed = document.follow({ value, file, pointer })
  if (isBroken(followed)) {
    const message = `${brokenRefMessage(followed)} Any answer is accepted.`
    notes.push(noteAt(document, { file, pointer }, message))
  }
  const place = isBroken(followed) ? { value: {}, file, pointer } : followed
  const raw = isRecord(place.value) ? place.value : {}
  const media =
    document.version === "2.0"
      ? legacyMedia(document, operation, place)
      : readContent(document, place, notes)
  const { description } = raw
  return {
    code,
    description: typeof description === "string" ? description : "",
    media,
    isEmpty: !isBroken(followed) && (code === "204" || code === "205" || media.length === 0),
    place,
  }
}

function producedTypes(document: OpenAPIDocument, operation: RawOperation): string[] {
  return contentTypes(operation.raw["produces"] ?? document.root["produces"])
}

/** The media of a Swagger 2.0 response: one schema, with the content types of the operation. */
function legacyMedia(document: OpenAPIDocument, operation: RawOperation, place: Place): Media[] {
  const schema = child(place, "schema")
  if (schema === undefined) return []
  const types = producedTypes(document, operation)
  const isFile = isRecord(schema.value) && getOwn(schema.value, "type") === "file"
  // The types apply to all responses: an object, such as an error beside a download, is not binary.
  const isObject = (): boolean => propertiesOf(document, schema).size > 0
  const isBinary = types.length > 0 && types.every((type) => mediaClass(type) === "binary")
  const plain =
    types.find((type) => mediaClass(type) === "json") ??
    (isBinary && isObject() ? "application/json" : undefined) ??
    types.find((type) => !isStream(mediaClass(type))) ??
    (types.length > 0 ? undefined : isFile ? "application/octet-stream" : "application/json")
  const stream = types.find((type) => isStream(mediaClass(type)))
  // All of them share the schema, so one of each kind is enough.
  const media: Media[] = []
  if (plain !== undefined) media.push({ type: plain, class: mediaClass(plain), place, schema })
  if (stream !== undefined) media.push({ type: stream, class: mediaClass(stream), place, schema })
  return media
}
