import type { MCPToolDefinition, MCPToolResult } from "../../../../src/mcp/model.ts"
import type { MCPConnection } from "../../../../src/sources/mcp/client/connection.ts"
import type {
  MCPConnectionEvent,
  MCPConnectionStatus,
  MCPList,
  MCPListKind,
  MCPPeer,
  MCPRequestOptions,
} from "../../../../src/sources/mcp/client/model.ts"

interface Call {
  readonly tool: MCPToolDefinition
  readonly input: Readonly<Record<string, unknown>>
  readonly options: MCPRequestOptions
}

/** A connection to nowhere: what it lists and answers is set by the test. */
export class StandIn implements MCPConnection {
  readonly name: string
  readonly calls: Call[] = []
  readonly listed: MCPListKind[] = []
  readonly lists: Partial<Record<MCPListKind, readonly unknown[] | Error>> = {}
  peer: MCPPeer | undefined
  state: MCPConnectionStatus["state"] = "idle"
  instructions: string | undefined
  ttlMs: number | undefined
  /** Holds lists back until it settles. */
  gate: Promise<void> | undefined
  connectError: Error | undefined
  closes = 0
  answer: (call: Call) => MCPToolResult | Promise<MCPToolResult> = () => ({
    content: [{ type: "text", text: "done" }],
  })
  readonly #listeners = new Set<(event: MCPConnectionEvent) => void>()

  constructor(name: string, tools: readonly unknown[] = []) {
    this.name = name
    this.lists.tools = tools
  }

  get status(): MCPConnectionStatus {
    return {
      state: this.state,
      restarts: 0,
      pid: undefined,
      stderrTail: "token=abcdefghijkl last words",
      lastError: undefined,
    }
  }

  get listeners(): number {
    return this.#listeners.size
  }

  async connect(): Promise<MCPPeer> {
    if (this.connectError !== undefined) throw this.connectError
    const isAgain = this.peer !== undefined
    const isNew = this.state !== "ready"
    this.state = "ready"
    this.peer = {
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "stand-in", version: "1" },
      capabilities: {},
      instructions: this.instructions,
    }
    if (isNew) this.tell({ type: "connected", isAgain })
    return this.peer
  }

  async reconnect(): Promise<MCPPeer> {
    this.state = "idle"
    return await this.connect()
  }

  async complete(): Promise<Readonly<Record<string, unknown>>> {
    throw new Error("A stand-in completes nothing.")
  }

  watch(): () => void {
    return () => undefined
  }

  async list(kind: MCPListKind): Promise<MCPList> {
    this.listed.push(kind)
    const items = this.lists[kind] ?? []
    await this.gate
    if (items instanceof Error) throw items
    return { items, ttlMs: this.ttlMs, warnings: [] }
  }

  async callTool(
    tool: MCPToolDefinition,
    input: Readonly<Record<string, unknown>>,
    options: MCPRequestOptions,
  ): Promise<MCPToolResult> {
    const call = { tool, input, options }
    this.calls.push(call)
    return await this.answer(call)
  }

  async readResource(uri: string): Promise<Readonly<Record<string, unknown>>> {
    return { contents: [{ uri, text: `text of ${uri}` }] }
  }

  async getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    return {
      messages: [
        { role: "user", content: { type: "text", text: `${name} ${JSON.stringify(input)}` } },
      ],
    }
  }

  onEvent(listener: (event: MCPConnectionEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(event: MCPConnectionEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  async close(): Promise<void> {
    this.closes++
    this.state = "closed"
  }
}
