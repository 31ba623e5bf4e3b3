import { setOwn } from "../json.ts"
import { copyUntil, isCopyableArray, isCopyableObject } from "./data.ts"
import { BOOLEAN, FRACTION, INTEGER, STRING, type TypeMask, typeOf } from "./flatten.ts"
import type { Plan, Shape } from "./model.ts"
import { isExcess } from "./object-shape.ts"
import type { Report } from "./report.ts"

/** Applies a shape to an object; returns the same object, or a copy that shares unchanged parts. */
export function applyToObject(
  shape: Shape,
  value: Record<string, unknown>,
  report: Report,
): Record<string, unknown> {
  const start = report.position
  let copy: Record<string, unknown> | undefined
  // Engines read `value[key]` fast in this loop, and only in this one.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    const before = value[key]
    const after = applyToKey(shape, key, before, report)
    if (copy === undefined) {
      if (Object.is(before, after)) continue
      if (!isCopyableObject(value)) return leave(value, report, start)
      copy = copyUntil(value, key)
    }
    if (after !== STRIPPED) setOwn(copy, key, after)
  }
  if (shape.defaults.size === 0) return copy ?? value
  for (const [key, slot] of shape.defaults) {
    if (Object.hasOwn(value, key) || !slot.isUsable) continue
    if (copy === undefined) {
      if (!isCopyableObject(value)) return leave(value, report, start)
      copy = copyUntil(value)
    }
    setOwn(copy, key, slot.make())
    report.note("default", key)
  }
  return copy ?? value
}

/** Applies a shape to an array. One with holes or extra keys stays unchanged. */
export function applyToArray(shape: Shape, value: unknown[], report: Report): unknown[] {
  const { prefix, items } = shape
  if (prefix.length === 0 && items === undefined) return value
  const start = report.position
  const end = items === undefined ? Math.min(value.length, prefix.length) : value.length
  let copy: unknown[] | undefined
  for (let index = 0; index < end; index++) {
    const plan = index < prefix.length ? prefix[index] : items
    if (plan === undefined) continue
    const before = value[index]
    const after = runUnder(plan, index, before, report)
    if (Object.is(before, after)) continue
    if (copy === undefined) {
      if (!isCopyableArray(value)) return leave(value, report, start)
      copy = value.slice()
    }
    copy[index] = after
  }
  return copy ?? value
}

const STRIPPED = Symbol("stripped")

function applyToKey(shape: Shape, key: string, value: unknown, report: Report): unknown {
  if (value === undefined) {
    const slot = shape.defaults.get(key)
    if (slot?.isUsable === true) {
      report.note("default", key)
      return slot.make()
    }
  }
  const field = shape.fields.get(key)
  if (field !== undefined) return runUnder(field, key, value, report)
  if (isExcess(shape, key)) {
    report.note("strip", key)
    return STRIPPED
  }
  const plan = shape.extra(key)
  return plan === undefined ? value : runUnder(plan, key, value, report)
}

function runUnder(plan: Plan, key: string | number, value: unknown, report: Report): unknown {
  const start = report.position
  const result = plan.run(value, report)
  report.prefixSince(start, key)
  return result
}

function leave<T>(value: T, report: Report, start: number): T {
  report.revertTo(start)
  return value
}

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
