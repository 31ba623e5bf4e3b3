import { admitSchema } from "./admit.ts"
import { compileValidator, type SchemaIssue, type SchemaValidator } from "./validator.ts"
import { type JsonSchema, pointerTokens } from "./json.ts"
import { Normalizer } from "./normalize/index.ts"
import { ASSERTIONS } from "./keywords.ts"
import { jsonSchemaOf } from "./standard.ts"

/** A Standard Schema result. */
export type StandardResult<TOutput> =
  | { readonly value: TOutput; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path: readonly PropertyKey[]
      }[]
    }

/** A compiled schema. Its parts are built when they are first needed. */
export interface CompiledSchema<TValue = unknown> {
  /** The frozen JSON Schema 2020-12 that is checked. */
  readonly schema: JsonSchema
  /** Whether it accepts everything, so that there is nothing to check or normalise. */
  readonly isOpen: boolean
  check(value: unknown): value is TValue
  /** The validation errors of a value, at most `max`. Expensive: call it only after `check` returned false. */
  errors(value: unknown, max?: number): SchemaIssue[]
  /** Standard Schema, with its JSON Schema form. */
  readonly "~standard": {
    readonly version: 1
    readonly vendor: "@alkdev/operations"
    readonly validate: (value: unknown) => StandardResult<TValue>
    readonly types?: { readonly input: TValue; readonly output: TValue } | undefined
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>
      readonly output: (options: { readonly target: string }) => Record<string, unknown>
    }
  }
}

type Test = (value: unknown) => boolean

/** How far data is changed to match its schema. */
export type NormalizerKind = "strip" | "keep" | "defaults" | "convert"

const cache = new WeakMap<object, Compiled>()
const withFormats = new WeakMap<object, Compiled>()

/** The compiled form of a schema: TypeBox, JSON Schema or one with a Standard JSON Schema form. */
export function compileSchema(
  schema: unknown,
  options: { readonly formats?: boolean | undefined } = {},
): Compiled {
  const compiledSchemas = options.formats === true ? withFormats : cache
  const hit = isKey(schema) ? compiledSchemas.get(schema) : undefined
  if (hit !== undefined) return hit
  const compiled = compileJson(jsonSchemaOf(schema, "input"), options)
  if (isKey(schema)) compiledSchemas.set(schema, compiled)
  return compiled
}

/** The same for JSON Schema and TypeBox alone: pages that need no other do not load the rest. */
export function compileJson(
  schema: unknown,
  options: { readonly formats?: boolean | undefined } = {},
): Compiled {
  const compiledSchemas = options.formats === true ? withFormats : cache
  const hit = isKey(schema) ? compiledSchemas.get(schema) : undefined
  if (hit !== undefined) return hit
  const admitted = admitSchema(schema).schema
  let compiled = compiledSchemas.get(admitted)
  if (compiled === undefined) {
    compiled = new Compiled(admitted, options.formats === true)
    compiledSchemas.set(admitted, compiled)
  }
  if (isKey(schema)) compiledSchemas.set(schema, compiled)
  return compiled
}

/** Keywords that refuse nothing: formats are not asserted, and the others do nothing without an `if`. */
const IDLE: ReadonlySet<string> = new Set(["format", "then", "else"])

/** Whether a schema accepts everything. */
function isOpenSchema(schema: JsonSchema): boolean {
  return !Object.getOwnPropertyNames(schema).some(
    (keyword) =>
      (ASSERTIONS.has(keyword) && !IDLE.has(keyword)) ||
      ["$ref", "$dynamicRef", "~refine"].includes(keyword),
  )
}

export class Compiled implements CompiledSchema {
  readonly schema: JsonSchema
  readonly isOpen: boolean
  readonly #formats: boolean
  #validator: SchemaValidator | undefined
  #normalizers: Partial<Record<NormalizerKind, Normalizer>> | undefined

  constructor(schema: JsonSchema, formats: boolean) {
    this.schema = schema
    this.#formats = formats
    this.isOpen = isOpenSchema(schema) && !(formats && "format" in schema)
  }

  /** The engine's validator, for callers that keep it. */
  get validator(): SchemaValidator {
    return (this.#validator ??= compileValidator(this.schema, this.#formats))
  }

  check(value: unknown): value is unknown {
    return this.isOpen || this.validator.check(value)
  }

  errors(value: unknown, max?: number): SchemaIssue[] {
    return this.isOpen ? [] : this.validator.errors(value, max)
  }

  /**
   * Compiles a function that decides whether a value can be passed on unchanged: it matches, and there is
   * nothing to strip or fill in. It may throw if the value cannot be read, and may return false when unsure.
   */
  passes(kind: NormalizerKind | "off"): (value: unknown) => boolean {
    if (this.isOpen) return () => true
    const test = this.validator.test()
    if (kind === "off") return test
    const normalizer = this.normalizer(kind)
    return this.validator.isLarge ? probingLater(test, normalizer) : probing(test, normalizer)
  }

  /** The normaliser for this schema, of one of four kinds. */
  normalizer(kind: NormalizerKind): Normalizer {
    this.#normalizers ??= {}
    return (this.#normalizers[kind] ??= new Normalizer(this.schema, {
      strip: kind === "strip",
      defaults: kind !== "convert",
      convert: kind !== "defaults",
      check: (part) => this.#partCheck(part),
    }))
  }

  get "~standard"(): CompiledSchema["~standard"] {
    const jsonSchema = ({ target }: { readonly target: string }): Record<string, unknown> => {
      if (target !== "draft-2020-12") {
        throw new TypeError(
          `A compiled schema has one JSON Schema form, "draft-2020-12"; asked for "${target}".`,
        )
      }
      return this.schema
    }
    return {
      version: 1,
      vendor: "@alkdev/operations",
      validate: (value) => this.#standardValidate(value),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    }
  }

  #standardValidate(value: unknown): StandardResult<unknown> {
    if (!this.check(value)) {
      return {
        issues: this.errors(value).map(({ message, path }) => ({
          message,
          path: pointerTokens(path) ?? [],
        })),
      }
    }
    return { value: this.normalizer("defaults").normalize(value).value }
  }

  /** A check of a part of this schema, which returns false if the value cannot be read. */
  #partCheck(part: JsonSchema): Test {
    if (part === this.schema) return (value) => this.check(value)
    const test = this.validator.part(part)
    return (value) => {
      try {
        return test(value)
      } catch {
        return false
      }
    }
  }
}

function probing(test: Test, normalizer: Normalizer): Test {
  if (normalizer.isNoop) return test
  const probe = normalizer.probe()
  return probe === null ? () => false : (value) => test(value) && probe(value)
}

/** Number of values after which compiling the probe of a large schema pays off. */
const PROBE_DELAY = 32

/** Checks the first values without a probe, which would need all definitions of a large schema. */
function probingLater(test: Test, normalizer: Normalizer): Test {
  let seen = 0
  let passes: Test | undefined
  return (value) => {
    if (passes !== undefined) return passes(value)
    if (++seen > PROBE_DELAY) return (passes = probing(test, normalizer))(value)
    return test(value) && Object.is(normalizer.normalize(value).value, value)
  }
}

function isKey(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}
