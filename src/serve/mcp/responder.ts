import type { Logger } from "../../internal/logger.ts"
import { isRecord } from "../../internal/guards.ts"
import { withoutUndefined } from "../../internal/own.ts"
import { pause, withTimeout } from "../../internal/wait.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { SKILLS, ENVELOPE, isLogLevel, LEGACY_VERSIONS, MODERN_VERSION } from "../../mcp/model.ts"
import type { JsonObject, MCPEra } from "../../mcp/model.ts"
import type { Identity } from "../../core/types.ts"
import { closing } from "../../protocol/refusals.ts"
import { callTool, complete, getPrompt, readResource, type CallParts } from "./call-tool.ts"
import { Extras, RESOURCE_NOT_FOUND } from "./extras.ts"
import type { ExtraList } from "./catalog.ts"
import { isImplementation } from "./eras.ts"
import {
  failure,
  INTERNAL_ERROR,
  METHOD_NOT_FOUND,
  success,
  type Answer,
  type RPCRequest,
} from "./messages.ts"
import { ProtocolError } from "../../tools/model.ts"
import type { Exchange } from "./peer.ts"
import type { ToolSurface } from "../../tools/surface.ts"
import type { MCPServerOptions } from "./options.ts"
import { StateSeal } from "./request-state.ts"
import { LISTEN, subscribe, Subscriptions } from "./subscriptions.ts"
import { errorText } from "../../tools/tool-errors.ts"

type Method = (exchange: Exchange) => object | Promise<object>

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  extensions: { [SKILLS]: {} },
  logging: {},
}

/** Answers requests, whatever they came over. */
export class Responder {
  readonly surface: ToolSurface
  readonly extras: Extras
  readonly logger: Logger
  readonly #parts: CallParts
  readonly #subscriptions: Subscriptions
  readonly #serverInfo: JsonObject
  /** In every result of the modern era. */
  readonly #serverMeta: JsonObject
  readonly #instructions: MCPServerOptions["instructions"]
  /** Running calls; each is ended by its function. */
  readonly #running = new Map<Promise<unknown>, () => void>()
  /** New calls are refused. */
  #isLeaving = false
  /** Lists wait for it. */
  #ready: Promise<unknown> | undefined

  /** The methods of both eras. */
  readonly #common: readonly (readonly [string, Method])[] = [
    ["tools/list", (exchange) => this.#list(exchange)],
    ["tools/call", (exchange) => this.#call(exchange, callTool)],
    ["resources/list", (exchange) => this.#listExtras(exchange, "resources")],
    ["resources/templates/list", (exchange) => this.#listExtras(exchange, "resourceTemplates")],
    ["skills/list", (exchange) => this.#listExtras(exchange, "skills")],
    [
      "skills/get",
      ({ era, request, caller: { identity } }) =>
        this.extras.skill(request.params?.["uri"], { identity, era }),
    ],
    ["resources/read", (exchange) => this.#call(exchange, readResource)],
    ["prompts/list", (exchange) => this.#listExtras(exchange, "prompts")],
    ["prompts/get", (exchange) => this.#call(exchange, getPrompt)],
    ["completion/complete", (exchange) => this.#call(exchange, complete)],
  ]

  /** All methods that are served. */
  readonly #methods: Readonly<Record<MCPEra, ReadonlyMap<string, Method>>> = {
    legacy: new Map<string, Method>([
      ["initialize", (exchange) => this.#initialize(exchange)],
      ["ping", () => ({})],
      ["logging/setLevel", setLevel],
      ["resources/subscribe", (exchange) => subscribe(this.extras, exchange, true)],
      ["resources/unsubscribe", (exchange) => subscribe(this.extras, exchange, false)],
      ...this.#common,
    ]),
    modern: new Map<string, Method>([
      ["server/discover", (exchange) => this.#discover(exchange)],
      [LISTEN, (exchange) => this.#subscriptions.listen(exchange)],
      ...this.#common,
    ]),
  }

  constructor(surface: ToolSurface, options: MCPServerOptions, logger: Logger) {
    const { stateKey, stateTtlMs = 300_000, inputTimeoutMs = Infinity } = options
    this.surface = surface
    this.logger = logger
    const extras = new Extras(surface)
    const seal = new StateSeal(stateKey, stateTtlMs)
    this.extras = extras
    this.#parts = { surface, extras, logger, inputTimeoutMs, seal }
    this.#subscriptions = new Subscriptions(surface, extras)
    this.#serverInfo = infoOf(options)
    this.#serverMeta = { [ENVELOPE.serverInfo]: this.#serverInfo }
    this.#instructions = options.instructions
    if (options.ready === undefined) return
    const ready = Promise.resolve(options.ready).catch(() => undefined)
    this.#ready = withTimeout(ready, LIST_WAIT_MS, () => undefined, { keepsAlive: false }).then(
      () => {
        this.#ready = undefined
      },
    )
  }

  /** Answers a request, and finishes its exchange. Never rejects. */
  async answer(exchange: Exchange): Promise<void> {
    const { era, peer, request, token } = exchange
    // Its client has left.
    if (token.aborted) return
    const method = this.#methods[era].get(request.method)
    if (method === undefined) {
      const error = { code: METHOD_NOT_FOUND, message: "Method not found" }
      exchange.finish(failure(request.id, error, era === "modern" ? 404 : 200))
      return
    }
    peer.begin(exchange)
    try {
      exchange.finish(this.#resultOf(exchange, await method(exchange)))
    } catch (error) {
      exchange.finish(this.#errorOf(exchange, error))
    } finally {
      peer.end(exchange)
    }
  }

  /** Refuses new calls, waits for running ones up to a timeout, and answers what is still open. */
  async drain(milliseconds: number): Promise<void> {
    this.#isLeaving = true
    const isIdle = this.#running.size === 0
    if (!isIdle) {
      await withTimeout(Promise.allSettled(this.#running.keys()), milliseconds, () => undefined)
    }
    for (const end of this.#running.values()) end()
    // The responses are written one turn later.
    if (this.#subscriptions.close() || !isIdle) await pause(0)
  }

  #resultOf({ era, request: { id } }: Exchange, result: object): Answer {
    if (era === "legacy") return success(id, result)
    const { _meta: meta } = result as { readonly _meta?: JsonObject }
    const _meta = meta === undefined ? this.#serverMeta : { ...this.#serverMeta, ...meta }
    return success(id, { resultType: "complete", ...result, _meta })
  }

  #errorOf({ era, request: { id, method } }: Exchange, thrown: unknown): Answer {
    if (!(thrown instanceof ProtocolError)) {
      const reference = crypto.randomUUID()
      this.logger.error("A request failed inside the server", { method, reference, error: thrown })
      const message = `Internal error. Its details are in the log: ${reference}`
      return failure(id, { code: INTERNAL_ERROR, message })
    }
    const { message, data, httpStatus } = thrown
    const isNotFound = thrown.code === RESOURCE_NOT_FOUND && era === "modern"
    const code = isNotFound ? INVALID_PARAMS : thrown.code
    return failure(id, { code, message, data }, era === "modern" ? httpStatus : undefined)
  }

  #initialize({ peer, request, caller }: Exchange): object {
    const { version, capabilities } = clientOf(request.params)
    peer.capabilities = capabilities
    return withoutUndefined({
      protocolVersion: LEGACY_VERSIONS.includes(version) ? version : LEGACY_VERSIONS[0],
      capabilities: CAPABILITIES,
      serverInfo: this.#serverInfo,
      instructions: this.#instructionsFor(caller.identity),
    })
  }

  #discover({ caller }: Exchange): object {
    return withoutUndefined({
      supportedVersions: [MODERN_VERSION],
      capabilities: CAPABILITIES,
      instructions: this.#instructionsFor(caller.identity),
      ttlMs: 0,
      cacheScope: "private",
    })
  }

  #instructionsFor(identity: Identity | undefined): string | undefined {
    if (this.#instructions === false) return undefined
    return this.surface.instructions(identity, this.#instructions)
  }

  async #list({ era, request, caller: { identity } }: Exchange): Promise<object> {
    if (this.#ready !== undefined) await this.#ready
    const cursor = cursorOf(request)
    const { ttlMs, cacheScope, ...page } = this.surface.list({ identity, era }, cursor)
    return era === "modern" ? { ...page, ttlMs, cacheScope } : page
  }

  #listExtras({ era, request, caller: { identity } }: Exchange, list: ExtraList): object {
    return this.extras.list(list, { identity, era }, cursorOf(request))
  }

  async #call(
    exchange: Exchange,
    run: (parts: CallParts, exchange: Exchange) => Promise<object>,
  ): Promise<object> {
    const { method, params } = exchange.request
    const isTool = method === "tools/call"
    const closed = (hadStarted: boolean): object => {
      const error = closing(String(isTool ? params?.["name"] : method), hadStarted)
      if (isTool) return errorText(error, "")
      throw new ProtocolError(INTERNAL_ERROR, error.message)
    }
    if (this.#isLeaving) return closed(false)
    const call = run(this.#parts, exchange)
    const ended = new Promise<object>((resolve, reject) => {
      this.#running.set(call, () => {
        try {
          resolve(closed(true))
        } catch (error) {
          reject(error)
        }
        exchange.end("The server was closed.")
      })
    })
    try {
      return await Promise.race([call, ended])
    } finally {
      this.#running.delete(call)
    }
  }
}

function cursorOf({ method, params }: RPCRequest): string | undefined {
  const cursor = params?.["cursor"]
  if (cursor === undefined || typeof cursor === "string") return cursor
  throw new ProtocolError(INVALID_PARAMS, `${method}: params.cursor must be a string.`)
}
/** Most clients list tools once, right after the start. */
const LIST_WAIT_MS = 3000

/** Answers `logging/setLevel`. */
function setLevel({ peer, request }: Exchange): object {
  const level = request.params?.["level"]
  if (!isLogLevel(level)) {
    throw new ProtocolError(INVALID_PARAMS, "logging/setLevel: params.level must be a log level.")
  }
  peer.logLevel = level
  return {}
}

/** What a client says of itself when it begins. Throws a `ProtocolError` if that is not valid. */
export function clientOf(params: JsonObject | undefined): {
  readonly version: string
  readonly capabilities: JsonObject
} {
  const { protocolVersion: version, capabilities, clientInfo } = params ?? {}
  if (typeof version === "string" && isRecord(capabilities) && isImplementation(clientInfo)) {
    return { version, capabilities }
  }
  throw new ProtocolError(
    INVALID_PARAMS,
    "initialize needs params.protocolVersion, params.capabilities, and params.clientInfo with name and version.",
  )
}

function infoOf(options: MCPServerOptions): JsonObject {
  const { name = "operations", version = "1.0.0", title, icons, websiteUrl } = options
  return withoutUndefined({ name, version, title, icons, websiteUrl })
}
