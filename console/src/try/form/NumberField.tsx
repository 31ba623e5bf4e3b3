import type { Field, FieldProps } from "@rjsf/utils"
import { useState } from "react"
import type { ReactNode } from "react"
import { printJson, toInteger, withMarks, withoutMarks } from "../../ui/json-text.ts"

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

/** A text, or a number where what is typed is one and that is allowed. */
export function ScalarField(props: FieldProps): ReactNode {
  const { registry, onChange, schema } = props
  const formData = withoutMarks(props.formData)
  const StringField = registry.fields["StringField"] as Field
  const isText = [schema.type].flat().includes("string")
  const change: FieldProps["onChange"] = (next: unknown, ...rest) => {
    const value = typeof next === "string" ? numberOf(next) : next
    // "0049" and "1.50" are texts: as numbers they would be written in another way.
    const isSame = !isText || String(value) === next
    onChange(isSame ? withMarks(value) : next, ...rest)
  }
  const shown = typeof formData === "string" ? formData : printJson(formData ?? undefined)
  // Without its id, by which this field was chosen.
  const { $id: _id, ...rest } = schema
  const text = { ...rest, type: "string" } as const
  return <StringField {...props} schema={text} formData={shown} onChange={change} />
}
