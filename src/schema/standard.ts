import { isPlainRecord } from "./json.ts"

/** Which side of a schema with transforms: what is given to it, or what it gives. */
export type SchemaSide = "input" | "output"

/** The part of Standard Schema that the library relies on. */
export interface StandardProps {
  readonly version: 1
  readonly vendor: string
  readonly validate: (value: unknown) => unknown
  readonly jsonSchema?:
    | { readonly [side in SchemaSide]: (options: { readonly target: string }) => unknown }
    | undefined
}

/** The `~standard` of a value; `undefined` when it has none. */
export function standardProps(value: unknown): StandardProps | undefined {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return undefined
  const props = (value as { readonly "~standard"?: unknown })["~standard"]
  if (!isPlainRecord(props) || typeof props["validate"] !== "function") return undefined
  return props as unknown as StandardProps
}

/**
 * One side of a schema as JSON Schema; a schema without `~standard` is returned as it is.
 *
 * Throws a `TypeError` with the cure when a vendor gives none.
 */
export function jsonSchemaOf(schema: unknown, side: SchemaSide): unknown {
  const props = standardProps(schema)
  if (props === undefined) return schema
  const convert = props.jsonSchema?.[side]
  if (typeof convert !== "function") throw withoutJsonSchema(props.vendor)
  try {
    return convert.call(props.jsonSchema, { target: "draft-2020-12" })
  } catch (cause) {
    throw new TypeError(
      `The ${side} of this ${props.vendor} schema has no JSON Schema form: ${(cause as Error).message}`,
      { cause },
    )
  }
}

function withoutJsonSchema(vendor: string): TypeError {
  const cure =
    vendor === "valibot"
      ? `Wrap it: toStandardJsonSchema(schema) from "@valibot/to-json-schema".`
      : `Pass its JSON Schema through FromSchema instead, or use a version of ${vendor} that implements Standard JSON Schema.`
  return new TypeError(`This ${vendor} schema carries no JSON Schema form. ${cure}`)
}
