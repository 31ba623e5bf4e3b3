import { percentDecoded } from "../../internal/percent.ts"
import { isRecord } from "../../internal/guards.ts"
import { childPointer, getOwn, pointerTokens } from "../../schema/json.ts"
import { eachSubschema } from "../../schema/keywords.ts"
import { fileOf, selfOf } from "./references.ts"

/** An object in a document, as written. */
export type Raw = Readonly<Record<string, unknown>>

/** One file of a document. */
export interface SourceFile {
  /** Absolute, without a fragment; "" for an object or text without an address. */
  readonly url: string
  readonly root: unknown
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

export type Version = "2.0" | "3.0" | "3.1"

/** More references in a row than this are a loop. */
const MAX_HOPS = 64
const LOOP = "it leads back to itself"
const NOTHING = "there is nothing at that place"

/** A document and the files it refers to. References are resolved once and never copied. */
export class OpenAPIDocument {
  readonly root: Raw
  readonly entry: SourceFile
  /** 3.2 and later count as 3.1: their additions are optional. */
  readonly version: Version
  /** Whether a property may be read-only or write-only; `false` saves the search. */
  readonly hidesProperties: boolean
  /** The source was JSON: no part is shared or circular, and printing a part costs as much as its length. */
  readonly isTree: boolean
  /** What is lost because of a limit, in sentences for the report. */
  readonly losses: Set<string> = new Set()
  readonly #files: Map<string, SourceFile>
  readonly #refused: ReadonlyMap<string, string>
  readonly #places = new Map<SourceFile, Map<string, Place | BrokenRef>>()
  readonly #ids = new Map<SourceFile, Map<string, Place>>()
  /** Nesting depth of references in the middle of a pointer. */
  #hops = 0

  constructor(
    root: Raw,
    url = "",
    external: ReadonlyMap<string, unknown> = new Map(),
    refused: ReadonlyMap<string, string> = new Map(),
    hidesProperties = true,
    isTree = false,
  ) {
    this.root = root
    this.hidesProperties = hidesProperties
    this.isTree = isTree
    this.version = versionOf(root)
    this.entry = { url, root }
    this.#files = new Map([[url, this.entry]])
    const named = selfOf(root, url)
    if (named !== undefined) this.#files.set(named, this.entry)
    for (const [key, value] of external) {
      if (!this.#files.has(key)) this.#files.set(key, { url: key, root: value })
    }
    this.#refused = refused
  }

  /** The document itself as a place. */
  get place(): Place {
    return { value: this.root, file: this.entry, pointer: "" }
  }

  /** Resolves a reference by one step. */
  lookUp(ref: string, from: SourceFile): Place | BrokenRef {
    let places = this.#places.get(from)
    if (places === undefined) this.#places.set(from, (places = new Map()))
    let place = places.get(ref)
    if (place === undefined) places.set(ref, (place = this.#find(ref, from)))
    return place
  }

  /** Resolves a value that may be a reference, completely. */
  follow(start: Place): Place | BrokenRef {
    let place = start
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const ref = isRecord(place.value) ? getOwn(place.value, "$ref") : undefined
      if (typeof ref !== "string") return place
      const next = this.lookUp(ref, place.file)
      if ("reason" in next) return next
      place = next
    }
    return { ref: refOf(start.value), reason: LOOP }
  }

  /** Resolves a place completely; `undefined` if that fails, or if there is no object. */
  objectAt(place: Place | undefined): ObjectPlace | undefined {
    const followed = place && this.follow(place)
    if (followed === undefined || isBroken(followed) || !isRecord(followed.value)) return undefined
    return followed as ObjectPlace
  }

  /**
   * The value at a place and, as long as it has a reference, the target: each may have members beside its
   * reference, and the first wins.
   */
  parts(start: Place): readonly Place[] | BrokenRef {
    const parts: Place[] = [start]
    for (const { value: part, file: from } of parts) {
      const ref = isRecord(part) ? getOwn(part, "$ref") : undefined
      if (typeof ref !== "string") return parts
      const next = this.lookUp(ref, from)
      if ("reason" in next) return next
      if (parts.length > MAX_HOPS) break
      parts.push(next)
    }
    return { ref: refOf(start.value), reason: LOOP }
  }

  #find(ref: string, from: SourceFile): Place | BrokenRef {
    const hash = ref.indexOf("#")
    const uri = hash < 0 ? ref : ref.slice(0, hash)
    const fragment = hash < 0 ? "" : ref.slice(hash + 1)
    if (uri === "") return this.#inFile(ref, from, fragment)
    const url = fileOf(uri, from.url)
    const file = url === undefined ? undefined : this.#files.get(url)
    if (file !== undefined) return this.#inFile(ref, file, fragment)
    const byId = this.#byId(uri, from)
    if (byId !== undefined) {
      return fragment === "" ? byId : broken(ref, "pointers below an embedded $id are not followed")
    }
    const reason = this.#refused.get(url ?? uri) ?? this.#refused.get(uri)
    return broken(
      ref,
      reason ??
        "it is in another file, which was not loaded; import with FromOpenAPIFile or FromOpenAPIUrl",
    )
  }

  #inFile(ref: string, file: SourceFile, fragment: string): Place | BrokenRef {
    if (fragment === "") return { value: file.root, file, pointer: "" }
    if (!fragment.startsWith("/")) {
      return this.#byId(`#${fragment}`, file) ?? broken(ref, `there is no anchor "${fragment}"`)
    }
    // Percent-encoding belongs to the URI, `~0` and `~1` to the pointer in it.
    const pointer = fragment.includes("%") ? percentDecoded(fragment) : fragment
    const tokens = pointerTokens(pointer) ?? []
    return this.#walk(ref, { value: file.root, file, pointer: "" }, tokens, pointer)
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
    const through = isRecord(place.value) ? getOwn(place.value, "$ref") : undefined
    if (typeof through !== "string") return broken(ref, NOTHING)
    if (this.#hops >= MAX_HOPS) return broken(ref, LOOP)
    this.#hops++
    try {
      const target = this.follow(place)
      return isBroken(target) ? broken(ref, target.reason) : this.#walk(ref, target, tokens)
    } finally {
      this.#hops--
    }
  }

  /** Finds a schema by `$id` or `$anchor`; they are indexed at the first such reference. */
  #byId(name: string, file: SourceFile): Place | undefined {
    let ids = this.#ids.get(file)
    if (ids === undefined) {
      this.#ids.set(file, (ids = new Map()))
      collectIds(file, ids)
    }
    return ids.get(name)
  }
}

/** Whether a reference could not be resolved. */
export function isBroken(result: Place | readonly Place[] | BrokenRef): result is BrokenRef {
  return "reason" in result
}

/** The message for a reference that cannot be resolved. */
export function brokenRefMessage({ ref, reason }: BrokenRef): string {
  return `Reference "${ref.length > 200 ? `${ref.slice(0, 200)}…` : ref}" cannot be followed: ${reason}.`
}

function versionOf(root: Raw): Version {
  if (getOwn(root, "swagger") !== undefined) return "2.0"
  return String(getOwn(root, "openapi")).startsWith("3.0") ? "3.0" : "3.1"
}

function broken(ref: string, reason: string): BrokenRef {
  return { ref, reason }
}

function refOf(value: unknown): string {
  return isRecord(value) ? String(value["$ref"]) : ""
}

function pointerTo({ pointer }: Place, tokens: readonly string[]): string {
  return tokens.reduce<string>(childPointer, pointer)
}

function collectIds(file: SourceFile, ids: Map<string, Place>): void {
  const { root } = file
  if (!isRecord(root)) return
  const components = getOwn(root, "components")
  const groups: Array<[string, unknown]> = [
    ["/components/schemas", isRecord(components) ? getOwn(components, "schemas") : undefined],
    ["/$defs", getOwn(root, "$defs")],
    ["/definitions", getOwn(root, "definitions")],
  ]
  const seen = new Set<object>()
  const visit = (value: unknown, pointer: string, depth: number): void => {
    if (!isRecord(value) || seen.has(value) || depth > 256) return
    seen.add(value)
    for (const [keyword, prefix] of [
      ["$id", ""],
      ["$anchor", "#"],
      ["$dynamicAnchor", "#"],
    ] as const) {
      const name = getOwn(value, keyword)
      if (typeof name !== "string") continue
      const key = prefix + name
      if (!ids.has(key)) ids.set(key, { value, file, pointer })
    }
    eachSubschema(value, (child, keyword, key) =>
      visit(
        child,
        key === undefined
          ? childPointer(pointer, keyword)
          : childPointer(childPointer(pointer, keyword), key),
        depth + 1,
      ),
    )
  }
  visit(root, "", 0)
  for (const [pointer, group] of groups) {
    if (!isRecord(group)) continue
    for (const [name, schema] of Object.entries(group))
      visit(schema, childPointer(pointer, name), 0)
  }
}
