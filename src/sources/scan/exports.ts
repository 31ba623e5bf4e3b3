import { isDefinedOperation, type AnyOperation } from "../../core/define.ts"
import { quote, reasonOf } from "../../internal/message-text.ts"
import { jsonSchemaOf, standardProps } from "../../schema/standard.ts"
import { specFields } from "../../core/spec-schemas.ts"
import {
  assertIsSchema,
  specIssues,
  toValueErrors,
  type ValueError,
} from "../../core/validation.ts"

/** An export of a module that may be an operation. */
export interface Candidate {
  /** `default`, `default[2]` or the name of the export. */
  readonly name: string
  readonly value: unknown
}

/**
 * Lists the candidates of a module: its default export or the members of it, and named exports created by
 * `defineOperation`. Each object once.
 */
export function candidatesOf(module: unknown): Candidate[] {
  if (typeof module !== "object" || module === null) return []
  const exports = module as Record<string, unknown>
  const byValue = new Map<unknown, Candidate>()
  const add = (name: string, value: unknown): void => {
    if (!byValue.has(value)) byValue.set(value, { name, value })
  }
  const main = "default" in module ? exports["default"] : undefined
  if (Array.isArray(main)) main.forEach((value, index) => add(`default[${index}]`, value))
  else if (main !== undefined) add("default", main)
  for (const [name, value] of Object.entries(exports)) {
    if (name !== "default" && isDefinedOperation(value)) add(name, value)
  }
  return [...byValue.values()]
}

/** Why a candidate is not a valid operation; `undefined` if it is one. */
export function findCandidateIssue({ name, value }: Candidate): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${describeExport(name)} must be an operation, got ${quote(value)}; create one with defineOperation(), or export helpers by name`
  }
  const issues = findOperationIssues(value as AnyOperation)
  if (issues.length === 0) return undefined
  const list = issues.map(({ path, message }) => `${path} ${message}`.trim()).join("; ")
  return `${describeExport(name)} is not a valid operation: ${list}`
}

/** `The default export` or `The export "create"`. */
export function describeExport(name: string): string {
  return name === "default" ? "the default export" : `the export "${name}"`
}

function findOperationIssues(operation: AnyOperation): ValueError[] {
  const fields = specFields(operation)
  const issues: ValueError[] = []
  for (const side of ["input", "output"] as const) {
    const field = `${side}Schema`
    if (fields[field] === undefined) continue
    const issue = findSchemaIssue(fields[field], side)
    if (issue !== undefined) issues.push({ path: `/${field}`, message: issue })
    // Already checked; a vendor's schema may be a function, which is not JSON.
    fields[field] = {}
  }
  return [...toValueErrors(specIssues(fields)), ...issues]
}

function findSchemaIssue(schema: unknown, side: "input" | "output"): string | undefined {
  try {
    // The vendor validates the input itself, even if JSON Schema cannot express the schema.
    if (side === "input" && standardProps(schema) !== undefined) return undefined
    assertIsSchema(jsonSchemaOf(schema, side), "it")
    return undefined
  } catch (cause) {
    return reasonOf(cause).replace(/^it /, "").replace(/\.$/, "")
  }
}
