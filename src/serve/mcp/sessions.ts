import { setRef } from "../../internal/defer.ts"
import type { Logger } from "../../internal/logger.ts"
import { isStream, type HTTPAnswer } from "../exchange.ts"
import { accountKey } from "../accounts.ts"
import { answerOf, NOT_SERVED, refuse, requestOf } from "./answers.ts"
import type { MCPRequest } from "./auth.ts"
import type { SessionLimits } from "./options.ts"
import type { RequestId, SDKServer, SDKSessionTransport, ServerSDK } from "./sdk.ts"
import type { Servers } from "./server.ts"
import { systemClock } from "../../internal/clock.ts"
import { isRecord } from "../../internal/guards.ts"

interface Session {
  /** Empty until the transport has created one. */
  id: string
  readonly principal: string | undefined
  readonly account: string | undefined
  readonly server: SDKServer
  readonly transport: SDKSessionTransport
  usedAt: number
  /** Number of responses that are being sent. */
  open: number
}

const SESSION_HEADER = "mcp-session-id"

/** Sessions of clients up to 2025-11-25, each with its own server and owner. */
export class Sessions {
  readonly #sdk: ServerSDK
  readonly #servers: Servers
  readonly #logger: Logger
  readonly #keepAliveMs: number
  readonly #max: number
  readonly #maxPerCaller: number
  readonly #idleMs: number
  // Least recently used first.
  readonly #sessions = new Map<string, Session>()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Accounts of sessions that are being opened and have no id yet. */
  readonly #opening: (string | undefined)[] = []

  constructor(sdk: ServerSDK, servers: Servers, limits: SessionLimits, keepAliveMs: number) {
    this.#sdk = sdk
    this.#servers = servers
    this.#logger = servers.logger
    this.#keepAliveMs = keepAliveMs
    this.#max = limits.max ?? 1024
    this.#maxPerCaller = limits.maxPerCaller ?? 32
    this.#idleMs = limits.idleMs ?? 30 * 60_000
  }

  /** Answers a request of a session, or opens one. Rejects with a `Refusal`. */
  async handle(request: MCPRequest, body?: unknown): Promise<HTTPAnswer> {
    const isOpening = isRecord(body) && body["method"] === "initialize"
    if (isOpening) return await this.#open(request, body)
    const id = request.incoming.header(SESSION_HEADER)
    if (id === undefined) {
      throw refuse(400, NOT_SERVED, "Bad Request: send the Mcp-Session-Id of your session.")
    }
    const session = this.#sessions.get(id)
    // A session of another caller counts as unknown: its id may have leaked.
    if (session === undefined || session.principal !== request.caller.identity?.id) {
      throw refuse(404, -32001, "Session not found. Initialize again.")
    }
    return await this.#pass(session, request, body)
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(sessions.map(({ server }) => server.close()))
  }

  async #open(request: MCPRequest, body: unknown): Promise<HTTPAnswer> {
    const account = accountOf(request)
    if (!this.#makeRoom(account)) {
      throw refuse(503, NOT_SERVED, "Too many sessions are open. Try again later.", {
        headers: { "retry-after": "30" },
      })
    }
    this.#opening.push(account)
    try {
      return await this.#start(request, account, body)
    } finally {
      this.#opening.splice(this.#opening.indexOf(account), 1)
    }
  }

  async #start(
    request: MCPRequest,
    account: string | undefined,
    body: unknown,
  ): Promise<HTTPAnswer> {
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      keepAliveMs: this.#keepAliveMs,
    })
    const { caller, mount } = request
    const server = this.#servers.create(this.#sdk, {
      era: "legacy",
      caller,
      isLasting: true,
      // The stream of a cancelled request has no further events.
      onCancelled: (id) => transport.closeSSEStream(id),
    })
    await server.connect(transport)
    const session: Session = {
      id: "",
      principal: caller.identity?.id,
      account,
      server,
      transport,
      usedAt: systemClock.now(),
      open: 0,
    }
    const answer = await this.#pass(session, request, body)
    const id = transport.sessionId
    if (id === undefined) {
      await server.close()
      return answer
    }
    const { onclose } = server
    const forget = mount?.caller.onRevoked(() => this.#end(session, "its credential was revoked"))
    server.onclose = () => {
      this.#sessions.delete(id)
      forget?.()
      onclose?.()
    }
    session.id = id
    this.#sessions.set(id, session)
    this.#sweepLater()
    return answer
  }

  async #pass(
    session: Session,
    { incoming, caller }: MCPRequest,
    parsedBody: unknown,
  ): Promise<HTTPAnswer> {
    this.#touch(session)
    const leaving = new AbortController()
    incoming.onGone(() => leaving.abort())
    const response = await session.transport.handleRequest(requestOf(incoming, leaving.signal), {
      ...(parsedBody === undefined ? {} : { parsedBody }),
      authInfo: caller,
    })
    const answer = await answerOf(response)
    const { body } = answer
    if (!isStream(body)) return answer
    session.open++
    return {
      ...answer,
      body: {
        run: async (sink) => {
          await body.run(sink)
          session.open--
          this.#touch(session)
          if (sink.isGone) cancel(session.transport, requestIds(parsedBody))
        },
      },
    }
  }

  #touch(session: Session): void {
    session.usedAt = systemClock.now()
    if (this.#sessions.delete(session.id)) this.#sessions.set(session.id, session)
  }

  /** Ends a session if a new one of an account needs room; `false` when none can be ended. */
  #makeRoom(account: string | undefined): boolean {
    const isOwn = (other: string | undefined): boolean => account !== undefined && account === other
    const own = [...this.#sessions.values()].filter((session) => isOwn(session.account))
    const opening = this.#opening.filter(isOwn).length
    if (own.length + opening >= this.#maxPerCaller) {
      return this.#endOne(own.find(isUnused) ?? own[0])
    }
    if (this.#sessions.size + this.#opening.length < this.#max) return true
    return this.#endOne(own.find(isUnused) ?? [...this.#sessions.values()].find(isUnused))
  }

  #endOne(session: Session | undefined): boolean {
    if (session !== undefined) this.#end(session, "another one needed its place")
    return session !== undefined
  }

  #sweepLater(): void {
    if (this.#timer !== undefined || !Number.isFinite(this.#idleMs)) return
    this.#timer = setTimeout(() => this.#sweep(), Math.min(this.#idleMs, 60_000))
    setRef(this.#timer, false)
  }

  #sweep(): void {
    this.#timer = undefined
    const before = systemClock.now() - this.#idleMs
    for (const session of this.#sessions.values()) {
      if (session.usedAt > before) break
      if (session.open === 0) this.#end(session, "it was not used")
    }
    if (this.#sessions.size > 0) this.#sweepLater()
  }

  #end({ id, server }: Session, reason: string): void {
    this.#sessions.delete(id)
    this.#logger.debug("An MCP session was ended", { reason })
    server.close().catch(() => undefined)
  }
}

/**
 * The account that a session counts on: an identity, or an address for anonymous callers; `undefined` when neither is
 * known.
 */
function accountOf({ incoming, caller: { identity }, mount }: MCPRequest): string | undefined {
  // A public mount authenticates callers itself.
  const hosted = identity === undefined ? mount?.caller.account : undefined
  const key = hosted ?? accountKey(identity, incoming.like)
  return key === UNKNOWN ? undefined : key
}

/** The account of requests without an address. */
const UNKNOWN = accountKey(undefined, { headers: {} })

/** Whether nothing is being sent to the client. */
function isUnused({ open }: Session): boolean {
  return open === 0
}

// The answers can no longer be delivered: nothing is kept for a client that reconnects.
function cancel(transport: SDKSessionTransport, ids: readonly RequestId[]): void {
  for (const requestId of ids) {
    const params = { requestId, reason: "The client has disconnected" }
    transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params })
  }
}

/** The ids of the requests in a body. */
export function requestIds(body: unknown): RequestId[] {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
  return messages.flatMap((message) =>
    isRecord(message) && "method" in message && isId(message["id"]) ? [message["id"]] : [],
  )
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number"
}
