import { isRecord } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"
import type { SchemaView } from "../../schema/read/view.ts"

/** A field to ask for. */
export interface Field {
  readonly steps: readonly string[]
  /** Its key on a command line: `body.title`. */
  readonly label: string
  readonly view: SchemaView
  readonly isRequired: boolean
  /** The only allowed value, or the default of a missing input: either needs no question. */
  readonly only?: { readonly value: unknown } | undefined
  /** Values that are offered; others are accepted, too. */
  readonly offered?: readonly string[] | undefined
}

const MAX_DEPTH = 8

/** Missing required fields of an input, including those of nested objects, in the order of the schema. */
export function missingFields(
  value: unknown,
  view: SchemaView,
  steps: readonly string[] = [],
): readonly Field[] {
  if (steps.length > MAX_DEPTH || (value !== undefined && !isRecord(value))) return []
  const names = inOrder(view)
  return names.flatMap((name): readonly Field[] => {
    const inner = value === undefined ? undefined : getOwn(value, name)
    const at = [...steps, name]
    const child = view.property(name)
    const isRequired = view.required.includes(name)
    if (inner !== undefined) return isForm(child) ? missingFields(inner, child, at) : []
    if (!isRequired) return []
    if (child.default !== undefined) return [{ ...fieldOf(at, child, true), only: child.default }]
    if (!isForm(child)) return [fieldOf(at, child, isRequired)]
    const fields = missingFields(undefined, child, at)
    return fields.length > 0 ? fields : [{ ...fieldOf(at, child, true), only: { value: {} } }]
  })
}

/** Every property of a form, including optional ones. */
export function formFields(view: SchemaView): readonly Field[] {
  return inOrder(view).map((name) =>
    fieldOf([name], view.property(name), view.required.includes(name)),
  )
}

function fieldOf(steps: readonly string[], view: SchemaView, isRequired: boolean): Field {
  const { values } = view
  const only = values?.length === 1 && isRequired ? { value: values[0] } : undefined
  return { steps, label: steps.join("."), view, isRequired, only }
}

/** Declared names, followed by required names that are not declared. */
function inOrder(view: SchemaView): readonly string[] {
  return [...new Set([...view.names, ...view.required])]
}

/** Whether a schema is an object without alternatives, which is asked for member by member. */
function isForm(view: SchemaView): boolean {
  return !view.isUnion && view.types.has("object") && view.names.length > 0
}
