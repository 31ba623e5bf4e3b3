import {
  essenceOf,
  isJson,
  isText,
  parseMediaType,
  streamKindOf,
} from "../../../http-client/media-type.ts"
import type { StreamKind } from "../../../http-client/media-type.ts"
import { isRecord } from "../../../internal/guards.ts"
import { child, followNoted, memberOf, type Note, type Place } from "../document.ts"

/** How values of a content type are read and written. */
export type MediaClass = "json" | "form" | "multipart" | "text" | "binary" | StreamKind

/** A content type and its media type object. */
export interface Media {
  readonly type: string
  readonly class: MediaClass
  /** The media type object. */
  readonly place: Place
  readonly schema?: Place | undefined
  /** The schema of each item of a stream, in 3.2. */
  readonly itemSchema?: Place | undefined
}

/** Common mistakes in content types, and the intended types. */
const CORRECTIONS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^$/, "*/*"],
  [/^json$/, "application/json"],
  [/^xml$/, "application/xml"],
  [/^(?:application\/)?(?:x-|multipart[-/])?form-data$/, "multipart/form-data"],
  [/^(?:application\/)?(?:x-)?(?:www-)?form-url-?encoded?$/, "application/x-www-form-urlencoded"],
  [/^(?:plain\/text|text|plain|application\/(?:text|plain|txt))$/, "text/plain"],
  [/^(?:application\/)?html$/, "text/html"],
]

/** Corrects common mistakes in a content type: `plain/text` is `text/plain`. */
export const correctedType: (type: string) => string = memoize((type) => {
  const essence = essenceOf(type)
  return CORRECTIONS.find(([written]) => written.test(essence))?.[1] ?? type
})

/** Whether a content type is known to be binary, independent of its schema. */
export function isKnownBinary(type: string): boolean {
  return /^(?:(?:audio|font|image|video)\/|application\/(?:octet-stream|pdf$|(?:x-)?(?:b?zip2?|gzip|tar)$))/.test(
    parseMediaType(type)?.essence ?? "",
  )
}

/** Whether a content type is YAML, a superset of JSON. */
export function isYaml(type: string): boolean {
  return /[/+](?:x-)?yaml$/.test(parseMediaType(type)?.essence ?? "")
}

/** Classifies a content type. */
export const mediaClass: (type: string) => MediaClass = memoize((type) => {
  const stream = streamKindOf(type)
  if (stream !== undefined) return stream
  const essence = parseMediaType(type)?.essence ?? type.trim().toLowerCase()
  // For wildcards, JSON is the best choice.
  if (isJson(type) || essence === "*/*" || essence === "application/*") return "json"
  if (essence === "application/x-www-form-urlencoded") return "form"
  if (essence.startsWith("multipart/")) return "multipart"
  return isText(type) ? "text" : "binary"
})

const isStreamText = memoize((type) => streamKindOf(type) !== undefined)

/** Whether a declared content type is a stream of items. */
export function isStreamType(type: unknown): boolean {
  return typeof type === "string" && isStreamText(type)
}

/** Caches a function of content types: documents use the same few everywhere. */
function memoize<TResult extends string | boolean>(
  compute: (type: string) => TResult,
): (type: string) => TResult {
  const cache = new Map<string, TResult>()
  return (type) => {
    let result = cache.get(type)
    if (result === undefined) {
      result = compute(type)
      if (cache.size > 1000) cache.clear()
      cache.set(type, result)
    }
    return result
  }
}

/** Whether a content type is a stream of items. */
export function isStream(kind: MediaClass): kind is StreamKind {
  return kind === "sse" || kind === "ndjson" || kind === "json-seq" || kind === "json-values"
}

/** Whether a schema is what gRPC gateways declare for the items of a stream, sent as JSON values in a row. */
export function isGatewayStream(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const { title, $ref, properties } = schema
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1).toLowerCase()
    const isNamed = name.startsWith("streamresultof") || name.startsWith("stream_result_of")
    return isNamed || $ref.startsWith("#/x-stream-definitions/")
  }
  const hasResult = isRecord(properties) && Object.hasOwn(properties, "result")
  return hasResult && typeof title === "string" && title.startsWith("Stream result of ")
}

/** Reads a `content` object. Broken references accept anything and are noted. */
export function readContent(holder: Place, notes: Note[]): Media[] {
  const declared = child(holder, "content")
  if (declared === undefined) return []
  const content = followNoted(declared, notes, ANYTHING)
  if (content === undefined) {
    return [{ type: "*/*", class: "json", place: { ...declared, value: {} } }]
  }
  return Object.keys(isRecord(content.value) ? content.value : {}).map((written) => {
    const own = memberOf(content, written)
    const type = correctedType(written)
    const place = followNoted(own, notes, ANYTHING) ?? { ...own, value: {} }
    return {
      type,
      class: mediaClass(type),
      place,
      schema: child(place, "schema"),
      itemSchema: child(place, "itemSchema"),
    }
  })
}

const ANYTHING = "Anything is accepted here."
