import { isObject, isRecord, isStrings } from "../../../internal/guards.ts"
import { JSON_TYPES } from "../../../schema/json.ts"
import type { Raw } from "../document.ts"
import { keywordRule } from "./keywords.ts"

/** Maximum number of parts to check; a larger schema is walked, which has its own limits. */
const MAX_PARTS = 1000
const MAX_DEPTH = 16

let left = 0

/**
 * Whether a schema is so simple that converting it would change nothing; in doubt it is not.
 *
 * True for most parameters and many bodies: without this, the input schemas of Stripe take three times as long. If
 * properties may be hidden, schemas with properties are not simple.
 */
export function isUnchanged(raw: unknown, hidesProperties: boolean): raw is Raw {
  left = MAX_PARTS
  return isPlain(raw, hidesProperties, 0)
}

function isPlain(raw: unknown, hides: boolean, depth: number): raw is Raw {
  if (!isRecord(raw) || depth > MAX_DEPTH || --left < 0) return false
  for (const keyword in raw) {
    if (!isKept(keyword, raw[keyword], hides, depth + 1)) return false
  }
  return true
}

function isKept(keyword: string, value: unknown, hides: boolean, depth: number): boolean {
  const rule = keywordRule(keyword)
  if (rule?.fits?.(value) === false) return false
  switch (rule?.kind) {
    case "kept":
      // It may stand for bytes.
      return keyword !== "contentMediaType"
    case "type":
      return JSON_TYPES.has(value)
    case "format":
      return value !== "byte" && value !== "binary"
    case "required":
      return isStrings(value) && value.length > 0
    case "data":
      if (keyword === "discriminator") return false
      return typeof value !== "object" || (Array.isArray(value) && !value.some(isObject))
    case "items":
    case "schema":
      return typeof value === "boolean" || isPlain(value, hides, depth)
    case "list":
      return keyword === "anyOf" && (value as unknown[]).every((one) => isPlain(one, hides, depth))
    case "properties":
      if (hides) return false
      for (const name in value as Raw) {
        if (!isPlain((value as Raw)[name], hides, depth)) return false
      }
      return true
    case undefined:
      // Small extensions are kept.
      return !isObject(value)
    default:
      return false
  }
}
