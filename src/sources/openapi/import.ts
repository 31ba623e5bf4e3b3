import { isPlainObject, isRecord } from "../../internal/guards.ts"
import { getOwn, setOwn } from "../../schema/json.ts"
import { isBytes } from "./request/text.ts"
import type { InputMode, NormalizeMode, OutputMode } from "../../core/types.ts"
import type { OperationPolicy } from "../../core/operation-settings.ts"
import type { OpenAPIDocument } from "./document.ts"
import type { HTTPServiceConfig } from "./config.ts"
import { makeUnique, nameWithin, operationName } from "./names.ts"
import { versionText } from "./operation/annotate-schema.ts"
import { OperationList, type RawOperation, type Skipped } from "./operation/list.ts"
import type { SendsHeader } from "./operation/parameter.ts"
import { ParameterReader } from "./operation/parameters.ts"
import { responseMode } from "./operation/responses.ts"
import { SchemaBuilder } from "./operation/schemas.ts"
import { readSchemes, rootServers } from "./operation/security.ts"
import { OperationSource, type ImportContext, type RequestPreparer } from "./operation/source.ts"
import { SchemaStore } from "./schema/store.ts"

/** An operation of the document, as a filter sees it. */
export interface OperationSummary {
  readonly method: string
  readonly path: string
  readonly operationId?: string | undefined
  readonly tags: readonly string[]
  readonly deprecated: boolean
}

/** Options of an import. */
export interface ImportConfig extends HTTPServiceConfig {
  /** Which operations to import; default: all. The others cost nothing. */
  readonly filter?: ((operation: OperationSummary) => boolean) | undefined
  /** Make the properties of object bodies separate inputs instead of one input `body`. */
  readonly flatten?: boolean | undefined
  /** The content type of request bodies, for operations that declare it. */
  readonly contentType?: string | undefined
  /**
   * How to normalize results: `"keep"` converts values without loss, fills in declared defaults and keeps
   * undeclared properties. Default: the registry's setting, else `"keep"`.
   */
  readonly normalize?: NormalizeMode | undefined
  /** How to treat results that do not match their schema. Default: the registry's setting, else `"warn"`. */
  readonly output?: OutputMode | undefined
  /**
   * How to treat inputs that do not match their schema: `"warn"` logs and sends them, for documents that do not
   * agree with their own API. Default: `"strict"`, which refuses them.
   */
  readonly input?: InputMode | undefined
}

/** The result of an import. */
export interface ImportResult {
  readonly sources: readonly OperationSource[]
  readonly skipped: readonly Skipped[]
  readonly filtered: number
}

/** Lists the operations of a document without reading schemas. */
export function importDocument(
  document: OpenAPIDocument,
  config: ImportConfig,
  caller: RequestPreparer,
  handlerOf: ImportContext["handlerOf"],
): ImportResult {
  const policy: OperationPolicy = {
    normalize: config.normalize,
    output: config.output,
    input: config.input,
    timeout: undefined,
    imported: true,
    // The API applies defaults itself: there is no need to send them.
    defaults: "leave",
    asData: inputAsData,
    sendsKey: config.idempotencyHeader === undefined ? undefined : true,
  }
  // Not needed for a list.
  let schemes: ImportContext["schemes"] | undefined
  let servers: ImportContext["servers"] | undefined
  let parameters: ParameterReader | undefined
  let schemas: SchemaBuilder | undefined
  const context: ImportContext = {
    document,
    get parameters() {
      return (parameters ??= new ParameterReader(document, headersOf(config)))
    },
    get schemas() {
      return (schemas ??= new SchemaBuilder(new SchemaStore(document, config.bigint === "text")))
    },
    outputs: new Map(),
    caller,
    handlerOf,
    namespace: config.namespace,
    version: versionOf(document),
    flatten: config.flatten === true,
    contentType: config.contentType,
    callPolicy: { ...policy, timeout: config.timeout },
    streamPolicy: policy,
    get schemes() {
      return (schemes ??= readSchemes(document))
    },
    get servers() {
      return (servers ??= rootServers(document))
    },
  }
  const { operations, skipped } = new OperationList(document)
  const sources: OperationSource[] = []
  let filtered = 0
  for (let index = 0; index < operations.length; index++) {
    const operation = operations[index] as RawOperation
    if (config.filter !== undefined && !config.filter(summaryOf(operation))) {
      filtered++
      continue
    }
    const answers = responseMode(operation)
    const { raw } = operation
    const name =
      nameWithin(config.namespace, raw["x-operation-id"]) ??
      operationName(raw["operationId"], operation.method, operation.path)
    const source = new OperationSource(context, operation, name, answers === "stream", undefined)
    sources.push(source)
    if (answers !== "both") continue
    sources.push(new OperationSource(context, operation, `${name}_stream`, true, source))
  }
  makeUnique(sources)
  return { sources, skipped, filtered }
}

/** Whether a configuration may send a header; a function may send any. */
function headersOf({ headers = {}, idempotencyHeader }: ImportConfig): SendsHeader {
  if (typeof headers === "function") return () => true
  const keys = Symbol.iterator in headers ? [...headers.keys()] : Object.keys(headers)
  const names = new Set([...keys, idempotencyHeader ?? ""].map((name) => name.toLowerCase()))
  return (name) => names.has(name)
}

function summaryOf({ method, path, raw }: RawOperation): OperationSummary {
  const { operationId, tags, deprecated } = raw
  return {
    method,
    path,
    ...(typeof operationId === "string" && { operationId }),
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
    deprecated: deprecated === true,
  }
}

/** The version of the document, if it is valid for operations. */
function versionOf(document: OpenAPIDocument): string {
  const info = getOwn(document.root, "info")
  return (isRecord(info) ? versionText(getOwn(info, "version")) : undefined) ?? "1.0.0"
}

const DEEPEST = 100

/**
 * Converts an input to the JSON that its schema describes: a `Date` in a parameter becomes text, a `BigInt` a
 * number, and a binary body text. The request itself is built from the original values.
 */
function inputAsData(input: unknown): unknown {
  if (!isRecord(input)) return input
  return mapped(input, (value, key) => {
    if (key !== "body") return asData(value, 0, false)
    return isBytes(value) ? "" : asData(value, 0, true)
  })
}

/** Converts BigInts and, except in a body, dates: only for parameters is their format known. */
function asData(value: unknown, depth: number, isBody: boolean): unknown {
  if (typeof value === "bigint") return Number(value)
  if (value instanceof Date && !isBody) {
    return Number.isNaN(value.getTime()) ? value : value.toISOString()
  }
  if (typeof value !== "object" || value === null || depth > DEEPEST || isBytes(value)) return value
  if (Array.isArray(value)) return value.map((item) => asData(item, depth + 1, isBody))
  return isPlainObject(value) ? mapped(value, (item) => asData(item, depth + 1, isBody)) : value
}

function mapped(
  value: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setOwn(out, key, map(value[key], key))
  return out
}
