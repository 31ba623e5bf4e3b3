import { memo, useLayoutEffect, useMemo, useRef } from "react"
import type { ReactNode } from "react"
import { isRecord } from "../../../../src/internal/guards.ts"
import { pointerTokens, setOwn } from "../../../../src/schema/json.ts"
import type { Field } from "../schema/field.ts"
import type { InputIssue } from "../schema/issues.ts"
import { own } from "../schema/json.ts"
import { groupBy } from "../../ui/group-by.ts"
import { FieldView, FormContext } from "./FieldView.tsx"
import { fieldId } from "./ids.ts"

/** A form for an input. What it shows is `value`. A view around it may be drawn several times a second. */
export const SchemaForm = memo(function SchemaForm({
  field,
  value,
  issues,
  idPrefix,
  onChange,
}: {
  readonly field: Field
  readonly value: unknown
  /** The issues that are displayed; none in a form that has not been edited yet. */
  readonly issues: readonly InputIssue[]
  readonly idPrefix: string
  readonly onChange: (value: unknown) => void
}): ReactNode {
  // Two changes may come before the form is drawn again, and a file is read later.
  const latest = useRef(value)
  useLayoutEffect(() => void (latest.current = value), [value])
  const form = useMemo(() => {
    const byPointer = groupBy(issues, ({ pointer }) => pointer)
    return {
      idOf: (pointer: string) => fieldId(idPrefix, pointerTokens(pointer) ?? []),
      errorsAt: (pointer: string) => byPointer.get(pointer)?.map(({ message }) => message) ?? [],
      hasErrors: (pointer: string) =>
        issues.some((one) => `${one.pointer}/`.startsWith(`${pointer}/`)),
      change(pointer: string, next: unknown) {
        latest.current = withValueAt(latest.current, pointerTokens(pointer) ?? [], next)
        onChange(latest.current)
      },
    }
  }, [issues, idPrefix, onChange])
  return (
    <div className="schema-form">
      <FormContext value={form}>
        <FieldView field={field} value={value} pointer="" name="" isRequired />
      </FormContext>
    </div>
  )
})

/** A value with another one at a place. `undefined` removes a property; items of a list stay where they are. */
function withValueAt(value: unknown, [token, ...rest]: readonly string[], next: unknown): unknown {
  if (token === undefined) return next
  if (Array.isArray(value)) {
    const index = Number(token)
    return value.with(index, withValueAt(value[index], rest, next) ?? null)
  }
  const copy: Record<string, unknown> = isRecord(value) ? { ...value } : {}
  const inner = withValueAt(own(copy, token), rest, next)
  if (inner === undefined) delete copy[token]
  else setOwn(copy, token, inner)
  return copy
}
