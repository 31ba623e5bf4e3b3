import { ERROR_CODES, isCallError } from "../../core/errors.ts"
import type { ErrorCode } from "../../core/errors.ts"
import type { Logger } from "../../internal/logger.ts"
import { isRecord } from "../../internal/guards.ts"
import type { UpgradeRules } from "../upgrade.ts"
import { accountKey } from "../accounts.ts"
import { pathOf } from "../upgrade.ts"
import { jsonResponse, NOT_SERVED, refuse } from "./answers.ts"
import type { Authenticator } from "./auth.ts"
import type { ChangeNotices } from "./changes.ts"
import { checkMedia, checkSource } from "./check-request.ts"
import { paramMismatch } from "./headers.ts"
import { asStream, chargeBatch, tooMany, untilExpired } from "./account.ts"
import { inTime } from "./keep-alive.ts"
import type { MCPSurface } from "./model.ts"
import { plainCallOf } from "./plain-call.ts"
import type { PlainCall } from "./plain-call.ts"
import type { RequestId, SDKHttpHandler, SDKRoute, ServerSDK } from "./sdk.ts"
import type { MCPCaller, Servers } from "./server.ts"
import { Sessions, requestIds } from "./sessions.ts"
import type { SessionLimits, SessionRequest } from "./sessions.ts"
import type { Incoming } from "./incoming.ts"

/** Dependencies of `HTTPServing`. */
export interface HTTPParts {
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

const OPENINGS: readonly unknown[] = ["server/discover", "initialize"]

/** Answers HTTP requests of both protocol eras. */
export class HTTPServing {
  readonly #sdk: ServerSDK
  readonly #parts: HTTPParts
  readonly #modern: SDKHttpHandler
  readonly #sessions: Sessions | undefined
  readonly #stopNotices: () => void
  /** Aborts plain calls. */
  readonly #running = new Set<() => void>()

  constructor(sdk: ServerSDK, parts: HTTPParts) {
    const { servers, sessions, keepAliveMs, logger, notices } = parts
    this.#sdk = sdk
    this.#parts = parts
    this.#sessions =
      sessions === false ? undefined : new Sessions(sdk, servers, sessions, keepAliveMs, logger)
    this.#modern = sdk.createMcpHandler(
      ({ era, authInfo }) =>
        servers.create(sdk, { era, caller: authInfo as MCPCaller, isLasting: false }),
      {
        legacy: this.#sessions === undefined ? "stateless" : "reject",
        keepAliveMs,
        onerror: (error: Error) => logger.debug("An MCP request reported", { error }),
      },
    )
    this.#stopNotices = notices.listen(() => this.#modern.notify.toolsChanged())
  }

  async handle(incoming: Incoming): Promise<Response> {
    const { authenticator } = this.#parts
    const { method, like, given, mount } = incoming
    const refused =
      (mount === undefined ? authenticator.metadata(method, pathOf(like)) : undefined) ??
      this.#checkSource(incoming)
    if (refused !== undefined) return refused
    const caller = await authenticator.admit(like, given, mount?.caller)
    if (caller instanceof Response) return caller
    if (method === "POST") return await this.#post(incoming, caller)
    const sessions = this.#sessions
    if (sessions !== undefined && method === "GET") {
      return await asStream(incoming, caller, () =>
        sessions.handle(sessionRequestOf(incoming, caller)),
      )
    }
    if (sessions !== undefined && method === "DELETE") {
      return await sessions.handle(sessionRequestOf(incoming, caller))
    }
    const allowed = this.#sessions === undefined ? "POST" : "GET, POST, DELETE"
    return refuse(405, NOT_SERVED, "Method not allowed.", { headers: { Allow: allowed } })
  }

  async close(): Promise<void> {
    this.#stopNotices()
    for (const abort of this.#running) abort()
    await Promise.all([this.#modern.close(), this.#sessions?.close()])
  }

  async #post(incoming: Incoming, caller: MCPCaller): Promise<Response> {
    const refused = checkMedia(incoming.headers)
    if (refused !== undefined) return refused
    const body = await this.#read(incoming)
    if (body instanceof Response) return body
    const unpaid = chargeBatch(incoming, body.value)
    if (unpaid !== undefined) return unpaid
    const plain = plainCallOf(body.value, incoming.headers)
    if (plain !== undefined) return await this.#plain(incoming, plain, caller)
    const route = this.#sdk.classifyInboundRequest({
      httpMethod: "POST",
      protocolVersionHeader: incoming.headers.get("mcp-protocol-version") ?? undefined,
      mcpMethodHeader: incoming.headers.get("mcp-method") ?? undefined,
      mcpNameHeader: incoming.headers.get("mcp-name") ?? undefined,
      body: body.value,
    })
    const leaving = new AbortController()
    const calls = {
      ids: requestIds(body.value),
      cancel: () => leaving.abort(),
      refuse: () => this.#parts.authenticator.unauthorized(true),
    }
    const sessions = this.#sessions
    if (route.kind === "legacy" && sessions !== undefined) {
      const request = sessionRequestOf(incoming, caller, body.value)
      return await untilExpired(incoming, caller, calls, () => sessions.handle(request))
    }
    const mismatch = this.#checkHeaders(route, body.value, incoming, caller)
    if (mismatch !== undefined) return mismatch
    const single = (): Promise<Response> => this.#single(incoming, body.value, caller, leaving)
    const isStream = isRecord(body.value) && body.value["method"] === LISTEN
    return isStream
      ? await asStream(incoming, caller, single)
      : await untilExpired(incoming, caller, calls, single)
  }

  /** Checks host and origin: the host server has checked its rules, and this server adds its own. */
  #checkSource({ like, given, mount }: Incoming): Response | undefined {
    const { authenticator, rules } = this.#parts
    const { allowedHosts, allowedOrigins } = rules
    if (mount !== undefined && allowedHosts === undefined && allowedOrigins === undefined) {
      return undefined
    }
    return checkSource(
      like,
      rules,
      mount?.caller !== undefined || authenticator.hasCheckedIdentity(given),
    )
  }

  /** Serves a plain call without the SDK. */
  async #plain(incoming: Incoming, call: PlainCall, caller: MCPCaller): Promise<Response> {
    const { servers, keepAliveMs, authenticator } = this.#parts
    const mismatch = this.#paramMismatch(call.params, call.id, incoming, caller)
    if (mismatch !== undefined) return mismatch
    const controller = new AbortController()
    let hasLeft = false
    const leave = (): void => {
      hasLeft = true
      controller.abort()
    }
    const calls = {
      ids: [call.id],
      cancel: leave,
      refuse: () => authenticator.unauthorized(true),
    }
    const { signal } = incoming
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
    this.#running.add(leave)
    const answer = async (): Promise<Response> => {
      try {
        const { status, message } = await servers.answer(call, caller, controller)
        return hasLeft
          ? new Response(null, { status: 499 })
          : jsonResponse(status, JSON.stringify(message))
      } finally {
        this.#running.delete(leave)
        signal.removeEventListener("abort", leave)
      }
    }
    return await untilExpired(incoming, caller, calls, () => inTime(answer(), keepAliveMs, leave))
  }

  /** Serves a single request without a session. */
  async #single(
    incoming: Incoming,
    parsedBody: unknown,
    caller: MCPCaller,
    controller: AbortController,
  ): Promise<Response> {
    const leave = (): void => controller.abort()
    const { signal } = incoming
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
    const request = requestOf(incoming, controller.signal)
    const isNew = isRecord(parsedBody) && OPENINGS.includes(parsedBody["method"])
    const authInfo: MCPCaller = { ...caller, isNew }
    const answer = this.#modern.fetch(request, { parsedBody, authInfo })
    return await inTime(answer, this.#parts.keepAliveMs, leave)
  }

  async #read(incoming: Incoming): Promise<{ readonly value: unknown } | Response> {
    const { maxBodyBytes } = this.#parts
    let text: string | undefined
    try {
      text = await incoming.readBody(maxBodyBytes)
    } catch (error) {
      return this.#unreadable(error)
    }
    if (text === undefined) {
      const message = `Payload Too Large: a request may have ${maxBodyBytes} bytes.`
      return refuse(413, NOT_SERVED, message, { headers: { Connection: "close" } })
    }
    try {
      return { value: JSON.parse(text) as unknown }
    } catch {
      return refuse(400, -32700, "Parse error: the body is not JSON.")
    }
  }

  /** The response to a request whose body cannot be read. */
  #unreadable(error: unknown): Response {
    if (!isCallError(error) || error.code === "ABORTED") throw error
    if (error.code === "RATE_LIMITED") return tooMany(error)
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
  ): Response | undefined {
    if (kind !== "modern" || messageKind !== "request" || !isRecord(body)) return undefined
    const { method, params, id } = body
    if (method !== "tools/call" || !isRecord(params)) return undefined
    return this.#paramMismatch(params, id, incoming, caller)
  }

  /** Refuses a call whose `Mcp-Param-*` headers contradict its arguments. */
  #paramMismatch(
    params: Readonly<Record<string, unknown>>,
    id: unknown,
    { headers }: Incoming,
    { identity }: MCPCaller,
  ): Response | undefined {
    if (typeof params["name"] !== "string") return undefined
    const tool = this.#parts.surface.find(params["name"], { identity, era: "modern" })
    const mismatch = paramMismatch(tool?.inputSchema, params["arguments"], headers)
    if (mismatch === undefined) return undefined
    const message = `Bad Request: the headers and the body disagree: ${mismatch.header}, ${mismatch.reason}.`
    return refuse(400, -32020, message, {
      id: id as RequestId,
      data: { mismatch: { header: mismatch.header, body: mismatch.reason } },
    })
  }
}

function sessionRequestOf(
  incoming: Incoming,
  caller: MCPCaller,
  parsedBody?: unknown,
): SessionRequest {
  const request = requestOf(incoming, incoming.signal)
  return { request, parsedBody, caller, account: accountOf(incoming, caller) }
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
