import { OperationDeprecationSchema } from "./spec-schemas.ts"
import type { OperationDeprecation, OperationSpec } from "./types.ts"
import type { ValueError } from "./validation.ts"

/** Validates a deprecation whose fields have the right form. */
export function deprecationIssues({
  deprecated,
  deprecation,
}: Pick<OperationSpec, "deprecated" | "deprecation">): ValueError[] {
  if (deprecation === undefined) return []
  const issues: ValueError[] = []
  if (deprecated === false) {
    issues.push({ path: "/deprecated", message: "must not be false if there is a deprecation" })
  }
  for (const field of ["since", "sunset"] as const) {
    const text = deprecation[field]
    if (text !== undefined && !isDate(text)) {
      issues.push({
        path: `/deprecation/${field}`,
        message: `is not a valid date: ${text}`,
      })
    }
  }
  const { since, sunset } = deprecation
  if (since !== undefined && sunset !== undefined && Date.parse(sunset) < Date.parse(since)) {
    issues.push({ path: "/deprecation/sunset", message: `must not be before since (${since})` })
  }
  return issues
}

/** The valid fields of a deprecation from a document; `undefined` without any. */
export function readDeprecation(
  given: Readonly<Record<string, unknown>>,
): OperationDeprecation | undefined {
  const fields: { -readonly [TKey in keyof OperationDeprecation]: OperationDeprecation[TKey] } = {}
  const rules = OperationDeprecationSchema["properties"] as Record<string, FieldRule>
  for (const field of ["since", "sunset", "replacedBy", "link"] as const) {
    const value = given[field]
    const { pattern, maxLength = 40 } = rules[field] as FieldRule
    const isValid = typeof value === "string" && value.length <= maxLength
    if (isValid && new RegExp(pattern).test(value)) fields[field] = value
  }
  for (const { path } of deprecationIssues({ deprecation: fields })) {
    delete fields[path.slice("/deprecation/".length) as keyof OperationDeprecation]
  }
  return Object.keys(fields).length === 0 ? undefined : Object.freeze(fields)
}

interface FieldRule {
  readonly pattern: string
  readonly maxLength?: number
}

/** A deprecation without a successor that is not shown. */
export function shownDeprecation(
  deprecation: OperationDeprecation | undefined,
  isShown: (id: string) => boolean,
): OperationDeprecation | undefined {
  const { replacedBy, ...rest } = deprecation ?? {}
  return replacedBy === undefined || isShown(replacedBy) ? deprecation : rest
}

/** Describes a deprecation for callers, in one or two sentences. `replacedBy` is what they call instead. */
export function deprecationText(
  { deprecation = {} }: Pick<OperationSpec, "deprecation">,
  replacedBy: string | undefined = deprecation.replacedBy,
): string {
  const { since, sunset } = deprecation
  return [
    since === undefined ? "Deprecated." : `Deprecated since ${since}.`,
    ...(sunset === undefined ? [] : [`It may be gone after ${sunset}.`]),
    ...(replacedBy === undefined || replacedBy === "" ? [] : [`Use "${replacedBy}" instead.`]),
  ].join(" ")
}

/** Whether a date exists: `Date.parse` reads February 31 as March 3. */
function isDate(text: string): boolean {
  const day = text.slice(0, 10)
  const ms = Date.parse(day)
  return (
    Number.isFinite(Date.parse(text)) &&
    Number.isFinite(ms) &&
    new Date(ms).toISOString().startsWith(day)
  )
}
