import { ErrorSchemaBuilder, toErrorList } from "@rjsf/utils"
import type { RJSFSchema, RJSFValidationError, ValidationData, ValidatorType } from "@rjsf/utils"
import { withoutMarks } from "../../ui/json-text.ts"
import { createCheck } from "../schema/issues.ts"
import type { InputCheck, InputIssue } from "../schema/issues.ts"

/** Converts issues to the form library's format: a tree of messages, and a list. */
export function toValidationData(issues: readonly InputIssue[]): ValidationData<unknown> {
  const builder = new ErrorSchemaBuilder<unknown>()
  for (const { path, message } of issues) builder.addErrors(message, [...path])
  const errorSchema = builder.ErrorSchema
  return { errorSchema, errors: toErrorList(errorSchema) }
}

/**
 * A validator for the form: the whole input is checked against the published schema, parts of it
 * (which choice matches?) against the form's own schema. Nothing is compiled or evaluated.
 */
export function createFormValidator(check: InputCheck): ValidatorType {
  const checks = new WeakMap<object, InputCheck>()
  const checkOf = (schema: RJSFSchema): InputCheck => {
    const cached = checks.get(schema)
    if (cached !== undefined) return cached
    const checkValue = createCheck(schema)
    const made: InputCheck = (value) => checkValue(withoutMarks(value))
    checks.set(schema, made)
    return made
  }
  return {
    validateFormData: (formData: unknown) => toValidationData(check(withoutMarks(formData))),
    isValid: (schema: RJSFSchema | boolean, formData: unknown) =>
      typeof schema === "boolean" ? schema : checkOf(schema)(formData).length === 0,
    rawValidation<Result>(schema: RJSFSchema, formData?: unknown) {
      const errors = checkOf(schema)(formData).map(toRaw)
      return { errors: errors as Result[] }
    },
    reset() {
      // Checks are cached weakly by their schema.
    },
  }
}

function toRaw({ keyword, message, path }: InputIssue): RJSFValidationError {
  const property = path.length === 0 ? "" : `.${path.join(".")}`
  return { name: keyword, message, property, stack: `${property} ${message}` }
}
