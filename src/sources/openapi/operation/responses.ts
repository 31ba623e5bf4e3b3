import { isRecord, isText } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import {
  brokenRefMessage,
  child,
  followNoted,
  followedChild,
  isBroken,
  memberOf,
  noteAt,
  objectAt,
  partsOf,
} from "../document.ts"
import type { Note, Place, Raw } from "../document.ts"
import { contentTypes, propertiesOf } from "./body.ts"
import type { RawOperation } from "./list.ts"
import {
  correctedType,
  isGatewayStream,
  isStream,
  isStreamType,
  mediaClass,
  readContent,
} from "./media.ts"
import type { Media } from "./media.ts"
import { onlyRef } from "../schema/lower.ts"

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

/** Finds the objects that hold the declared responses, by code; broken references are noted. */
function declaredResponses(operation: RawOperation, notes: Note[]): Map<string, Place> {
  const byCode = new Map<string, Place>()
  const member = operation.member("responses")
  const parts = member && partsOf(member)
  if (member === undefined || parts === undefined) return byCode
  if (isBroken(parts)) {
    notes.push(noteAt(member, `${brokenRefMessage(parts)} ${ANYTHING}`))
    return byCode
  }
  for (const part of parts) {
    const codes = isRecord(part.value) ? Object.keys(part.value) : []
    for (const code of codes) if (code !== "$ref" && !byCode.has(code)) byCode.set(code, part)
  }
  return byCode
}

const ANYTHING = "Any answer is accepted."

/** Splits the codes of an operation into successes and failures. */
function codesOf(responses: ReadonlyMap<string, Place>): { success: string[]; failure: string[] } {
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
function isSuccess(code: string): boolean {
  return code === "200" || (code.startsWith("2") && /^2(?:\d\d|XX)$/i.test(code))
}

function rank(code: string): number {
  if (code === "default") return 1000
  return /X/i.test(code) ? 999 : Number(code)
}

/** Whether an operation returns a plain response, a stream, or either. */
export type ResponseMode = "plain" | "stream" | "both"

/** Determines from its content types whether an operation streams. */
export function responseMode(operation: RawOperation): ResponseMode {
  const { responses } = operation.raw
  let types: unknown
  if (operation.document.version === "2.0") types = operation.inherited("produces")
  else if (isRecord(responses)) types = contentTypesOf(operation, responses)
  if (!Array.isArray(types) || !types.some(isStreamType)) {
    return isRecord(responses) && hasGatewayStream(responses) ? "stream" : "plain"
  }
  return types.every(isStreamType) ? "stream" : "both"
}

function hasGatewayStream(responses: Raw): boolean {
  for (const code in responses) {
    const response = isSuccess(code) ? responses[code] : undefined
    if (!isRecord(response)) continue
    if (isGatewayStream(response["schema"] ?? jsonSchemaIn(response["content"]))) return true
  }
  return false
}

/** The content types of the successful responses of an operation. */
function contentTypesOf(operation: RawOperation, responses: Raw): readonly string[] {
  if (typeof responses["$ref"] === "string") return successTypes(operation)
  let declaredTypes: readonly string[] = []
  const codes = Object.keys(responses)
  const isDefault = codes.length === 1 && codes[0] === "default"
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] as string
    if (!isDefault && !isSuccess(code)) continue
    const response = responses[code]
    let content = isRecord(response) ? response["content"] : undefined
    // Most have no references: places are made only for those that have.
    if (hasRef(response) || hasRef(content)) {
      const file = operation.member("responses")?.file ?? operation.file
      const place = objectAt({ value: response, file, pointer: "" })
      content = place && followedChild(place, "content")?.value
    }
    if (!isRecord(content)) continue
    const types = Object.keys(content)
    declaredTypes = declaredTypes.length === 0 ? types : declaredTypes.concat(types)
  }
  return declaredTypes
}

function hasRef(value: unknown): boolean {
  return isRecord(value) && value["$ref"] !== undefined
}

function successTypes(operation: RawOperation): string[] {
  const success = readResponses(operation, "success", [])
  return success.flatMap(({ media }) => media.map(({ type }) => type))
}

/** The content types of the successes that are not streams, JSON first. */
export function acceptOf(operation: RawOperation): string[] {
  const isLegacy = operation.document.version === "2.0"
  const types = isLegacy ? contentTypes(operation.inherited("produces")) : successTypes(operation)
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
  operation: RawOperation,
  which: "success" | "failure",
  notes: Note[],
): Response[] {
  const declared = declaredResponses(operation, notes)
  return codesOf(declared)[which].map((code) => {
    const own = memberOf(declared.get(code) as Place, code)
    const followed = followNoted(own, notes, ANYTHING)
    const place = followed ?? { ...own, value: {} }
    const isLegacy = operation.document.version === "2.0"
    const media = isLegacy ? legacyMedia(operation, place) : readContent(place, notes)
    const description = isRecord(place.value) ? place.value["description"] : undefined
    return {
      code,
      description: typeof description === "string" ? description : "",
      media,
      isEmpty: followed !== undefined && (NO_CONTENT.includes(code) || media.length === 0),
      place,
    }
  })
}

/** Statuses of responses that have no content. */
const NO_CONTENT: readonly string[] = ["204", "205"]

/** The media of a Swagger 2.0 response: one schema, with the content types of the operation. */
function legacyMedia(operation: RawOperation, place: Place): Media[] {
  const schema = child(place, "schema")
  if (schema === undefined) return []
  const types = contentTypes(operation.inherited("produces"))
  const isFile = isRecord(schema.value) && getOwn(schema.value, "type") === "file"
  // The types apply to all responses: an object, such as an error beside a download, is not binary.
  const isObject = (): boolean => propertiesOf(schema).size > 0
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

/** The only success of an operation has no content. */
export const EMPTY: Raw = Object.freeze({})

/** Whether a reference is one to a response instead of a schema. */
export function isResponseRef(ref: string): boolean {
  return ref.startsWith("#/components/responses/")
}

/**
 * The single reference that describes every success of an operation: that of the JSON schema, or of the only
 * response. `EMPTY` if there is no content.
 *
 * Most operations have one, and all with the same reference share the same output schema.
 */
export function plainOutput(operation: RawOperation): Raw | undefined {
  const { document, method, file } = operation
  const { responses } = operation.raw
  if (method === "HEAD" || file !== document.entry || !isRecord(responses)) return undefined
  const isLegacy = document.version === "2.0"
  let output: Raw | undefined
  for (const code in responses) {
    if (code === "$ref") return undefined
    if (!isSuccess(code)) continue
    const plain = plainResponse(code, responses[code], isLegacy)
    if (plain === undefined) return undefined
    // All successes must have the same schema.
    if (output !== undefined && !isSameSchema(output, plain)) return undefined
    output = plain
  }
  if (output === undefined || output === EMPTY || !isLegacy) return output
  return isJsonProduced(operation.inherited("produces")) ? output : undefined
}

function plainResponse(code: string, response: unknown, isLegacy: boolean): Raw | undefined {
  if (!isRecord(response)) return undefined
  const isEmpty = NO_CONTENT.includes(code)
  const ref = response["$ref"]
  if (ref !== undefined) {
    const isPlain = !isEmpty && typeof ref === "string" && isResponseRef(ref)
    return isPlain ? response : undefined
  }
  if (isEmpty) return EMPTY
  const schema = isLegacy ? response["schema"] : jsonSchemaIn(response["content"])
  const schemaRef = onlyRef(schema)
  return schemaRef === undefined || isResponseRef(schemaRef) ? undefined : (schema as Raw)
}

function isSameSchema(left: Raw, right: Raw): boolean {
  const ref = left["$ref"]
  return typeof ref === "string" && ref === right["$ref"] && !isResponseRef(ref)
}

function jsonSchemaIn(content: unknown): unknown {
  if (!isRecord(content) || content["$ref"] !== undefined) return undefined
  for (const type in content) {
    if (mediaClass(correctedType(type)) !== "json") continue
    const media = content[type]
    return isRecord(media) && media["$ref"] === undefined ? media["schema"] : undefined
  }
  return undefined
}

function isJsonProduced(types: unknown): boolean {
  if (!Array.isArray(types)) return types === undefined
  return types.some((type) => isText(type) && mediaClass(correctedType(type)) === "json")
}
