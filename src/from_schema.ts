import type { TSchema } from "typebox"
import { admitSchema, type AdmitOptions, type SchemaDiagnostic } from "./schema/admit.ts"
import { quote, reasonOf } from "./schema/describe.ts"

/** How `FromSchema` reads a schema, and who hears about the places it could not take over. */
export interface FromSchemaOptions extends AdmitOptions {
  /** Default: a warning on the console. */
  onDiagnostic?: (diagnostic: SchemaDiagnostic) => void
}

const diagnosticsOf = new WeakMap<object, readonly SchemaDiagnostic[]>()

/**
 * Takes JSON Schema (2020-12, 2019-09, draft-07, -06, -04), OpenAPI 3.0's dialect, a TypeBox type, or anything
 * with a Standard JSON Schema form, and gives plain, frozen, self-contained JSON Schema 2020-12.
 *
 * The result works with TypeBox's `Compile`. Places that could not be taken over accept anything and are told
 * to `onDiagnostic`; see also {@link schemaDiagnostics}. Throws `TypeError` for what is no schema at all.
 */
export function FromSchema(schema: unknown, options: FromSchemaOptions = {}): TSchema {
  const { onDiagnostic = warn, ...admission } = options
  const source = standardJsonSchema(schema)
  const admitted = admitSchema(source, admission)
  // One that came in admitted was reported when it was.
  if (admitted.schema !== source) admitted.diagnostics.forEach((found) => onDiagnostic(found))
  diagnosticsOf.set(admitted.schema, admitted.diagnostics)
  return admitted.schema
}

/** The diagnostics of a schema that `FromSchema` gave; empty for any other. */
export function schemaDiagnostics(schema: unknown): readonly SchemaDiagnostic[] {
  if (typeof schema !== "object" || schema === null) return []
  return diagnosticsOf.get(schema) ?? []
}

/** The JSON Schema of a Zod, Valibot or ArkType schema; anything else as it is. */
function standardJsonSchema(schema: unknown): unknown {
  const standard = standardOf(schema)
  if (standard === undefined) return schema
  const vendor = quote(standard["vendor"] ?? "unknown")
  const converter = standard["jsonSchema"] as { input?: unknown } | undefined
  if (typeof converter?.input !== "function") {
    throw new TypeError(
      `This schema of vendor ${vendor} has no JSON Schema form ("~standard.jsonSchema"). Convert it first (Valibot: toStandardJsonSchema of @valibot/to-json-schema), or pass JSON Schema.`,
    )
  }
  try {
    return converter.input({ target: "draft-2020-12" })
  } catch (thrown) {
    throw new TypeError(
      `This schema of vendor ${vendor} cannot be written as JSON Schema: ${reasonOf(thrown)}. Use types that JSON has, or pass JSON Schema.`,
      { cause: thrown },
    )
  }
}

function standardOf(schema: unknown): Record<string, unknown> | undefined {
  // ArkType's schemas are functions.
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null)
    return undefined
  try {
    const standard: unknown = (schema as Record<string, unknown>)["~standard"]
    return typeof standard === "object" && standard !== null
      ? (standard as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function warn({ path, message }: SchemaDiagnostic): void {
  globalThis.console?.warn(`Schema at ${path === "" ? "its root" : path}: ${message}`)
}
