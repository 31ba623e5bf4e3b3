import { essenceOf } from "../../../http-client/media-type.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { FieldModel, ParameterModel, Serialization } from "../model.ts"
import {
  PATH_RESERVED,
  QUERY_RESERVED,
  Unwritable,
  encodeForm,
  encodeKeeping,
  encodeStrict,
  shapeOf,
  withFieldName,
} from "./text.ts"
import { asciiJson, jsonText } from "./json.ts"
import { contentKind } from "./media.ts"
import { deepPairs, pairsOf, textOf, textOrJson, type Pair, type Writer } from "./styles.ts"

const STRICT: Writer = { name: encodeStrict, value: encodeStrict, delimiter: urlDelimiter }
const IN_PATH: Writer = { ...STRICT, value: (text) => encodeKeeping(text, PATH_RESERVED) }
const IN_QUERY: Writer = { ...STRICT, value: (text) => encodeKeeping(text, QUERY_RESERVED) }

/** Writes text unchanged, for headers and the parts of a multipart body. */
export const VERBATIM: Writer = { name: same, value: same, delimiter: same }

/** Writes fields of `application/x-www-form-urlencoded`. */
function formWriter(how?: Serialization): Writer {
  return {
    name: encodeForm,
    value: how?.allowReserved ? IN_QUERY.value : encodeForm,
    delimiter: urlDelimiter,
  }
}

/** The text of a path parameter; `undefined` when it has no value. */
export function serializePath(parameter: ParameterModel, value: unknown): string | undefined {
  if (parameter.content !== undefined) {
    const text = contentText(parameter, value)
    return text === undefined ? undefined : encodeStrict(text)
  }
  return textOf(parameter.name, value, parameter, parameter.allowReserved ? IN_PATH : STRICT)
}

/** The pairs of a query parameter, ready to be joined with `=` and `&`. */
export function serializeQuery(parameter: ParameterModel, value: unknown): Pair[] {
  if (parameter.content !== undefined) {
    const text = contentText(parameter, value)
    return text === undefined ? [] : [[encodeStrict(parameter.name), encodeStrict(text)]]
  }
  const writer = parameter.allowReserved ? IN_QUERY : STRICT
  return pairsOf(parameter.name, value, parameter, writer, parameter.allowEmptyValue)
}

/** The text of a header parameter, never percent-encoded; `undefined` when it has no value. */
export function serializeHeader(parameter: ParameterModel, value: unknown): string | undefined {
  if (parameter.content === undefined) return textOf(parameter.name, value, parameter, VERBATIM)
  if (contentKind(parameter.content) !== "json") return contentText(parameter, value)
  return value === undefined || value === null ? undefined : asciiJson(value)
}

/**
 * The cookies of a cookie parameter.
 *
 * Only `form` is percent-encoded; the style `cookie` and plain text are sent unchanged and must not contain
 * characters that end a cookie.
 */
export function serializeCookie(parameter: ParameterModel, value: unknown): Pair[] {
  if (parameter.content !== undefined) {
    const text = contentText(parameter, value)
    if (text === undefined) return []
    const isJson = contentKind(parameter.content) === "json"
    return [[parameter.name, isJson ? encodeStrict(text) : cookieText(text)]]
  }
  if (parameter.style !== "cookie") return pairsOf(parameter.name, value, parameter, STRICT)
  const writer: Writer = { ...VERBATIM, value: cookieText }
  return pairsOf(parameter.name, value, parameter, writer, parameter.allowEmptyValue)
}

/** Refuses text that would end its cookie. */
export function cookieText(text: string): string {
  if (/[;\p{Cc}]/u.test(text)) {
    throw new Unwritable("contains a semicolon or a control character, which would end the cookie")
  }
  return text
}

/** The text of a parameter that is described by a media type. */
function contentText(parameter: ParameterModel, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return contentKind(parameter.content ?? "") === "json" ? jsonText(value) : textOrJson(value)
}

function urlDelimiter(delimiter: string): string {
  return delimiter === "," ? delimiter : encodeStrict(delimiter)
}

function same(text: string): string {
  return text
}

/**
 * Writes `application/x-www-form-urlencoded`.
 *
 * A field is written by its `encoding`; without one a list of scalars is repeated, and nested values get
 * brackets. Text and `URLSearchParams` stay unchanged.
 */
export function formText(fields: ReadonlyMap<string, FieldModel>, value: unknown): string {
  if (typeof value === "string") return value
  if (value instanceof URLSearchParams) return value.toString()
  if (!isRecord(value)) throw new Unwritable("must be an object to be sent as a form")
  return Object.entries(value)
    .flatMap(([name, item]) => fieldPairs(name, item, fields.get(name)))
    .map((pair) => pair.join("="))
    .join("&")
}

/** The fields of a form in the order they are sent: declared ones first. */
export function orderedFields(
  fields: ReadonlyMap<string, FieldModel>,
  value: Readonly<Record<string, unknown>>,
): (readonly [string, unknown])[] {
  const declared = [...fields.keys()].filter((name) => Object.hasOwn(value, name))
  const others = Object.keys(value).filter((name) => !fields.has(name))
  return [...declared, ...others].map((name) => [name, value[name]])
}

/** The concrete media type of an `encoding`; `undefined` for a list or a wildcard. */
export function concreteType(field: FieldModel | undefined): string | undefined {
  if (field?.encoding?.serialization !== undefined) return undefined
  const type = field?.encoding?.contentType
  return type === undefined || type.includes("*") || type.includes(",") ? undefined : type
}

function fieldPairs(name: string, value: unknown, field: FieldModel | undefined): Pair[] {
  if (value === undefined || value === null) return []
  return withFieldName(name, () => {
    const how = field?.encoding?.serialization
    if (how !== undefined) return pairsOf(name, value, how, formWriter(how))
    const type = concreteType(field)
    if (type !== undefined && essenceOf(type) !== "" && contentKind(type) === "json") {
      return [[encodeForm(name), encodeForm(jsonText(value))]]
    }
    return nestedPairs(name, value)
  })
}

function nestedPairs(name: string, value: unknown): Pair[] {
  const shape = shapeOf(value)
  if (shape.kind === "list") {
    const items = shape.items.map(shapeOf)
    if (items.every((item) => item.kind === "scalar")) {
      return items.map((item) => [encodeForm(name), encodeForm(item.text)])
    }
  }
  return deepPairs(name, shape, formWriter(), 0)
}
