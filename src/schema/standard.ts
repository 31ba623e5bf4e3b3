import type { SchemaType } from "./infer.ts"
import { quote, reasonOf } from "../internal/message-text.ts"
import { isRecord } from "../internal/guards.ts"
import { VALIBOT_CONVERTER, describeValibot, valibotOptions } from "./valibot.ts"
import {
  ARKTYPE_OPTIONS,
  convertZod,
  isOptionalResult,
  markZodType,
  withAbsence,
} from "./vendor-types.ts"

/** The side of a schema with transforms: its input or its output. */
export type SchemaSide = "input" | "output"

/** What a converter gets; every library has further options. */
interface ConversionOptions {
  readonly target: string
  readonly libraryOptions?: object
}

/** The part of Standard Schema that the library relies on. */
export interface StandardProps {
  readonly version: 1
  readonly vendor: string
  readonly validate: (value: unknown) => unknown
  readonly jsonSchema?:
    | { readonly [side in SchemaSide]: (options: ConversionOptions) => unknown }
    | undefined
}

const CURES: Readonly<Record<string, string>> = {
  zod: `Use a type that JSON has, or pass z.toJSONSchema(schema, { unrepresentable: "any" }) in its place.`,
  arktype: `Use a type that JSON has, or pass schema.toJsonSchema({ fallback: ({ base }) => base }) in its place.`,
  valibot: `Use a type that JSON has; after a transform, add the schema of its result.`,
}

const WRAPPING = `Install the optional package that gives it one: npm install ${VALIBOT_CONVERTER}. In browsers and bundles, also wrap it: toStandardJsonSchema(schema) from "${VALIBOT_CONVERTER}".`

/**
 * The `~standard` of a value; `undefined` when it has none.
 *
 * A raw Valibot schema has no JSON Schema form of its own and gets that of an optional package. Throws a `TypeError`
 * if it cannot be read.
 */
export function standardProps(value: unknown): StandardProps | undefined {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return undefined
  try {
    const props = (value as { readonly "~standard"?: unknown })["~standard"]
    if (!isRecord(props) || typeof props["validate"] !== "function") return undefined
    const standard = props as unknown as StandardProps
    if (standard.vendor === "zod" && isData(value)) return undefined
    if (standard.vendor !== "valibot" || standard.jsonSchema !== undefined) return standard
    return (describeValibot(value) as StandardProps | undefined) ?? standard
  } catch (cause) {
    throw new TypeError(`The "~standard" of this schema cannot be read: ${reasonOf(cause)}`, {
      cause,
    })
  }
}

/**
 * One side of a schema as JSON Schema; a schema without `~standard` is returned as it is.
 *
 * Throws a `TypeError` with advice if the vendor has none.
 */
export function jsonSchemaOf(schema: unknown, side: SchemaSide): unknown {
  const props = standardProps(schema)
  if (props === undefined) return schema
  const vendor = typeof props.vendor === "string" ? props.vendor : "unknown"
  let converted: { readonly json: unknown } | undefined
  try {
    if (typeof props.jsonSchema?.[side] === "function") {
      converted = { json: convertSide(props, vendor, side) }
    }
  } catch (cause) {
    throw new TypeError(unwritable(vendor, side, cause), { cause })
  }
  if (converted === undefined) {
    const cure = vendor === "valibot" ? WRAPPING : cureFor(vendor)
    throw new TypeError(`This ${vendor} schema carries no JSON Schema form. ${cure}`)
  }
  const json = plainSchema(converted.json, vendor, side)
  return isRecord(json) ? withAbsence(json, side === "output" && isOptionalResult(schema)) : json
}

/** As `jsonSchemaOf`, but types without a JSON form accept anything; `undefined` if the vendor does not support that. */
export function looseJsonSchemaOf(schema: unknown, side: SchemaSide): unknown {
  try {
    const props = standardProps(schema)
    const libraryOptions = { unrepresentable: "any", override: markZodType }
    const options = { target: "draft-2020-12", libraryOptions }
    return plainSchema(props?.jsonSchema?.[side](options), "", side)
  } catch {
    return undefined
  }
}

function convertSide({ jsonSchema }: StandardProps, vendor: string, side: SchemaSide): unknown {
  const convert = (libraryOptions?: object): unknown =>
    jsonSchema?.[side]({ target: "draft-2020-12", ...(libraryOptions && { libraryOptions }) })
  if (vendor === "zod") return convertZod(convert)
  if (vendor === "valibot") return convert(valibotOptions(side))
  return convert(vendor === "arktype" ? ARKTYPE_OPTIONS : undefined)
}

// `z.toJSONSchema()` hides the schema's own `~standard` in its result. A user who called it means the JSON
// Schema, and not the schema it came from.
function isData(value: object): boolean {
  return (
    Object.getPrototypeOf(value) === Object.prototype && !Object.keys(value).includes("~standard")
  )
}

function unwritable(vendor: string, side: SchemaSide, cause: unknown): string {
  const reason = reasonOf(cause).replace(/\.$/, "")
  return `The ${side} of this ${vendor} schema has no JSON Schema form: ${reason}. ${cureFor(vendor)}`
}

function cureFor(vendor: string): string {
  if (Object.hasOwn(CURES, vendor)) return CURES[vendor]!
  return `Pass its JSON Schema through FromSchema instead, or use a version of ${vendor} that implements Standard JSON Schema.`
}

function plainSchema(converted: unknown, vendor: string, side: SchemaSide): unknown {
  if (typeof converted === "boolean") return converted
  if (!isRecord(converted) || converted instanceof Promise) {
    const got = converted instanceof Promise ? "a promise" : quote(converted)
    throw new TypeError(
      `The ${side} of this ${vendor} schema gave ${got} where JSON Schema was expected. ${cureFor(vendor)}`,
    )
  }
  // Zod hides the schema's `~standard` in its result (see `isData`); it must not be converted again.
  return "~standard" in converted ? { ...converted } : converted
}

/** Anything that carries Standard Schema's `~standard`: Zod, Valibot, ArkType and others. */
export interface StandardSchemaLike<TInput = unknown, TOutput = TInput> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: TInput; readonly output: TOutput } | undefined
  }
}

/** The input type of a schema. */
export type InputOf<TSchemaLike> = TSchemaLike extends Typed
  ? NonNullable<TSchemaLike["~standard"]["types"]>["input"]
  : Untyped<TSchemaLike>

/** The output type of a schema: for Standard Schema after its transforms, otherwise the same. */
export type OutputOf<TSchemaLike> = TSchemaLike extends Typed
  ? NonNullable<TSchemaLike["~standard"]["types"]>["output"]
  : Untyped<TSchemaLike>

/** A schema that states its types. They are read by name: `infer` costs the compiler twice as much. */
interface Typed {
  readonly "~standard": {
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined
  }
}

type Untyped<TSchemaLike> = TSchemaLike extends { readonly "~standard": unknown }
  ? unknown
  : SchemaType<TSchemaLike>
