import { parseMediaType } from "../../../http-client/media-type.ts"
import { numberIn } from "../../../internal/number-text.ts"
import { objectAt, type Place } from "../document.ts"
import type { Response } from "./responses.ts"

const SCALARS: ReadonlySet<unknown> = new Set(["integer", "number", "boolean", "null"])

/** Whether a content type is plain text, in which scalars are written literally. */
export function isPlainText(type: string): boolean {
  return /^(?:text\/plain|plain\/text)$/.test(parseMediaType(type)?.essence ?? "")
}

/** The scalar types of a schema that allows nothing else; none for any other schema. */
export function scalarTypesOf(schema: Place | undefined): readonly string[] {
  const place = objectAt(schema)
  if (place === undefined) return []
  const { type, nullable } = place.value
  const types: unknown[] = Array.isArray(type) ? type : [type]
  if (!types.every((one) => SCALARS.has(one))) return []
  return [...(types as string[]), ...(nullable === true ? ["null"] : [])]
}

/** The scalar types of a success with this status and content type; empty for other schemas. */
export function scalarTypes(
  success: readonly Response[],
  status: number,
  contentType: string,
): readonly string[] {
  const codes = [`${status}`, `${Math.floor(status / 100)}XX`, "DEFAULT"]
  const response = codes
    .map((code) => success.find((one) => one.code.toUpperCase() === code))
    .find((one) => one !== undefined)
  const essence = parseMediaType(contentType)?.essence
  const media =
    response?.media.find(({ type }) => parseMediaType(type)?.essence === essence) ??
    response?.media.find(({ type }) => isPlainText(type)) ??
    response?.media[0]
  return scalarTypesOf(media?.schema)
}

/** Parses a text as one of these types if that is lossless; otherwise returns the text. */
export function readScalar(text: string, types: readonly string[]): unknown {
  if (types.length === 0) return text
  const written = text.trim()
  if (types.includes("null") && written === "null") return null
  if (types.includes("boolean") && /^(?:true|false)$/i.test(written)) {
    return written.toLowerCase() === "true"
  }
  if (!types.includes("number") && !types.includes("integer")) return text
  const value = numberIn(written)
  return types.includes("number") || Number.isSafeInteger(value) ? (value ?? text) : text
}
