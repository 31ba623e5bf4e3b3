// A document, its files and the places in them; they refer to each other.
import { percentDecoded } from "../../internal/percent.ts"
import { isRecord } from "../../internal/guards.ts"
import { childPointer, escapeToken, getOwn, pointerTokens } from "../../schema/json.ts"
import { fileOf, idsIn, selfOf } from "./references.ts"

/** An object in a document, as written. */
export type Raw = Readonly<Record<string, unknown>>

/** One file of a document. */
export interface SourceFile {
  readonly document: OpenAPIDocument
  /** Absolute, without a fragment; "" for an object or text without an address. */
  readonly url: string
  readonly root: unknown
  /** Resolved references of this file. */
  readonly places: Map<string, Place | BrokenRef>
  /** Its schemas by `$id` and anchor, from the first such reference on. */
  ids?: ReturnType<typeof idsIn>
}

/** A place in a document. */
export interface Place {
  readonly value: unknown
  readonly file: SourceFile
  /** A JSON pointer from the root of the file. */
  readonly pointer: string
}

/** A place that holds an object. */
export interface ObjectPlace extends Place {
  readonly value: Raw
}

/** A reference that cannot be resolved, and why. */
export interface BrokenRef {
  readonly ref: string
  readonly reason: string
}

/** A part of the document that could not be imported exactly, and what is accepted instead. */
export interface Note {
  /** A JSON pointer from the root of the file. */
  readonly pointer: string
  /** The file, if it is not the document itself: relative to the document if it is below its folder. */
  readonly file?: string | undefined
  readonly message: string
  /** Informational: nothing is accepted that the document refuses. */
  readonly isNeutral?: true
  /** About an error response only: calls and their results are as the document declares. */
  readonly isError?: true
}

/** What is known about a document besides its content. */
interface DocumentOptions {
  /** Its address, and the base of its references. */
  readonly url?: string | undefined
  /** The files that it refers to. */
  readonly external?: ReadonlyMap<string, unknown> | undefined
  /** Why other files were not loaded. */
  readonly refused?: ReadonlyMap<string, string> | undefined
  readonly hidesProperties?: boolean | undefined
  readonly isTree?: boolean | undefined
}

/** More references in a row than this are a loop. */
const MAX_HOPS = 64
const LOOP = "it leads back to itself"
const NOTHING = "there is nothing at that place"

/** A document and the files it refers to. References are resolved once and never copied. */
export class OpenAPIDocument {
  readonly root: Raw
  readonly entry: SourceFile
  /** 3.2 and later count as 3.1: their additions are optional. */
  readonly version: "2.0" | "3.0" | "3.1"
  /** Whether a property may be read-only or write-only; `false` saves the search. */
  readonly hidesProperties: boolean
  /** The source was JSON: no part is shared or circular, and printing a part costs as much as its length. */
  readonly isTree: boolean
  /** What is lost because of a limit, in sentences for the report. */
  readonly losses: Set<string> = new Set()
  readonly #files: Map<string, SourceFile>
  readonly #refused: ReadonlyMap<string, string>
  /** Nesting depth of references in the middle of a pointer. */
  #hops = 0

  constructor(root: Raw, options: DocumentOptions = {}) {
    const { url = "", external = [], refused = new Map() } = options
    this.root = root
    this.hidesProperties = options.hidesProperties ?? true
    this.isTree = options.isTree ?? false
    this.version = versionOf(root)
    this.entry = this.#file(url, root)
    this.#files = new Map([[url, this.entry]])
    const named = selfOf(root, url)
    if (named !== undefined) this.#files.set(named, this.entry)
    for (const [key, value] of external) {
      if (!this.#files.has(key)) this.#files.set(key, this.#file(key, value))
    }
    this.#refused = refused
  }

  /** The document itself as a place. */
  get place(): Place {
    return { value: this.root, file: this.entry, pointer: "" }
  }

  #file(url: string, root: unknown): SourceFile {
    return { document: this, url, root, places: new Map() }
  }

  /** Resolves a reference; `lookUp` does it once. */
  find(ref: string, from: SourceFile): Place | BrokenRef {
    const hash = ref.indexOf("#")
    const uri = hash < 0 ? ref : ref.slice(0, hash)
    const fragment = hash < 0 ? "" : ref.slice(hash + 1)
    if (uri === "") return this.#inFile(ref, from, fragment)
    const url = fileOf(uri, from.url)
    const file = url === undefined ? undefined : this.#files.get(url)
    if (file !== undefined) return this.#inFile(ref, file, fragment)
    const schema = byId(uri, from)
    if (schema !== undefined) {
      return fragment === ""
        ? schema
        : broken(ref, "pointers below an embedded $id are not followed")
    }
    const reason = this.#refused.get(url ?? uri) ?? this.#refused.get(uri)
    return broken(
      ref,
      reason ??
        "it is in another file, which was not loaded; import with FromOpenAPIFile or FromOpenAPIUrl",
    )
  }

  #inFile(ref: string, file: SourceFile, fragment: string): Place | BrokenRef {
    const start = { value: file.root, file, pointer: "" }
    if (fragment === "") return start
    if (!fragment.startsWith("/")) {
      return byId(`#${fragment}`, file) ?? broken(ref, `there is no anchor "${fragment}"`)
    }
    // Percent-encoding belongs to the URI, `~0` and `~1` to the pointer in it.
    const pointer = fragment.includes("%") ? percentDecoded(fragment) : fragment
    const tokens = pointerTokens(pointer) ?? []
    return this.#walk(ref, start, tokens, pointer)
  }

  #walk(
    ref: string,
    start: Place,
    tokens: readonly string[],
    pointer = pointerTo(start, tokens),
  ): Place | BrokenRef {
    const { file } = start
    let { value } = start
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index] as string
      if (typeof value !== "object" || value === null) return broken(ref, NOTHING)
      if (!Object.hasOwn(value, token)) {
        const place = { value, file, pointer: pointerTo(start, tokens.slice(0, index)) }
        return this.#behind(ref, place, tokens.slice(index))
      }
      value = (value as Record<string, unknown>)[token]
    }
    return { value, file, pointer }
  }

  /** Resolves the rest of a pointer that leads through a reference, such as when `schemas` is another file. */
  #behind(ref: string, place: Place, tokens: readonly string[]): Place | BrokenRef {
    if (refOf(place) === undefined) return broken(ref, NOTHING)
    if (this.#hops >= MAX_HOPS) return broken(ref, LOOP)
    this.#hops++
    try {
      const target = follow(place)
      return isBroken(target) ? broken(ref, target.reason) : this.#walk(ref, target, tokens)
    } finally {
      this.#hops--
    }
  }
}

/** Finds a schema by `$id` or `$anchor`. */
function byId(name: string, file: SourceFile): Place | undefined {
  const found = (file.ids ??= idsIn(file.root)).get(name)
  return found && { ...found, file }
}

/** Resolves a reference by one step. */
export function lookUp(ref: string, from: SourceFile): Place | BrokenRef {
  let place = from.places.get(ref)
  if (place === undefined) from.places.set(ref, (place = from.document.find(ref, from)))
  return place
}

/** Resolves a value that may be a reference, completely. */
export function follow(start: Place): Place | BrokenRef {
  let place = start
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const ref = refOf(place)
    if (ref === undefined) return place
    const next = lookUp(ref, place.file)
    if ("reason" in next) return next
    place = next
  }
  return broken(refOf(start) ?? "", LOOP)
}

/** Like `follow`; `undefined` for a broken reference, which is noted with what is done `instead`. */
export function followNoted(
  place: Place,
  notes: Note[],
  instead: string,
  isNeutral?: boolean,
): Place | undefined {
  const followed = follow(place)
  if (!isBroken(followed)) return followed
  notes.push(noteAt(place, `${brokenRefMessage(followed)} ${instead}`, isNeutral))
  return undefined
}

/** Resolves a place completely; `undefined` if that fails, or if there is no object. */
export function objectAt(place: Place | undefined): ObjectPlace | undefined {
  const followed = place && follow(place)
  if (followed === undefined || isBroken(followed) || !isRecord(followed.value)) return undefined
  return followed as ObjectPlace
}

/**
 * The value at a place and, as long as it has a reference, the target: each may have members beside its
 * reference, and the first wins.
 */
export function partsOf(start: Place): readonly Place[] | BrokenRef {
  const parts: Place[] = [start]
  for (const part of parts) {
    const ref = refOf(part)
    if (ref === undefined) return parts
    const next = lookUp(ref, part.file)
    if ("reason" in next) return next
    if (parts.length > MAX_HOPS) break
    parts.push(next)
  }
  return broken(refOf(start) ?? "", LOOP)
}

/** A member of an object, with its place; `undefined` if it is missing. */
export function child(place: Place, key: string): Place | undefined {
  const value = isRecord(place.value) ? getOwn(place.value, key) : undefined
  return value === undefined || value === null ? undefined : memberOf(place, key)
}

/** Resolves a member of an object; `undefined` if it is missing or cannot be resolved. */
export function followedChild(place: Place, key: string): Place | undefined {
  const member = child(place, key)
  const followed = member && follow(member)
  return followed === undefined || isBroken(followed) ? undefined : followed
}

/** The members of an object, with their places; none if it is no object. */
export function membersOf(place: Place | undefined): [name: string, member: Place][] {
  if (place === undefined || !isRecord(place.value)) return []
  return Object.keys(place.value).map((key) => [key, memberOf(place, key)])
}

/** The members of a list in an object, with their places; none if it is not a list. */
export function itemsAt(place: Place, key: string): Place[] {
  const list = child(place, key)
  if (list === undefined || !Array.isArray(list.value)) return []
  return list.value.map((_item, index) => memberOf(list, `${index}`))
}

/** A member of an object, with its place. */
export function memberOf({ value, file, pointer }: Place, key: string): Place {
  return { value: (value as Raw)[key], file, pointer: `${pointer}/${escapeToken(key)}` }
}

/** Creates a note about a place. */
export function noteAt(
  { file, pointer }: Pick<Place, "file" | "pointer">,
  message: string,
  isNeutral = false,
): Note {
  const { entry } = file.document
  return {
    pointer,
    ...(file !== entry && { file: fileLabel(file.url, entry.url) }),
    message,
    ...(isNeutral && { isNeutral }),
  }
}

/** A file name for messages, without its query, which may contain a key. */
function fileLabel(url: string, entry: string): string {
  const folder = entry.slice(0, entry.lastIndexOf("/") + 1)
  const [plain = ""] = url.split("?", 1)
  return folder !== "" && plain.startsWith(folder) ? plain.slice(folder.length) : plain
}

/** Whether a reference could not be resolved. */
export function isBroken(result: Place | readonly Place[] | BrokenRef): result is BrokenRef {
  return "reason" in result
}

/** The message for a reference that cannot be resolved. */
export function brokenRefMessage({ ref, reason }: BrokenRef): string {
  return `Reference "${ref.length > 200 ? `${ref.slice(0, 200)}…` : ref}" cannot be followed: ${reason}.`
}

function versionOf(root: Raw): OpenAPIDocument["version"] {
  if (getOwn(root, "swagger") !== undefined) return "2.0"
  return String(getOwn(root, "openapi")).startsWith("3.0") ? "3.0" : "3.1"
}

function broken(ref: string, reason: string): BrokenRef {
  return { ref, reason }
}

/** The reference at a place, if there is one. */
export function refOf({ value }: Place): string | undefined {
  const ref = isRecord(value) ? getOwn(value, "$ref") : undefined
  return typeof ref === "string" ? ref : undefined
}

function pointerTo({ pointer }: Place, tokens: readonly string[]): string {
  return tokens.reduce<string>(childPointer, pointer)
}
