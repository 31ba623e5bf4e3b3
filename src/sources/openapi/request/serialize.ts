import type { ParameterModel, Serialization } from "../model.ts"
import { Unwritable } from "./errors.ts"
import { asciiJson, jsonText } from "./json.ts"
import { contentKind } from "./media.ts"
import { type Pair, pairsOf, textOf, textOrJson, type Writer } from "./styles.ts"
import { encodeForm, encodeKeeping, encodeStrict, PATH_RESERVED, QUERY_RESERVED } from "./text.ts"

const STRICT: Writer = { name: encodeStrict, value: encodeStrict, delimiter: urlDelimiter }
const IN_PATH: Writer = { ...STRICT, value: (text) => encodeKeeping(text, PATH_RESERVED) }
const IN_QUERY: Writer = { ...STRICT, value: (text) => encodeKeeping(text, QUERY_RESERVED) }

/** Writes text unchanged, for headers and the parts of a multipart body. */
export const VERBATIM: Writer = { name: same, value: same, delimiter: same }

/** Writes fields of `application/x-www-form-urlencoded`. */
export function formWriter(how?: Serialization): Writer {
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
