import { type CallError, refusal } from "./errors.ts"
import type { OutputOf } from "../schema/standard.ts"
import { reading } from "../internal/brands.ts"
import { admitSchema } from "../schema/admit.ts"
import { compileSchema } from "../schema/compiled.ts"
import { isOfType, type JsonSchema } from "../schema/json.ts"
import type { SchemaIssue } from "../schema/validator.ts"
import { OperationSpecSchema } from "./spec-schemas.ts"

/** One validation error of a value: its place, as a JSON pointer, and what is wrong. */
export interface ValueError {
  readonly path: string
  readonly message: string
}

/** Maximum number of validation errors in a message; `details.errors` has all of them. */
const MAX_LISTED_ERRORS = 8

/** All validation errors of a value; empty if it is valid. */
export function collectErrors(schema: unknown, value: unknown): ValueError[] {
  const compiled = compileSchema(schema)
  return compiled.check(value) ? [] : toValueErrors(compiled.errors(value))
}

/** Specs that are checked before their schema is compiled, so that a program with a few operations starts sooner. */
const BEFORE_COMPILING = 100
let checkedSpecs = 0

/** The validation errors of the fields of an operation; empty if they are valid. */
export function specIssues(fields: Readonly<Record<string, unknown>>): SchemaIssue[] {
  if (checkedSpecs < BEFORE_COMPILING) {
    checkedSpecs++
    if (surelyMatches(OperationSpecSchema, fields)) return []
  }
  const compiled = compileSchema(OperationSpecSchema)
  return compiled.check(fields) ? [] : compiled.errors(fields)
}

/**
 * Returns the value if it matches its schema; throws `VALIDATION_ERROR` with `details.errors` otherwise.
 *
 * `context` says what is being checked: `Input for "task.create"`.
 */
export function validateOrThrow<const TSchemaLike>(
  schema: TSchemaLike,
  value: unknown,
  context = "The value",
): OutputOf<TSchemaLike> {
  const compiled = compileSchema(schema)
  if (!compiled.check(value)) {
    throw invalid("VALIDATION_ERROR", context, toValueErrors(compiled.errors(value)))
  }
  return value as OutputOf<TSchemaLike>
}

/** Formats validation errors, one per line after `indent`. */
export function formatValueErrors(errors: readonly ValueError[], indent = "  - "): string {
  if (!Array.isArray(errors)) {
    throw new TypeError("formatValueErrors(): errors must be an array of { path, message }.")
  }
  return reading("formatValueErrors(): errors", () =>
    errors.map((error) => `${indent}${error?.path || "(root)"}: ${error?.message}`).join("\n"),
  )
}

/** Throws a `TypeError` unless a value is a valid schema. */
export function assertIsSchema(schema: unknown, context = "schema"): void {
  let diagnostics: readonly ValueError[]
  try {
    diagnostics = admitSchema(schema).diagnostics
  } catch (cause) {
    throw new TypeError(`${context} is not a schema: ${(cause as Error).message}`, { cause })
  }
  if (diagnostics.length > 0)
    throw new TypeError(`${context} is not a valid schema: ${sentence(diagnostics)}.`)
}

/** The `CallError` for an invalid value. */
export function invalid(
  code: "VALIDATION_ERROR" | "OUTPUT_VALIDATION_ERROR",
  what: string,
  errors: readonly ValueError[],
  stamp?: { readonly operationId?: string; readonly requestId?: string },
): CallError {
  const { operationId, requestId } = stamp ?? {}
  // Written out: spreads would cost more than the rest of the error.
  return refusal(code, `${what} is invalid: ${sentence(errors)}.`, {
    details: operationId ? { operationId, errors } : { errors },
    operationId,
    requestId,
  })
}

/** Issues of the schema engine, without what only the engine needs. */
export function toValueErrors(issues: readonly ValueError[]): ValueError[] {
  return issues.map(({ path, message }) => ({ path, message }))
}

function sentence(errors: readonly ValueError[]): string {
  const listed = errors
    .slice(0, MAX_LISTED_ERRORS)
    .map(({ path, message }) => `${path} ${message}`.trim())
  if (errors.length > MAX_LISTED_ERRORS)
    listed.push(`and ${errors.length - MAX_LISTED_ERRORS} more`)
  return listed.join("; ").replace(/\.$/, "")
}

type Keywords = Readonly<Record<string, (setting: never, value: never) => boolean>>

const KEYWORDS: Keywords = {
  type: (types: string | readonly string[], value: unknown) =>
    [types].flat().some((type) => isOfType(value, type)),
  enum: (values: readonly unknown[], value: unknown) => values.includes(value),
  // Lengths count characters, and a character may have two code units: a text never has more characters than units.
  minLength: (length: number, text: string) => length <= 1 && text.length >= length,
  maxLength: (length: number, text: string) => text.length <= length,
  pattern: (pattern: string, text: string) => new RegExp(pattern, "u").test(text),
  minimum: (minimum: number, value: number) => value >= minimum,
  maximum: (maximum: number, value: number) => value <= maximum,
  items: (item: JsonSchema, list: readonly unknown[]) =>
    [...list].every((value) => matches(item, value)),
  required: (names: readonly string[], record: object) =>
    names.every((name) => Object.hasOwn(record, name)),
  dependentRequired: (names: Readonly<Record<string, string[]>>, record: object) =>
    Object.entries(names).every(
      ([name, others]) =>
        !(name in record) || others.every((other) => Object.hasOwn(record, other)),
    ),
  properties: (
    parts: Readonly<Record<string, JsonSchema>>,
    record: Readonly<Record<string, unknown>>,
  ) =>
    Object.entries(parts).every(([name, part]) => !(name in record) || matches(part, record[name])),
}

/**
 * Whether a value certainly matches one of the library's own schemas. The schema is not compiled, because compiling
 * takes longer than checking a hundred values in this way.
 *
 * Supports only the keywords of those schemas, each after a `type`. If it returns `false`, check the value with the
 * compiled schema.
 */
export function surelyMatches(schema: JsonSchema, value: unknown): boolean {
  try {
    return matches(schema, value)
  } catch {
    return false
  }
}

function matches(schema: JsonSchema, value: unknown): boolean {
  return Object.entries(schema).every(
    ([keyword, setting]) => KEYWORDS[keyword]?.(setting as never, value as never) === true,
  )
}
