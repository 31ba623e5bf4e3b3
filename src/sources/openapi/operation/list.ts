import { escapeToken, getOwn, isPlainRecord } from "../../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, SourceFile } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import { child } from "./media.ts"

type Raw = Readonly<Record<string, unknown>>

/** A path, where it stands in the document. */
interface PathItem {
  readonly path: string
  /** What holds for all operations of the path. */
  readonly raw: Raw
  /** The document itself. */
  readonly file: SourceFile
  /** Where it stands, if that is not simply in `paths`: several places where there are references. */
  readonly parts?: readonly Place[] | undefined
}

/** An operation where it stands in the document. */
export class RawOperation {
  /** All that is said of it, also by what it refers to. */
  readonly raw: Raw
  /** Upper-case, but for the additional ones of 3.2, which are sent as they are written. */
  readonly method: string
  readonly #key: string
  readonly #item: PathItem
  /** What holds it, where the path has parts. */
  readonly #holder: Place | undefined
  /** What it is made of, where it is a reference. */
  readonly #parts: readonly Place[] | undefined

  constructor(
    raw: Raw,
    method: string,
    key: string,
    item: PathItem,
    holder: Place | undefined,
    parts: readonly Place[] | undefined,
  ) {
    this.raw = raw
    this.method = method
    this.#key = key
    this.#item = item
    this.#holder = holder
    this.#parts = parts
  }

  get path(): string {
    return this.#item.path
  }

  get file(): SourceFile {
    return this.#holder?.file ?? this.#item.file
  }

  /** It and its path stand in the document itself, without references. */
  get isDirect(): boolean {
    return this.#parts === undefined && this.#holder === undefined
  }

  /** What its path says for all operations, references not followed. */
  get pathRaw(): Raw {
    return this.#item.raw
  }

  get pointer(): string {
    return `${this.#holder?.pointer ?? ownPointer(this.#item.path)}/${this.#key}`
  }

  /** What the operation says under a key, and where. */
  member(key: string): Place | undefined {
    if (this.#parts !== undefined) return partOf(this.#parts, key)
    const value = this.raw[key]
    if (value === undefined || value === null) return undefined
    return { value, file: this.file, pointer: `${this.pointer}/${key}` }
  }

  /** What its path says under a key, for all operations, and where. */
  shared(key: string): Place | undefined {
    const { raw, path, file, parts } = this.#item
    if (parts !== undefined) return partOf(parts, key)
    const value = raw[key]
    if (value === undefined || value === null) return undefined
    return { value, file, pointer: `${ownPointer(path)}/${key}` }
  }
}

/** Something in `paths` that gives no operation, and why. */
export interface Skipped {
  readonly method?: string | undefined
  readonly path: string
  readonly note: Note
}

const METHODS = new Map(
  ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"].map((key) => [
    key,
    key.toUpperCase(),
  ]),
)

/** Whether a key of a path item stands for an operation. */
export function isMethod(key: string): boolean {
  return METHODS.has(key)
}

/** A method as HTTP allows one to be written. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/** What fetch refuses to send. */
const FORBIDDEN: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"])

/** One of these is in every operation; what is referred to and has none is something else. */
const SIGNS = [
  ...["responses", "operationId", "requestBody", "tags", "callbacks", "security"],
  ...["produces", "consumes"],
]

/** Finds the operations of a document; nothing else in it is looked at. */
export function listOperations(document: OpenAPIDocument): {
  operations: RawOperation[]
  skipped: Skipped[]
} {
  const found = { operations: [] as RawOperation[], skipped: [] as Skipped[] }
  const paths = getOwn(document.root, "paths")
  if (!isPlainRecord(paths)) return found
  if (typeof paths["$ref"] === "string") listElsewhere(document, paths, found)
  else {
    const names = Object.keys(paths)
    for (let index = 0; index < names.length; index++) {
      const path = names[index] as string
      if (!path.startsWith("x-")) listPath(document, path, paths[path], found)
    }
  }
  return found
}

interface Found {
  readonly operations: RawOperation[]
  readonly skipped: Skipped[]
}

// Operations of one path are read one after the other, and each asks several times.
let last = { path: "", pointer: "/paths/" }

function ownPointer(path: string): string {
  if (last.path !== path) last = { path, pointer: `/paths/${escapeToken(path)}` }
  return last.pointer
}

/** All of `paths` by reference. */
function listElsewhere(document: OpenAPIDocument, paths: Raw, found: Found): void {
  const parts = document.parts(paths, document.entry, "/paths")
  if (isBroken(parts)) {
    const note = { pointer: "/paths", message: brokenMessage(parts) }
    found.skipped.push({ path: "", note })
    return
  }
  for (const path of Object.keys(joined(parts))) {
    const place = partOf(parts, path)
    if (place === undefined || path.startsWith("x-") || path === "$ref") continue
    listReferred(document, path, place, found)
  }
}

function listPath(document: OpenAPIDocument, path: string, value: unknown, found: Found): void {
  if (!isPlainRecord(value) || value["$ref"] !== undefined) {
    const place = { value, file: document.entry, pointer: ownPointer(path) }
    listReferred(document, path, place, found)
    return
  }
  const item = { path, raw: value, file: document.entry }
  listMethods(document, item, value, undefined, found)
}

/** A path by reference: beside it the path may say more, and what it says itself comes first. */
function listReferred(document: OpenAPIDocument, path: string, place: Place, found: Found): void {
  const parts = document.parts(place.value, place.file, place.pointer)
  const skip = (message: string): void => {
    found.skipped.push({ path, note: noteAt(document, place, message) })
  }
  if (isBroken(parts)) return skip(brokenMessage(parts))
  const target = parts.at(-1)?.value
  // An empty path in YAML is null: it has no operations, which is no mistake.
  if (target === null || target === undefined) return
  if (!isPlainRecord(target)) return skip("A path must be an object.")
  const item = { path, raw: joined(parts), file: document.entry, parts }
  const methods = parts.map(({ value }) => ({ ...(value as Raw) }))
  // What an earlier part says replaces what a later one does.
  methods.forEach((own, index) => {
    for (const later of methods.slice(index + 1))
      for (const key of Object.keys(own)) delete later[key]
  })
  for (let index = parts.length - 1; index >= 0; index--) {
    listMethods(document, item, methods[index] as Raw, parts[index], found)
  }
}

function listMethods(
  document: OpenAPIDocument,
  item: PathItem,
  methods: Raw,
  holder: Place | undefined,
  found: Found,
): void {
  const keys = Object.keys(methods)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const method = METHODS.get(key)
    if (method !== undefined) {
      addOperation(document, item, methods[key], method, key, holder, found)
    } else if (key === "additionalOperations") {
      const more = methods[key]
      if (!isPlainRecord(more)) continue
      for (const name of Object.keys(more)) {
        const at = `${key}/${escapeToken(name)}`
        // The specification: sent just as it is written.
        addOperation(document, item, more[name], name, at, holder, found)
      }
    }
  }
}

function addOperation(
  document: OpenAPIDocument,
  item: PathItem,
  value: unknown,
  method: string,
  key: string,
  holder: Place | undefined,
  { operations, skipped }: Found,
): void {
  const plain: Raw = isPlainRecord(value) ? value : {}
  let operation = new RawOperation(plain, method, key, item, holder, undefined)
  let fault: string | undefined
  if (!isPlainRecord(value)) fault = "An operation must be an object."
  else if (!TOKEN.test(method) || FORBIDDEN.has(method.toUpperCase())) {
    fault = `No request can be sent with the method "${method.slice(0, 40)}": fetch refuses it.`
  } else if (typeof value["$ref"] === "string") {
    const parts = document.parts(value, operation.file, operation.pointer)
    if (isBroken(parts)) fault = brokenMessage(parts)
    else if (!isOperation(parts.at(-1)?.value)) {
      fault = `Reference "${value["$ref"].slice(0, 200)}" leads to something that is no operation.`
    } else operation = new RawOperation(joined(parts), method, key, item, holder, parts)
  }
  if (fault === undefined) operations.push(operation)
  else {
    const { path } = operation
    skipped.push({ method, path, note: noteAt(document, operation, fault) })
  }
}

/** Whether what is referred to is an operation, as far as one can tell. */
function isOperation(value: unknown): boolean {
  return isPlainRecord(value) && SIGNS.some((sign) => Object.hasOwn(value, sign))
}

/** What several parts say together: what comes first counts. */
function joined(parts: readonly Place[]): Raw {
  return parts.reduceRight<Raw>(
    (all, { value }) => (isPlainRecord(value) ? { ...all, ...value } : all),
    {},
  )
}

/** The first of several parts that says something under a key. */
function partOf(parts: readonly Place[], key: string): Place | undefined {
  for (const part of parts) {
    const found = child(part, key)
    if (found !== undefined) return found
  }
  return undefined
}
