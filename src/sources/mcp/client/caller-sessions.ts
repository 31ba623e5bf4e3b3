import type { CallError } from "../../../core/errors.ts"
import { headersKey, readCallHeaders } from "../../../core/call-headers.ts"
import { IdlePool } from "../../../internal/idle-pool.ts"
import type { MCPHttpChannel, ResolvedServer } from "../config.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { RequestCaller } from "./model.ts"
import type { RequestTimeout } from "./request-timeout.ts"
import type { Session } from "./session.ts"
import type { Supervisor } from "./supervisor.ts"

const MAX_SESSIONS = 200
const IDLE_MS = 300_000

/**
 * One session per set of caller headers: a session opened with one caller's credentials is never used for
 * another. Callers for whom `headers` returns the same values share a session.
 */
export class CallerSessions {
  readonly #server: ResolvedServer
  readonly #channel: MCPHttpChannel
  readonly #make: (server: ResolvedServer) => Supervisor
  readonly #pool: IdlePool<Supervisor>

  constructor(
    server: ResolvedServer,
    channel: MCPHttpChannel,
    clock: Clock,
    make: (server: ResolvedServer) => Supervisor,
  ) {
    this.#server = server
    this.#channel = channel
    this.#make = make
    // Requests that run on a session may finish.
    const giveUp = (supervisor: Supervisor): void => supervisor.retire()
    this.#pool = new IdlePool({ clock, maxSize: MAX_SESSIONS, idle: IDLE_MS, dispose: giveUp })
  }

  /** The session for a caller; `undefined` for anonymous callers, who use that of the connection. */
  async ready(
    caller: RequestCaller | undefined,
    timeout: RequestTimeout,
  ): Promise<Session | undefined> {
    const identity = caller?.identity
    if (identity === undefined) return undefined
    const context = { identity, operationId: caller?.operationId, signal: timeout.signal }
    const subject = `A header for MCP server "${this.#server.name}"`
    const reading = readCallHeaders(this.#channel.headers, context, subject)
    const headers = await timeout.race(reading, false)
    const supervisor = this.#pool.get(headersKey(headers), () =>
      this.#make({ ...this.#server, channel: { ...this.#channel, headers } }),
    )
    return await supervisor.ready(timeout)
  }

  expired(session: Session): void {
    for (const supervisor of this.#pool.values()) supervisor.expired(session)
  }

  unreached(session: Session, error: CallError): void {
    for (const supervisor of this.#pool.values()) supervisor.unreached(session, error)
  }

  async close(): Promise<void> {
    await Promise.all(this.#pool.clear().map((supervisor) => supervisor.close()))
  }
}
