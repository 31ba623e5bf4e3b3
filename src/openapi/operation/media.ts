import { isJson, isText, parseMediaType, streamKindOf } from "../../http/media-type.ts"
import type { StreamKind } from "../../http/media-type.ts"
import { escapeToken, getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import type { Note } from "../schema/convert.ts"

type Raw = Readonly<Record<string, unknown>>

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

/** The content types under a `content` object. What leads nowhere says nothing, and is noted. */
export function readContent(document: OpenAPIDocument, holder: Place, notes: Note[]): Media[] {
  const declared = child(holder, "content")
  if (declared === undefined) return []
  const content = document.follow(declared.value, declared.file, declared.pointer)
  if (isBroken(content)) {
    notes.push({ pointer: declared.pointer, message: `${brokenMessage(content)} ${ANYTHING}` })
    return [{ type: "*/*", class: "json", place: { ...declared, value: {} } }]
  }
  if (!isPlainRecord(content.value)) return []
  const found: Media[] = []
  for (const type of Object.keys(content.value)) {
    const own = memberOf(content, type)
    const followed = document.follow(own.value, own.file, own.pointer)
    if (isBroken(followed)) {
      notes.push({ pointer: own.pointer, message: `${brokenMessage(followed)} ${ANYTHING}` })
    }
    const place = isBroken(followed) ? { ...own, value: {} } : followed
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

const ANYTHING = "Anything is accepted here."

/** What a member of an object is in the end; absent when it is not there or leads nowhere. */
export function followedChild(
  document: OpenAPIDocument,
  place: Place,
  key: string,
): Place | undefined {
  const found = child(place, key)
  if (found === undefined) return undefined
  const followed = document.follow(found.value, found.file, found.pointer)
  return isBroken(followed) ? undefined : followed
}

/** Notes what leads nowhere in a map that has no say in calls, such as that of named examples. */
export function noteBroken(
  document: OpenAPIDocument,
  place: Place,
  key: string,
  notes: Note[],
): void {
  const follow = (one: Place): Place | undefined => {
    const followed = document.follow(one.value, one.file, one.pointer)
    if (!isBroken(followed)) return followed
    const message = `${brokenMessage(followed)} It is not described.`
    notes.push({ pointer: one.pointer, message, isNeutral: true })
    return undefined
  }
  const declared = child(place, key)
  const map = declared && follow(declared)
  if (map === undefined || !isPlainRecord(map.value)) return
  for (const name of Object.keys(map.value)) follow(memberOf(map, name))
}

/** A member of an object, with its place; absent when it is not there. */
export function child(place: Place, key: string): Place | undefined {
  const value = isPlainRecord(place.value) ? getOwn(place.value, key) : undefined
  return value === undefined || value === null ? undefined : memberOf(place, key)
}

function memberOf({ value, file, pointer }: Place, key: string): Place {
  return { value: (value as Raw)[key], file, pointer: `${pointer}/${escapeToken(key)}` }
}
