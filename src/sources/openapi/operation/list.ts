import { isRecord } from "../../../internal/guards.ts"
import { escapeToken, getOwn } from "../../../schema/json.ts"
import { brokenRefMessage, child, isBroken, noteAt, partsOf } from "../document.ts"
import type { Note, OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"

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

  get document(): OpenAPIDocument {
    return this.item.file.document
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

  /** A member of the operation; in Swagger 2.0 the document has defaults of some. */
  inherited(key: string): unknown {
    return this.raw[key] ?? this.document.root[key]
  }

  /** A member of the operation and its place. */
  member(key: string): Place | undefined {
    if (this.parts !== undefined) return partOf(this.parts, key)
    const value = this.raw[key]
    // The pointer is made only for a member that exists: of those that are asked for, most do not.
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

/** The operations of a document, listed without reading anything else. */
export class OperationList {
  readonly operations: RawOperation[] = []
  readonly skipped: Skipped[] = []
  readonly #file: SourceFile

  constructor({ root, entry }: OpenAPIDocument) {
    this.#file = entry
    const paths = getOwn(root, "paths")
    if (!isRecord(paths)) return
    if (typeof paths["$ref"] === "string") {
      this.#addElsewhere(paths)
      return
    }
    const names = Object.keys(paths)
    for (let index = 0; index < names.length; index++) {
      const path = names[index] as string
      if (!path.startsWith("x-")) this.#addPath(path, paths[path])
    }
  }

  /** Adds the operations of `paths` that is a reference. */
  #addElsewhere(paths: Raw): void {
    const parts = partsOf({ value: paths, file: this.#file, pointer: "/paths" })
    if (isBroken(parts)) {
      this.skipped.push({ path: "", note: { pointer: "/paths", message: brokenRefMessage(parts) } })
      return
    }
    for (const path of Object.keys(joined(parts))) {
      const place = partOf(parts, path)
      if (place === undefined || path.startsWith("x-") || path === "$ref") continue
      this.#addReferred(path, place)
    }
  }

  #addPath(path: string, value: unknown): void {
    const file = this.#file
    if (!isRecord(value) || value["$ref"] !== undefined) {
      return this.#addReferred(path, { value, file, pointer: ownPointer(path) })
    }
    this.#addMethods({ path, raw: value, file }, value, undefined)
  }

  /** Adds a path that is a reference; its own members come before those of the target. */
  #addReferred(path: string, place: Place): void {
    const parts = partsOf(place)
    const skip = (message: string): void => {
      this.skipped.push({ path, note: noteAt(place, message) })
    }
    if (isBroken(parts)) return skip(brokenRefMessage(parts))
    const target = parts.at(-1)?.value
    // An empty path in YAML is null: it has no operations, which is not an error.
    if (target === null || target === undefined) return
    if (!isRecord(target)) return skip("A path must be an object.")
    const item = { path, raw: joined(parts), file: this.#file, parts }
    const methods = parts.map(({ value }) => ({ ...(value as Raw) }))
    // Members of an earlier part override those of a later one.
    methods.forEach((own, index) => {
      for (const later of methods.slice(index + 1))
        for (const key of Object.keys(own)) delete later[key]
    })
    for (let index = parts.length - 1; index >= 0; index--) {
      this.#addMethods(item, methods[index] as Raw, parts[index])
    }
  }

  #addMethods(item: PathItem, methods: Raw, holder: Place | undefined): void {
    const keys = Object.keys(methods)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      const method = METHODS.get(key)
      if (method !== undefined) this.#add(item, methods[key], method, key, holder)
      else if (key === "additionalOperations") {
        const more = methods[key]
        if (!isRecord(more)) continue
        // By the specification their methods are sent as written.
        for (const name of Object.keys(more)) {
          this.#add(item, more[name], name, `${key}/${escapeToken(name)}`, holder)
        }
      }
    }
  }

  #add(
    item: PathItem,
    value: unknown,
    method: string,
    key: string,
    holder: Place | undefined,
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
      const parts = partsOf({ value: raw, file: operation.file, pointer: operation.pointer })
      if (isBroken(parts)) issue = brokenRefMessage(parts)
      else if (!isOperation(parts.at(-1)?.value)) {
        issue = `Reference "${raw["$ref"].slice(0, 200)}" does not refer to an operation.`
      } else operation = new RawOperation(joined(parts), method, key, item, holder, parts)
    }
    if (issue === undefined) this.operations.push(operation)
    else this.skipped.push({ method, path: item.path, note: noteAt(operation, issue) })
  }
}

// A cache for the operations of one path, which are read in sequence.
let last = { path: "", pointer: "/paths/" }

function ownPointer(path: string): string {
  if (last.path !== path) last = { path, pointer: `/paths/${escapeToken(path)}` }
  return last.pointer
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
