// Which way a request over HTTP goes: the checks before it, then a plain call, a single request of the SDK, or a session.
import { ERROR_CODES, isCallError, type ErrorCode } from "../../core/errors.ts"
import { parseExact } from "../exact-json.ts"
import { parseJson } from "../../http-client/json.ts"
import { isRecord } from "../../internal/guards.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import { accepts, EVENTS, isJsonBody } from "../negotiate.ts"
import { CancelToken } from "../../internal/signals.ts"
import {
  answerOf,
  GONE,
  jsonAnswer,
  NOT_SERVED,
  refuse,
  refuseWith,
  requestOf,
  USUAL_ACCEPT,
} from "./answers.ts"
import type { Refusal } from "./answers.ts"
import type { Authenticator, MCPRequest, Mounted } from "./auth.ts"
import { paramMismatch } from "./headers.ts"
import { asStream, inTime, untilExpired } from "./long-answers.ts"
import type { MCPServerOptions } from "./options.ts"
import { plainCallOf, type PlainCall } from "./plain-call.ts"
import { loadServerSDK, type RequestId, type SDKHttpHandler, type ServerSDK } from "./sdk.ts"
import type { MCPCaller, Servers } from "./server.ts"
import { Sessions, requestIds } from "./sessions.ts"

/** The long-lived request of modern clients for notifications. */
const LISTEN = "subscriptions/listen"

/** Levels of a message around the arguments of a call. */
const MESSAGE_DEPTH = 2

const OPENINGS: readonly unknown[] = ["server/discover", "initialize"]

/** The parts that the SDK serves: everything but plain calls. */
interface SDKServing {
  readonly sdk: ServerSDK
  readonly modern: SDKHttpHandler
  readonly sessions: Sessions | undefined
}

/** Answers HTTP requests of both protocol eras. */
export class HTTPServing {
  readonly #servers: Servers
  readonly #authenticator: Authenticator
  /** Rejects if the SDK is missing. */
  readonly #installed: Promise<void>
  readonly #options: MCPServerOptions
  readonly #keepAliveMs: number
  #isInstalled = false
  #loading: Promise<SDKServing> | undefined

  constructor(
    servers: Servers,
    authenticator: Authenticator,
    installed: Promise<void>,
    options: MCPServerOptions,
  ) {
    this.#servers = servers
    this.#authenticator = authenticator
    this.#installed = installed
    this.#options = options
    this.#keepAliveMs = options.keepAliveMs ?? 15_000
  }

  /** Answers a request; `mount` is set when another server has admitted it. Rejects with a `Refusal`. */
  async handle(incoming: HTTPIncoming, mount?: Mounted): Promise<HTTPAnswer> {
    // Without the SDK nothing is served, not even what does not need it.
    if (!this.#isInstalled) await this.#installed
    this.#isInstalled = true
    const document = mount === undefined ? this.#authenticator.metadata(incoming) : undefined
    if (document !== undefined) return document
    const admitted = this.#authenticator.admit(incoming, mount)
    const caller = admitted instanceof Promise ? await admitted : admitted
    const request: MCPRequest = { incoming, caller, mount }
    const { method } = incoming
    if (method === "POST") return await this.#post(request)
    const hasSessions = this.#options.sessions !== false
    if (!hasSessions || (method !== "GET" && method !== "DELETE")) {
      const allow = hasSessions ? "GET, POST, DELETE" : "POST"
      throw refuse(405, NOT_SERVED, "Method not allowed.", { headers: { allow } })
    }
    const { sessions } = await this.#load()
    const answer = (): Promise<HTTPAnswer> => (sessions as Sessions).handle(request)
    return method === "GET" ? await asStream(request, answer) : await answer()
  }

  async close(): Promise<void> {
    const serving = await this.#loading?.catch(() => undefined)
    await Promise.all([serving?.modern.close(), serving?.sessions?.close()])
  }

  /** Loads the SDK with the first request that needs it. */
  #load(): Promise<SDKServing> {
    return (this.#loading ??= this.#open())
  }

  async #open(): Promise<SDKServing> {
    const servers = this.#servers
    const keepAliveMs = this.#keepAliveMs
    const { sessions: limits = {} } = this.#options
    const sdk = await loadServerSDK()
    const sessions = limits === false ? undefined : new Sessions(sdk, servers, limits, keepAliveMs)
    const modern = sdk.createMcpHandler(
      ({ era, authInfo }) =>
        servers.create(sdk, { era, caller: authInfo as MCPCaller, isLasting: false }),
      {
        legacy: sessions === undefined ? "stateless" : "reject",
        keepAliveMs,
        onerror: (error: Error) => servers.logger.debug("An MCP request reported", { error }),
      },
    )
    servers.surface.onChange(() => modern.notify.toolsChanged())
    return { sdk, modern, sessions }
  }

  async #post(request: MCPRequest): Promise<HTTPAnswer> {
    const { incoming, mount } = request
    checkMedia(incoming)
    const body = await this.#read(request)
    // The request has paid for the first message of a batch.
    const unpaid = Array.isArray(body) ? mount?.caller.charge(body.length - 1) : undefined
    if (unpaid !== undefined) throw refuseWith(unpaid)
    const plain = plainCallOf(body, incoming)
    if (plain !== undefined) return await this.#plain(request, plain)
    const { sdk, modern, sessions } = await this.#load()
    const route = sdk.classifyInboundRequest({
      httpMethod: "POST",
      protocolVersionHeader: incoming.header("mcp-protocol-version"),
      mcpMethodHeader: incoming.header("mcp-method"),
      mcpNameHeader: incoming.header("mcp-name"),
      body,
    })
    const leaving = new AbortController()
    const calls = {
      ids: requestIds(body),
      cancel: () => leaving.abort(),
      refuse: () => this.#authenticator.unauthorized(true),
    }
    if (route.kind === "legacy" && sessions !== undefined) {
      const answer = (): Promise<HTTPAnswer> => sessions.handle(request, body)
      return await untilExpired(request, calls, answer)
    }
    if (route.kind === "modern" && route.messageKind === "request" && isRecord(body)) {
      const { method, params, id } = body
      if (method === "tools/call" && isRecord(params)) this.#checkParams(params, id, request)
    }
    const single = (): Promise<HTTPAnswer> => this.#single(modern, request, body, leaving)
    return isRecord(body) && body["method"] === LISTEN
      ? await asStream(request, single)
      : await untilExpired(request, calls, single)
  }

  /** Serves a plain call without the SDK. */
  #plain(request: MCPRequest, call: PlainCall): Promise<HTTPAnswer> {
    this.#checkParams(call.params, call.id, request)
    const token = new CancelToken()
    const cancel = (): void =>
      token.cancel(new DOMException("This operation was aborted", "AbortError"))
    const answer = (): Promise<HTTPAnswer> =>
      inTime(this.#answer(request, call, token, cancel), this.#keepAliveMs, cancel)
    if (request.caller.expiresAt === undefined) return answer()
    const refused = (): Refusal => this.#authenticator.unauthorized(true)
    return untilExpired(request, { ids: [call.id], cancel, refuse: refused }, answer)
  }

  async #answer(
    { incoming, caller }: MCPRequest,
    call: PlainCall,
    token: CancelToken,
    cancel: () => void,
  ): Promise<HTTPAnswer> {
    let isGone = false
    const stop = incoming.onGone(() => {
      isGone = true
      cancel()
    })
    try {
      const { status, message } = await this.#servers.answer(call, caller, token)
      return isGone ? GONE : jsonAnswer(status, JSON.stringify(message))
    } finally {
      stop()
    }
  }

  /** Serves a single request without a session. */
  async #single(
    modern: SDKHttpHandler,
    { incoming, caller }: MCPRequest,
    parsedBody: unknown,
    controller: AbortController,
  ): Promise<HTTPAnswer> {
    const leave = (): void => controller.abort()
    incoming.onGone(leave)
    const request = requestOf(incoming, controller.signal)
    const isNew = isRecord(parsedBody) && OPENINGS.includes(parsedBody["method"])
    const authInfo: MCPCaller = { ...caller, isNew }
    const answer = modern.fetch(request, { parsedBody, authInfo }).then(answerOf)
    return await inTime(answer, this.#keepAliveMs, leave)
  }

  /** Reads the messages of a request. */
  async #read({ incoming, mount }: MCPRequest): Promise<unknown> {
    const { maxBodyBytes: most = Number.POSITIVE_INFINITY, maxDepth } = mount?.host.limits ?? {}
    const maxBodyBytes = Math.min(this.#options.maxBodyBytes ?? 4 * 1024 * 1024, most)
    const text = await incoming
      .readBody(maxBodyBytes)
      .catch((error: unknown) => this.#unreadable(error))
    if (text === undefined) {
      const message = `Payload Too Large: a request may have ${maxBodyBytes} bytes.`
      throw refuse(413, NOT_SERVED, message, { headers: { connection: "close" } })
    }
    const depth = maxDepth === undefined ? undefined : { maxDepth: maxDepth + MESSAGE_DEPTH }
    if (depth !== undefined && parseJson(text, depth).is === "too-deep") {
      const message = `Parse error: the input is nested more than ${maxDepth} levels deep.`
      throw refuse(400, -32700, message)
    }
    try {
      return parseExact(text)
    } catch (error) {
      if (isCallError(error)) throw refuse(400, -32602, `Invalid params: ${error.message}`)
      throw refuse(400, -32700, "Parse error: the body is not JSON.")
    }
  }

  /** Refuses a request whose body cannot be read. */
  #unreadable(error: unknown): never {
    if (!isCallError(error) || error.code === "ABORTED") throw error
    if (error.code === "RATE_LIMITED") throw refuseWith(error)
    const { httpStatus } = ERROR_CODES[error.code as ErrorCode]
    if (httpStatus < 500) throw refuse(httpStatus, -32700, `Parse error: ${error.message}`)
    this.#servers.logger.error("The body of an MCP request cannot be read", { error })
    throw refuse(httpStatus, -32603, error.message)
  }

  /** Refuses a call whose `Mcp-Param-*` headers contradict its arguments. */
  #checkParams(
    params: Readonly<Record<string, unknown>>,
    id: unknown,
    { incoming, caller: { identity } }: MCPRequest,
  ): void {
    if (typeof params["name"] !== "string") return
    const tool = this.#servers.surface.find(params["name"], { identity, era: "modern" })
    const mismatch = paramMismatch(tool?.inputSchema, params["arguments"], incoming)
    if (mismatch === undefined) return
    const message = `Bad Request: the headers and the body disagree: ${mismatch.header}, ${mismatch.reason}.`
    throw refuse(400, -32020, message, {
      id: id as RequestId,
      data: { mismatch: { header: mismatch.header, body: mismatch.reason } },
    })
  }
}

/** Refuses a POST that does not send JSON, or does not accept the types of the response. */
function checkMedia(incoming: HTTPIncoming): void {
  if (incoming.header("content-type") === undefined || !isJsonBody(incoming)) {
    throw refuse(415, NOT_SERVED, "Unsupported Media Type: send application/json.")
  }
  const accept = incoming.header("accept")
  if (accept === USUAL_ACCEPT) return
  if (accepts(accept, "application/json") && accepts(accept, EVENTS)) return
  throw refuse(
    406,
    NOT_SERVED,
    "Not Acceptable: the client must accept application/json and text/event-stream.",
  )
}
