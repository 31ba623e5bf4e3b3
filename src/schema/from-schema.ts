import type { TSchema, TUnsafe } from "typebox"
import { type OptionsSchema, validateOptions } from "../internal/options.ts"
import { admitSchema, type AdmitOptions, type SchemaDiagnostic } from "./admit.ts"
import { jsonSchemaOf, standardProps } from "./standard.ts"
import type { InputOf, OutputOf, SchemaSide, StandardSchemaLike } from "./standard.ts"
import { quote } from "../internal/message-text.ts"

/** How `FromSchema` reads a schema, and who receives diagnostics for parts that it could not convert. */
export interface FromSchemaOptions extends AdmitOptions {
  /** Default: a warning on the console. */
  onDiagnostic?: (diagnostic: SchemaDiagnostic) => void
}

export const FROM_SCHEMA_OPTIONS: OptionsSchema<FromSchemaOptions> = {
  dialect: {
    oneOf: ["2020-12", "2019-09", "draft-07", "draft-06", "draft-04", "openapi-3.0"],
  },
  strictNullable: "boolean",
  documents: { record: "any" },
  limits: { members: { depth: "count", nodes: "count", patternLength: "count" } },
  onDiagnostic: "function",
}

/** The options of `fromStandardSchema`. */
export const FROM_STANDARD_SCHEMA_OPTIONS: OptionsSchema<
  FromSchemaOptions & { readonly side?: SchemaSide }
> = {
  ...FROM_SCHEMA_OPTIONS,
  side: { oneOf: ["input", "output"] },
}

const diagnosticsOf = new WeakMap<object, readonly SchemaDiagnostic[]>()

/**
 * Converts JSON Schema (2020-12, 2019-09, draft-07, -06, -04), OpenAPI 3.0's dialect, a TypeBox type, or anything
 * with a Standard JSON Schema form, to plain, frozen, self-contained JSON Schema 2020-12.
 *
 * The result works with TypeBox's `Compile`, and its objects with `Type.Partial`, `Type.Pick`, `Value.Default` and
 * similar functions. Those drop `$defs`: a property that refers to a definition then rejects every value.
 * Parts that cannot be converted accept anything and are reported to `onDiagnostic`; see also
 * {@link schemaDiagnostics}. Throws a `TypeError` for a value that is not a schema.
 */
export function FromSchema(schema: unknown, options: FromSchemaOptions = {}): TSchema {
  validateOptions("FromSchema", options, FROM_SCHEMA_OPTIONS)
  const { onDiagnostic = warn, ...admission } = options
  const source = jsonSchemaOf(schema, "input")
  const admitted = admitSchema(source, { ...admission, tagTypes: true })
  // A schema that was admitted before has been reported already.
  if (admitted.schema !== source)
    admitted.diagnostics.forEach((diagnostic) => onDiagnostic(diagnostic))
  diagnosticsOf.set(admitted.schema, admitted.diagnostics)
  return admitted.schema
}

/** The diagnostics of a schema that `FromSchema` returned; empty for any other. */
export function schemaDiagnostics(schema: unknown): readonly SchemaDiagnostic[] {
  if (typeof schema !== "object" || schema === null) return []
  return diagnosticsOf.get(schema) ?? []
}

function warn({ path, message }: SchemaDiagnostic): void {
  globalThis.console?.warn(`Schema at ${path === "" ? "its root" : path}: ${message}`)
}

/** How `fromStandardSchema` reads a schema. */
export interface FromStandardSchemaOptions<
  TSide extends SchemaSide = SchemaSide,
> extends FromSchemaOptions {
  /** Describe the input of the schema (default), or its output after transforms. */
  side?: TSide | undefined
}

/** A schema whose `Static` is one side of a Standard Schema. */
export type FromStandard<TSchemaLike, TSide extends SchemaSide = "input"> = TUnsafe<
  TSide extends "output" ? OutputOf<TSchemaLike> : InputOf<TSchemaLike>
>

/**
 * Converts a schema of Zod 4, Valibot, ArkType, or anything with a Standard JSON Schema form, to
 * plain, frozen JSON Schema 2020-12.
 *
 * The result checks what JSON Schema can express, without transforms and checks written as functions.
 * To keep those, pass the schema itself to `defineOperation`. Throws a `TypeError` with advice for
 * types that JSON does not have, such as dates and bigints.
 */
export function fromStandardSchema<
  const TSchemaLike extends StandardSchemaLike,
  const TSide extends SchemaSide = "input",
>(
  schema: TSchemaLike,
  options: FromStandardSchemaOptions<TSide> = {},
): FromStandard<TSchemaLike, TSide> {
  validateOptions("fromStandardSchema", options, FROM_STANDARD_SCHEMA_OPTIONS)
  const { side = "input", ...admission } = options
  if (standardProps(schema) === undefined) {
    throw new TypeError(
      `fromStandardSchema(schema): a schema with "~standard" was expected, of Zod 4, Valibot or ArkType, got ${quote(schema)}. JSON Schema and TypeBox types go to FromSchema().`,
    )
  }
  const json = jsonSchemaOf(schema, side)
  return FromSchema(json, admission) satisfies TSchema as FromStandard<TSchemaLike, TSide>
}
