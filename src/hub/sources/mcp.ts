import { readFile } from "node:fs/promises"
import { resolve as resolvePath } from "node:path"
import { splitCommandLine } from "../../config/command-line.ts"
import type { MCPSource } from "../../config/kinds/mcp.ts"
import { CallError } from "../../core/errors.ts"
import type { MCPClientConfig } from "../../sources/mcp/config.ts"
import { readEntry } from "../../sources/mcp/config-entry.ts"
import { withDollars } from "../../internal/references.ts"
import type { MCPClientWrapper, MCPOperation } from "../../sources/mcp/client/client.ts"
import { joinHeaders } from "../../core/call-headers.ts"
import { setRef } from "../../internal/defer.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { backOff, withJitter } from "../../internal/back-off.ts"
import { Listeners } from "../../internal/listeners.ts"
import { fill } from "../resolve-references.ts"
import { dependsOnCaller } from "./caller-links.ts"
import type { HubSource, OpenSource, RawReport, ReportItem, SourceContext } from "../model.ts"

/** Milliseconds after which a connection counts as stable. */
const STABLE_MS = 30_000

/** The tools of an MCP server. A lost server is reconnected without waiting for a call. */
export const mcp: HubSource<MCPSource> = {
  isConnected: true,
  isForCaller({ mcp: server, headers }) {
    const all = [headers, typeof server === "string" ? undefined : server.headers]
    return all.some((one) => dependsOnCaller({ headers: one }))
  },
  async open({ name, namespace, config }, context) {
    const { connectClient } = await import("../../sources/mcp/client/wrapper.ts")
    const { signal, log } = context
    const client = await configOf(config, name, context)
    return new MCPOpenSource(await connectClient(namespace, client, signal, log), context)
  },
}

/** The client configuration of a server, with references resolved. */
async function configOf(
  source: MCPSource,
  name: string,
  context: SourceContext,
): Promise<MCPClientConfig> {
  const { resolve, baseDir, logger } = context
  const entry = await readEntry(name, entryOf(source.mcp, name), {
    fill: (text, place) => fill(text, (one) => resolve(withDollars(one)), name, place),
    readFile: (path) => readFile(resolvePath(baseDir, path), "utf8"),
    warn: (message) => logger.warn(message),
  })
  const { headers, env } = await fill({ headers: source.headers, env: source.env }, resolve, name)
  const isProcess = entry.command !== undefined
  return {
    // Requests for input go to the caller.
    forwardInput: true,
    // Tools return links to resources, which clients of the hub read.
    ...{ resources: true, prompts: true },
    // With a transport object there can be only one.
    sessions: typeof entry.transport === "object" ? "shared" : "caller",
    logger,
    ...entry,
    ...(source.sessions !== undefined && { sessions: source.sessions }),
    ...(source.resources !== undefined && { resources: source.resources }),
    ...(source.prompts !== undefined && { prompts: source.prompts }),
    ...(source.connectTimeout !== undefined && { connectTimeout: source.connectTimeout }),
    headers: joinHeaders(entry.headers, headers),
    ...(env !== undefined && { env: { ...entry.env, ...env } }),
    ...(source.blockPrivate === true && !isProcess && { blockPrivate: true }),
    ...(isProcess && { cwd: resolvePath(baseDir, entry.cwd ?? "") }),
  }
}

/** Converts a command line or URL to an entry. It is split before references are resolved. */
function entryOf(server: MCPSource["mcp"], source: string): MCPClientConfig {
  if (typeof server !== "string") return server
  if (/^https?:\/\//i.test(server.trim())) return { url: server.trim() }
  const command = splitCommandLine(server)
  if (command !== undefined && command.length > 0) return { command }
  throw new CallError(
    "VALIDATION_ERROR",
    `Source "${source}", mcp: the command line is empty, or a quotation mark in it is not closed.`,
    { retryable: false },
  )
}

class MCPOpenSource implements OpenSource {
  readonly #wrapper: MCPClientWrapper
  readonly #context: SourceContext
  readonly #health = new Listeners<string | undefined>()
  readonly #stopListening: () => void
  #timer: unknown
  /** Consecutive failed attempts and unstable connections. */
  #failures = 0
  #connectedAt: number
  #isLost = false
  #isClosed = false

  constructor(wrapper: MCPClientWrapper, context: SourceContext) {
    this.#wrapper = wrapper
    this.#context = context
    this.#connectedAt = context.clock.now()
    this.#stopListening = wrapper.client.onEvent((event) => {
      if (event.type === "lost") this.#lost(event.error)
      else if (event.type === "connected") this.#back()
    })
  }

  operations(): readonly MCPOperation[] {
    return this.#wrapper.operations
  }

  report(): RawReport {
    const { quarantined } = this.#wrapper.status()
    return {
      items: [
        ...this.operations().map(itemOf),
        ...quarantined.map((tool): ReportItem => ({
          origin: tool,
          status: "skipped",
          notes: ["its definition is not the one that was pinned"],
        })),
      ],
      warnings: this.#wrapper.warnings,
    }
  }

  stderr(): string | undefined {
    return this.#wrapper.status().stderrTail
  }

  onChange(listener: () => void): () => void {
    return this.#wrapper.onToolsChanged(() => listener())
  }

  onHealth(listener: (reason: string | undefined) => void): () => void {
    return this.#health.add(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopListening()
    this.#health.clear()
    this.#context.clock.clearTimeout(this.#timer)
    await this.#wrapper.close()
  }

  #lost(error: unknown): void {
    const isNew = !this.#isLost
    this.#isLost = true
    this.#health.notify(reasonOf(error))
    if (!isNew) return
    // A server that exits soon after each start is restarted with increasing delays.
    if (this.#context.clock.now() - this.#connectedAt >= STABLE_MS) this.#failures = 0
    this.#later()
    this.#failures++
  }

  #back(): void {
    this.#connectedAt = this.#context.clock.now()
    if (!this.#isLost) return
    this.#isLost = false
    this.#health.notify(undefined)
  }

  #later(): void {
    const { clock, retries } = this.#context
    if (!retries || this.#isClosed || this.#timer !== undefined) return
    // The first attempt is soon: most servers that end were just restarted.
    const delay = this.#failures === 0 ? 100 : withJitter(backOff(this.#failures, 1000, 30_000))
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined
      void this.#reconnect()
    }, delay)
    setRef(this.#timer, false)
  }

  async #reconnect(): Promise<void> {
    if (!this.#isLost || this.#isClosed) return
    try {
      await this.#wrapper.client.reconnect()
      this.#back()
    } catch (error) {
      if (this.#isClosed) return
      this.#failures++
      this.#health.notify(reasonOf(error))
      this.#later()
    }
  }
}

function itemOf({ namespace, name, _meta }: MCPOperation): ReportItem {
  const { mcp: about } = (_meta ?? {}) as {
    readonly mcp?: { readonly tool?: { readonly name: string }; readonly diagnostics?: unknown }
  }
  const notes = Array.isArray(about?.diagnostics) ? about.diagnostics.map(String) : []
  return {
    id: `${namespace}.${name}`,
    origin: about?.tool?.name ?? name,
    status: notes.length > 0 ? "widened" : "kept",
    notes,
  }
}
