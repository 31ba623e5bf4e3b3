// Where a schema has files, and the conversion of base64 text that stands for them.

import { fromBase64 } from "../internal/base64.ts"
import { FILE_MARK } from "./files.ts"
import { isRecord } from "../internal/guards.ts"
import { getOwn, setOwn } from "./json.ts"
import type { JsonSchema } from "./json.ts"
import { mapSchemas } from "./read/plain-schema.ts"
import { viewOf } from "./read/view.ts"
import type { SchemaView } from "./read/view.ts"

/**
 * What a handler receives: a `Uint8Array`, a file, or base64 text.
 *
 * `raw` is `format: "binary"` without our mark, such as in an imported API: bytes, and text stays text.
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
  /** The file that the body of a request can be. */
  readonly only: { readonly name: string; readonly field: FileField } | undefined
}

const fieldsBySchema = new WeakMap<object, FileFields | null>()

/** Finds the files of a schema; `undefined` when there are none. */
export function fileFieldsOf(schema: unknown): FileFields | undefined {
  if (typeof schema !== "object" || schema === null) return undefined
  let fields = fieldsBySchema.get(schema)
  if (fields === undefined) fieldsBySchema.set(schema, (fields = findFields(schema) ?? null))
  return fields ?? undefined
}

function findFields(schema: object): FileFields | undefined {
  const view = viewOf(schema)
  const whole = fieldOf(view)
  if (whole !== undefined && !whole.isList) return { whole, properties: new Map(), only: undefined }
  const properties = new Map<string, FileField>()
  for (const name of view.names) {
    const field = fieldOf(view.property(name))
    if (field !== undefined) properties.set(name, field)
  }
  const [first] = properties
  if (first === undefined) return undefined
  const [name, field] = first
  const isOnly = properties.size === 1 && !field.isList
  return { whole: undefined, properties, only: isOnly ? { name, field } : undefined }
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
  const isText = view.types.has("string")
  if (isText && view.first("contentEncoding") === "base64") return "text"
  return view.isBinary && !isText ? "raw" : undefined
}

function mediaTypeOf(view: SchemaView): string | undefined {
  const type = view.first("contentMediaType")
  return typeof type === "string" ? type : undefined
}

/**
 * Converts base64 text in JSON to the files that it stands for, and bytes where a file is expected. Other text stays,
 * for validation to report.
 */
export function decodeFiles(schema: unknown, input: unknown): unknown {
  const fields = fileFieldsOf(schema)
  if (fields === undefined) return input
  const { whole, properties } = fields
  if (whole !== undefined) return decodeFile(input, whole)
  if (!isRecord(input)) return input
  let out: Record<string, unknown> | undefined
  for (const [name, field] of properties) {
    const value = getOwn(input, name)
    const decoded =
      field.isList && Array.isArray(value)
        ? value.map((item) => decodeFile(item, field))
        : decodeFile(value, field)
    if (decoded !== value) setOwn((out ??= { ...input }), name, decoded)
  }
  return out ?? input
}

function decodeFile(value: unknown, { kind, mediaType = "" }: FileField): unknown {
  if (kind !== "bytes" && kind !== "stream") return value
  const bytes = typeof value === "string" ? fromBase64(value) : value
  if (!(bytes instanceof Uint8Array) || kind === "bytes") return bytes ?? value
  return new Blob([bytes as BlobPart], { type: mediaType })
}

function isFileNode(schema: JsonSchema): boolean {
  return schema[FILE_MARK] === "bytes" || schema[FILE_MARK] === "stream"
}

/** A schema for readers of JSON, in which files are base64 text; the same one when it has no files. */
export function withBase64(schema: JsonSchema): JsonSchema {
  const before = converted.get(schema)
  if (before !== undefined) return before
  let hasFiles = false
  const mapped = mapSchemas(schema, (node) => {
    if (!isFileNode(node)) return node
    hasFiles = true
    const { format: _, [FILE_MARK]: __, ...rest } = node
    return { type: "string", ...rest, contentEncoding: "base64" }
  })
  const result = hasFiles ? mapped : schema
  converted.set(schema, result)
  return result
}

const converted = new WeakMap<JsonSchema, JsonSchema>()
