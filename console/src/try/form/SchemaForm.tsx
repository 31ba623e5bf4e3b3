// Not from the package's root: that also brings what it tests itself with, and another validator.
import Form from "@rjsf/core/lib/components/Form.js"
import type { UiSchema } from "@rjsf/utils"
import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { withMarks, withoutMarks } from "../../ui/json-text.ts"
import type { InputCheck, InputIssue } from "../schema/issues.ts"
import { sameJson, withoutUndefined } from "../schema/json.ts"
import { JSON_FIELD, SCALAR_FIELD } from "../schema/to-form.ts"
import type { FormSchema } from "../schema/to-form.ts"
import { JsonField } from "./JsonField.tsx"
import { NumberField, ScalarField } from "./NumberField.tsx"
import { templates } from "./templates.tsx"
import { createFormValidator, toValidationData } from "./validator.ts"
import { widgets } from "./widgets.tsx"

const FIELDS = { [JSON_FIELD]: JsonField, [SCALAR_FIELD]: ScalarField, NumberField }

const UI: UiSchema = {
  "ui:globalOptions": { copyable: false },
  "ui:submitButtonOptions": { norender: true },
}

/** The form adds no values by itself: only entered values are sent. */
const DEFAULTS = {
  emptyObjectFields: "skipDefaults",
  constAsDefaults: "never",
  arrayMinItems: { populate: "never" },
} as const

/** `undefined` would make the form keep its previous value. */
const NOTHING = {}

/** A form for an input. What it shows is `value`. */
export function SchemaForm({
  form,
  check,
  value,
  issues,
  idPrefix,
  onChange,
}: {
  readonly form: FormSchema
  readonly check: InputCheck
  readonly value: unknown
  /** The issues that are displayed; none in a form that has not been edited yet. */
  readonly issues: readonly InputIssue[]
  readonly idPrefix: string
  readonly onChange: (value: unknown) => void
}): ReactNode {
  const validator = useMemo(() => createFormValidator(check), [check])
  const errors = useMemo(() => toValidationData(issues).errorSchema, [issues])
  const [raw, setRaw] = useState<unknown>(() => withMarks(value))
  const isEmpty = value === undefined && form.schema["type"] === "object"
  const formValue = isEmpty ? NOTHING : withMarks(value)
  const change = (next: unknown): void => {
    // The form's own copy knows which choice was made where nothing is filled in yet.
    setRaw(next)
    onChange(withoutMarks(withoutUndefined(next)))
  }
  return (
    <Form
      tagName="div"
      className="schema-form"
      schema={form.schema}
      uiSchema={UI}
      validator={validator}
      formData={sameJson(raw, formValue) ? raw : formValue}
      extraErrors={errors}
      idPrefix={idPrefix}
      fields={FIELDS}
      templates={templates}
      widgets={widgets}
      experimental_defaultFormStateBehavior={DEFAULTS}
      noValidate
      noHtml5Validate
      showErrorList={false}
      onChange={(event) => change(event.formData)}
    />
  )
}
