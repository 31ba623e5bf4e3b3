import { CallError, refusal } from "../../../core/errors.ts"
import { systemClock } from "../../../internal/clock.ts"
import { lightSignal } from "../../../internal/signals.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { canonicalJson } from "../../../mcp/canonical.ts"
import type { MCPChannel, ResolvedServer } from "../config.ts"
import { traceExchange } from "../../../core/tracing.ts"
import { WHOLE_RESULT, type MCPToolDefinition } from "../../../mcp/model.ts"
import { loadPins, savePins, type PinStore } from "../pins.ts"
import { judgeTools, quarantined, type JudgedTool } from "../check-pins.ts"
import { sha256Hex } from "../../../internal/sha256.ts"
import { readTool } from "../read-tool.ts"
import { toolEnvelope } from "../result.ts"
import { toolOperation } from "../tool-operation.ts"
import { compileSchema } from "../../../schema/compiled.ts"
import { quote, reasonOf } from "../../../internal/message-text.ts"
import type { MCPConnection } from "./connection.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { callerOf, Section, type ToolCallContext } from "./sections.ts"
import { toolInput } from "./tool-input.ts"

interface Tool {
  readonly definition: MCPToolDefinition
  readonly operation: LazyOperation
}

/** The valid and allowed tools of a server as operations. */
export class ToolSection extends Section<Tool> {
  readonly kinds = ["tools"] as const
  /** The server's instructions for models, as far as they were accepted. */
  instructions: string | undefined = undefined
  readonly #pins: PinStore
  readonly #refreshing: () => Promise<unknown> | undefined
  #tools: ReadonlyMap<string, Tool> = new Map()
  /** Blocked tools. */
  #judged: ReadonlyMap<string, JudgedTool> = new Map()

  /** `refreshing` settles when no refresh is running. */
  constructor(
    server: ResolvedServer,
    connection: MCPConnection,
    pins: PinStore,
    refreshing: () => Promise<unknown> | undefined,
  ) {
    super(server, connection)
    this.#pins = pins
    this.#refreshing = refreshing
  }

  /** Names of blocked tools. */
  get quarantined(): readonly string[] {
    return [...this.#judged.keys()]
  }

  /** Runs a tool by the server's own name. */
  async call(name: string, input: unknown, context: ToolCallContext): Promise<ResponseEnvelope> {
    this.#refuse(name)
    const tool = this.#tools.get(name)
    if (tool === undefined) throw unknownTool(this.server.name, name, [...this.#tools.keys()])
    return await this.#run(tool, input, context)
  }

  override async update(): Promise<{ readonly ttlMs: number | undefined }> {
    const { server, connection } = this
    const list = await connection.list("tools")
    const warnings = [...list.warnings]
    const offered = {
      tools: selectTools(list.items, server, warnings),
      instructions: connection.peer?.instructions,
      endpoint: endpointOf(server.channel),
    }
    const accepted = server.pin === "off" ? undefined : await loadPins(this.#pins, server.name)
    const judgement = await judgeTools(server.name, offered, accepted, server.pin)
    if (judgement.pins !== undefined) await savePins(this.#pins, server.name, judgement.pins)
    warnings.push(...judgement.warnings)
    this.#take(judgement.tools, warnings)
    this.instructions = judgement.instructions
    return { ttlMs: list.ttlMs }
  }

  #take(judged: readonly JudgedTool[], warnings: string[]): void {
    const { server } = this
    // New tools that were not accepted are not listed either: their description could be an attack.
    const listed = judged.filter(
      ({ isQuarantined, verdict }) => !isQuarantined || verdict !== "added",
    )
    const tools = this.replace(
      listed.map(({ tool }) => ({ text: canonicalJson(tool), entry: this.#runnable(tool) })),
      ({ definition }, id) =>
        warnings.push(`Tool ${quote(definition.name)} was left out: another tool is "${id}".`),
    )
    this.#judged = new Map(
      judged.filter(({ isQuarantined }) => isQuarantined).map((one) => [one.tool.name, one]),
    )
    this.#tools = new Map(tools.map((tool) => [tool.definition.name, tool]))
    for (const warning of warnings) {
      if (!this.warnings.includes(warning)) server.logger.warn(warning, { server: server.name })
    }
    this.warnings = warnings
  }

  #runnable(definition: MCPToolDefinition): Tool {
    const operation: LazyOperation = toolOperation(
      definition,
      this.server,
      (input, context) => this.#run({ definition, operation }, input, context),
      () => this.instructions,
    )
    return { definition, operation }
  }

  /**
   * Runs a tool and wraps its result.
   *
   * A failure that the tool reports is a result. Rejects with a `CallError` for an invalid input and for failures
   * of the server.
   */
  async #run(tool: Tool, input: unknown, context: ToolCallContext): Promise<ResponseEnvelope> {
    const { server, connection } = this
    const { definition, operation } = tool
    const operationId = `${operation.namespace}.${operation.name}`
    const sent = toolInput(input, operationId)
    if (definition.execution?.taskSupport === "required") throw needsTasks(server.name, definition)
    const wait = this.#admit(definition.name, context)
    if (wait !== undefined) await wait
    const started = systemClock.now()
    const { name } = definition
    const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": name }
    const result = await traceExchange(
      context,
      `tools/call ${name}`,
      "mcp",
      attributes,
      (carrier) =>
        connection.callTool(definition, sent, {
          signal: lightSignal(context),
          get deadline() {
            return context.deadline
          },
          timeout: server.tools.get(definition.name)?.timeout,
          progress: context.progress,
          requestInput: context.requestInput,
          meta: { ...carrier, [WHOLE_RESULT]: true },
          isRepeatable: isRepeatable(server, tool),
          caller: callerOf(context, operationId),
          client: context.client,
        }),
    )
    return toolEnvelope(result, {
      server: server.name,
      tool: definition,
      peer: connection.peer,
      durationMs: systemClock.now() - started,
      // Compiled on first use, which is rare: only to read a text as data.
      isOutput: (value) => compileSchema(operation.outputSchema).check(value),
    })
  }

  /** Refuses blocked tools; after a change it waits for the refresh first. */
  #admit(name: string, context: ToolCallContext): Promise<void> | void {
    const { server, connection } = this
    if (server.pin === "off" || server.pin === "warn") return
    if (connection.status.state !== "ready" || this.#refreshing() !== undefined) {
      return this.#refuseAfterRefresh(name, context)
    }
    this.#refuse(name)
  }

  async #refuseAfterRefresh(name: string, { signal, deadline }: ToolCallContext): Promise<void> {
    const { server, connection } = this
    const timeout = new RequestTimeout({
      clock: systemClock,
      subject: `Tool "${name}" of MCP server "${server.name}"`,
      total: server.maxTotalTimeout,
      signal,
      deadline,
    })
    try {
      await timeout.race(connection.connect(timeout.signal), false)
      await timeout.race(Promise.resolve(this.#refreshing()), false)
    } finally {
      timeout.dispose()
    }
    this.#refuse(name)
  }

  #refuse(name: string): void {
    const judged = this.#judged.get(name)
    if (judged !== undefined) throw quarantined(this.server.name, judged)
  }
}

/** Only hints of trusted servers count; the operation's type, which the user can set, comes first. */
function isRepeatable(server: ResolvedServer, { definition, operation }: Tool): boolean {
  if (operation.type === "query") return true
  return server.trust && definition.annotations?.idempotentHint === true
}

/** The valid tools of a list that the user allows, each name once. */
function selectTools(
  items: readonly unknown[],
  server: ResolvedServer,
  warnings: string[],
): MCPToolDefinition[] {
  const tools = new Map<string, MCPToolDefinition>()
  for (const [index, item] of items.entries()) {
    const warn = (why: string): void => void warnings.push(`Tool ${index + 1} of the list: ${why}.`)
    const tool = readTool(item, warn)
    if (typeof tool === "string") {
      warnings.push(`Tool ${index + 1} of the list was left out: ${tool}.`)
    } else if (tools.has(tool.name)) {
      warnings.push(`Tool ${quote(tool.name)} is listed twice; the first one is used.`)
    } else if (isWanted(tool, server, warnings)) {
      tools.set(tool.name, tool)
    }
  }
  return [...tools.values()]
}

function isWanted(tool: MCPToolDefinition, server: ResolvedServer, warnings: string[]): boolean {
  if (server.tools.get(tool.name)?.disabled === true) return false
  try {
    return server.filter === undefined || server.filter(tool)
  } catch (thrown) {
    warnings.push(`Tool ${quote(tool.name)} was left out: the filter threw: ${reasonOf(thrown)}`)
    return false
  }
}

/** The address of a server without possible secrets: arguments and queries as a hash. */
function endpointOf(channel: MCPChannel): string | undefined {
  if (channel.kind === "stdio") {
    const { command, args, cwd } = channel
    const rest = sha256Hex(JSON.stringify([args, cwd ?? null])).slice(0, 16)
    return `${command} (arguments ${rest})`
  }
  if (channel.kind === "http") {
    const { origin, pathname, search } = channel.url
    return `${origin}${pathname}${search === "" ? "" : ` (query ${sha256Hex(search).slice(0, 16)})`}`
  }
  return undefined
}

/** The error for a tool that runs only as a task. */
function needsTasks(server: string, { name }: MCPToolDefinition): CallError {
  const details = { reason: "UNSUPPORTED", server, tool: name }
  return new CallError(
    "EXECUTION_ERROR",
    `Tool "${name}" of MCP server "${server}" was not called: it runs only as a task, and tasks are not supported. Use another tool of the server, or call it with a client that has the tasks extension.`,
    { details, retryable: false, mayHaveExecuted: false },
  )
}

/** The error for a tool that its server does not have. */
function unknownTool(server: string, name: string, tools: readonly string[]): CallError {
  const some = tools.slice(0, 10).map((tool) => `"${tool}"`)
  const rest = tools.length > some.length ? ` and ${tools.length - some.length} more` : ""
  return refusal(
    "OPERATION_NOT_FOUND",
    `MCP server "${server}" has no tool "${name.slice(0, 200)}". It has ${some.join(", ") || "none"}${rest}.`,
    { details: { server, tool: name.slice(0, 200) } },
  )
}
