import { isRecord, isString } from "../../../internal/guards.ts"
import { JSON_TYPES } from "../../../schema/json.ts"
import { isNumber } from "./lower.ts"
import type { Raw } from "../document.ts"

/** Maximum number of parts to check; a larger schema is walked, which has its own limits. */
const MAX_PARTS = 1000
const MAX_DEPTH = 16

let left = 0

/**
 * Whether a schema is so simple that converting it would change nothing.
 *
 * True for most parameters and many bodies. In doubt a schema is converted. If properties may be hidden, schemas
 * with properties are not simple.
 */
export function isUnchanged(raw: unknown, hidesProperties: boolean): raw is Raw {
  left = MAX_PARTS
  return isPlain(raw, hidesProperties, 0)
}

function isPlain(raw: unknown, hides: boolean, depth: number): raw is Raw {
  if (!isRecord(raw) || depth > MAX_DEPTH || --left < 0) return false
  for (const keyword in raw) {
    const value = raw[keyword]
    switch (keyword) {
      case "type":
        if (typeof value !== "string" || !JSON_TYPES.has(value)) return false
        break
      case "description":
      case "title":
        if (typeof value !== "string") return false
        break
      case "uniqueItems":
        if (typeof value !== "boolean") return false
        break
      case "format":
        if (typeof value !== "string" || value === "byte" || value === "binary") return false
        break
      case "maxLength":
      case "minLength":
        if (!Number.isInteger(value) || (value as number) < 0) return false
        break
      case "minimum":
      case "maximum":
        if (!isNumber(value)) return false
        break
      case "default":
        if (typeof value === "object") return false
        break
      case "enum":
        if (!Array.isArray(value) || value.length === 0 || value.some(isObjectOrNull)) return false
        break
      case "items":
        if (!isPlain(value, hides, depth + 1)) return false
        break
      case "properties":
        if (hides || !isRecord(value)) return false
        for (const name in value) if (!isPlain(value[name], hides, depth + 1)) return false
        break
      case "additionalProperties":
        if (typeof value !== "boolean" && !isPlain(value, hides, depth + 1)) return false
        break
      case "anyOf":
        if (!Array.isArray(value) || value.length === 0) return false
        for (let index = 0; index < value.length; index++) {
          if (!isPlain(value[index], hides, depth + 1)) return false
        }
        break
      case "required":
        if (!Array.isArray(value) || value.length === 0 || !value.every(isString)) return false
        break
      default:
        // Small extensions are kept.
        if (!keyword.startsWith("x-") || keyword === "x-nullable" || isObjectOrNull(value))
          return false
    }
  }
  return true
}

function isObjectOrNull(value: unknown): boolean {
  return typeof value === "object"
}
