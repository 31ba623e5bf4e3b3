import type { Field, FieldProps } from "@rjsf/utils"
import { useState } from "react"
import type { ReactNode } from "react"
import { toInteger, withMarks, withoutMarks } from "../../ui/json-text.ts"

/** A number as it is typed: the library's own field would change the last digits of large integers. */
export function NumberField(props: FieldProps): ReactNode {
  const { registry, onChange } = props
  const formData = withoutMarks(props.formData)
  const StringField = registry.fields["StringField"] as Field
  const [typed, setTyped] = useState<string>()
  const change: FieldProps["onChange"] = (next: unknown, ...rest) => {
    const text = typeof next === "string" ? next : undefined
    setTyped(text)
    onChange(text === undefined ? next : withMarks(numberOf(text)), ...rest)
  }
  // "1.50" stays as it was typed while it is the same number.
  const isTyped = typed !== undefined && numberOf(typed) === formData
  const shown = typeof formData === "bigint" ? String(formData) : formData
  return <StringField {...props} formData={isTyped ? typed : shown} onChange={change} />
}

/** The number of a text; the text itself while it is none. */
function numberOf(text: string): unknown {
  if (text.trim() === "") return undefined
  if (/^-?\d+$/.test(text)) return toInteger(text)
  const number = Number(text)
  return Number.isNaN(number) ? text : number
}
