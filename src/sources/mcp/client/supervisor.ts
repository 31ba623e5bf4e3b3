import { CallError, isCallError, type CallErrorOptions } from "../../../core/errors.ts"
import { outwardOf, setOutward } from "../../../core/error-marks.ts"
import type { ResolvedServer } from "../config.ts"
import { isUnreached, mcpError } from "../../../mcp/errors.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { backOff } from "../../../internal/back-off.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { MCPLogReader } from "./log-lines.ts"
import { Secrets, secretsOfChannel } from "./mask.ts"
import type { MCPConnectionStatus, MCPPeer } from "./model.ts"
import { openSession } from "./open.ts"
import type { RequestTimeout } from "./request-timeout.ts"
import { loadSdk } from "./sdk.ts"
import type { Session } from "./session.ts"

/** Dependencies and listeners of a supervisor. */
export interface Supervised {
  readonly server: ResolvedServer
  readonly clock: Clock
  /** Receives what the server logs. */
  readonly log?: MCPLogReader | undefined
  /** The server's era, if known from the `peer.era` of an earlier connection. */
  readonly knownEra: MCPEra | undefined
  /** All calls are of one caller. */
  readonly isOfOneCaller?: boolean | undefined
  opened?(session: Session, isAgain: boolean): void
  notified?(method: string, params: unknown): void
  lost?(error: CallError): void
  /** The server could not be reached, by a request or when opening a session. */
  unreached?(error: CallError): void
}

/** Opens sessions when they are needed, replaces lost ones, and limits restarts. */
export class Supervisor {
  peer: MCPPeer | undefined = undefined
  /** The user has agreed to run the program. */
  isApproved = false
  readonly #host: Supervised
  readonly #name: string
  readonly #secrets: Secrets
  readonly #restarts: Restarts
  readonly #ended = new AbortController()
  #stopOpening = new AbortController()
  #opening: Promise<Session> | undefined
  #session: Session | undefined
  /** The session of the last process, for its status. */
  #latest: Session | undefined
  #era: MCPEra | undefined
  #count = 0
  #lastError: CallError | undefined
  #state: MCPConnectionStatus["state"] = "idle"

  constructor(host: Supervised) {
    this.#host = host
    this.#name = host.server.name
    this.#secrets = new Secrets(secretsOfChannel(host.server.channel))
    this.#era = host.knownEra
    this.#restarts = new Restarts(host.clock)
  }

  get status(): MCPConnectionStatus {
    const { child, stderrTail } = this.#latest ?? {}
    return {
      state: this.#state,
      restarts: Math.max(0, this.#count - 1),
      pid: child?.exit === undefined ? child?.pid : undefined,
      stderrTail,
      lastError: this.#lastError?.message,
    }
  }

  /** Returns an open session: the current one, the one being opened, or a new one. */
  async ready(timeout: RequestTimeout): Promise<Session> {
    this.assertOpen()
    if (timeout.isOver) throw timeout.error(false)
    const session = this.#session
    if (session !== undefined && !session.isLost) return session
    if (this.#opening === undefined) await this.#waitForRestart(timeout)
    this.assertOpen()
    const open = this.#session
    if (open !== undefined && !open.isLost) return open
    this.#opening ??= this.#open()
    return await timeout.race(this.#opening, false)
  }

  /** Later requests open a new session; pending requests on the old one may finish. */
  expired(session: Session): void {
    if (session !== this.#session) return
    this.#session = undefined
    session.retire()
  }

  /** Handles an unreachable HTTP server: it has no connection whose loss we would notice otherwise. */
  unreached(session: Session, error: CallError): void {
    if (session !== this.#session || this.#host.server.channel.kind === "stdio") return
    this.#lost(session, error)
    session.retire()
    this.#host.unreached?.(error)
  }

  /** Another session found that the server cannot be reached. */
  away(error: CallError): void {
    if (this.#session !== undefined) this.unreached(this.#session, error)
  }

  /** A session is being opened, or has requests. */
  get isBusy(): boolean {
    return this.#opening !== undefined || this.#session?.isBusy === true
  }

  /** Closes the session and resets the restart limit. */
  async reset(): Promise<void> {
    this.assertOpen()
    this.#restarts.reset()
    this.#stopOpening.abort()
    await this.#opening?.catch(() => {})
    const session = this.#session
    this.#session = undefined
    await session?.close()
  }

  async close(): Promise<void> {
    this.#state = "closed"
    this.#ended.abort()
    this.#stopOpening.abort()
    await this.#opening?.catch(() => {})
    await this.#session?.close()
    this.#session = undefined
  }

  assertOpen(): void {
    if (!this.#ended.signal.aborted) return
    const message = `MCP server "${this.#name}" was closed. Create a new client.`
    throw new CallError("UNAVAILABLE", message, { retryable: false })
  }

  /** Waits before a restart; throws when the process ended too often. */
  async #waitForRestart(timeout: RequestTimeout): Promise<void> {
    const { isGivenUp, delay } = this.#restarts
    if (isGivenUp) {
      throw this.#notRestarted("ended too often; it is not restarted until you call reconnect().", {
        retryable: false,
        details: { reason: "CRASHED" },
      })
    }
    if (delay === 0) return
    if (delay < timeout.left) return await timeout.wait(delay)
    throw this.#notRestarted(`ended; it can be restarted in ${delay} ms.`, { retryAfterMs: delay })
  }

  /** An error that quotes the last one; what callers may not see of that, they do not see here either. */
  #notRestarted(what: string, options: CallErrorOptions): CallError {
    const last = this.#lastError
    const text = `MCP server "${this.#name}" ${what}`
    if (last === undefined) return new CallError("UNAVAILABLE", text, options)
    const error = new CallError("UNAVAILABLE", `${text} Last: ${last.message}`, options)
    const message = `${text} Last: ${(outwardOf(last) ?? last).message}`
    return setOutward(error, { message, details: options.details })
  }

  async #open(): Promise<Session> {
    this.#state = "connecting"
    this.#stopOpening = new AbortController()
    try {
      const session = await this.#openSession(this.#stopOpening.signal)
      if (this.#ended.signal.aborted) await session.close()
      this.assertOpen()
      this.#session = session
      this.peer = session.peer
      this.#era = session.peer.era
      this.#state = "ready"
      this.#host.opened?.(session, this.#count++ > 0)
      return session
    } catch (thrown) {
      const error = isCallError(thrown)
        ? thrown
        : this.#secrets.error(mcpError(thrown, { server: this.#name, phase: "connect" }))
      if (!this.#ended.signal.aborted) this.#state = "failed"
      this.#lastError = error
      if (isUnreached(error.cause)) this.#host.unreached?.(error)
      throw error
    } finally {
      this.#opening = undefined
    }
  }

  async #openSession(signal: AbortSignal): Promise<Session> {
    const { server, log, isOfOneCaller } = this.#host
    let isLaunched = false
    try {
      return await openSession({
        sdk: await loadSdk(),
        server,
        secrets: this.#secrets,
        log,
        isOfOneCaller,
        era: this.#era,
        signal,
        isApproved: this.isApproved,
        launching: (session) => {
          this.isApproved = true
          isLaunched = true
          this.#latest = session
        },
        notified: (session, method, params) => {
          if (session === this.#session) this.#host.notified?.(method, params)
        },
        lost: (session, error) => this.#lost(session, error),
      })
    } catch (error) {
      if (isLaunched && !signal.aborted) this.#restarts.ended()
      throw error
    }
  }

  #lost(session: Session, error: CallError): void {
    if (session !== this.#session) return
    this.#session = undefined
    this.#lastError = error
    if (this.#ended.signal.aborted) return
    this.#state = "lost"
    if (this.#host.server.channel.kind === "stdio") this.#restarts.ended()
    this.#host.lost?.(error)
  }
}

const WINDOW = 60_000
const MAX_ENDS = 5

/** When an ended process may be restarted: at once, after 1 s, 2 s, 4 s; after five ends in a minute, not at all. */
export class Restarts {
  readonly #clock: Clock
  #ends: number[] = []
  /** It is not restarted until `reset`. */
  isGivenUp = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The process ended, or could not be started. */
  ended(): void {
    const now = this.#clock.now()
    this.#ends = [...this.#ends.filter((at) => now - at < WINDOW), now]
    if (this.#ends.length >= MAX_ENDS) this.isGivenUp = true
  }

  /** Milliseconds until it may be started. */
  get delay(): number {
    const now = this.#clock.now()
    const recent = this.#ends.filter((at) => now - at < WINDOW)
    const last = recent.at(-1)
    if (last === undefined || recent.length === 1) return 0
    return Math.max(0, last + backOff(recent.length - 1, 1000, 30_000) - now)
  }

  reset(): void {
    this.#ends = []
    this.isGivenUp = false
  }
}
