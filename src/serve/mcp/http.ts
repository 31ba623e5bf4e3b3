// Which way a request over HTTP goes: the checks before it, then a session, or none.
import { ERROR_CODES, isCallError, type CallError, type ErrorCode } from "../../core/errors.ts"
import { parseExact } from "../../http-client/exact-json.ts"
import { parseJson } from "../../http-client/json.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { LEGACY_VERSIONS, type JsonObject, type MCPEra } from "../../mcp/model.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import type { Clock } from "../../internal/platform.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import { whenEnded } from "../expiry.ts"
import { accepts, EVENTS, isJsonBody } from "../negotiate.ts"
import { ACCEPTED, NOT_SERVED, refuse, refuseWith, USUAL_ACCEPT } from "./answers.ts"
import type { Authenticator, MCPRequest, Mounted } from "./auth.ts"
import { eraOf, mismatch } from "./eras.ts"
import { paramMismatch } from "./headers.ts"
import { failure, idOf, readMessage } from "./messages.ts"
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from "./messages.ts"
import type { RPCMessage, RPCRequest } from "./messages.ts"
import { ProtocolError } from "../../tools/model.ts"
import type { MCPServerOptions } from "./options.ts"
import { Exchange, Peer } from "./peer.ts"
import { Reply } from "./reply.ts"
import { clientOf, type Responder } from "./responder.ts"
import { Sessions, type Session } from "./sessions.ts"
import { LISTEN } from "./subscriptions.ts"

/** Levels of a message around the arguments of a call. */
const MESSAGE_DEPTH = 2

const MAX_BATCH = 100

/** Milliseconds after which the response to a legacy client begins at the latest: it expects a stream at once. */
const LEGACY_BEGIN_MS = 1000

/** Answers HTTP requests of both protocol eras. */
export class HTTPServing {
  readonly #responder: Responder
  readonly #authenticator: Authenticator
  readonly #options: MCPServerOptions
  readonly #keepAliveMs: number
  readonly #sessions: Sessions | undefined

  constructor(responder: Responder, authenticator: Authenticator, options: MCPServerOptions) {
    const { sessions: limits = {}, keepAliveMs = 15_000 } = options
    const { surface, logger } = responder
    this.#responder = responder
    this.#authenticator = authenticator
    this.#options = options
    this.#keepAliveMs = keepAliveMs
    if (limits !== false) this.#sessions = new Sessions(surface, limits, keepAliveMs, logger)
  }

  /** Answers a request; `mount` is set when another server has admitted it. Rejects with a `Refusal`. */
  async handle(incoming: HTTPIncoming, mount?: Mounted): Promise<HTTPAnswer> {
    const document = mount === undefined ? this.#authenticator.metadata(incoming) : undefined
    if (document !== undefined) return document
    const admitted = this.#authenticator.admit(incoming, mount)
    const caller = admitted instanceof Promise ? await admitted : admitted
    const request: MCPRequest = { incoming, caller, mount }
    const { method } = incoming
    if (method === "POST") return await this.#post(request)
    const sessions = this.#sessions
    if (sessions === undefined || (method !== "GET" && method !== "DELETE")) {
      const allow = sessions === undefined ? "POST" : "GET, POST, DELETE"
      throw refuse(405, NOT_SERVED, "Method not allowed.", { headers: { allow } })
    }
    if (method === "GET") countStream(request)
    const session = sessions.find(request)
    checkVersion(incoming)
    if (method === "DELETE") {
      sessions.end(session, "its client has left")
      return { status: 200, headers: {} }
    }
    if (incoming.header("accept")?.includes(EVENTS) !== true) {
      throw refuse(406, NOT_SERVED, "Not Acceptable: the client must accept text/event-stream.")
    }
    const end = (): void => session.stream?.close()
    return await sessions.listen(session, () => untilEnded(request, end))
  }

  close(): void {
    this.#sessions?.close()
  }

  async #post(request: MCPRequest): Promise<HTTPAnswer> {
    const { incoming, mount } = request
    checkMedia(incoming)
    const body = await this.#read(request)
    // The request has paid for the first message of a batch.
    const unpaid = Array.isArray(body) ? mount?.caller.charge(body.length - 1) : undefined
    if (unpaid !== undefined) throw refuseWith(unpaid)
    try {
      if (Array.isArray(body)) return await this.#legacy(request, batchOf(body))
      const read = readMessage(body)
      if (read === undefined) {
        throw new ProtocolError(INVALID_REQUEST, "Bad Request: this is not a JSON-RPC message.")
      }
      const era = read.is === "response" ? "legacy" : eraOf(read, incoming)
      if (era === "legacy") return await this.#legacy(request, [read])
      if (read.is !== "request") return ACCEPTED
      const { method, params } = read.message
      if (method === "tools/call") this.#checkParams(params, request)
      if (method === LISTEN) countStream(request)
      else this.#checkExpiry(request)
      return await this.#respond(request, era, [read.message])
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      const { code, message, data, httpStatus = 400 } = error
      throw refuse(httpStatus, code, message, { id: idOf(body), data })
    }
  }

  /** Answers messages of a legacy client, in its session if there are sessions. */
  #legacy(request: MCPRequest, messages: readonly RPCMessage[]): HTTPAnswer | Promise<HTTPAnswer> {
    const requests = messages.flatMap(({ is, message }) => (is === "request" ? [message] : []))
    const opening = requests.find(({ method }) => method === "initialize")
    if (opening !== undefined && messages.length > 1) {
      throw new ProtocolError(INVALID_REQUEST, "Invalid Request: initialize must be sent alone.")
    }
    this.#checkExpiry(request)
    let session: Session | undefined
    if (opening === undefined) {
      session = this.#sessions?.find(request)
      checkVersion(request.incoming)
    } else {
      clientOf(opening.params)
      session = this.#sessions?.open(request)
    }
    for (const { is, message } of messages) if (is !== "request") session?.peer.receive(message)
    if (requests.length === 0) return ACCEPTED
    return this.#respond(request, "legacy", requests, session)
  }

  #respond(
    request: MCPRequest,
    era: MCPEra,
    requests: readonly RPCRequest[],
    session?: Session,
  ): Promise<HTTPAnswer> {
    const { incoming, caller, mount } = request
    const provide = mount?.host.valuesFor
    const valuesFor = provide && ((id: string) => provide(id, incoming, caller.identity))
    const peer = session?.peer ?? new Peer(false)
    const keepAliveMs = this.#keepAliveMs
    const isListening = requests[0]?.method === LISTEN && era === "modern"
    const exchanges: Exchange[] = []
    let stop = (): void => undefined
    const reply = new Reply({
      requests: requests.length,
      headers: session?.headers,
      beginMs: era === "legacy" ? Math.min(LEGACY_BEGIN_MS, keepAliveMs) : keepAliveMs,
      keepAliveMs,
      // Without a stream calls finish: a client that is refused would repeat what has had its effect.
      onStream: () =>
        untilEnded(request, ({ code, message, mayHaveExecuted }) => {
          for (const exchange of exchanges) {
            const data = { code, mayHaveExecuted }
            const error = { code: -32001, message, data }
            if (!isListening) exchange.finish(failure(exchange.request.id, error))
            exchange.cancel(message)
          }
        }),
      onEnd: (hasLeft) => {
        stop()
        if (session !== undefined) this.#sessions?.left(session)
        if (!hasLeft) return
        const reason = new DOMException("The client has left.", "AbortError")
        for (const exchange of exchanges) exchange.cancel(reason)
      },
    })
    if (session !== undefined) session.open++
    for (const one of requests) {
      exchanges.push(new Exchange(peer, era, one, caller, reply, valuesFor, incoming))
    }
    stop = incoming.onGone(() => reply.close(true))
    for (const exchange of exchanges) void this.#responder.answer(exchange)
    return reply.answer
  }

  #checkExpiry(request: MCPRequest): void {
    const { expiresAt } = request.caller
    if (expiresAt === undefined || expiresAt > wallTimeOf(clockOf(request))) return
    throw this.#authenticator.unauthorized(true)
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
      throw refuse(400, PARSE_ERROR, message)
    }
    try {
      return parseExact(text)
    } catch (error) {
      if (isCallError(error)) throw refuse(400, INVALID_PARAMS, `Invalid params: ${error.message}`)
      throw refuse(400, PARSE_ERROR, "Parse error: the body is not JSON.")
    }
  }

  /** Refuses a request whose body cannot be read. */
  #unreadable(error: unknown): never {
    if (!isCallError(error) || error.code === "ABORTED") throw error
    if (error.code === "RATE_LIMITED") throw refuseWith(error)
    const { httpStatus } = ERROR_CODES[error.code as ErrorCode]
    if (httpStatus < 500) throw refuse(httpStatus, PARSE_ERROR, `Parse error: ${error.message}`)
    this.#responder.logger.error("The body of an MCP request cannot be read", { error })
    throw refuse(httpStatus, INTERNAL_ERROR, error.message)
  }

  /** Refuses a call whose `Mcp-Param-*` headers contradict its arguments. */
  #checkParams(
    params: JsonObject | undefined,
    { incoming, caller: { identity } }: MCPRequest,
  ): void {
    const { name, arguments: input } = params ?? {}
    if (typeof name !== "string") return
    const tool = this.#responder.surface.find(name, { identity, era: "modern" })
    const found = paramMismatch(tool?.inputSchema, input, incoming)
    if (found !== undefined) throw mismatch(found.header, found.reason)
  }
}

/** Counts a stream of the caller. */
function countStream({ mount }: MCPRequest): void {
  const full = mount?.caller.openStream()
  if (full !== undefined) throw refuseWith(full)
}

/** Calls back when the credential of a caller ends. Returns a function that cancels. */
function untilEnded(request: MCPRequest, act: (error: CallError) => void): () => void {
  const { caller, mount } = request
  const onRevoked = mount && ((listener: () => void) => mount.caller.onRevoked(listener))
  return whenEnded({ expiresAt: caller.expiresAt, onRevoked }, clockOf(request), act)
}

function clockOf({ mount }: MCPRequest): Clock {
  return mount?.host.clock ?? systemClock
}

/** Reads a batch, which only legacy clients send. */
function batchOf(body: readonly unknown[]): readonly RPCMessage[] {
  if (body.length === 0 || body.length > MAX_BATCH) {
    const message = `Invalid Request: a batch has 1 to ${MAX_BATCH} messages.`
    throw new ProtocolError(INVALID_REQUEST, message)
  }
  return body.map((one) => {
    const read = readMessage(one)
    const isLegacy = read !== undefined && (read.is === "response" || eraOf(read) === "legacy")
    if (isLegacy) return read
    const message = "Bad Request: a batch has a message that is invalid, or of a newer protocol."
    throw new ProtocolError(INVALID_REQUEST, message)
  })
}

/** Refuses a version that legacy clients cannot have agreed on. */
function checkVersion(incoming: HTTPIncoming): void {
  const version = incoming.header("mcp-protocol-version")?.trim()
  if (version === undefined || LEGACY_VERSIONS.includes(version)) return
  const message = `Bad Request: unsupported protocol version ${version}. Supported are ${LEGACY_VERSIONS.join(", ")}.`
  throw refuse(400, NOT_SERVED, message)
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
