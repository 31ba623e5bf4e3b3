import type { TSchema, TUnsafe } from "typebox"
import { FROM_STANDARD_SCHEMA_OPTIONS, FromSchema, type FromSchemaOptions } from "./from-schema.ts"
import type { InputOf, OutputOf, StandardSchemaLike } from "./standard.ts"
import { validateOptions } from "../internal/options.ts"
import { quote } from "../internal/message-text.ts"
import { jsonSchemaOf, standardProps, type SchemaSide } from "./standard.ts"

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
