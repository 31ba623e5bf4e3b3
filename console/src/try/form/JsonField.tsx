import type { FieldProps } from "@rjsf/utils"
import { ariaDescribedByIds } from "@rjsf/utils"
import { useState } from "react"
import type { ReactNode } from "react"
import { printJson } from "../../ui/json-text.ts"
import { readJson } from "../editor/read-json.ts"
import { sameJson } from "../schema/json.ts"

/** Any value, as JSON text. Invalid text stays as it was typed, and does not change the value. */
export function JsonField(props: FieldProps): ReactNode {
  const { fieldPathId, disabled, readonly, schema, rawErrors, required, onChange } = props
  const formData: unknown = props.formData
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>()
  const text =
    typed !== undefined && sameJson(typed.value, formData) ? typed.text : written(formData)
  const read = readJson(text)
  const change = (next: string): void => {
    const result = readJson(next)
    setTyped({ text: next, value: result.ok ? result.value : formData })
    if (result.ok) onChange(result.value, fieldPathId.path)
  }
  const [example] = Array.isArray(schema.examples) ? (schema.examples as unknown[]) : []
  return (
    <>
      <textarea
        id={fieldPathId.$id}
        className="input input-area input-code"
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        value={text}
        spellCheck={false}
        aria-label={fieldPathId.path.length === 0 ? "Input, as JSON" : undefined}
        placeholder={example === undefined ? "JSON" : `e.g. ${written(example)}`}
        disabled={disabled}
        readOnly={readonly}
        aria-invalid={!read.ok || (rawErrors?.length ?? 0) > 0 || undefined}
        aria-required={required === true || undefined}
        aria-describedby={ariaDescribedByIds(fieldPathId)}
        onChange={(event) => change(event.target.value)}
      />
      {!read.ok && <p className="field-error">This is not JSON yet. Put texts in quotes.</p>}
    </>
  )
}

function written(value: unknown): string {
  return printJson(value, 2) ?? ""
}
