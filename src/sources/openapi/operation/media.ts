import { isJson, isText, parseMediaType, streamKindOf } from "../../../http-client/media-type.ts"
import type { StreamKind } from "../../../http-client/media-type.ts"
import { escapeToken, getOwn, isPlainRecord } from "../../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"

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

/** What authors write, and what they mean by it. */
const MEANT: ReadonlyArray<readonly [RegExp, string]> = [
  [/^$/, "*/*"],
  [/^json$/, "application/json"],
  [/^xml$/, "application/xml"],
  [/^(?:application\/)?(?:x-|multipart[-/])?form-data$/, "multipart/form-data"],
  [/^(?:application\/)?(?:x-)?(?:www-)?form-url-?encoded?$/, "application/x-www-form-urlencoded"],
  [/^(?:plain\/text|text|plain|application\/(?:text|plain|txt))$/, "text/plain"],
  [/^(?:application\/)?html$/, "text/html"],
]

/** The content type that is meant by what a document says: `plain/text` is `text/plain`. */
export const meantType: (type: string) => string = remembered((type) => {
  const essence = (type.split(";", 1)[0] ?? "").trim().toLowerCase()
  return MEANT.find(([written]) => written.test(essence))?.[1] ?? type
})

/** Whether a content type is one of those that are known to be bytes, whatever a schema says. */
export function isKnownBinary(type: string): boolean {
  return /^(?:(?:audio|font|image|video)\/|application\/(?:octet-stream|pdf$|(?:x-)?(?:b?zip2?|gzip|tar)$))/.test(
    parseMediaType(type)?.essence ?? "",
  )
}

/** Whether a content type is YAML, of which JSON is a part. */
export function isYaml(type: string): boolean {
  return /[/+](?:x-)?yaml$/.test(parseMediaType(type)?.essence ?? "")
}

/** What a content type is. */
export const mediaClass: (type: string) => MediaClass = remembered((type) => {
  const stream = streamKindOf(type)
  if (stream !== undefined) return stream
  const essence = parseMediaType(type)?.essence ?? type.trim().toLowerCase()
  // Anything goes, and JSON is what anybody understands.
  if (isJson(type) || essence === "*/*" || essence === "application/*") return "json"
  if (essence === "application/x-www-form-urlencoded") return "form"
  if (essence.startsWith("multipart/")) return "multipart"
  return isText(type) ? "text" : "binary"
})

/** A function of content types that computes each result once: documents use the same few everywhere. */
function remembered<TResult extends string>(
  compute: (type: string) => TResult,
): (type: string) => TResult {
  const known = new Map<string, TResult>()
  return (type) => {
    let found = known.get(type)
    if (found === undefined) {
      found = compute(type)
      if (known.size > 1000) known.clear()
      known.set(type, found)
    }
    return found
  }
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
    notes.push(noteAt(document, declared, `${brokenMessage(content)} ${ANYTHING}`))
    return [{ type: "*/*", class: "json", place: { ...declared, value: {} } }]
  }
  if (!isPlainRecord(content.value)) return []
  const found: Media[] = []
  const types = Object.keys(content.value)
  for (let index = 0; index < types.length; index++) {
    const written = types[index] as string
    const own = memberOf(content, written)
    const type = meantType(written)
    const followed = document.follow(own.value, own.file, own.pointer)
    if (isBroken(followed)) {
      notes.push(noteAt(document, own, `${brokenMessage(followed)} ${ANYTHING}`))
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
    notes.push(noteAt(document, one, `${brokenMessage(followed)} It is not described.`, true))
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
