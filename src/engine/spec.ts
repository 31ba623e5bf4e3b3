import { frozenCopy } from "../internal/frozen.ts"
import { lazyPartsOf, lazySpec } from "../core/lazy-operation.ts"
import type { LazyParts } from "../core/lazy-operation.ts"
import type { AnyOperation } from "../core/define.ts"
import { CallError, ErrorCode } from "../core/errors.ts"
import { admitSchema } from "../schema/admit.ts"
import { compileSchema } from "../schema/compiled.ts"
import type { Compiled } from "../schema/compiled.ts"
import { jsonSchemaOf, looseJsonSchemaOf, standardProps } from "../schema/standard.ts"
import type { SchemaSide } from "../schema/standard.ts"
import { OperationSpecSchema } from "../core/spec-schemas.ts"
import type { ErrorDefinition, OperationPolicy, OperationSpec } from "../core/types.ts"
import type { ValueError } from "../core/validation.ts"
import { policyFaults, takePolicy } from "./policy.ts"
import { reasonOf, typeName } from "../internal/describe.ts"
import type { SchemaIssue } from "../schema/engine.ts"

/** A vendor's own check of an input. */
export type VendorValidate = (value: unknown) => unknown

/** The two schemas of an operation, ready for use. */
export interface CompiledSchemas {
  readonly input: Compiled
  readonly output: Compiled
}

/** A spec that came in and was found sound. */
export interface CheckedSpec {
  readonly spec: OperationSpec
  readonly schemas: CompiledSchemas
  /** Of an operation whose schemas are made when they are first read. */
  readonly lazy: LazyParts | undefined
  readonly vendor: VendorValidate | undefined
  readonly policy: OperationPolicy
}

const FIELDS = [
  "name",
  "namespace",
  "version",
  "type",
  "title",
  "description",
  "tags",
  "inputSchema",
  "outputSchema",
  "errorSchemas",
  "accessControl",
  "visibility",
  "annotations",
  "deprecated",
  "examples",
  "_meta",
] as const

/**
 * Checks a definition and takes what it says into frozen data of our own.
 *
 * Throws `VALIDATION_ERROR` that names every field that is wrong, or a `TypeError` when it is no
 * definition at all.
 */
export function checkDefinition(
  definition: AnyOperation,
  formats: boolean,
  what: string,
): CheckedSpec {
  if (typeof definition !== "object" || definition === null || Array.isArray(definition)) {
    throw new TypeError(
      `${what} must be an object with name, namespace, schemas and so on, got ${typeName(definition)}. Make one with defineOperation().`,
    )
  }
  const lazy = lazyPartsOf(definition)
  if (lazy !== undefined) return takeLazy(lazy, formats)
  const faults: ValueError[] = []
  const input = takeSchema(definition, "inputSchema", "input", formats, faults)
  const output = takeSchema(definition, "outputSchema", "output", formats, faults)
  const errors = takeErrors(definition.errorSchemas, faults)
  const fields: Record<string, unknown> = {}
  for (const field of FIELDS) {
    const value = definition[field]
    if (value !== undefined) fields[field] = value
  }
  // Schemas were judged above, and may be functions with some vendors.
  fields["inputSchema"] = input?.schema ?? {}
  fields["outputSchema"] = output?.schema ?? {}
  if (errors !== undefined) fields["errorSchemas"] = errors
  const compiled = compileSchema(OperationSpecSchema)
  if (!compiled.check(fields)) faults.push(...compiled.errors(fields).map(inOurWords))
  faults.push(...policyFaults(definition))
  if (faults.length > 0 || input === undefined || output === undefined) {
    throw unsound(definition, faults)
  }
  return {
    spec: freezeSpec(fields as unknown as OperationSpec),
    schemas: { input, output },
    lazy: undefined,
    vendor: vendorOf(definition.inputSchema),
    policy: takePolicy(definition),
  }
}

/** An adapter's own operation: sound by construction, so that nothing of it has to be read now. */
function takeLazy(lazy: LazyParts, formats: boolean): CheckedSpec {
  return {
    spec: lazySpec(lazy),
    schemas: {
      get input() {
        return compileSchema(lazy.inputSchema, { formats })
      },
      get output() {
        return compileSchema(lazy.outputSchema, { formats })
      },
    },
    lazy,
    vendor: undefined,
    policy: takePolicy(lazy),
  }
}

/** What was thrown, to stand inside a sentence. */
function sentence(thrown: unknown): string {
  return withoutStop(reasonOf(thrown))
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, "")
}

/** The error for a definition with faults. */
export function unsound(definition: AnyOperation, faults: readonly ValueError[]): CallError {
  const { namespace, name } = definition
  const id =
    typeof namespace === "string" && typeof name === "string" ? ` "${namespace}.${name}"` : ""
  const list = faults
    .slice(0, 8)
    .map(({ path, message }) => `${path.slice(1).replaceAll("/", ".")} ${message}`)
    .join("; ")
  return new CallError("VALIDATION_ERROR", `Operation${id} cannot be registered: ${list}.`, {
    details: { errors: faults.map(({ path, message }) => ({ path, message })) },
  })
}

// What a pattern asks for, in words.
const SHAPES: Readonly<Record<string, string>> = {
  "/name": `must be letters, digits, "_" and "-", with dots only inside`,
  "/namespace": `must be letters, digits, "_" and "-"`,
  "/version": `must be a version such as "1.0.0"`,
}

function inOurWords(issue: SchemaIssue): ValueError {
  const shape = issue.keyword === "pattern" ? SHAPES[issue.path] : undefined
  return { path: issue.path, message: shape ?? issue.message }
}

function takeSchema(
  definition: AnyOperation,
  field: "inputSchema" | "outputSchema",
  side: SchemaSide,
  formats: boolean,
  faults: ValueError[],
): Compiled | undefined {
  const source: unknown = definition[field]
  if (source === undefined) {
    faults.push({ path: `/${field}`, message: "is required; Type.Unknown() accepts anything" })
    return undefined
  }
  try {
    return soundSchema(jsonSchemaOrOpen(source, side), `/${field}`, formats, faults)
  } catch (cause) {
    faults.push({ path: `/${field}`, message: `is not a schema: ${sentence(cause)}` })
    return undefined
  }
}

/**
 * A vendor's input schema that JSON Schema cannot say is described as far as it goes: the vendor's
 * own check decides in any case. An output schema is all there is, and must be sayable.
 */
function jsonSchemaOrOpen(source: unknown, side: SchemaSide): unknown {
  if (side === "output" || standardProps(source)?.jsonSchema === undefined) {
    return jsonSchemaOf(source, side)
  }
  try {
    return jsonSchemaOf(source, side)
  } catch {
    return looseJsonSchemaOf(source, side) ?? {}
  }
}

function soundSchema(
  source: unknown,
  path: string,
  formats: boolean,
  faults: ValueError[],
): Compiled {
  const admitted = admitSchema(source)
  // A schema that went through FromSchema has had its diagnostics told to someone already.
  if (admitted.schema !== source) {
    for (const fault of admitted.diagnostics) {
      // Such a schema is checked as it is written, on all but very long texts.
      if (fault.code === "slow-pattern") continue
      faults.push({ path: path + fault.path, message: withoutStop(fault.message) })
    }
  }
  return compileSchema(admitted.schema, { formats })
}

function takeErrors(errorSchemas: unknown, faults: ValueError[]): ErrorDefinition[] | undefined {
  if (!Array.isArray(errorSchemas)) return undefined
  const seen = new Set<string>()
  return errorSchemas.map((entry: ErrorDefinition, index) => {
    const path = `/errorSchemas/${index}`
    if (typeof entry !== "object" || entry === null) return entry
    if (Object.hasOwn(ErrorCode, entry.code)) {
      faults.push({
        path: `${path}/code`,
        message: `"${entry.code}" is one of the library's own codes; choose another name`,
      })
    }
    if (seen.has(entry.code)) {
      faults.push({ path: `${path}/code`, message: `"${entry.code}" is declared twice` })
    }
    seen.add(entry.code)
    if (entry.schema === undefined) return entry
    try {
      const { schema } = soundSchema(
        jsonSchemaOf(entry.schema, "output"),
        `${path}/schema`,
        false,
        faults,
      )
      return { ...entry, schema }
    } catch (cause) {
      faults.push({
        path: `${path}/schema`,
        message: `is not a schema: ${sentence(cause)}`,
      })
      return entry
    }
  })
}

function vendorOf(schema: unknown): VendorValidate | undefined {
  const props = standardProps(schema)
  if (props === undefined || props.vendor === "@alkdev/operations") return undefined
  return (value) => props.validate(value)
}

/** A copy that nobody can change afterwards: what was checked is what holds. */
function freezeSpec(spec: OperationSpec): OperationSpec {
  const { accessControl: access, annotations, tags, examples, _meta, errorSchemas } = spec
  return Object.freeze({
    ...spec,
    accessControl: Object.freeze({
      ...access,
      requiredScopes: Object.freeze([...access.requiredScopes]),
      ...(access.requiredScopesAny && {
        requiredScopesAny: Object.freeze([...access.requiredScopesAny]),
      }),
    }),
    ...(errorSchemas && { errorSchemas: Object.freeze(errorSchemas.map((e) => Object.freeze(e))) }),
    ...(annotations && { annotations: Object.freeze({ ...annotations }) }),
    ...(tags && { tags: Object.freeze([...tags]) }),
    ...(examples && { examples: frozenCopy(examples) as readonly unknown[] }),
    ...(_meta && { _meta: frozenCopy(_meta) as Readonly<Record<string, unknown>> }),
  })
}
