import { escapeToken, getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import type { Note } from "../schema/convert.ts"
import { typesOf } from "./body.ts"
import type { RawOperation } from "./list.ts"
import { child, isStream, mediaClass, readContent } from "./media.ts"
import type { Media } from "./media.ts"

/** One answer that an operation may give. */
export interface Response {
  /** As it is written: `200`, `4XX`, `default`. */
  readonly code: string
  readonly description: string
  readonly media: readonly Media[]
  /** Says nothing about content: a 204, or a response without `content`. */
  readonly isEmpty: boolean
  readonly place: Place
}

/** The codes of an operation, sorted into successes and failures. */
function codesOf(operation: RawOperation): {
  responses: Raw
  success: string[]
  failure: string[]
} {
  const declared = operation.raw["responses"]
  const responses: Raw = isPlainRecord(declared) ? declared : {}
  const success: string[] = []
  const failure: string[] = []
  let other = false
  for (const code of Object.keys(responses)) {
    if (isSuccess(code)) success.push(code)
    else if (/^[45](?:\d\d|XX)$/i.test(code)) failure.push(code)
    else if (code !== "default" && !code.startsWith("x-")) other = true
  }
  if (Object.hasOwn(responses, "default")) {
    // With nothing else to stand for a success, `default` is it.
    if (success.length === 0 && !other) success.push("default")
    else failure.push("default")
  }
  // 200, 201, the others in order, then ranges.
  if (success.length > 1) success.sort((left, right) => rank(left) - rank(right))
  return { responses, success, failure }
}

function isSuccess(code: string): boolean {
  return code === "200" || (code.startsWith("2") && /^2(?:\d\d|XX)$/i.test(code))
}

type Raw = Readonly<Record<string, unknown>>

function rank(code: string): number {
  if (code === "default") return 1000
  return /X/i.test(code) ? 999 : Number(code)
}

/** Whether an operation answers at once, with a stream, or either way. */
export type Answers = "plain" | "stream" | "both"

/** How an operation answers, without looking at anything but its content types. */
export function answersOf(document: OpenAPIDocument, operation: RawOperation): Answers {
  let plain = false
  let stream = false
  if (document.version === "2.0") {
    const types = operation.raw["produces"] ?? document.root["produces"]
    if (!Array.isArray(types)) return "plain"
    for (const type of types) {
      if (typeof type === "string" && isStream(mediaClass(type))) stream = true
      else plain = true
    }
    return stream ? (plain ? "both" : "stream") : "plain"
  }
  const { responses } = operation.raw
  if (!isPlainRecord(responses)) return "plain"
  const codes = Object.keys(responses)
  const isDefault = codes.length === 1 && codes[0] === "default"
  for (const code of codes) {
    if (!isDefault && !isSuccess(code)) continue
    let response = responses[code]
    if (isPlainRecord(response) && response["$ref"] !== undefined) {
      const place = document.follow(response, operation.file, "")
      response = isBroken(place) ? undefined : place.value
    }
    const content = isPlainRecord(response) ? response["content"] : undefined
    if (!isPlainRecord(content)) continue
    for (const type of Object.keys(content)) {
      if (isStream(mediaClass(type))) stream = true
      else plain = true
    }
  }
  return stream ? (plain ? "both" : "stream") : "plain"
}

/** The content types of the successes that are not streams, JSON first. */
export function acceptOf(document: OpenAPIDocument, operation: RawOperation): string[] {
  const types = new Set<string>()
  if (document.version === "2.0") {
    for (const type of producedTypes(document, operation)) types.add(type)
  } else {
    const { responses, success } = codesOf(operation)
    for (const code of success) {
      const place = document.follow(responses[code], operation.file, "")
      const content =
        !isBroken(place) && isPlainRecord(place.value) ? place.value["content"] : undefined
      if (isPlainRecord(content)) for (const type of Object.keys(content)) types.add(type)
    }
  }
  return [...types]
    .filter((type) => !isStream(mediaClass(type)))
    .toSorted((left, right) => weight(left) - weight(right))
}

function weight(type: string): number {
  if (type.toLowerCase() === "application/json") return 0
  return mediaClass(type) === "json" ? 1 : 2
}

/** Reads the answers of an operation that are a success, or those that are not. */
export function readResponses(
  document: OpenAPIDocument,
  operation: RawOperation,
  which: "success" | "failure",
  notes: Note[],
): Response[] {
  const codes = codesOf(operation)
  return codes[which].map((code) => readResponse(document, operation, codes.responses, code, notes))
}

function readResponse(
  document: OpenAPIDocument,
  operation: RawOperation,
  responses: Raw,
  code: string,
  notes: Note[],
): Response {
  const pointer = `${operation.pointer}/responses/${escapeToken(code)}`
  const followed = document.follow(responses[code], operation.file, pointer)
  if (isBroken(followed)) {
    notes.push({ pointer, message: `${brokenMessage(followed)} Any answer is accepted.` })
  }
  const place = isBroken(followed) ? { value: {}, file: operation.file, pointer } : followed
  const raw = isPlainRecord(place.value) ? place.value : {}
  const media =
    document.version === "2.0"
      ? legacyMedia(document, operation, place)
      : readContent(document, place)
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
  return typesOf(operation.raw["produces"] ?? document.root["produces"])
}

/** In Swagger 2.0 a response has one schema, and the operation says in which types it comes. */
function legacyMedia(document: OpenAPIDocument, operation: RawOperation, place: Place): Media[] {
  const schema = child(place, "schema")
  if (schema === undefined) return []
  const types = producedTypes(document, operation)
  const isFile = isPlainRecord(schema.value) && getOwn(schema.value, "type") === "file"
  const plain =
    types.find((type) => mediaClass(type) === "json") ??
    types.find((type) => !isStream(mediaClass(type))) ??
    (types.length > 0 ? undefined : isFile ? "application/octet-stream" : "application/json")
  const stream = types.find((type) => isStream(mediaClass(type)))
  // All of them share the schema, so one of each kind says it all.
  const media: Media[] = []
  if (plain !== undefined) media.push({ type: plain, class: mediaClass(plain), place, schema })
  if (stream !== undefined) media.push({ type: stream, class: mediaClass(stream), place, schema })
  return media
}
