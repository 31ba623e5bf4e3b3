import { CallError } from "./errors.ts"
import { fromBase64, toBase64 } from "../internal/base64.ts"
import { isFileLike } from "../schema/files.ts"
import { isRecord } from "../internal/guards.ts"
import { setOwn } from "../internal/own.ts"
import { parsePointer, pointerSegment } from "../internal/pointer.ts"
import { reading } from "../internal/brands.ts"
import { isResponseEnvelope, type ResponseEnvelope, type ResponseMeta } from "./envelope.ts"
import { isLeaf, isPlainJson, MAX_JSON_DEPTH } from "./plain-json.ts"
import { loadedBytes } from "./unread-file.ts"

/** Binary types that are restored. A Node `Buffer` is restored as a `Uint8Array`, and a file as a `File` or `Blob`. */
export type BinaryKind = "Uint8Array" | "ArrayBuffer" | FileKind

/** A file on the wire: its content type, and its name if it has one. */
export interface FileKind {
  readonly type: string
  readonly name?: string
}

/**
 * The JSON form of an envelope.
 *
 * A void result has no `data`. Binary values are base64 strings in `data`, and `binary` lists their JSON
 * pointers, so that no string is ever mistaken for bytes.
 */
export interface WireEnvelope {
  readonly data?: unknown
  readonly meta: ResponseMeta
  readonly binary?: Readonly<Record<string, BinaryKind>>
}

/**
 * Converts an envelope for `JSON.stringify`; returns the envelope itself if nothing had to be converted.
 *
 * Throws a `CallError` that names the path where a value has no JSON form.
 */
export function encodeEnvelope(envelope: ResponseEnvelope): WireEnvelope {
  if (!isResponseEnvelope(envelope)) {
    throw new TypeError("encodeEnvelope(): envelope must be a ResponseEnvelope.")
  }
  const binary: Record<string, BinaryKind> = {}
  const data = reading("encodeEnvelope(): envelope.data", () =>
    encode(envelope.data, "", { parents: [], binary, mode: undefined }),
  )
  if (data === undefined) return { meta: envelope.meta }
  if (Object.keys(binary).length > 0) return { data, meta: envelope.meta, binary }
  return data === envelope.data ? envelope : { data, meta: envelope.meta }
}

/**
 * Converts another value for JSON in the same way. `strict` is for inputs: functions, which `JSON.stringify` drops from
 * results, are errors there.
 */
export function encodeValue(
  value: unknown,
  mode?: "strict",
): {
  readonly value: unknown
  readonly binary: Readonly<Record<string, BinaryKind>> | undefined
} {
  if (isPlainJson(value)) return { value, binary: undefined }
  const binary: Record<string, BinaryKind> = {}
  const encoded = reading("The value", () => encode(value, "", { parents: [], binary, mode }))
  return { value: encoded, binary: Object.keys(binary).length > 0 ? binary : undefined }
}

/** Reverses `encodeValue`. Throws a `CallError` if `binary` does not match the value. */
export function decodeValue(value: unknown, binary: unknown): unknown {
  if (binary === undefined) return value
  if (typeof binary !== "object" || binary === null) throw badBinary("")
  let data = value
  for (const [path, kind] of Object.entries(binary)) data = replace(data, path, kind)
  return data
}

/** Reverses `encodeEnvelope`, from parsed JSON. Throws a `CallError` on anything else. */
export function decodeEnvelope(wire: unknown): ResponseEnvelope {
  const { binary, ...rest } = reading("decodeEnvelope(): wire", () => ({
    ...(typeof wire === "object" ? (wire as WireEnvelope) : undefined),
  }))
  if (!isResponseEnvelope(rest)) {
    throw new CallError(
      "VALIDATION_ERROR",
      "What arrived is not an envelope: it needs data and meta.",
    )
  }
  return { data: decodeValue(rest.data, binary), meta: rest.meta }
}

/** One conversion. */
interface Encoding {
  /** The objects around the current value. */
  readonly parents: object[]
  readonly binary: Record<string, BinaryKind>
  readonly mode: "strict" | undefined
}

function encode(value: unknown, path: string, encoding: Encoding): unknown {
  const { parents, binary, mode } = encoding
  if (typeof value === "bigint") throw noJson(path, "a bigint")
  if (mode === "strict" && typeof value === "function") throw noJson(path, "a function")
  if (typeof value !== "object" || value === null) return value
  if (value instanceof Uint8Array) {
    binary[path] = "Uint8Array"
    return toBase64(value)
  }
  if (value instanceof ArrayBuffer) {
    binary[path] = "ArrayBuffer"
    return toBase64(new Uint8Array(value))
  }
  if (typeof (value as Partial<Blob>).stream === "function" && isFileLike(value)) {
    const { type, name } = value
    const text = toBase64(loadedBytes(value, path))
    binary[path] = name === undefined ? { type } : { type, name }
    return text
  }
  if (parents.includes(value)) throw noJson(path, "a circular reference")
  if (parents.length >= MAX_JSON_DEPTH)
    throw noJson(path, `nested more than ${MAX_JSON_DEPTH} levels deep`)
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return value
  parents.push(value)
  const out = Array.isArray(value)
    ? encodeArray(value, path, encoding)
    : encodeObject(value as Record<string, unknown>, path, encoding)
  parents.pop()
  return out
}

function encodeArray(
  value: readonly unknown[],
  path: string,
  encoding: Encoding,
): readonly unknown[] {
  let out: unknown[] | undefined
  for (let index = 0; index < value.length; index++) {
    if (isLeaf(value[index])) continue
    const item = encode(value[index], `${path}/${index}`, encoding)
    if (item === value[index]) continue
    out ??= value.slice()
    out[index] = item
  }
  return out ?? value
}

function encodeObject(
  value: Readonly<Record<string, unknown>>,
  path: string,
  encoding: Encoding,
): Readonly<Record<string, unknown>> {
  let changed: [string, unknown][] | undefined
  for (const key of Object.keys(value)) {
    if (isLeaf(value[key])) continue
    const item = encode(value[key], path + pointerSegment(key), encoding)
    if (item !== value[key]) (changed ??= []).push([key, item])
  }
  // `fromEntries` defines properties, so that a key named `__proto__` stays a key.
  return changed === undefined ? value : Object.fromEntries([...Object.entries(value), ...changed])
}

function replace(data: unknown, path: string, kind: unknown): unknown {
  if (path === "") return decodeBytes(data, path, kind)
  const keys = parsePointer(path)
  const last = keys?.at(-1)
  if (keys === undefined || last === undefined) throw badBinary(path)
  let parent = data
  for (const key of keys.slice(0, -1)) parent = own(parent, key, path)
  const bytes = decodeBytes(own(parent, last, path), path, kind)
  setOwn(parent as object, last, bytes)
  return data
}

function own(parent: unknown, key: string, path: string): unknown {
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, key)) {
    throw badBinary(path)
  }
  return (parent as Record<string, unknown>)[key]
}

function decodeBytes(value: unknown, path: string, kind: unknown): Uint8Array | ArrayBuffer | Blob {
  const bytes = typeof value === "string" ? fromBase64(value) : undefined
  if (bytes !== undefined && kind === "Uint8Array") return bytes
  if (bytes !== undefined && kind === "ArrayBuffer") return bytes.buffer
  const { type, name } = isRecord(kind) ? kind : {}
  if (bytes === undefined || typeof type !== "string") throw badBinary(path)
  return typeof name === "string" ? new File([bytes], name, { type }) : new Blob([bytes], { type })
}

function noJson(path: string, what: string): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `This has no form in JSON: ${path || "the value itself"} is ${what}.`,
    { details: { path } },
  )
}

function badBinary(path: string): CallError {
  return new CallError(
    "VALIDATION_ERROR",
    `What arrived says there are bytes at "${path}", but there is no base64 text.`,
  )
}
