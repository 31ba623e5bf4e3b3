import { frozenCopy } from "../internal/frozen.ts"
import { lazyPartsOf, lazySpec, type LazyParts } from "../core/lazy-operation.ts"
import type { AnyOperation } from "../core/define.ts"
import { CallError, ErrorCode } from "../core/errors.ts"
import { admitSchema } from "../schema/admit.ts"
import { compileSchema, type Compiled } from "../schema/compiled.ts"
import type { JsonSchema } from "../schema/json.ts"
import { jsonSchemaOf, looseJsonSchemaOf, standardProps } from "../schema/standard.ts"
import type { SchemaSide } from "../schema/standard.ts"
import type { ErrorDefinition, OperationSpec } from "../core/types.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import { specIssues, type ValueError } from "../core/validation.ts"
import { deprecationIssues } from "../core/deprecation.ts"
import { exposureIssues } from "../core/mcp-exposure.ts"
import { routeIssues } from "../core/rest-route.ts"
import { policyIssues, readPolicy } from "./operation-settings.ts"
import { hasPlatformFiles } from "../schema/vendor-types.ts"
import { reasonOf, typeName } from "../internal/message-text.ts"
import type { SchemaIssue } from "../schema/validator.ts"

/** A vendor's own check of an input. */
export type VendorValidate = (value: unknown) => unknown

/** The two schemas of an operation, ready for use. */
export interface CompiledSchemas {
  readonly input: Compiled
  readonly output: Compiled
}

/** A validated spec with its compiled schemas. */
export interface CheckedSpec {
  readonly spec: OperationSpec
  readonly schemas: CompiledSchemas
  /** The parts of an operation whose schemas are created at the first read. */
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
  "deprecation",
  "examples",
  "route",
  "mcp",
  "_meta",
] as const

/**
 * Validates a definition and copies it into frozen data.
 *
 * Throws `VALIDATION_ERROR` that names every invalid field, or a `TypeError` if the value is not a definition
 * at all.
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
  if (lazy !== undefined) return readLazy(lazy, formats)
  const issues: ValueError[] = []
  const input = readSchema(definition, "inputSchema", "input", formats, issues)
  const output = readSchema(definition, "outputSchema", "output", formats, issues)
  const errors = readErrorSchemas(definition.errorSchemas, issues)
  const fields: Record<string, unknown> = {}
  for (const field of FIELDS) {
    const value = definition[field]
    if (value !== undefined) fields[field] = value
  }
  // Schemas were validated above, and may be functions with some vendors.
  fields["inputSchema"] = input?.schema ?? {}
  fields["outputSchema"] = output?.schema ?? {}
  if (errors !== undefined) fields["errorSchemas"] = errors
  if (definition.deprecation !== undefined) fields["deprecated"] ??= true
  const invalid = specIssues(fields).map(toValueError)
  issues.push(...(invalid.length > 0 ? invalid : deprecationIssues(definition)))
  issues.push(...policyIssues(definition))
  if (input !== undefined && output !== undefined && invalid.length === 0) {
    const routes = routeIssues(definition, input, output.schema)
    issues.push(...routes, ...exposureIssues(definition, input))
  }
  if (issues.length > 0 || input === undefined || output === undefined) {
    throw invalidDefinition(definition, issues)
  }
  return {
    spec: freezeSpec(fields as unknown as OperationSpec),
    schemas: { input, output },
    lazy: undefined,
    vendor: vendorOf(definition.inputSchema, input.schema),
    policy: readPolicy(definition),
  }
}

/** Reads an adapter's own operation: valid by construction, so that no schema has to be read now. */
function readLazy(lazy: LazyParts, formats: boolean): CheckedSpec {
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
    policy: readPolicy(lazy.policy),
  }
}

function withoutPeriod(text: string): string {
  return text.replace(/\.$/, "")
}

/** The error for an invalid definition. */
export function invalidDefinition(
  definition: AnyOperation,
  issues: readonly ValueError[],
): CallError {
  const { namespace, name } = definition
  const id =
    typeof namespace === "string" && typeof name === "string" ? ` "${namespace}.${name}"` : ""
  const list = issues
    .slice(0, 8)
    .map(({ path, message }) => `${path.slice(1).replaceAll("/", ".")} ${message}`)
    .join("; ")
  return new CallError("VALIDATION_ERROR", `Operation${id} cannot be registered: ${list}.`, {
    details: { errors: issues.map(({ path, message }) => ({ path, message })) },
  })
}

// The messages for values that do not match the pattern of these fields.
const PATTERN_MESSAGES: Readonly<Record<string, string>> = {
  "/name": `must be letters, digits, "_" and "-", with dots only inside`,
  "/namespace": `must be letters, digits, "_" and "-"`,
  "/version": `must be a version such as "1.0.0"`,
  "/deprecation/since": `must be a date such as "2026-03-01", or a date-time with its zone`,
  "/deprecation/sunset": `must be a date such as "2026-03-01", or a date-time with its zone`,
  "/deprecation/replacedBy": `must be the id of an operation, such as "task.create"`,
  "/deprecation/link": "must be an http or https URL, percent-encoded",
}

// An operation without them can be registered in an object only.
const NAMES_MESSAGE =
  "is required here: add namespace and name, or let keys give them, createRegistry({ task: { create } })"

function toValueError(issue: SchemaIssue): ValueError {
  if (issue.keyword === "required" && (issue.path === "/namespace" || issue.path === "/name")) {
    return { path: issue.path, message: NAMES_MESSAGE }
  }
  const shape = issue.keyword === "pattern" ? PATTERN_MESSAGES[issue.path] : undefined
  return { path: issue.path, message: shape ?? issue.message }
}

function readSchema(
  definition: AnyOperation,
  field: "inputSchema" | "outputSchema",
  side: SchemaSide,
  formats: boolean,
  issues: ValueError[],
): Compiled | undefined {
  const source: unknown = definition[field]
  if (source === undefined) {
    issues.push({ path: `/${field}`, message: "is required; Type.Unknown() accepts anything" })
    return undefined
  }
  try {
    return admitAndCompile(jsonSchemaOrOpen(source, side), `/${field}`, formats, issues)
  } catch (cause) {
    issues.push({
      path: `/${field}`,
      message: `is not a schema: ${withoutPeriod(reasonOf(cause))}`,
    })
    return undefined
  }
}

/**
 * An input schema without a complete JSON Schema form is described as far as possible, because the vendor's own
 * check decides anyway. An output schema is the only check, and must have a JSON Schema form.
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

function admitAndCompile(
  source: unknown,
  path: string,
  formats: boolean,
  issues: ValueError[],
): Compiled {
  const admitted = admitSchema(source)
  // The diagnostics of a schema that went through FromSchema have been reported already.
  if (admitted.schema !== source) {
    for (const diagnostic of admitted.diagnostics) {
      // Such a schema still works as written, except on very long texts.
      if (diagnostic.code === "slow-pattern") continue
      issues.push({ path: path + diagnostic.path, message: withoutPeriod(diagnostic.message) })
    }
  }
  return compileSchema(admitted.schema, { formats })
}

function readErrorSchemas(
  errorSchemas: unknown,
  issues: ValueError[],
): ErrorDefinition[] | undefined {
  if (!Array.isArray(errorSchemas)) return undefined
  const seen = new Set<string>()
  return errorSchemas.map((entry: ErrorDefinition, index) => {
    const path = `/errorSchemas/${index}`
    if (typeof entry !== "object" || entry === null) return entry
    if (Object.hasOwn(ErrorCode, entry.code)) {
      issues.push({
        path: `${path}/code`,
        message: `"${entry.code}" is one of the library's own codes; choose another name`,
      })
    }
    if (seen.has(entry.code)) {
      issues.push({ path: `${path}/code`, message: `"${entry.code}" is declared twice` })
    }
    seen.add(entry.code)
    if (entry.schema === undefined) return entry
    try {
      const { schema } = admitAndCompile(
        jsonSchemaOf(entry.schema, "output"),
        `${path}/schema`,
        false,
        issues,
      )
      return { ...entry, schema }
    } catch (cause) {
      issues.push({
        path: `${path}/schema`,
        message: `is not a schema: ${withoutPeriod(reasonOf(cause))}`,
      })
      return entry
    }
  })
}

function vendorOf(schema: unknown, form: JsonSchema): VendorValidate | undefined {
  const props = standardProps(schema)
  if (props === undefined || props.vendor === "@alkdev/operations") return undefined
  if (!hasPlatformFiles(form)) return (value) => props.validate(value)
  const files = async () => await import("../core/platform-files.ts")
  return async (value) => await props.validate(await (await files()).toPlatformFiles(value))
}

/** A frozen copy, so that the validated spec cannot change later. */
function freezeSpec(spec: OperationSpec): OperationSpec {
  const { accessControl: access, annotations, tags, examples, _meta, errorSchemas, mcp } = spec
  const { deprecation, route } = spec
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
    ...(deprecation && { deprecation: Object.freeze({ ...deprecation }) }),
    ...(route && { route: Object.freeze({ ...route }) }),
    ...(mcp && { mcp: frozenCopy(mcp) as object }),
    ...(tags && { tags: Object.freeze([...tags]) }),
    ...(examples && { examples: frozenCopy(examples) as readonly unknown[] }),
    ...(_meta && { _meta: frozenCopy(_meta) as Readonly<Record<string, unknown>> }),
  })
}
