import { systemClock } from "../../internal/clock.ts"
import { setRef } from "../../internal/defer.ts"
import type { Logger } from "../../internal/logger.ts"
import type { HTTPAnswer, HTTPHeaders } from "../exchange.ts"
import { accountKey } from "../accounts.ts"
import { JSON_HEADERS, NOT_SERVED, refuse } from "./answers.ts"
import type { MCPRequest } from "./auth.ts"
import type { SessionLimits } from "./options.ts"
import { Peer } from "./peer.ts"
import { Reply, type ReplyOptions } from "./reply.ts"
import { announceLists } from "./subscriptions.ts"
import type { ToolSurface } from "../../tools/surface.ts"

/** A session of a client up to 2025-11-25. */
export interface Session {
  readonly id: string
  readonly principal: string | undefined
  readonly account: string | undefined
  readonly peer: Peer
  /** Headers of its responses. */
  readonly headers: HTTPHeaders
  usedAt: number
  /** Number of responses that are being sent. */
  open: number
  /** Its stream of notifications. */
  stream: Reply | undefined
  forget: (() => void) | undefined
}

const SESSION_HEADER = "mcp-session-id"

/** Sessions, each with its own state and owner. */
export class Sessions {
  readonly #surface: ToolSurface
  readonly #logger: Logger
  readonly #keepAliveMs: number
  readonly #max: number
  readonly #maxPerCaller: number
  readonly #idleMs: number
  // Least recently used first.
  readonly #sessions = new Map<string, Session>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(surface: ToolSurface, limits: SessionLimits, keepAliveMs: number, logger: Logger) {
    this.#logger = logger
    this.#keepAliveMs = keepAliveMs
    this.#max = limits.max ?? 1024
    this.#maxPerCaller = limits.maxPerCaller ?? 32
    this.#idleMs = limits.idleMs ?? 30 * 60_000
    this.#surface = surface
  }

  /** Opens a session. Throws a `Refusal` when there is no room for it. */
  open(request: MCPRequest): Session {
    const account = accountOf(request)
    if (!this.#makeRoom(account)) {
      throw refuse(503, NOT_SERVED, "Too many sessions are open. Try again later.", {
        headers: { "retry-after": "30" },
      })
    }
    const { caller, mount } = request
    const id = crypto.randomUUID()
    const session: Session = {
      ...{ id, account, principal: caller.identity?.id },
      peer: new Peer(true, (message) => session.stream?.send(message)),
      headers: { ...JSON_HEADERS, [SESSION_HEADER]: id },
      ...{ usedAt: systemClock.now(), open: 0, stream: undefined, forget: undefined },
    }
    const stop = mount?.caller.onRevoked(() => this.end(session, "its credential was revoked"))
    const stopChanges = announceLists(this.#surface, session.peer)
    session.forget = () => {
      stop?.()
      stopChanges()
    }
    this.#sessions.set(id, session)
    this.#sweepLater()
    return session
  }

  /** The session of a request. Throws a `Refusal` if it has none. */
  find({ incoming, caller }: MCPRequest): Session {
    const id = incoming.header(SESSION_HEADER)
    if (id === undefined) {
      throw refuse(400, NOT_SERVED, "Bad Request: send the Mcp-Session-Id of your session.")
    }
    const session = this.#sessions.get(id)
    // A session of another caller counts as unknown: its id may have leaked.
    if (session === undefined || session.principal !== caller.identity?.id) {
      throw refuse(404, -32001, "Session not found. Initialize again.")
    }
    this.#touch(session)
    return session
  }

  /** Opens the stream of notifications of a session. */
  listen(session: Session, onStream: ReplyOptions["onStream"]): Promise<HTTPAnswer> {
    if (session.stream !== undefined) {
      throw refuse(409, NOT_SERVED, "Conflict: only one SSE stream is allowed per session.")
    }
    const stream = new Reply({
      ...{ requests: 0, beginMs: 0, keepAliveMs: this.#keepAliveMs, headers: session.headers },
      onStream,
      onEnd: () => {
        session.stream = undefined
        this.left(session)
      },
    })
    session.stream = stream
    session.open++
    return stream.answer
  }

  /** A response of a session has been sent. */
  left(session: Session): void {
    session.open--
    this.#touch(session)
  }

  end(session: Session, reason: string): void {
    this.#sessions.delete(session.id)
    this.#logger.debug("An MCP session was ended", { reason })
    session.forget?.()
    session.stream?.close()
    session.peer.close("The session was ended.")
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const session of this.#sessions.values()) this.end(session, "the server was closed")
  }

  #touch(session: Session): void {
    session.usedAt = systemClock.now()
    if (this.#sessions.delete(session.id)) this.#sessions.set(session.id, session)
  }

  /** Ends a session if a new one of an account needs room; `false` when none can be ended. */
  #makeRoom(account: string | undefined): boolean {
    const isOwn = (other: string | undefined): boolean => account !== undefined && account === other
    const isUnused = ({ open }: Session): boolean => open === 0
    const all = [...this.#sessions.values()]
    const own = all.filter((session) => isOwn(session.account))
    if (own.length >= this.#maxPerCaller) return this.#endOne(own.find(isUnused) ?? own[0])
    if (this.#sessions.size < this.#max) return true
    return this.#endOne(own.find(isUnused) ?? all.find(isUnused))
  }

  #endOne(session: Session | undefined): boolean {
    if (session !== undefined) this.end(session, "another one needed its place")
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
      if (session.open === 0) this.end(session, "it was not used")
    }
    if (this.#sessions.size > 0) this.#sweepLater()
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
