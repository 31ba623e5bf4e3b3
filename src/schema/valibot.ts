import { isString } from "../internal/guards.ts"
import { NO_VALUE } from "./json.ts"
import { FILE, isFileClass, isNothing } from "./vendor-types.ts"

/** The optional package that describes Valibot schemas, which cannot do it themselves. */
export const VALIBOT_CONVERTER = "@valibot/to-json-schema"

type Wrap = (schema: unknown) => { readonly "~standard": unknown }

/** Its function, from the first use on; `null` where it cannot be loaded. */
let loaded: Wrap | null | undefined

/**
 * The `~standard` of a raw Valibot schema, with a JSON Schema form; `undefined` if the package is missing, or if the
 * platform cannot load one at once, as browsers. There users wrap a schema themselves.
 */
export function describeValibot(schema: unknown): unknown {
  if (loaded === undefined) loaded = loadWrap() ?? null
  return loaded?.(schema)["~standard"]
}

function loadWrap(): Wrap | undefined {
  const { process: host } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
  }
  try {
    const module = host?.getBuiltinModule?.("module") as
      | { createRequire: (from: string) => (name: string) => { toStandardJsonSchema: Wrap } }
      | undefined
    return module?.createRequire(import.meta.url)(VALIBOT_CONVERTER).toStandardJsonSchema
  } catch {
    return undefined
  }
}

/** An action of a Valibot pipe, and the schema of the steps before it. */
interface Step {
  readonly valibotAction: {
    readonly kind: string
    readonly type: string
    readonly requirement?: unknown
  }
  readonly jsonSchema: Json
  /** Why the action has no JSON Schema form. */
  readonly errors?: readonly string[] | null | undefined
}

/** A Valibot schema, and what was made of it. */
interface Whole {
  readonly valibotSchema: { readonly type: string; readonly class?: unknown }
  readonly jsonSchema: Json
}

type Json = { readonly [keyword: string]: unknown; readonly [BEFORE]?: Json }

/** What is known of an input before its first transformation. */
const BEFORE: unique symbol = Symbol("before")

/** Transformations that leave the value as it is. */
const KEEPING: ReadonlySet<string> = new Set(["brand", "flavor", "readonly", "guard"])

/** The types of the results of transformations, where their names imply one. */
const RESULTS: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(
    ["trim", "trim_start", "trim_end", "normalize", "to_lower_case", "to_upper_case"]
      .concat("to_camel_case", "to_kebab_case", "to_pascal_case", "to_snake_case", "to_string")
      .concat("stringify_json")
      .map((name) => [name, "string"]),
  ),
  to_number: "number",
  to_boolean: "boolean",
  parse_boolean: "boolean",
}

/**
 * The options of the package for one side. Valibot itself checks what JSON Schema cannot express, such as `v.check`:
 * that is left out, as other libraries leave out theirs.
 */
export function valibotOptions(side: "input" | "output"): object {
  return {
    overrideAction: (step: Step) => converted(step, side),
    overrideSchema: ({ valibotSchema: { type, class: of }, jsonSchema }: Whole) => {
      if (type === "file" || type === "blob" || isFileClass(of)) return { ...jsonSchema, ...FILE }
      if (isNothing(type)) return { ...jsonSchema, ...NO_VALUE }
      // Its keys are described, whatever their schema is.
      return type === "record" ? jsonSchema : null
    },
  }
}

function converted({ valibotAction: action, jsonSchema, errors }: Step, side: string): Json | null {
  const { kind, type, requirement } = action
  const before = jsonSchema[BEFORE]
  // Steps after a transformation say nothing about the input.
  if (before !== undefined) return before
  if (type === "mime_type" && Array.isArray(requirement) && requirement.length === 1) {
    return { ...jsonSchema, contentMediaType: requirement[0] as unknown }
  }
  if (kind !== "transformation" || KEEPING.has(type)) {
    // A pattern without its flags would be another one.
    return errors ? { ...jsonSchema, ...(type === "regex" && { pattern: undefined }) } : null
  }
  if (side === "input") return withBefore(jsonSchema)
  const result = Object.hasOwn(RESULTS, type) ? RESULTS[type] : undefined
  return result === undefined ? null : { ...wordsOf(jsonSchema), type: result }
}

function withBefore(jsonSchema: Json): Json {
  const before = { ...jsonSchema }
  return Object.assign(before, { [BEFORE]: before })
}

function wordsOf({ title, description }: Json): Json {
  return { ...(isString(title) && { title }), ...(isString(description) && { description }) }
}
