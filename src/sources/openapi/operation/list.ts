import { isRecord } from "../../../internal/guards.ts"
import { escapeToken, getOwn } from "../../../schema/json.ts"
import { brokenRefMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import { child } from "./media.ts"

/** A path item and its place in the document. */
interface PathItem {
  readonly path: string
  /** The members that apply to all operations of the path. */
  readonly raw: Raw
  /** The document itself. */
  readonly file: SourceFile
  /** Its places, if it is not simply in `paths`: several if there are references. */
  readonly parts?: readonly Place[] | undefined
}

/**
 * An operation and its place in the document.
 *
 * Fields are declared and not defined: thousands of these are made, and each field would be written twice.
 */
export class RawOperation {
  /** Its members, including those of its references. */
  declare readonly raw: Raw
  /** Upper-case, except for the additional ones of 3.2, which are sent as written. */
  declare readonly method: string
  declare private readonly key: string
  declare private readonly item: PathItem
  /** Its parent, if the path has parts. */
  declare private readonly holder: Place | undefined
  /** Its parts, if it is a reference. */
  declare private readonly parts: readonly Place[] | undefined

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
    this.key = key
    this.item = item
    this.holder = holder
    this.parts = parts
  }

  get path(): string {
    return this.item.path
  }

  get file(): SourceFile {
    return this.holder?.file ?? this.item.file
  }

  /** Whether it and its path are in the document itself, without references. */
  get isDirect(): boolean {
    return this.parts === undefined && this.holder === undefined
  }

  /** The members of its path that apply to all operations, without resolving references. */
  get pathRaw(): Raw {
    return this.item.raw
  }

  get pointer(): string {
    return `${this.holder?.pointer ?? ownPointer(this.item.path)}/${this.key}`
  }

  /** A member of the operation and its place. */
  member(key: string): Place | undefined {
    if (this.parts !== undefined) return partOf(this.parts, key)
    const value = this.raw[key]
    if (value === undefined || value === null) return undefined
    return { value, file: this.file, pointer: `${this.pointer}/${key}` }
  }

  /** A member of its path, for all operations, and its place. */
  shared(key: string): Place | undefined {
    const { raw, path, file, parts } = this.item
    if (parts !== undefined) return partOf(parts, key)
    const value = raw[key]
    if (value === undefined || value === null) return undefined
    return { value, file, pointer: `${ownPointer(path)}/${key}` }
  }
}

/** An entry of `paths` that was not imported, and why. */
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

/** Whether a key of a path item is an operation. */
export function isMethod(key: string): boolean {
  return METHODS.has(key)
}

/** A valid HTTP method. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/** Common methods that `fetch` sends: no need to check them one by one. */
const SENT: ReadonlySet<string> = new Set([...METHODS.values()].filter((one) => one !== "TRACE"))

/** Methods that `fetch` refuses to send. */
const FORBIDDEN: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"])

/** Every operation has one of these; the target of a reference without any is something else. */
const OPERATION_KEYS = [
  ...["responses", "operationId", "requestBody", "tags", "callbacks", "security"],
  ...["produces", "consumes"],
]

/** Lists the operations of a document without reading anything else. */
export function listOperations(document: OpenAPIDocument): {
  operations: RawOperation[]
  skipped: Skipped[]
} {
  const listed = { operations: [] as RawOperation[], skipped: [] as Skipped[] }
  const paths = getOwn(document.root, "paths")
  if (!isRecord(paths)) return listed
  if (typeof paths["$ref"] === "string") listElsewhere(document, paths, listed)
  else {
    const names = Object.keys(paths)
    for (let index = 0; index < names.length; index++) {
      const path = names[index] as string
      if (!path.startsWith("x-")) listPath(document, path, paths[path], listed)
    }
  }
  return listed
}

interface ListedOperations {
  readonly operations: RawOperation[]
  readonly skipped: Skipped[]
}

// A cache for the operations of one path, which are read in sequence.
let last = { path: "", pointer: "/paths/" }

function ownPointer(path: string): string {
  if (last.path !== path) last = { path, pointer: `/paths/${escapeToken(path)}` }
  return last.pointer
}

/** Lists `paths` that is a reference. */
function listElsewhere(document: OpenAPIDocument, paths: Raw, listed: ListedOperations): void {
  const parts = document.parts({ value: paths, file: document.entry, pointer: "/paths" })
  if (isBroken(parts)) {
    const note = { pointer: "/paths", message: brokenRefMessage(parts) }
    listed.skipped.push({ path: "", note })
    return
  }
  for (const path of Object.keys(joined(parts))) {
    const place = partOf(parts, path)
    if (place === undefined || path.startsWith("x-") || path === "$ref") continue
    listReferred(document, path, place, listed)
  }
}

function listPath(
  document: OpenAPIDocument,
  path: string,
  value: unknown,
  listed: ListedOperations,
): void {
  if (!isRecord(value) || value["$ref"] !== undefined) {
    const place = { value, file: document.entry, pointer: ownPointer(path) }
    listReferred(document, path, place, listed)
    return
  }
  const item = { path, raw: value, file: document.entry }
  listMethods(document, item, value, undefined, listed)
}

/** Lists a path that is a reference; its own members come before those of the target. */
function listReferred(
  document: OpenAPIDocument,
  path: string,
  place: Place,
  listed: ListedOperations,
): void {
  const parts = document.parts(place)
  const skip = (message: string): void => {
    listed.skipped.push({ path, note: noteAt(document, place, message) })
  }
  if (isBroken(parts)) return skip(brokenRefMessage(parts))
  const target = parts.at(-1)?.value
  // An empty path in YAML is null: it has no operations, which is not an error.
  if (target === null || target === undefined) return
  if (!isRecord(target)) return skip("A path must be an object.")
  const item = { path, raw: joined(parts), file: document.entry, parts }
  const methods = parts.map(({ value }) => ({ ...(value as Raw) }))
  // Members of an earlier part override those of a later one.
  methods.forEach((own, index) => {
    for (const later of methods.slice(index + 1))
      for (const key of Object.keys(own)) delete later[key]
  })
  for (let index = parts.length - 1; index >= 0; index--) {
    listMethods(document, item, methods[index] as Raw, parts[index], listed)
  }
}

function listMethods(
  document: OpenAPIDocument,
  item: PathItem,
  methods: Raw,
  holder: Place | undefined,
  listed: ListedOperations,
): void {
  const keys = Object.keys(methods)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const method = METHODS.get(key)
    if (method !== undefined) {
      addOperation(document, item, methods[key], method, key, holder, listed)
    } else if (key === "additionalOperations") {
      const more = methods[key]
      if (!isRecord(more)) continue
      for (const name of Object.keys(more)) {
        const at = `${key}/${escapeToken(name)}`
        // By the specification it is sent as written.
        addOperation(document, item, more[name], name, at, holder, listed)
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
  { operations, skipped }: ListedOperations,
): void {
  const raw = isRecord(value) ? value : undefined
  let operation = new RawOperation(raw ?? {}, method, key, item, holder, undefined)
  const isSendable =
    SENT.has(method) || (TOKEN.test(method) && !FORBIDDEN.has(method.toUpperCase()))
  let issue: string | undefined
  if (raw === undefined) issue = "An operation must be an object."
  else if (!isSendable) {
    issue = `No request can be sent with the method "${method.slice(0, 40)}": fetch refuses it.`
  } else if (typeof raw["$ref"] === "string") {
    const parts = document.parts({ value: raw, file: operation.file, pointer: operation.pointer })
    if (isBroken(parts)) issue = brokenRefMessage(parts)
    else if (!isOperation(parts.at(-1)?.value)) {
      issue = `Reference "${raw["$ref"].slice(0, 200)}" does not refer to an operation.`
    } else operation = new RawOperation(joined(parts), method, key, item, holder, parts)
  }
  if (issue === undefined) operations.push(operation)
  else {
    const { path } = operation
    skipped.push({ method, path, note: noteAt(document, operation, issue) })
  }
}

/** Whether the target of a reference looks like an operation. */
function isOperation(value: unknown): boolean {
  return isRecord(value) && OPERATION_KEYS.some((sign) => Object.hasOwn(value, sign))
}

/** Merges several parts; the first wins. */
function joined(parts: readonly Place[]): Raw {
  return parts.reduceRight<Raw>(
    (all, { value }) => (isRecord(value) ? { ...all, ...value } : all),
    {},
  )
}

/** The member of the first part that has the key. */
function partOf(parts: readonly Place[], key: string): Place | undefined {
  for (const part of parts) {
    const member = child(part, key)
    if (member !== undefined) return member
  }
  return undefined
}
