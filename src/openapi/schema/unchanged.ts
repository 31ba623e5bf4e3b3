import { isPlainRecord } from "../../schema/json.ts"
import { TYPES } from "./convert.ts"
import { isNumber } from "./lower.ts"

type Raw = Readonly<Record<string, unknown>>

/**
 * Whether a schema is so simple that a walk would give it back as it is: a type and a few words about it.
 *
 * Most parameters are like that. What is not sure is walked.
 */
export function isUnchanged(raw: unknown, depth = 0): raw is Raw {
  if (!isPlainRecord(raw) || depth > 4) return false
  for (const keyword in raw) {
    const value = raw[keyword]
    switch (keyword) {
      case "type":
        if (typeof value !== "string" || !TYPES.has(value)) return false
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
        if (!Array.isArray(value) || value.length === 0 || value.some(isObject)) return false
        break
      case "items":
        if (!isUnchanged(value, depth + 1)) return false
        break
      default:
        return false
    }
  }
  return true
}

function isObject(value: unknown): boolean {
  return typeof value === "object"
}
