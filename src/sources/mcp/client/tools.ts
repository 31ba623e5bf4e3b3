import { systemClock } from "../../../internal/clock.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import { canonicalJson } from "../../../mcp/canonical.ts"
import type { MCPChannel, ResolvedServer } from "../config.ts"
import type { MCPToolDefinition } from "../../../mcp/model.ts"
import { loadPins, savePins, type PinStore } from "../pins.ts"
import { judgeTools, quarantined, type JudgedTool } from "../check-pins.ts"
import { sha256Hex } from "../../../internal/sha256.ts"
import { readTool, toolOperation } from "../tool-operation.ts"
import { quote, reasonOf } from "../../../internal/message-text.ts"
import { OperationCache } from "./operation-cache.ts"
import type { MCPConnection } from "./model.ts"
import { RequestTimeout } from "./request-timeout.ts"
import type { Section } from "./refresh.ts"
import { runTool, type RunnableTool, type ToolCallContext, type ToolHost } from "./run-tool.ts"

/** Dependencies of a `ToolSection`. */
export interface ToolSectionParts {
  readonly server: ResolvedServer
  readonly connection: MCPConnection
  readonly pins: PinStore
  /** Settles when no refresh is running. */
  readonly refreshing: () => Promise<unknown> | undefined
}

/** The valid and allowed tools of a server as operations. */
export class ToolSection implements Section {
  readonly kinds = ["tools"] as const
  readonly host: ToolHost
  readonly #parts: ToolSectionParts
  readonly #keeper = new OperationCache<RunnableTool>()
  #tools: ReadonlyMap<string, RunnableTool> = new Map()
  #operations: readonly LazyOperation[] = []
  #judged: ReadonlyMap<string, JudgedTool> = new Map()
  #warnings: readonly string[] = []
  #instructions: string | undefined

  constructor(parts: ToolSectionParts) {
    this.#parts = parts
    const { server, connection } = parts
    this.host = { server, connection, admit: (tool, context) => this.#admit(tool, context) }
  }

  get operations(): readonly LazyOperation[] {
    return this.#operations
  }

  get warnings(): readonly string[] {
    return this.#warnings
  }

  /** The server's own names of the tools. */
  get names(): readonly string[] {
    return [...this.#tools.keys()]
  }

  /** Names of blocked tools. */
  get quarantined(): readonly string[] {
    return [...this.#judged.keys()]
  }

  /** The server's instructions for models, as far as they were accepted. */
  get instructions(): string | undefined {
    return this.#instructions
  }

  /** Finds a tool by the server's own name; throws for a blocked one. */
  find(name: string): RunnableTool | undefined {
    this.#refuse(name)
    return this.#tools.get(name)
  }

  async update(): Promise<{ readonly ttlMs: number | undefined }> {
    const { server, connection, pins } = this.#parts
    const list = await connection.list("tools")
    const warnings = [...list.warnings]
    const offered = {
      tools: selectTools(list.items, server, warnings),
      instructions: connection.peer?.instructions,
      endpoint: endpointOf(server.channel),
    }
    const accepted = server.pin === "off" ? undefined : await loadPins(pins, server.name)
    const judgement = await judgeTools(server.name, offered, accepted, server.pin)
    if (judgement.pins !== undefined) await savePins(pins, server.name, judgement.pins)
    warnings.push(...judgement.warnings)
    this.#take(judgement.tools, warnings)
    this.#instructions = judgement.instructions
    return { ttlMs: list.ttlMs }
  }

  #take(judged: readonly JudgedTool[], warnings: string[]): void {
    const { server } = this.#parts
    // New tools that were not accepted are not listed either: their description could be an attack.
    const listed = judged.filter(
      ({ isQuarantined, verdict }) => !isQuarantined || verdict !== "added",
    )
    const tools = this.#keeper.update(
      listed.map(({ tool }) => ({ text: canonicalJson(tool), entry: this.#runnable(tool) })),
      ({ definition }, id) =>
        warnings.push(`Tool ${quote(definition.name)} was left out: another tool is "${id}".`),
    )
    this.#judged = new Map(
      judged.filter(({ isQuarantined }) => isQuarantined).map((one) => [one.tool.name, one]),
    )
    this.#tools = new Map(tools.map((tool) => [tool.definition.name, tool]))
    this.#operations = tools.map(({ operation }) => operation)
    for (const warning of warnings) {
      if (!this.#warnings.includes(warning)) server.logger.warn(warning, { server: server.name })
    }
    this.#warnings = warnings
  }

  #runnable(definition: MCPToolDefinition): RunnableTool {
    const operation: LazyOperation = toolOperation(definition, {
      server: this.#parts.server,
      handler: (input, context) => runTool(this.host, { definition, operation }, input, context),
    })
    return { definition, operation }
  }

  /** Refuses blocked tools; after a change it waits for the refresh first. */
  #admit(name: string, context: ToolCallContext): Promise<void> | void {
    const { server, connection, refreshing } = this.#parts
    if (server.pin === "off" || server.pin === "warn") return
    if (connection.status.state !== "ready" || refreshing() !== undefined) {
      return this.#refuseAfterRefresh(name, context)
    }
    this.#refuse(name)
  }

  async #refuseAfterRefresh(name: string, { signal, deadline }: ToolCallContext): Promise<void> {
    const { server, connection, refreshing } = this.#parts
    const timeout = new RequestTimeout({
      clock: systemClock,
      subject: `Tool "${name}" of MCP server "${server.name}"`,
      idle: Number.POSITIVE_INFINITY,
      total: server.maxTotalTimeout,
      signal,
      deadline,
    })
    try {
      await timeout.race(connection.connect(timeout.signal), false)
      await timeout.race(Promise.resolve(refreshing()), false)
    } finally {
      timeout.dispose()
    }
    this.#refuse(name)
  }

  #refuse(name: string): void {
    const judged = this.#judged.get(name)
    if (judged !== undefined) throw quarantined(this.#parts.server.name, judged)
  }
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
