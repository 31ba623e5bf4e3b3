import { isJson, isText, parseMediaType, streamKindOf } from "../../http/media-type.ts"
import type { StreamKind } from "../../http/media-type.ts"
import { escapeToken, getOwn, isPlainRecord } from "../../schema/json.ts"
import { isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"

/** What a content type is to us: how its values are given, and how they come. */
export type MediaClass = "json" | "form" | "multipart" | "text" | "binary" | StreamKind

/** A content type with what the document says of it. */
export interface Media {
  readonly type: string
  readonly class: MediaClass
  /** The media type object. */
  readonly place: Place
  readonly schema?: Place | undefined
  /** Of each item of a stream, in 3.2. */
  readonly itemSchema?: Place | undefined
}

const classes = new Map<string, MediaClass>()

/** What a content type is; the same few come again and again. */
export function mediaClass(type: string): MediaClass {
  let found = classes.get(type)
  if (found === undefined) {
    found = classify(type)
    if (classes.size > 1000) classes.clear()
    classes.set(type, found)
  }
  return found
}

function classify(type: string): MediaClass {
  const stream = streamKindOf(type)
  if (stream !== undefined) return stream
  const essence = parseMediaType(type)?.essence ?? type.trim().toLowerCase()
  // Anything goes, and JSON is what anybody understands. A few documents write just "json".
  if (isJson(type) || essence === "*/*" || essence === "application/*" || essence === "json") {
    return "json"
  }
  if (essence === "application/x-www-form-urlencoded") return "form"
  if (essence.startsWith("multipart/")) return "multipart"
  return isText(type) ? "text" : "binary"
}

/** Whether a content type is a stream of items. */
export function isStream(kind: MediaClass): kind is StreamKind {
  return kind === "sse" || kind === "ndjson" || kind === "json-seq"
}

/** The content types under a `content` object. */
export function readContent(document: OpenAPIDocument, holder: Place): Media[] {
  const content = isPlainRecord(holder.value) ? getOwn(holder.value, "content") : undefined
  if (!isPlainRecord(content)) return []
  const found: Media[] = []
  for (const type of Object.keys(content)) {
    const pointer = `${holder.pointer}/content/${escapeToken(type)}`
    const followed = document.follow(content[type], holder.file, pointer)
    const place = isBroken(followed) ? { value: {}, file: holder.file, pointer } : followed
    found.push({
      type,
      class: mediaClass(type),
      place,
      schema: child(place, "schema"),
      itemSchema: child(place, "itemSchema"),
    })
  }
  return found
}

/** A member of an object, with its place; absent when it is not there. */
export function child(place: Place, key: string): Place | undefined {
  const value = isPlainRecord(place.value) ? getOwn(place.value, key) : undefined
  if (value === undefined || value === null) return undefined
  return { value, file: place.file, pointer: `${place.pointer}/${escapeToken(key)}` }
}
