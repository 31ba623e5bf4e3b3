import { isRecord } from "../../internal/guards.ts"
import { getOwn, setOwn } from "../../schema/json.ts"
import { UsageError } from "../model.ts"
import { APPEND, type Step } from "./argument.ts"
import type { SchemaView } from "../../schema/read/view.ts"

/** The place of an argument's value. */
export interface Place {
  readonly steps: readonly Step[]
  /** The schema at that place. */
  readonly view: SchemaView
  /** A name that the schema does not declare, and the names that it declares. */
  readonly unknown?: { readonly name: string; readonly declared: readonly string[] } | undefined
}

/**
 * Finds the place of a key in a schema.
 *
 * A name that only the body of a request declares goes there: `title=…` is `body.title=…`. So does one
 * that is not declared, if the body allows any. A declared name with dots needs no quotes.
 */
export function placeOf(key: string, steps: readonly Step[], root: SchemaView): Place {
  const whole = root.declared(key)
  if (whole !== undefined) return { steps: [key], view: whole }
  const [first] = steps
  const body = root.declared("body")
  if (typeof first === "string" && root.declared(first) === undefined && body !== undefined) {
    if (body.declared(key) !== undefined) return { steps: ["body", key], view: body.property(key) }
    const isThere = body.declared(first) !== undefined || (root.rest === undefined && isOpen(body))
    if (isThere) return walk(["body", ...steps], root)
  }
  return walk(steps, root)
}

/** Whether undeclared names are allowed. */
function isOpen(view: SchemaView): boolean {
  const takesObject = view.types.size === 0 || view.types.has("object")
  return takesObject && (view.names.length === 0 || view.rest !== undefined)
}

function walk(steps: readonly Step[], root: SchemaView): Place {
  let view = root
  let unknown: Place["unknown"]
  for (const step of steps) {
    if (typeof step === "string") {
      const isKnown = view.declared(step) !== undefined || view.rest !== undefined
      const { names } = view
      if (!isKnown && names.length > 0) unknown ??= { name: step, declared: names }
      view = view.property(step)
    } else view = view.item(typeof step === "number" ? step : 0)
  }
  return { steps, view, unknown }
}

/** Sets a value at its place, and creates objects and lists on the path; only own properties are followed. */
export function assign(
  target: object,
  key: string,
  steps: readonly Step[],
  value: unknown,
  onSame: (before: unknown) => unknown = () => value,
): void {
  let at = target
  steps.forEach((step, index) => {
    const next = steps[index + 1]
    const slot = slotOf(at, step, key)
    const before = getOwn(at, slot)
    if (next === undefined) {
      setOwn(at, slot, before === undefined ? value : onSame(before))
      return
    }
    if (before === undefined || before === null) {
      setOwn(at, slot, typeof next === "string" ? {} : [])
    } else if (typeof before !== "object" || before instanceof Uint8Array) {
      const path = steps.slice(0, index + 1).map((one) => String(one === APPEND ? "[]" : one))
      throw new UsageError(
        `"${key}" goes into "${path.join(".")}", which was given as ${typeof before === "string" ? "a text" : "a value"} already. Give one or the other.`,
      )
    }
    at = getOwn(at, slot) as object
  })
}

/** The property of an object or list that a step refers to. */
function slotOf(container: object, step: Step, key: string): string {
  if (!Array.isArray(container)) {
    if (step === APPEND) throw notList(key)
    return String(step)
  }
  const index = step === APPEND ? container.length : Number(step)
  if (!Number.isInteger(index) || index < 0) {
    throw new UsageError(`"${key}": "${String(step)}" is not an item of a list. Write [0] or [].`)
  }
  if (index > container.length) {
    throw new UsageError(
      `"${key}" would leave a gap: the list has ${container.length} items so far. Number them from 0, in order, or write [].`,
    )
  }
  return String(index)
}

function notList(key: string): UsageError {
  return new UsageError(`"${key}" adds to a list, and what is there is an object.`)
}

/** Merges an input over another: objects are merged, other values are replaced. */
export function mergeInputs(under: unknown, over: unknown): unknown {
  if (!isRecord(under) || !isRecord(over)) return over
  const merged: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(under)) setOwn(merged, key, value)
  for (const [key, value] of Object.entries(over)) {
    const before = getOwn(merged, key)
    setOwn(merged, key, before === undefined ? value : mergeInputs(before, value))
  }
  return merged
}
