import { idOf } from "../../../core/define.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { systemClock } from "../../../internal/clock.ts"
import { reasonOf } from "../../../internal/message-text.ts"
import { canonicalJson } from "../../../mcp/canonical.ts"
import { carrierOf, traceExchange, type CarriesTrace } from "../../../core/tracing.ts"
import type { JsonObject } from "../../../mcp/model.ts"
import type { FromClient } from "../../../core/calling-client.ts"
import type { MCPUpstream } from "../../../mcp/upstream.ts"
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

/** What distinguishes resources from prompts. */
interface ExtraKind {
  readonly method: "resources/read" | "prompts/get"
  readonly kinds: readonly MCPListKind[]
  readonly make: typeof resourceOperations
  readonly wrap: (result: JsonObject, about: AnswerOrigin) => ResponseEnvelope
  readonly request: (
    connection: MCPConnection,
    subject: string,
    input: Readonly<Record<string, string>>,
    options: MCPRequestOptions,
  ) => Promise<JsonObject>
}

/** The resources of a server, and its templates of resources. */
export const RESOURCES: ExtraKind = {
  method: "resources/read",
  kinds: ["resources", "resourceTemplates", "skills"],
  make: resourceOperations,
  wrap: resourceEnvelope,
  request: (connection, uri, _, options) => connection.readResource(uri, options),
}

export const PROMPTS: ExtraKind = {
  method: "prompts/get",
  kinds: ["prompts"],
  make: promptOperations,
  wrap: promptEnvelope,
  request: (connection, name, input, options) => connection.getPrompt(name, input, options),
}

/**
 * The resources or prompts of a server as queries.
 *
 * If listing them fails, the tools are not affected: the old entries stay, with a warning.
 */
export class ExtraSection extends Section {
  readonly kinds: readonly MCPListKind[]
  readonly #kind: ExtraKind
  readonly #upstream: MCPUpstream

  constructor(server: ResolvedServer, connection: MCPConnection, kind: ExtraKind) {
    super(server, connection)
    this.#upstream = {
      complete: (params, context) =>
        connection.complete(params, readOptions(context, context.operationId)),
      watch: (uri, listener) => connection.watch(uri, listener),
    }
    this.kinds = kind.kinds
    this.#kind = kind
  }

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
    const itemsOf = (isSkills: boolean): readonly unknown[] =>
      lists.flatMap((list, index) => ((kinds[index] === "skills") === isSkills ? list.items : []))
    const made = this.#kind.make(itemsOf(false), {
      server,
      skills: itemsOf(true),
      warn: (warning) => warnings.push(warning),
      upstream: this.#upstream,
      request: (...request) => this.#request(...request),
    })
    this.replace(
      made.map((operation) => ({ text: canonicalJson(operation), entry: { operation } })),
      (_, id) => warnings.push(`"${id}" exists twice; the first one is used.`),
    )
    this.warnings = warnings
    const lifetimes = lists.flatMap(({ ttlMs }) => ttlMs ?? [])
    return { ttlMs: lifetimes.length === 0 ? undefined : Math.min(...lifetimes) }
  }

  async #request(
    subject: string,
    input: Readonly<Record<string, string>>,
    context: ToolCallContext,
    operationId: string,
  ): Promise<ResponseEnvelope> {
    const { server, connection } = this
    const started = systemClock.now()
    const options = readOptions(context, operationId)
    const { method } = this.#kind
    // The address of a resource may have data of the caller.
    const prompt = method === "prompts/get" ? { "gen_ai.prompt.name": subject } : undefined
    const result = await traceExchange(
      context,
      prompt === undefined ? method : `${method} ${subject}`,
      "mcp",
      { "mcp.method.name": method, ...prompt },
      (carrier) =>
        this.#kind.request(connection, subject, input, { ...options, meta: carrier as JsonObject }),
    )
    const durationMs = systemClock.now() - started
    return this.#kind.wrap(result, { server: server.name, peer: connection.peer, durationMs })
  }
}

/** The parts of a call that a tool needs; a handler's context has them. */
export type ToolCallContext = Pick<
  CallOptions,
  "signal" | "deadline" | "progress" | "requestInput" | "metadata" | "identity" | "requestId"
> &
  CarriesTrace &
  FromClient

/** The request options of a call that only reads: the request has no effect, so it may be repeated. */
export function readOptions(
  context: ToolCallContext,
  operationId: string | undefined,
): MCPRequestOptions {
  const { signal, deadline, progress, requestInput, client } = context
  const meta = carrierOf(context, "mcp") as JsonObject | undefined
  const caller = callerOf(context, operationId)
  return { signal, deadline, progress, requestInput, meta, caller, client, isRepeatable: true }
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
