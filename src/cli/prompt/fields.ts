import { getOwn, isPlainRecord } from "../../schema/json.ts"
import type { SchemaView } from "../input/schema.ts"

/** Something to ask for. */
export interface Field {
  readonly steps: readonly string[]
  /** As it would be typed: `body.title`. */
  readonly label: string
  readonly view: SchemaView
  readonly isRequired: boolean
  /** There is only one thing it can be: nobody is asked. */
  readonly only?: { readonly value: unknown } | undefined
}

const MAX_DEPTH = 8

/** What an input must have and has not, inner objects included, in the order of the schema. */
export function missingFields(
  value: unknown,
  view: SchemaView,
  steps: readonly string[] = [],
): readonly Field[] {
  if (steps.length > MAX_DEPTH || (value !== undefined && !isPlainRecord(value))) return []
  const names = inOrder(view)
  return names.flatMap((name): readonly Field[] => {
    const inner = value === undefined ? undefined : getOwn(value, name)
    const at = [...steps, name]
    const child = view.property(name)
    const isRequired = view.required.includes(name)
    if (inner !== undefined) return isForm(child) ? missingFields(inner, child, at) : []
    if (!isRequired) return []
    if (!isForm(child)) return [fieldOf(at, child, isRequired)]
    const fields = missingFields(undefined, child, at)
    return fields.length > 0 ? fields : [{ ...fieldOf(at, child, true), only: { value: {} } }]
  })
}

/** Every property of a form, also those that may be left out. */
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

/** Declared names, and after them those that are only required. */
function inOrder(view: SchemaView): readonly string[] {
  return [...new Set([...view.names, ...view.required])]
}

/** An object of which there is one kind: it is asked for member by member. */
function isForm(view: SchemaView): boolean {
  return view.alternatives.length === 1 && view.types.has("object") && view.names.length > 0
}
