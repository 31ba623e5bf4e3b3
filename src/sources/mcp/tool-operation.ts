import type { TSchema } from "typebox"
import { lazyOperation, type LazyOperation, type LazyParts } from "../../core/lazy-operation.ts"
import { isRecord } from "../../internal/guards.ts"
import type { OperationAnnotations, OperationType } from "../../core/types.ts"
import type { OperationHandler } from "../../core/handler.ts"
import type { ResolvedServer } from "./config.ts"
import { fingerprintOf } from "./fingerprint.ts"
import { hiddenTextOf } from "../../mcp/hidden-text.ts"
import type { MCPHiddenText, MCPOrigin, MCPToolDefinition } from "../../mcp/model.ts"
import { operationName } from "../../mcp/names.ts"
import { inputSchemaOf, outputSchemaOf, type MappedSchema } from "./tool-schemas.ts"

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

/** Dependencies of a tool operation. */
export interface ToolOperationOptions {
  readonly server: OperationServer
  /** Receives the input after validation. */
  readonly handler: OperationHandler
}

/**
 * Creates the operation of a tool; its schemas are compiled on first use.
 *
 * It is a mutation unless a trusted server or the user says otherwise.
 */
export function toolOperation(
  tool: MCPToolDefinition,
  options: ToolOperationOptions,
): LazyOperation {
  return lazyOperation(new ToolParts(tool, options))
}

class ToolParts implements LazyParts {
  readonly name: string
  readonly type: OperationType
  readonly handler: OperationHandler
  readonly #tool: MCPToolDefinition
  readonly #server: OperationServer
  #input: MappedSchema | undefined
  #output: MappedSchema | undefined
  #meta: Readonly<Record<string, unknown>> | undefined

  constructor(tool: MCPToolDefinition, { server, handler }: ToolOperationOptions) {
    this.#tool = tool
    this.#server = server
    this.name = operationName(tool.name)
    this.handler = handler
    const reads = server.trust && tool.annotations?.readOnlyHint === true
    this.type = server.tools.get(tool.name)?.type ?? (reads ? "query" : "mutation")
  }

  get namespace(): string {
    return this.#server.name
  }

  get version(): string {
    return this.#server.version
  }

  get title(): string | undefined {
    return this.#tool.title ?? this.#tool.annotations?.title
  }

  get description(): string {
    const { description, name } = this.#tool
    return description || this.title || `Tool "${name}" of the MCP server "${this.#server.name}".`
  }

  get annotations(): OperationAnnotations | undefined {
    return annotationsOf(this.#tool, this.type, this.#server.trust)
  }

  get accessControl(): LazyParts["accessControl"] {
    return this.#server.tools.get(this.#tool.name)?.accessControl ?? this.#server.accessControl
  }

  get visibility(): LazyParts["visibility"] {
    return this.#server.visibility
  }

  get policy(): LazyParts["policy"] {
    const { normalize, output, maxTotalTimeout } = this.#server
    // The server applies defaults itself, and its timeout applies instead of the registry's.
    return { normalize, output, timeout: maxTotalTimeout, defaults: "leave", imported: true }
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
