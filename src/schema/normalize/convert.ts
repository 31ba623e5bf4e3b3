import { BOOLEAN, FRACTION, INTEGER, STRING, typeOf } from "./json-type.ts"
import type { TypeMask } from "./json-type.ts"

/**
 * Lossless conversions of a value of the wrong type to the wanted types.
 *
 * Each result converts back to the same text, number or instant. `null`, empty strings and lists are never
 * converted, and nothing is rounded.
 */
export function upcasts(value: unknown, wanted: TypeMask): unknown[] {
  switch (typeof value) {
    case "string":
      return fromText(value, wanted)
    case "number":
      // `-0` is written "0", and NaN is no JSON number at all.
      return wanted & STRING && Object.is(Number(String(value)), value) && Number.isFinite(value)
        ? [String(value)]
        : []
    case "boolean":
      return wanted & STRING ? [String(value)] : []
    case "bigint":
      return fromBigInt(value, wanted)
    case "object":
      return wanted & STRING && value instanceof Date && !Number.isNaN(value.getTime())
        ? [value.toISOString()]
        : []
    default:
      return []
  }
}

function fromText(text: string, wanted: TypeMask): unknown[] {
  if (text === "true" || text === "false") return wanted & BOOLEAN ? [text === "true"] : []
  if ((wanted & (INTEGER | FRACTION)) === 0) return []
  const number = Number(text)
  if (String(number) !== text || !Number.isFinite(number)) return []
  // Whole numbers past the safe range stand for several integers at once.
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return []
  return (wanted & typeOf(number)) === 0 ? [] : [number]
}

function fromBigInt(value: bigint, wanted: TypeMask): unknown[] {
  const results: unknown[] = []
  if (wanted & INTEGER && Number.isSafeInteger(Number(value))) results.push(Number(value))
  if (wanted & STRING) results.push(String(value))
  return results
}
