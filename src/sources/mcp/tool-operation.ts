import type { TSchema } from "typebox"
import { lazyOperation, type LazyOperation, type LazyParts } from "../../core/lazy-operation.ts"
import { isRecord } from "../../internal/guards.ts"
import { reasonOf, typeName } from "../../internal/message-text.ts"
import { FromSchema } from "../../schema/from-schema.ts"
import type { OperationAnnotations, OperationType } from "../../core/types.ts"
import type { OperationHandler } from "../../core/handler.ts"
import type { ResolvedServer } from "./config.ts"
import { fingerprintOf } from "./pins.ts"
import { hiddenTextOf } from "../../mcp/hidden-text.ts"
import type { MCPHiddenText, MCPOrigin, MCPToolDefinition } from "../../mcp/model.ts"
import { operationName } from "../../mcp/names.ts"

/** The parts of a server that its operations need. */
export type OperationServer = Pick<
  ResolvedServer,
  | "name"
  | "version"
  | "trust"
  | "tools"
  | "accessControl"
  | "visibility"
  | "normalize"
  | "output"
  | "maxTotalTimeout"
>

/**
 * Creates the operation of a tool, whose handler receives the input after validation; its schemas are compiled on first use.
 *
 * It is a mutation unless a trusted server or the user says otherwise. `instructions` are those of the server at the time.
 */
export function toolOperation(
  tool: MCPToolDefinition,
  server: OperationServer,
  handler: OperationHandler,
  instructions: () => string | undefined = () => undefined,
): LazyOperation {
  return lazyOperation(new ToolParts(tool, server, handler, instructions))
}

class ToolParts implements LazyParts {
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly type: OperationType
  readonly title: string | undefined
  readonly description: string
  readonly annotations: OperationAnnotations | undefined
  readonly accessControl: LazyParts["accessControl"]
  readonly visibility: LazyParts["visibility"]
  readonly handler: OperationHandler
  readonly #tool: MCPToolDefinition
  readonly #server: OperationServer
  readonly #instructions: () => string | undefined
  #input: MappedSchema | undefined
  #output: MappedSchema | undefined
  #meta: Readonly<Record<string, unknown>> | undefined

  constructor(
    tool: MCPToolDefinition,
    server: OperationServer,
    handler: OperationHandler,
    instructions: () => string | undefined,
  ) {
    const { name, version, trust, visibility } = server
    const own = server.tools.get(tool.name)
    const reads = trust && tool.annotations?.readOnlyHint === true
    this.#tool = tool
    this.#server = server
    this.#instructions = instructions
    this.name = operationName(tool.name)
    this.namespace = name
    this.version = version
    this.type = own?.type ?? (reads ? "query" : "mutation")
    this.title = tool.title ?? tool.annotations?.title
    this.description =
      tool.description || this.title || `Tool "${tool.name}" of the MCP server "${name}".`
    this.annotations = annotationsOf(tool, this.type, trust)
    this.accessControl = own?.accessControl ?? server.accessControl
    this.visibility = visibility
    this.handler = handler
  }

  get policy(): LazyParts["policy"] {
    const { normalize, output, maxTotalTimeout, trust } = this.#server
    // The server applies defaults itself, and its timeout applies instead of the registry's.
    return {
      ...{ normalize, output, timeout: maxTotalTimeout, defaults: "leave", imported: true },
      claims: !trust,
    }
  }

  get instructions(): string | undefined {
    return this.#server.trust ? this.#instructions() : undefined
  }

  get inputNames(): readonly string[] {
    const { inputSchema } = this.#tool
    const properties = isRecord(inputSchema) ? inputSchema["properties"] : undefined
    return isRecord(properties) ? Object.keys(properties) : []
  }

  get inputSchema(): TSchema {
    return this.input.schema
  }

  get outputSchema(): TSchema {
    return this.result.schema
  }

  get _meta(): Readonly<Record<string, unknown>> {
    return (this.#meta ??= Object.freeze({
      ...this.#tool._meta,
      mcp: Object.freeze(new ToolOrigin(this, this.#tool)),
    }))
  }

  get input(): MappedSchema {
    return (this.#input ??= inputSchemaOf(this.#tool.inputSchema))
  }

  get result(): MappedSchema {
    return (this.#output ??= outputSchemaOf(this.#tool.outputSchema))
  }
}

/** The origin of a tool. Expensive properties are computed on first use. */
class ToolOrigin implements MCPOrigin {
  readonly server: string
  readonly kind = "tool"
  readonly tool: MCPToolDefinition
  declare readonly fingerprint: string
  declare readonly hiddenText?: readonly MCPHiddenText[]
  declare readonly diagnostics?: readonly string[]

  constructor(parts: ToolParts, tool: MCPToolDefinition) {
    this.server = parts.namespace
    this.tool = tool
    keepFirst(this, "fingerprint", () => fingerprintOf(tool))
    keepFirst(this, "hiddenText", () => orNothing(hiddenTextOf(tool)))
    keepFirst(this, "diagnostics", () =>
      orNothing([...parts.input.diagnostics, ...parts.result.diagnostics]),
    )
  }
}

/** Defines an own property, so that copies have it, whose value is computed once. */
function keepFirst(target: object, key: string, make: () => unknown): void {
  let kept: { readonly value: unknown } | undefined
  Object.defineProperty(target, key, {
    enumerable: true,
    get: () => (kept ??= { value: make() }).value,
  })
}

function orNothing<TItem>(list: readonly TItem[]): readonly TItem[] | undefined {
  return list.length > 0 ? Object.freeze([...list]) : undefined
}

/** Hints for agents and user interfaces, as the server gives them. */
function annotationsOf(
  { annotations }: MCPToolDefinition,
  type: OperationType,
  isTrusted: boolean,
): OperationAnnotations | undefined {
  if (annotations === undefined) return undefined
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  // Repeating a call depends on it, so an untrusted server must not decide it. For queries the hint has no
  // meaning.
  const keepsIdempotent = type !== "query" && (isTrusted || idempotentHint === false)
  const mapped = {
    ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
    ...(destructiveHint !== undefined && { destructive: destructiveHint }),
    ...(idempotentHint !== undefined && keepsIdempotent && { idempotent: idempotentHint }),
    ...(openWorldHint !== undefined && { openWorld: openWorldHint }),
  }
  return Object.keys(mapped).length > 0 ? Object.freeze(mapped) : undefined
}

/** A mapped schema, and the parts of its source that are not checked. */
interface MappedSchema {
  readonly schema: TSchema
  readonly diagnostics: readonly string[]
}

const ANY_OBJECT = FromSchema({ type: "object" })
const ANYTHING = FromSchema({})

/**
 * Keywords that can refuse a value because a subschema accepts it. With a subschema left open they would
 * refuse valid values.
 */
const INVERTING: ReadonlySet<string> = new Set([
  "not",
  "oneOf",
  "if",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
])

/** Maps the schema of a tool's input; the result always describes an object. */
function inputSchemaOf(source: unknown): MappedSchema {
  if (source === undefined) return open(ANY_OBJECT, "inputSchema is missing")
  if (!isRecord(source)) {
    return open(ANY_OBJECT, `inputSchema must be a schema of an object, got ${typeName(source)}`)
  }
  const type = Object.hasOwn(source, "type") ? source["type"] : undefined
  if (type === undefined) {
    const mapped = mapSchema({ ...source, type: "object" }, ANY_OBJECT, "inputSchema")
    return {
      ...mapped,
      diagnostics: ['inputSchema has no type; "object" is assumed', ...mapped.diagnostics],
    }
  }
  if (type === "object") return mapSchema(source, ANY_OBJECT, "inputSchema")
  return open(ANY_OBJECT, "inputSchema does not describe an object")
}

/** Maps the schema of a tool's output; accepts everything if there is none. */
function outputSchemaOf(source: unknown): MappedSchema {
  if (source === undefined) return { schema: ANYTHING, diagnostics: [] }
  return mapSchema(source, ANYTHING, "outputSchema")
}

function mapSchema(source: unknown, otherwise: TSchema, side: string): MappedSchema {
  const diagnostics: string[] = []
  let schema: TSchema
  try {
    schema = FromSchema(source, {
      onDiagnostic: ({ path, message }) => {
        if (diagnostics.length < 20) diagnostics.push(`${side}${path}: ${message}`)
      },
    })
  } catch (thrown) {
    return open(otherwise, `${side}: ${reasonOf(thrown)}`)
  }
  if (diagnostics.length === 0 || !inverts(source, new Set())) return { schema, diagnostics }
  return {
    schema: otherwise,
    diagnostics: [
      ...diagnostics,
      `${side} is not checked at all: with parts of it left open, the rest could refuse valid values.`,
    ],
  }
}

function open(schema: TSchema, diagnostic: string): MappedSchema {
  return { schema, diagnostics: [diagnostic.endsWith(".") ? diagnostic : `${diagnostic}.`] }
}

/** Whether a schema contains such a keyword; properties of that name count too, which does no harm. */
function inverts(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false
  seen.add(value)
  return Object.entries(value).some(
    ([key, item]) => (!Array.isArray(value) && INVERTING.has(key)) || inverts(item, seen),
  )
}
