import { setOwn } from "../json.ts"
import { copyUntil, isCopyableArray, isCopyableObject } from "./data.ts"
import type { Plan } from "./model.ts"
import type { Report } from "./report.ts"
import { isExcess } from "./shape.ts"
import type { Shape } from "./model.ts"

/** An object brought to its shape: the same one, or a copy that shares what did not change. */
export function applyToObject(
  shape: Shape,
  value: Record<string, unknown>,
  report: Report,
): Record<string, unknown> {
  const mark = report.mark
  let copy: Record<string, unknown> | undefined
  // Engines read `value[key]` fast in this loop, and only in this one.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    const before = value[key]
    const after = applyToKey(shape, key, before, report)
    if (copy === undefined) {
      if (Object.is(before, after)) continue
      if (!isCopyableObject(value)) return leave(value, report, mark)
      copy = copyUntil(value, key)
    }
    if (after !== STRIPPED) setOwn(copy, key, after)
  }
  if (shape.defaults.size === 0) return copy ?? value
  for (const [key, slot] of shape.defaults) {
    if (Object.hasOwn(value, key) || !slot.isUsable) continue
    if (copy === undefined) {
      if (!isCopyableObject(value)) return leave(value, report, mark)
      copy = copyUntil(value)
    }
    setOwn(copy, key, slot.make())
    report.note("default", key)
  }
  return copy ?? value
}

/** An array with its elements brought to their schemas. One with holes or extra keys stays as it is. */
export function applyToArray(shape: Shape, value: unknown[], report: Report): unknown[] {
  const { prefix, items } = shape
  if (prefix.length === 0 && items === undefined) return value
  const mark = report.mark
  const end = items === undefined ? Math.min(value.length, prefix.length) : value.length
  let copy: unknown[] | undefined
  for (let index = 0; index < end; index++) {
    const plan = index < prefix.length ? prefix[index] : items
    if (plan === undefined) continue
    const before = value[index]
    const after = runUnder(plan, index, before, report)
    if (Object.is(before, after)) continue
    if (copy === undefined) {
      if (!isCopyableArray(value)) return leave(value, report, mark)
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
  const mark = report.mark
  const result = plan.run(value, report)
  report.under(mark, key)
  return result
}

function leave<T>(value: T, report: Report, mark: number): T {
  report.back(mark)
  return value
}
