import { isAdopted } from "./trusted-schemas.ts"
import { quote, typeName } from "../internal/message-text.ts"
import { type Budget, detachSchema } from "./detach.ts"
import type { Report, SchemaDiagnostic } from "./diagnostics.ts"
import { type Dialect, dialectOf, type Lowering, lowerSchema } from "./dialect.ts"
import { isRecord } from "../internal/guards.ts"
import { deepFreeze, isSchema, type JsonSchema } from "./json.ts"
import { admitPatterns } from "./regex/pattern.ts"
import { type SchemaNode, splitReference } from "./refs.ts"
import { resolveReferences } from "./resolve-refs.ts"
import { tagSchema } from "./typebox-kinds.ts"

export type { SchemaDiagnostic, SchemaDiagnosticCode } from "./diagnostics.ts"

/** How a schema is read. */
export interface AdmitOptions {
  /** Default: the one in `$schema`, else 2020-12. */
  dialect?: Dialect
  /** OpenAPI 3.0: follow the letter of the specification for `nullable`. Default: lenient. */
  strictNullable?: boolean
  /** Other schema documents, by absolute URI, which `$ref` may name. Nothing is ever fetched. */
  documents?: Readonly<Record<string, unknown>>
  /** Defaults: 256 levels, 500,000 nodes, patterns of 4096 characters. */
  limits?: { depth?: number; nodes?: number; patternLength?: number }
}

/** A schema as the rest of the library uses it, with diagnostics for the parts that could not be converted. */
export interface AdmittedSchema {
  /** Plain, self-contained, deeply frozen JSON Schema 2020-12. */
  readonly schema: JsonSchema
  readonly diagnostics: readonly SchemaDiagnostic[]
}

const NO_DIAGNOSTICS: readonly SchemaDiagnostic[] = Object.freeze([])

const admitted = new WeakMap<object, AdmittedSchema>()

/** Upper limit of `limits.depth`: up to this many levels the stack does not overflow, even in uncompiled code. */
const MAX_DEPTH = 500

/**
 * Turns a schema of any supported dialect into plain, frozen, self-contained JSON Schema 2020-12.
 *
 * Broken places (an unresolvable reference, a pattern that cannot run, a malformed keyword) accept
 * anything and give a diagnostic. Throws `TypeError` only for values that are not schemas. A schema that was
 * admitted before is returned unchanged.
 */
export function admitSchema(
  source: unknown,
  /** With `tagTypes`, TypeBox recognises the parts as its own types. */
  options: AdmitOptions & { readonly tagTypes?: boolean } = {},
): AdmittedSchema {
  if (typeof source === "object" && source !== null) {
    const cached = admitted.get(source)
    if (cached !== undefined) return cached
    if (isAdopted(source)) return { schema: source as JsonSchema, diagnostics: NO_DIAGNOSTICS }
  }
  if (!isSchema(source)) throw new TypeError(notASchema(source))

  const diagnostics: SchemaDiagnostic[] = []
  const report: Report = (code, path, message) => {
    diagnostics.push(Object.freeze({ code, path, message }))
  }
  const schema = new Admission(options, report).admit(source)
  if (options.tagTypes === true) tagSchema(schema)
  deepFreeze(schema)
  const result = Object.freeze({ schema, diagnostics: Object.freeze(diagnostics) })
  admitted.set(schema, result)
  return result
}

class Admission {
  readonly #options: AdmitOptions
  readonly #budget: Budget
  readonly #lowering: Lowering
  #dialect: Dialect = "2020-12"
  #documents: Map<string, unknown> | undefined

  constructor(options: AdmitOptions, report: Report) {
    const { depth = 256, nodes = 500_000, patternLength = 4096 } = options.limits ?? {}
    this.#options = options
    this.#budget = { depth: Math.min(depth, MAX_DEPTH), nodes }
    this.#lowering = {
      report,
      strictNullable: options.strictNullable ?? false,
      patterns: (schema, path) => admitPatterns(schema, path, patternLength, report),
      sourcePaths: new Map(),
      moves: new Map(),
    }
  }

  admit(source: unknown): Record<string, unknown> {
    const detached = detachSchema(source, "", this.#budget, this.#lowering.report)
    this.#dialect = this.#options.dialect ?? dialectOf(detached, "2020-12")
    const lowered = lowerSchema(detached, "", this.#dialect, this.#lowering)
    if (!isRecord(lowered)) return lowered === false ? { not: {} } : {}
    resolveReferences(lowered, {
      ...this.#lowering,
      load: (uri) => this.#load(uri),
      lower: (data, path) => asNode(lowerSchema(data, path, this.#dialect, this.#lowering)),
    })
    return lowered
  }

  #load(uri: string): SchemaNode | undefined {
    this.#documents ??= byUri(this.#options.documents ?? {})
    const source = this.#documents.get(uri)
    if (!isSchema(source)) return undefined
    const path = `${uri}#`
    const detached = detachSchema(source, path, this.#budget, this.#lowering.report)
    const dialect = dialectOf(detached, this.#dialect)
    return asNode(lowerSchema(detached, path, dialect, this.#lowering))
  }
}

/** Documents by the URI under which they were passed, and by the one they declare. */
function byUri(documents: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const indexed = new Map<string, unknown>()
  for (const [key, document] of Object.entries(documents)) {
    const { uri } = splitReference(key, key)
    indexed.set(uri, document)
  }
  for (const [key, document] of Object.entries(documents)) {
    const id = isRecord(document) ? (document["$id"] ?? document["id"]) : undefined
    if (typeof id !== "string") continue
    const { uri } = splitReference(id, key)
    if (!indexed.has(uri)) indexed.set(uri, document)
  }
  return indexed
}

function asNode(lowered: unknown): SchemaNode {
  return isSchema(lowered) ? lowered : true
}

function notASchema(source: unknown): string {
  const actual = typeof source === "object" ? typeName(source) : quote(source)
  return `A schema is a JSON Schema object, a TypeBox type, true or false; got ${actual}. Pass the schema itself, parsed.`
}
