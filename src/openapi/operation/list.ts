import { escapeToken, getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, SourceFile } from "../document.ts"
import type { Note } from "../schema/convert.ts"

type Raw = Readonly<Record<string, unknown>>

/** An operation where it stands in the document. */
export interface RawOperation {
  /** Upper-case, whatever the document writes. */
  readonly method: string
  readonly path: string
  readonly raw: Raw
  readonly pointer: string
  readonly file: SourceFile
  /** What holds for all operations of the path, and where that stands. */
  readonly item: Raw
  readonly itemFile: SourceFile
  readonly itemPointer: string
}

/** Something in `paths` that gives no operation, and why. */
export interface Skipped {
  readonly method?: string | undefined
  readonly path: string
  readonly note: Note
}

const METHODS: ReadonlySet<string> = new Set([
  ...["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"],
])

/** A method as HTTP allows one to be written. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/** What fetch refuses to send. */
const FORBIDDEN: ReadonlySet<string> = new Set(["CONNECT", "TRACK"])

/** Finds the operations of a document; nothing else in it is looked at. */
export function listOperations(document: OpenAPIDocument): {
  operations: RawOperation[]
  skipped: Skipped[]
} {
  const operations: RawOperation[] = []
  const skipped: Skipped[] = []
  const paths = getOwn(document.root, "paths")
  if (isPlainRecord(paths)) {
    for (const path of Object.keys(paths)) {
      if (path.startsWith("x-")) continue
      const pointer = `/paths/${escapeToken(path)}`
      listPath(document, path, paths[path], pointer, operations, skipped)
    }
  }
  return { operations, skipped }
}

function listPath(
  document: OpenAPIDocument,
  path: string,
  value: unknown,
  pointer: string,
  operations: RawOperation[],
  skipped: Skipped[],
): void {
  const place = document.follow(value, document.entry, pointer)
  if (isBroken(place)) {
    skipped.push({ path, note: { pointer, message: brokenMessage(place) } })
    return
  }
  if (!isPlainRecord(place.value)) {
    // An empty path in YAML is null: it has no operations, which is no mistake.
    if (place.value === null || place.value === undefined) return
    skipped.push({ path, note: { pointer, message: "A path must be an object." } })
    return
  }
  const own = isPlainRecord(value) ? value : place.value
  // Beside a reference, the path may say more; what it says itself comes first.
  const item: Raw = own === place.value ? own : { ...place.value, ...own }
  const shared = { path, item, itemFile: place.file, itemPointer: place.pointer }
  const add = (key: string, raw: unknown, at: string, file: SourceFile): void => {
    const method = key.toUpperCase()
    if (!isPlainRecord(raw)) {
      skipped.push({
        method,
        path,
        note: { pointer: at, message: "An operation must be an object." },
      })
    } else if (!TOKEN.test(key) || FORBIDDEN.has(method)) {
      skipped.push({
        method,
        path,
        note: {
          pointer: at,
          message: `No request can be sent with the method "${key.slice(0, 40)}".`,
        },
      })
    } else operations.push({ ...shared, method, raw, pointer: at, file })
  }
  for (const key of Object.keys(item)) {
    if (METHODS.has(key)) {
      const isOwn = own !== place.value && Object.hasOwn(own, key)
      const at = isOwn ? pointer : place.pointer
      add(key, item[key], `${at}/${key}`, isOwn ? document.entry : place.file)
    } else if (key === "additionalOperations" && isPlainRecord(item[key])) {
      const more = item[key]
      for (const method of Object.keys(more)) {
        add(method, more[method], `${place.pointer}/${key}/${escapeToken(method)}`, place.file)
      }
    }
  }
}
