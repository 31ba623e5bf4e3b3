// Where a schema has files.

import { isObject } from "../internal/guards.ts"
import { perObject } from "../internal/per-object.ts"
import { FILE_MARK } from "./files.ts"
import type { JsonSchema } from "./json.ts"
import { mayHaveFiles } from "./mentions.ts"
import { type SchemaView, viewOf } from "./read/view.ts"
import { mapSchemas } from "./keywords.ts"

/**
 * What a handler receives: a `Uint8Array`, a file, or base64 text.
 *
 * `raw` is `format: "binary"` without our mark, such as in an imported API: bytes, or what else a caller in the same
 * process passes.
 */
export type FileKind = "bytes" | "stream" | "text" | "raw"

/** A property with a file, or a list of files. */
export interface FileField {
  readonly kind: FileKind
  readonly isList: boolean
  readonly mediaType: string | undefined
}

/** The files of a schema: the value itself, or some of its properties. */
export interface FileFields {
  readonly whole: FileField | undefined
  readonly properties: ReadonlyMap<string, FileField>
  /** The property whose value is the form with the files, such as the body of an imported API. */
  readonly inside?: { readonly name: string; readonly view: SchemaView } | undefined
  /** The file that the body of a request can be. */
  readonly only: { readonly name: string; readonly field: FileField } | undefined
}

/** Finds the files of a schema; `undefined` when there are none. */
export function fileFieldsOf(schema: unknown): FileFields | undefined {
  return isObject(schema) && mayHaveFiles(schema) ? findFields(schema) : undefined
}

const findFields = perObject((schema: object): FileFields | undefined => {
  const view = viewOf(schema)
  const whole = fieldOf(view)
  if (whole !== undefined && !whole.isList) return { whole, properties: new Map(), only: undefined }
  const properties = filesOf(view)
  const [first] = properties
  if (first === undefined) return findInside(view)
  const [name, field] = first
  const isOnly = properties.size === 1 && !field.isList
  return { whole: undefined, properties, only: isOnly ? { name, field } : undefined }
})

function filesOf(view: SchemaView): Map<string, FileField> {
  const properties = new Map<string, FileField>()
  for (const name of view.names) {
    const field = fieldOf(view.property(name))
    if (field !== undefined) properties.set(name, field)
  }
  return properties
}

/** The files of the first property that has some. What reads it sends forms, so files keep their names and types. */
function findInside(outer: SchemaView): FileFields | undefined {
  for (const name of outer.names) {
    const view = outer.property(name)
    const properties = filesOf(view)
    if (properties.size === 0) continue
    for (const [key, field] of properties) {
      if (field.kind === "raw") properties.set(key, { ...field, kind: "stream" })
    }
    return { whole: undefined, properties, only: undefined, inside: { name, view } }
  }
  return undefined
}

function fieldOf(view: SchemaView): FileField | undefined {
  const kind = fileKindOf(view)
  if (kind !== undefined) return { kind, isList: false, mediaType: mediaTypeOf(view) }
  if (!view.types.has("array")) return undefined
  const item = view.item(0)
  const itemKind = fileKindOf(item)
  return itemKind && { kind: itemKind, isList: true, mediaType: mediaTypeOf(item) }
}

/** How a handler receives the value of a schema; `undefined` if it is not a file. */
export function fileKindOf(view: SchemaView): FileKind | undefined {
  const mark = view.first(FILE_MARK)
  if (mark === "bytes" || mark === "stream") return mark
  // It is read into memory later, by the registry that runs the handler.
  if (mark === "file") return "stream"
  const isText = view.types.has("string")
  if (isText && view.first("contentEncoding") === "base64") return "text"
  return view.isBinary && !isText ? "raw" : undefined
}

/** The content type of files that do not specify one. */
export function mediaTypeOf(view: SchemaView): string | undefined {
  const type = view.first("contentMediaType")
  return typeof type === "string" ? type : undefined
}

const MARKS: ReadonlySet<unknown> = new Set(["bytes", "stream", "file"])

/** Whether a schema is that of a file. */
export function isFileNode({ [FILE_MARK]: mark, format, type }: JsonSchema): boolean {
  return MARKS.has(mark) || (format === "binary" && type === undefined)
}

/** A schema for readers of JSON, in which files are base64 text; the same one when it has no files. */
export function withBase64(schema: JsonSchema): JsonSchema {
  return mayHaveFiles(schema) ? converted(schema) : schema
}

const converted = perObject((schema: JsonSchema): JsonSchema => {
  let hasFiles = false
  const mapped = mapSchemas(schema, (node) => {
    if (!isFileNode(node)) return node
    hasFiles = true
    const { format, [FILE_MARK]: mark, ...rest } = node
    // Without our mark the format stays: those who import the schema again find the file by it.
    const own = mark === undefined ? { format } : undefined
    return { type: "string", ...own, ...rest, contentEncoding: "base64" }
  })
  return hasFiles ? mapped : schema
})
