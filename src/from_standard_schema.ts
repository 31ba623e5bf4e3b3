import type { TSchema } from "typebox"
import { FromSchema } from "./from_schema.ts"
import { jsonSchemaOf } from "./schema/standard.ts"
/** Placeholder until the entry is written. */
export function fromStandardSchema(schema: unknown): TSchema {
  return FromSchema(jsonSchemaOf(schema, "input"))
}
