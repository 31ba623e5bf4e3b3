import type { CallOptions, Identity, ProgressUpdate } from "../core/types.ts"
import { loggerOf } from "../engine/failures.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { requireRegistry } from "../engine/served-registry.ts"
import { parseExact } from "../http-client/exact-json.ts"
import { reasonOf } from "../internal/message-text.ts"
import { IDENTITY, validateOptions, type OptionsSchema } from "../internal/options.ts"
import { JoinedSignals } from "../internal/signals.ts"
import { didYouMean } from "../internal/suggest.ts"
import { CallError } from "../core/errors.ts"
import type { MCPToolDefinition } from "../mcp/model.ts"
import type { JsonSchema } from "../schema/json.ts"
import { READ_RESULT } from "./fit-result.ts"
import { ProtocolError, type SurfaceCaller, type SurfaceMode } from "./model.ts"
import { SURFACE_OPTIONS, type SurfaceOptions } from "./options.ts"
import { outcomeOf, type ToolOutcome } from "./outcome.ts"
import { ToolSurface } from "./surface.ts"
import { errorText } from "./tool-errors.ts"

/** For whom tools are listed and called. */
export interface ToolsContext extends Pick<
  CallOptions,
  "identity" | "metadata" | "requestInput" | "signal" | "timeout"
> {
  /** Receives the progress of all calls. */
  readonly onProgress?: ((update: ProgressUpdate, call: ToolCallInfo) => void) | undefined
}

/** A running call of a tool. */
export interface ToolCallInfo {
  readonly name: string
  /** The id that the model gave to the call. */
  readonly callId: string | undefined
}

/** Options of `toTools`. */
export interface ToolsOptions
  extends Omit<SurfaceOptions, "naming" | "pageSize" | "ttlMs">, ToolsContext {
  /** `underscore`, the default: `task_create`; `raw`: tools of the one imported server keep their names. */
  readonly naming?: "underscore" | "raw" | undefined
}

const CONTEXT_OPTIONS: OptionsSchema<ToolsContext> = {
  identity: IDENTITY,
  metadata: { record: "any" },
  requestInput: "function",
  signal: "signal",
  timeout: "duration",
  onProgress: "function",
}

const { naming: _, pageSize: __, ttlMs: ___, ...SHARED_OPTIONS } = SURFACE_OPTIONS

export const TOOLS_OPTIONS: OptionsSchema<ToolsOptions> = {
  ...SHARED_OPTIONS,
  ...CONTEXT_OPTIONS,
  naming: { oneOf: ["underscore", "raw"] },
}

/** Options of one call of a tool. */
export interface ToolCallOptions {
  readonly signal?: AbortSignal | undefined
  readonly callId?: string | undefined
  /** Checks and decides the call, and does not run it; the outcome has its report. */
  readonly dryRun?: boolean | undefined
  readonly progress?: ((update: ProgressUpdate) => void) | undefined
}

const CALL_OPTIONS: OptionsSchema<ToolCallOptions> = {
  signal: "signal",
  callId: "string",
  dryRun: "boolean",
  progress: "function",
}

/** A tool as a model sees it. */
export interface ToolDefinition {
  readonly name: string
  readonly title?: string
  readonly description: string
  /** JSON Schema of the arguments: an object. */
  readonly parameters: JsonSchema
  /** The schema is in strict mode: only with `schemaProfile: "strict"`. */
  readonly strict: boolean
  /** Why a schema has no strict form. */
  readonly notes: readonly string[]
}

/** Operations as tools for models. Close it when done; the registry stays open. */
export interface Tools extends Disposable {
  /** The tools that the caller may use now, sorted by operation id. */
  readonly definitions: readonly ToolDefinition[]
  /** Whether the caller sees every operation, or the tools that search, describe and call them. */
  readonly mode: SurfaceMode
  /** How to use the tools, for the system prompt. */
  readonly instructions: string | undefined
  /**
   * Calls a tool with what the model wrote: an object, or its JSON text. Failures are outcomes that a model can read;
   * it throws only when the call is aborted.
   */
  call(name: string, args: unknown, options?: ToolCallOptions): Promise<ToolOutcome>
  /** The same tools for another caller or run; what is left out stays. */
  withContext(context: ToolsContext): Tools
  /** Notifies when the tools have changed; the names of those that are left stay. */
  onChange(listener: () => void): () => void
  close(): void
}

/** Shows operations to models as tools: with the names, schemas, results and limits of MCP serving. */
export function toTools(registry: AnyRegistry, options: ToolsOptions = {}): Tools {
  requireRegistry("toTools", registry)
  validateOptions("toTools", options, TOOLS_OPTIONS)
  const { logger = loggerOf(registry), schemaProfile = "portable" } = options
  const surface = new ToolSurface(registry, { ...options, logger, schemaProfile }, "tools")
  return new RegistryTools(surface, options, options.maxResultLength !== Infinity)
}

class RegistryTools implements Tools {
  readonly #surface: ToolSurface
  readonly #context: ToolsContext
  readonly #canReadOn: boolean

  constructor(surface: ToolSurface, context: ToolsContext, canReadOn: boolean) {
    this.#surface = surface
    this.#context = context
    this.#canReadOn = canReadOn
  }

  get mode(): SurfaceMode {
    return this.#surface.mode(this.#context.identity)
  }

  get instructions(): string | undefined {
    return this.#surface.instructions(this.#context.identity)
  }

  get definitions(): readonly ToolDefinition[] {
    const caller = this.#caller
    const listed = this.#surface.listAll(caller).filter(({ name }) => name !== READ_RESULT.name)
    // Listed from the start: a run does not list its tools again.
    if (this.#canReadOn) listed.push(READ_RESULT)
    return listed.map((tool) => definitionOf(tool, this.#surface.looseness(tool.name, caller)))
  }

  async call(name: string, args: unknown, options: ToolCallOptions = {}): Promise<ToolOutcome> {
    validateOptions("call", options, CALL_OPTIONS)
    const { metadata, requestInput, timeout, onProgress, signal: outer } = this.#context
    const { callId, progress, dryRun } = options
    const never = new AbortController().signal
    const joined = new JoinedSignals(outer ?? never, options.signal ?? never)
    const { signal } = joined
    try {
      throwIfAborted(signal)
      const result = await this.#surface.call(String(name), readArguments(name, args), {
        ...this.#caller,
        ...{ metadata, requestInput, timeout, signal, dryRun },
        progress: (update) => {
          progress?.(update)
          onProgress?.(update, { name, callId })
        },
      })
      throwIfAborted(signal)
      return outcomeOf(result)
    } catch (error) {
      throwIfAborted(signal)
      return outcomeOf(errorText(this.#readable(error, String(name)), ""))
    } finally {
      joined.release()
    }
  }

  withContext(context: ToolsContext): Tools {
    validateOptions("withContext", context, CONTEXT_OPTIONS)
    return new RegistryTools(this.#surface, { ...this.#context, ...context }, this.#canReadOn)
  }

  onChange(listener: () => void): () => void {
    let { version } = this.#surface
    return this.#surface.onChange(() => {
      if (this.#surface.version === version) return
      version = this.#surface.version
      listener()
    })
  }

  close(): void {
    this.#surface.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  get #caller(): SurfaceCaller & { readonly identity: Identity | undefined } {
    return { identity: this.#context.identity, era: "modern" }
  }

  /** Errors of the protocol have no meaning here: the only one of ours is that there is no such tool. */
  #readable(error: unknown, name: string): unknown {
    if (!(error instanceof ProtocolError)) return error
    const tools = this.#surface.listAll(this.#caller)
    if (tools.some((tool) => tool.name === name)) {
      return new CallError("EXECUTION_ERROR", error.message, { details: error.data })
    }
    const names = tools.map((tool) => tool.name)
    return new CallError(
      "OPERATION_NOT_FOUND",
      `There is no tool "${name.slice(0, 100)}".${didYouMean(name, names)} Use only the tools of the list.`,
    )
  }
}

/** Signals of ours have no such method. */
function throwIfAborted({ aborted, reason }: AbortSignal): void {
  if (aborted) throw reason
}

/** Reads arguments, which some APIs send as JSON text. Throws `VALIDATION_ERROR` for other text. */
function readArguments(name: string, args: unknown): unknown {
  if (typeof args !== "string") return args
  if (args.trim() === "") return {}
  try {
    return parseExact(args)
  } catch (error) {
    throw new CallError(
      "VALIDATION_ERROR",
      `Input for "${name}" is invalid: the arguments are not valid JSON (${reasonOf(error)}). Send them again.`,
    )
  }
}

function definitionOf(
  { name, title, description, inputSchema }: MCPToolDefinition,
  reasons: readonly string[] | undefined,
): ToolDefinition {
  return {
    name,
    ...(title !== undefined && { title }),
    // Some APIs refuse an empty one.
    description: description || title || name,
    parameters: inputSchema as JsonSchema,
    strict: reasons?.length === 0,
    notes: reasons ?? [],
  }
}
