// Which way a request over HTTP goes: the checks before it, then a plain call, a single request of the SDK, or a session.
import { ERROR_CODES, isCallError } from "../../core/errors.ts"
import type { ErrorCode } from "../../core/errors.ts"
import { parseExact } from "../exact-json.ts"
import type { Logger } from "../../internal/logger.ts"
import { parseJson } from "../../http-client/json.ts"
import { isRecord } from "../../internal/guards.ts"
import type { UpgradeRules } from "../upgrade.ts"
import { accountKey } from "../accounts.ts"
import { pathOf } from "../upgrade.ts"
import { CancelToken } from "../../internal/signals.ts"
import { GONE, jsonAnswer, NOT_SERVED, refuse, refuseWith, TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import type { Authenticator } from "./auth.ts"
import type { ChangeNotices } from "./changes.ts"
import { checkMedia, checkSource } from "./check-request.ts"
import { paramMismatch } from "./headers.ts"
import { asStream, chargeBatch, untilExpired } from "./account.ts"
import { inTime } from "./keep-alive.ts"
import type { MCPSurface } from "./surface.ts"
import { plainCallOf } from "./plain-call.ts"
import type { PlainCall } from "./plain-call.ts"
import { loadServerSDK } from "./sdk.ts"
import type { RequestId, SDKHttpHandler, SDKRoute, ServerSDK } from "./sdk.ts"
import type { MCPCaller, Servers } from "./server.ts"
import { Sessions, requestIds } from "./sessions.ts"
import type { SessionLimits, SessionRequest } from "./sessions.ts"
import type { Incoming } from "./incoming.ts"

/** Dependencies of `HTTPServing`. */
export interface HTTPParts {
  /** Rejects if the SDK is missing. */
  readonly installed: Promise<void>
  readonly surface: MCPSurface
  readonly servers: Servers
  readonly notices: ChangeNotices
  readonly authenticator: Authenticator
  readonly rules: UpgradeRules
  readonly sessions: SessionLimits | false
  readonly maxBodyBytes: number
  readonly keepAliveMs: number
  readonly logger: Logger
}

/** Credential headers, which are not passed to the SDK. */
const OWN_HEADERS = ["authorization", "cookie", "proxy-authorization"] as const

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
  readonly #parts: HTTPParts
  readonly #stopNotices: () => void
  #isInstalled = false
  #loading: Promise<SDKServing> | undefined
  #serving: SDKServing | undefined

  constructor(parts: HTTPParts) {
    this.#parts = parts
    this.#stopNotices = parts.notices.listen(() => this.#serving?.modern.notify.toolsChanged())
  }

  async handle(incoming: Incoming): Promise<Answer> {
    const { authenticator, installed } = this.#parts
    // Without the SDK nothing is served, not even what does not need it.
    if (!this.#isInstalled) await installed
    this.#isInstalled = true
    const { method, like, givenCaller, mount } = incoming
    const refused =
      (mount === undefined ? authenticator.metadata(method, pathOf(like)) : undefined) ??
      this.#checkSource(incoming)
    if (refused !== undefined) return refused
    const admitted = authenticator.admit(like, givenCaller, mount?.caller)
    const caller = admitted instanceof Promise ? await admitted : admitted
    if (caller instanceof TextAnswer) return caller
    if (method === "POST") return await this.#post(incoming, caller)
    const hasSessions = this.#parts.sessions !== false
    if (!hasSessions || (method !== "GET" && method !== "DELETE")) {
      const allow = hasSessions ? "GET, POST, DELETE" : "POST"
      return refuse(405, NOT_SERVED, "Method not allowed.", { headers: { allow } })
    }
    const { sessions } = await this.#load()
    const request = sessionRequestOf(incoming, caller)
    const answer = (): Promise<Answer> => (sessions as Sessions).handle(request)
    return method === "GET" ? await asStream(incoming, caller, answer) : await answer()
  }

  async close(): Promise<void> {
    this.#stopNotices()
    const serving = await this.#loading?.catch(() => undefined)
    await Promise.all([serving?.modern.close(), serving?.sessions?.close()])
  }

  /** Loads the SDK with the first request that needs it. */
  #load(): Promise<SDKServing> {
    return (this.#loading ??= this.#open())
  }

  async #open(): Promise<SDKServing> {
    const { servers, sessions: limits, keepAliveMs, logger } = this.#parts
    const sdk = await loadServerSDK()
    const sessions =
      limits === false ? undefined : new Sessions(sdk, servers, limits, keepAliveMs, logger)
    const modern = sdk.createMcpHandler(
      ({ era, authInfo }) =>
        servers.create(sdk, { era, caller: authInfo as MCPCaller, isLasting: false }),
      {
        legacy: sessions === undefined ? "stateless" : "reject",
        keepAliveMs,
        onerror: (error: Error) => logger.debug("An MCP request reported", { error }),
      },
    )
    this.#serving = { sdk, modern, sessions }
    return this.#serving
  }

  async #post(incoming: Incoming, caller: MCPCaller): Promise<Answer> {
    const refused = checkMedia(incoming)
    if (refused !== undefined) return refused
    const body = await this.#read(incoming)
    if (body instanceof TextAnswer) return body
    const unpaid = chargeBatch(incoming, body.value)
    if (unpaid !== undefined) return unpaid
    const plain = plainCallOf(body.value, incoming)
    if (plain !== undefined) return await this.#plain(incoming, plain, caller)
    const { sdk, modern, sessions } = await this.#load()
    const route = sdk.classifyInboundRequest({
      httpMethod: "POST",
      protocolVersionHeader: incoming.header("mcp-protocol-version"),
      mcpMethodHeader: incoming.header("mcp-method"),
      mcpNameHeader: incoming.header("mcp-name"),
      body: body.value,
    })
    const leaving = new AbortController()
    const calls = {
      ids: requestIds(body.value),
      cancel: () => leaving.abort(),
      refuse: () => this.#parts.authenticator.unauthorized(true),
    }
    if (route.kind === "legacy" && sessions !== undefined) {
      const request = sessionRequestOf(incoming, caller, body.value)
      return await untilExpired(incoming, caller, calls, () => sessions.handle(request))
    }
    const mismatch = this.#checkHeaders(route, body.value, incoming, caller)
    if (mismatch !== undefined) return mismatch
    const single = (): Promise<Answer> =>
      this.#single(modern, incoming, body.value, caller, leaving)
    const isStream = isRecord(body.value) && body.value["method"] === LISTEN
    return isStream
      ? await asStream(incoming, caller, single)
      : await untilExpired(incoming, caller, calls, single)
  }

  /** Checks host and origin: the host server has checked its rules, and this server adds its own. */
  #checkSource({ like, givenCaller, mount }: Incoming): TextAnswer | undefined {
    const { authenticator, rules } = this.#parts
    const { allowedHosts, allowedOrigins } = rules
    if (mount !== undefined && allowedHosts === undefined && allowedOrigins === undefined) {
      return undefined
    }
    return checkSource(
      like,
      rules,
      mount?.caller !== undefined || authenticator.hasCheckedIdentity(givenCaller),
    )
  }

  /** Serves a plain call without the SDK. */
  #plain(incoming: Incoming, call: PlainCall, caller: MCPCaller): Answer | Promise<Answer> {
    const { keepAliveMs, authenticator } = this.#parts
    const mismatch = this.#paramMismatch(call.params, call.id, incoming, caller)
    if (mismatch !== undefined) return mismatch
    const token = new CancelToken()
    const cancel = (): void =>
      token.cancel(new DOMException("This operation was aborted", "AbortError"))
    const answer = (): Promise<Answer> =>
      inTime(this.#answer(incoming, call, caller, token, cancel), keepAliveMs, cancel)
    if (caller.expiresAt === undefined) return answer()
    const calls = { ids: [call.id], cancel, refuse: () => authenticator.unauthorized(true) }
    return untilExpired(incoming, caller, calls, answer)
  }

  async #answer(
    incoming: Incoming,
    call: PlainCall,
    caller: MCPCaller,
    token: CancelToken,
    cancel: () => void,
  ): Promise<Answer> {
    let isGone = false
    const stop = incoming.onGone(() => {
      isGone = true
      cancel()
    })
    try {
      const { status, message } = await this.#parts.servers.answer(call, caller, token)
      return isGone ? GONE : jsonAnswer(status, JSON.stringify(message))
    } finally {
      stop()
    }
  }

  /** Serves a single request without a session. */
  async #single(
    modern: SDKHttpHandler,
    incoming: Incoming,
    parsedBody: unknown,
    caller: MCPCaller,
    controller: AbortController,
  ): Promise<Answer> {
    const leave = (): void => controller.abort()
    incoming.onGone(leave)
    const request = requestOf(incoming, controller.signal)
    const isNew = isRecord(parsedBody) && OPENINGS.includes(parsedBody["method"])
    const authInfo: MCPCaller = { ...caller, isNew }
    const answer = modern.fetch(request, { parsedBody, authInfo })
    return await inTime(answer, this.#parts.keepAliveMs, leave)
  }

  async #read(incoming: Incoming): Promise<{ readonly value: unknown } | TextAnswer> {
    const { maxBodyBytes: most = Number.POSITIVE_INFINITY, maxDepth } = incoming.mount?.limits ?? {}
    const maxBodyBytes = Math.min(this.#parts.maxBodyBytes, most)
    let text: string | undefined
    try {
      text = await incoming.readBody(maxBodyBytes)
    } catch (error) {
      return this.#unreadable(error)
    }
    if (text === undefined) {
      const message = `Payload Too Large: a request may have ${maxBodyBytes} bytes.`
      return refuse(413, NOT_SERVED, message, { headers: { connection: "close" } })
    }
    if (maxDepth !== undefined && isTooDeep(text, maxDepth + MESSAGE_DEPTH)) {
      return refuse(
        400,
        -32700,
        `Parse error: the input is nested more than ${maxDepth} levels deep.`,
      )
    }
    try {
      return { value: parseExact(text) }
    } catch (error) {
      if (isCallError(error)) return refuse(400, -32602, `Invalid params: ${error.message}`)
      return refuse(400, -32700, "Parse error: the body is not JSON.")
    }
  }

  /** The response to a request whose body cannot be read. */
  #unreadable(error: unknown): TextAnswer {
    if (!isCallError(error) || error.code === "ABORTED") throw error
    if (error.code === "RATE_LIMITED") return refuseWith(error)
    const { httpStatus } = ERROR_CODES[error.code as ErrorCode]
    if (httpStatus < 500) return refuse(httpStatus, -32700, `Parse error: ${error.message}`)
    this.#parts.logger.error("The body of an MCP request cannot be read", { error })
    return refuse(httpStatus, -32603, error.message)
  }

  #checkHeaders(
    { kind, messageKind }: SDKRoute,
    body: unknown,
    incoming: Incoming,
    caller: MCPCaller,
  ): TextAnswer | undefined {
    if (kind !== "modern" || messageKind !== "request" || !isRecord(body)) return undefined
    const { method, params, id } = body
    if (method !== "tools/call" || !isRecord(params)) return undefined
    return this.#paramMismatch(params, id, incoming, caller)
  }

  /** Refuses a call whose `Mcp-Param-*` headers contradict its arguments. */
  #paramMismatch(
    params: Readonly<Record<string, unknown>>,
    id: unknown,
    incoming: Incoming,
    { identity }: MCPCaller,
  ): TextAnswer | undefined {
    if (typeof params["name"] !== "string") return undefined
    const tool = this.#parts.surface.find(params["name"], { identity, era: "modern" })
    const mismatch = paramMismatch(tool?.inputSchema, params["arguments"], incoming)
    if (mismatch === undefined) return undefined
    const message = `Bad Request: the headers and the body disagree: ${mismatch.header}, ${mismatch.reason}.`
    return refuse(400, -32020, message, {
      id: id as RequestId,
      data: { mismatch: { header: mismatch.header, body: mismatch.reason } },
    })
  }
}

function isTooDeep(text: string, maxDepth: number): boolean {
  return parseJson(text, { maxDepth }).is === "too-deep"
}

function sessionRequestOf(
  incoming: Incoming,
  caller: MCPCaller,
  parsedBody?: unknown,
): SessionRequest {
  const request = requestOf(incoming, incoming.signal)
  const account = accountOf(incoming, caller)
  return { request, parsedBody, caller, account, onRevoked: incoming.mount?.onRevoked }
}

/** The account that sessions count on; `undefined` when neither identity nor address is known. */
function accountOf({ mount, like }: Incoming, { identity }: MCPCaller): string | undefined {
  // A public mount authenticates callers itself.
  const key = (identity === undefined ? mount?.account : undefined) ?? accountKey(identity, like)
  return key === UNKNOWN ? undefined : key
}

/** The account of requests without an address. */
const UNKNOWN = accountKey(undefined, { headers: {} })

/** The request for the SDK, without its body and credentials. */
function requestOf({ method, url, headers }: Incoming, signal: AbortSignal): Request {
  const kept = new Headers(headers)
  for (const name of OWN_HEADERS) kept.delete(name)
  // We accept wildcards; the SDK requires the exact types.
  if (method === "POST") kept.set("accept", "application/json, text/event-stream")
  return new Request(url, { method, headers: kept, signal })
}
