import type { Logger } from "../../internal/logger.ts"
import { withoutUndefined } from "../../internal/own.ts"
import { CancelToken } from "../../internal/signals.ts"
import { pause, withTimeout } from "../../internal/wait.ts"
import { isLogLevel, type LogLevel, type MCPEra, type JsonObject } from "../../mcp/model.ts"
import type { Identity } from "../../core/types.ts"
import { closing } from "../../protocol/refusals.ts"
import type { KnownCaller } from "../authenticate.ts"
import { callTool, type Connection } from "./call-tool.ts"
import { ProtocolError } from "./model.ts"
import { errorMessage, resultMessage, runPlainCall } from "./plain-call.ts"
import type { PlainAnswer, PlainCall } from "./plain-call.ts"
import type { MCPSurface } from "./surface.ts"
import type { MCPServerOptions } from "./options.ts"
import { StateSeal } from "./request-state.ts"
import { errorText } from "./tool-errors.ts"
import { ANYTHING, ENVELOPE, NO_VALIDATOR } from "./sdk.ts"
import type { RequestId, SDKContext, SDKServer, ServerSDK } from "./sdk.ts"

/** The caller of an MCP request; the SDK passes it on as `authInfo`. */
export interface MCPCaller extends KnownCaller {
  /** The request initializes a client, which receives the instructions. */
  readonly isNew?: boolean | undefined
}

/** How one server is used. */
export interface ServerUse {
  readonly era: MCPEra
  readonly caller: MCPCaller
  /** A long-lived server notifies its client of changes. */
  readonly isLasting: boolean
  /** Called for cancelled calls, which get no response. */
  readonly onCancelled?: ((id: RequestId) => void) | undefined
}

/** Creates servers: one for each connection or request, never shared. */
export class Servers {
  readonly surface: MCPSurface
  readonly logger: Logger
  readonly #serverInfo: JsonObject
  readonly #instructions: MCPServerOptions["instructions"]
  /** What plain calls have in common. */
  readonly #modern: Connection
  readonly #plainMeta: JsonObject
  /** Running calls; each is ended by its function. */
  readonly #running = new Map<Promise<unknown>, () => void>()
  /** New calls are refused. */
  #isLeaving = false

  constructor(surface: MCPSurface, options: MCPServerOptions, logger: Logger) {
    const { stateKey, stateTtlMs = 300_000, inputTimeoutMs = 600_000 } = options
    this.surface = surface
    this.logger = logger
    this.#serverInfo = infoOf(options)
    this.#instructions = options.instructions
    this.#plainMeta = { [ENVELOPE.serverInfo]: this.#serverInfo }
    const seal = new StateSeal(stateKey, stateTtlMs)
    const unknown = (): undefined => undefined
    this.#modern = {
      ...{ surface, era: "modern", seal, inputTimeoutMs, logger },
      ...{ logLevel: unknown, capabilities: unknown },
    }
  }

  create(sdk: ServerSDK, { era, caller, isLasting, onCancelled }: ServerUse): SDKServer {
    // Most servers answer a single call, whose client does not read the instructions.
    const isRead = isLasting || caller.isNew === true
    const instructions = isRead ? this.#instructionsFor(caller) : undefined
    const server = new sdk.Server(this.#serverInfo, {
      capabilities: { tools: { listChanged: true }, logging: {} },
      jsonSchemaValidator: NO_VALIDATOR,
      ...(instructions === undefined ? {} : { instructions }),
    })
    let level: LogLevel | undefined
    const connection: Connection = {
      ...this.#modern,
      era,
      logLevel: () => level,
      capabilities: () => server.getClientCapabilities(),
    }
    server.setRequestHandler("tools/list", { params: ANYTHING }, (params, context) =>
      this.#list(era, params, identityOf(context, caller)),
    )
    server.setRequestHandler("tools/call", { params: ANYTHING }, (params, context) => {
      const { id, signal } = context.mcpReq
      const token = new CancelToken()
      const cancel = (): void => {
        token.cancel(signal.reason)
        onCancelled?.(id)
      }
      signal.addEventListener("abort", cancel, { once: true })
      return this.#run(params["name"], token, () =>
        callTool(connection, params, context, identityOf(context, caller), token.signal),
      )
    })
    if (era === "legacy") {
      server.setRequestHandler("logging/setLevel", { params: ANYTHING }, (params) => {
        if (!isLogLevel(params["level"])) {
          throw new ProtocolError(-32602, "logging/setLevel: params.level must be a log level.")
        }
        level = params["level"]
        return {}
      })
    }
    server.onerror = (error) => this.logger.debug("An MCP connection reported", { error })
    if (isLasting) this.#follow(server)
    return server
  }

  /** Answers a plain call without a server of the SDK. */
  async answer(call: PlainCall, { identity }: MCPCaller, token: CancelToken): Promise<PlainAnswer> {
    try {
      const run = (): Promise<object> => runPlainCall(this.#modern, call, identity, token.signal)
      return resultMessage(call, await this.#run(call.params.name, token, run), this.#plainMeta)
    } catch (error) {
      return errorMessage(call, error as ProtocolError)
    }
  }

  /** Refuses new calls, waits for running ones up to a timeout, and answers those that still run. */
  async drain(milliseconds: number): Promise<void> {
    this.#isLeaving = true
    if (this.#running.size === 0) return
    await withTimeout(Promise.allSettled(this.#running.keys()), milliseconds, () => undefined)
    for (const end of this.#running.values()) end()
    // Their responses are written one turn later.
    await pause(0)
  }

  #instructionsFor({ identity }: MCPCaller): string | undefined {
    if (this.#instructions === false) return undefined
    const own = this.#instructions ?? this.surface.namespaces(identity)
    const isSearched = this.surface.mode(identity) === "search"
    return isSearched ? [SEARCH_FIRST, own].filter(Boolean).join("\n\n") : own
  }

  #list(era: MCPEra, { cursor }: JsonObject, identity: Identity | undefined): object {
    if (cursor !== undefined && typeof cursor !== "string") {
      throw new ProtocolError(-32602, "tools/list: params.cursor must be a string.")
    }
    const { ttlMs, cacheScope, ...page } = this.surface.list({ identity, era }, cursor)
    return era === "modern" ? { ...page, ttlMs, cacheScope } : page
  }

  async #run(name: unknown, token: CancelToken, run: () => Promise<object>): Promise<object> {
    const closed = (hadStarted: boolean): object => errorText(closing(String(name), hadStarted), "")
    if (this.#isLeaving) return closed(false)
    const call = run()
    const ended = new Promise<object>((resolve) => {
      this.#running.set(call, () => {
        resolve(closed(true))
        token.cancel("The server was closed.")
      })
    })
    try {
      return await Promise.race([call, ended])
    } catch (error) {
      throw this.#protocolError(error)
    } finally {
      this.#running.delete(call)
    }
  }

  #protocolError(error: unknown): ProtocolError {
    if (error instanceof ProtocolError) return error
    const reference = crypto.randomUUID()
    this.logger.error("A tool call failed inside the server", { reference, error })
    return new ProtocolError(-32603, `Internal error. Its details are in the log: ${reference}`)
  }

  #follow(server: SDKServer): void {
    const stop = this.surface.onChange(() => {
      // Some connections cannot receive notifications yet.
      server.sendToolListChanged().catch(() => undefined)
    })
    const { onclose } = server
    server.onclose = () => {
      stop()
      onclose?.()
    }
  }
}

/** Instructions for the three search tools. */
const SEARCH_FIRST =
  "To use an operation: 1. search_operations finds operations and their ids. 2. describe_operation returns the input, output and errors of one. 3. call_operation runs it. Do not guess ids or inputs."

function identityOf(context: SDKContext, caller: MCPCaller): Identity | undefined {
  const authInfo = context.http?.authInfo as MCPCaller | undefined
  return (authInfo ?? caller).identity
}

function infoOf(options: MCPServerOptions): JsonObject {
  const { name = "operations", version = "1.0.0", title, icons, websiteUrl } = options
  return withoutUndefined({ name, version, title, icons, websiteUrl })
}
