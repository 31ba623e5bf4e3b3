import { escapeToken, getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, SourceFile } from "../document.ts"
import type { Note } from "../schema/convert.ts"

type Raw = Readonly<Record<string, unknown>>

/** A path, where it stands in the document. */
interface PathItem {
  readonly path: string
  /** What holds for all operations of the path. */
  readonly raw: Raw
  readonly file: SourceFile
  /** Where it stands when it is somewhere else than in `paths`. */
  readonly elsewhere: string | undefined
}

/** An operation where it stands in the document. */
export class RawOperation {
  readonly raw: Raw
  /** Upper-case, but for the additional ones of 3.2, which are sent as they are written. */
  readonly method: string
  readonly #key: string
  readonly #item: PathItem
  /** Written beside a reference to the path, so in the document itself. */
  readonly #beside: SourceFile | undefined

  constructor(
    raw: Raw,
    method: string,
    key: string,
    item: PathItem,
    beside: SourceFile | undefined,
  ) {
    this.raw = raw
    this.method = method
    this.#key = key
    this.#item = item
    this.#beside = beside
  }

  get path(): string {
    return this.#item.path
  }

  get file(): SourceFile {
    return this.#beside ?? this.#item.file
  }

  get pointer(): string {
    const at = this.#beside === undefined ? this.itemPointer : ownPointer(this.#item.path)
    return `${at}/${this.#key}`
  }

  get item(): Raw {
    return this.#item.raw
  }

  get itemFile(): SourceFile {
    return this.#item.file
  }

  get itemPointer(): string {
    return this.#item.elsewhere ?? ownPointer(this.#item.path)
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

/** A method as HTTP allows one to be written. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/** What fetch refuses to send. */
const FORBIDDEN: ReadonlySet<string> = new Set(["CONNECT", "TRACK"])

/** Finds the operations of a document; nothing else in it is looked at. */
export function listOperations(document: OpenAPIDocument): {
  operations: RawOperation[]
  skipped: Skipped[]
} {
  const found = { operations: [] as RawOperation[], skipped: [] as Skipped[] }
  const paths = getOwn(document.root, "paths")
  if (isPlainRecord(paths)) {
    for (const path of Object.keys(paths)) {
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

function listPath(document: OpenAPIDocument, path: string, value: unknown, found: Found): void {
  if (isPlainRecord(value) && value["$ref"] === undefined) {
    const item = { path, raw: value, file: document.entry, elsewhere: undefined }
    listMethods(item, value, found, undefined)
    return
  }
  const place = document.follow(value, document.entry, ownPointer(path))
  const skip = (message: string): void => {
    found.skipped.push({ path, note: { pointer: ownPointer(path), message } })
  }
  if (isBroken(place)) skip(brokenMessage(place))
  else if (isPlainRecord(place.value)) listReferred(document, path, value as Raw, place, found)
  // An empty path in YAML is null: it has no operations, which is no mistake.
  else if (place.value !== null && place.value !== undefined) skip("A path must be an object.")
}

/** A path by reference: beside it the path may say more, and what it says itself comes first. */
function listReferred(
  document: OpenAPIDocument,
  path: string,
  own: Raw,
  place: Place,
  found: Found,
): void {
  const target = place.value as Raw
  const raw: Raw = { ...target, ...own }
  const item = { path, raw, file: place.file, elsewhere: place.pointer }
  const beside: Record<string, unknown> = {}
  const there: Record<string, unknown> = {}
  for (const key of Object.keys(raw)) {
    if (Object.hasOwn(own, key)) beside[key] = raw[key]
    else there[key] = raw[key]
  }
  listMethods(item, there, found, undefined)
  listMethods(item, beside, found, document.entry)
}

function listMethods(
  item: PathItem,
  methods: Raw,
  found: Found,
  beside: SourceFile | undefined,
): void {
  for (const key of Object.keys(methods)) {
    const method = METHODS.get(key)
    if (method !== undefined) addOperation(item, methods[key], method, key, found, beside)
    else if (key === "additionalOperations") {
      const more = methods[key]
      if (!isPlainRecord(more)) continue
      for (const name of Object.keys(more)) {
        const at = `${key}/${escapeToken(name)}`
        // The specification: sent just as it is written.
        addOperation(item, more[name], name, at, found, beside)
      }
    }
  }
}

function addOperation(
  item: PathItem,
  raw: unknown,
  method: string,
  key: string,
  { operations, skipped }: Found,
  beside: SourceFile | undefined,
): void {
  const fault = !isPlainRecord(raw)
    ? "An operation must be an object."
    : !TOKEN.test(method) || FORBIDDEN.has(method.toUpperCase())
      ? `No request can be sent with the method "${method.slice(0, 40)}".`
      : undefined
  const operation = new RawOperation(isPlainRecord(raw) ? raw : {}, method, key, item, beside)
  if (fault === undefined) operations.push(operation)
  else {
    const { pointer, path } = operation
    skipped.push({ method, path, note: { pointer, message: fault } })
  }
}
