import { idOf } from "../../../core/define.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { systemClock } from "../../../internal/clock.ts"
import { reasonOf } from "../../../internal/message-text.ts"
import { canonicalJson } from "../../../mcp/canonical.ts"
import { traceOf, type JsonObject } from "../../../mcp/model.ts"
import type { CallOptions } from "../../../core/types.ts"
import type { ResolvedServer } from "../config.ts"
import { promptOperations, resourceOperations } from "../extra-operation.ts"
import { promptEnvelope, resourceEnvelope, type AnswerOrigin } from "../result.ts"
import type { MCPConnection } from "./connection.ts"
import type { MCPList, MCPListKind, MCPRequestOptions, RequestCaller } from "./model.ts"

/** An operation, and what is needed to run it. */
interface Entry {
  readonly operation: LazyOperation
}

/** An entry, and a text that identifies its definition. */
interface Made<TEntry> {
  readonly text: string
  readonly entry: TEntry
}

/** The tools, resources or prompts of a server. */
export abstract class Section<TEntry extends Entry = Entry> {
  /** The lists that it is made from. */
  abstract readonly kinds: readonly MCPListKind[]
  operations: readonly LazyOperation[] = []
  warnings: readonly string[] = []
  protected readonly server: ResolvedServer
  protected readonly connection: MCPConnection
  #kept: ReadonlyMap<string, Made<TEntry>> = new Map()

  constructor(server: ResolvedServer, connection: MCPConnection) {
    this.server = server
    this.connection = connection
  }

  /** Fetches the lists and applies them. When it rejects, nothing has changed. */
  abstract update(): Promise<{ readonly ttlMs: number | undefined }>

  /**
   * Replaces the entries. An operation stays the same object as long as its definition stays the same, so that
   * comparing operations shows what has changed. Of two with the same id the first is used, and `onTwice`
   * receives the second.
   */
  protected replace(
    made: readonly Made<TEntry>[],
    onTwice: (entry: TEntry, id: string) => void,
  ): readonly TEntry[] {
    const kept = new Map<string, Made<TEntry>>()
    for (const one of made) {
      const id = idOf(one.entry.operation)
      const before = this.#kept.get(id)
      if (kept.has(id)) onTwice(one.entry, id)
      else kept.set(id, before?.text === one.text ? before : one)
    }
    this.#kept = kept
    const entries = Array.from(kept.values(), ({ entry }) => entry)
    this.operations = entries.map(({ operation }) => operation)
    return entries
  }
}

/**
 * The resources or prompts of a server.
 *
 * If listing them fails, the tools are not affected: the old entries stay, with a warning.
 */
abstract class ExtraSection extends Section {
  override async update(): Promise<{ readonly ttlMs: number | undefined }> {
    const { server, connection, kinds } = this
    let lists: readonly MCPList[]
    try {
      lists = await Promise.all(kinds.map((kind) => connection.list(kind)))
    } catch (error) {
      this.warnings = [`The ${kinds[0]} could not be listed: ${reasonOf(error)}`]
      server.logger.warn(`The ${kinds[0]} of an MCP server could not be listed`, {
        server: server.name,
        error,
      })
      return { ttlMs: undefined }
    }
    const warnings = lists.flatMap((list) => list.warnings)
    const items = lists.map((list) => list.items)
    const made = this.make(items, (warning) => warnings.push(warning))
    this.replace(
      made.map((operation) => ({ text: canonicalJson(operation), entry: { operation } })),
      (_, id) => warnings.push(`"${id}" exists twice; the first one is used.`),
    )
    this.warnings = warnings
    const lifetimes = lists.flatMap(({ ttlMs }) => ttlMs ?? [])
    return { ttlMs: lifetimes.length === 0 ? undefined : Math.min(...lifetimes) }
  }

  /** Makes the operations of the lists, one list per entry of `kinds`. */
  protected abstract make(
    lists: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[]

  /** Wraps the result of a request when it arrives. */
  protected async answer(
    wrap: (result: JsonObject, about: AnswerOrigin) => ResponseEnvelope,
    response: Promise<JsonObject>,
  ): Promise<ResponseEnvelope> {
    const started = systemClock.now()
    const result = await response
    const { peer } = this.connection
    const durationMs = systemClock.now() - started
    return wrap(result, { server: this.server.name, peer, durationMs })
  }
}

/** The resources of a server, and its templates of resources, as queries. */
export class ResourceSection extends ExtraSection {
  readonly kinds = ["resources", "resourceTemplates"] as const

  protected override make(
    [resources = [], templates = []]: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[] {
    return resourceOperations(resources, templates, {
      server: this.server,
      warn,
      read: (uri, context, operationId) => {
        const options = readOptions(context, operationId)
        return this.answer(resourceEnvelope, this.connection.readResource(uri, options))
      },
    })
  }
}

/** The prompts of a server as queries. */
export class PromptSection extends ExtraSection {
  readonly kinds = ["prompts"] as const

  protected override make(
    [prompts = []]: readonly (readonly unknown[])[],
    warn: (message: string) => void,
  ): readonly LazyOperation[] {
    return promptOperations(prompts, {
      server: this.server,
      warn,
      get: (name, input, context, operationId) => {
        const options = readOptions(context, operationId)
        return this.answer(promptEnvelope, this.connection.getPrompt(name, input, options))
      },
    })
  }
}

/** The parts of a call that a tool needs; a handler's context has them. */
export type ToolCallContext = Pick<
  CallOptions,
  "signal" | "deadline" | "progress" | "requestInput" | "metadata" | "identity" | "requestId"
>

/** The request options of a call that only reads: the request has no effect, so it may be repeated. */
export function readOptions(
  context: ToolCallContext,
  operationId: string | undefined,
): MCPRequestOptions {
  const { signal, deadline, progress, requestInput, metadata } = context
  const meta = traceOf(metadata)
  const caller = callerOf(context, operationId)
  return { signal, deadline, progress, requestInput, meta, caller, isRepeatable: true }
}

/** The caller of a request; its members are read only if they are needed. */
export function callerOf(
  context: Pick<ToolCallContext, "identity" | "requestId">,
  operationId: string | undefined,
): RequestCaller {
  return {
    operationId,
    get identity() {
      return context.identity
    },
    get requestId() {
      return context.requestId
    },
  }
}
