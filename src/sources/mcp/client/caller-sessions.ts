import type { CallError } from "../../../core/errors.ts"
import { fixedHeaders, headersKey, readCallHeaders } from "../../../core/call-headers.ts"
import { IdlePool } from "../../../internal/idle-pool.ts"
import type { ResolvedServer } from "../config.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { RequestCaller } from "./model.ts"
import type { RequestTimeout } from "./request-timeout.ts"
import type { Session } from "./session.ts"
import type { Supervisor } from "./supervisor.ts"

const MAX_SESSIONS = 200
const MAX_PROCESSES = 50
/** More than a person may take to answer a question, during which no request runs in the modern era. */
const IDLE_MS = 600_000

/** Dependencies of `CallerSessions`. */
export interface CallerSessionsHost {
  readonly server: ResolvedServer
  /** Of the session that lists, and that callers without an identity use. */
  readonly main: Supervisor
  readonly clock: Clock
  readonly make: (server: ResolvedServer, isOfOneCaller: boolean) => Supervisor
}

/**
 * Sessions of callers. With `sessions: "caller"` each identity has its own. Otherwise there is one per set of headers: a
 * session opened with one caller's credentials is never used for another, and callers for whom `headers` returns the
 * same values share one.
 *
 * Those that are not used end, as does the least recently used one when there are too many. Those with requests do not.
 */
export class CallerSessions {
  readonly #host: CallerSessionsHost
  readonly #pool: IdlePool<Supervisor>
  readonly #closing = new Set<Promise<void>>()

  constructor(host: CallerSessionsHost) {
    this.#host = host
    const { clock, server } = host
    this.#pool = new IdlePool({
      clock,
      maxSize: server.channel.kind === "stdio" ? MAX_PROCESSES : MAX_SESSIONS,
      idle: IDLE_MS,
      isBusy: (supervisor) => supervisor.isBusy,
      dispose: (supervisor) => this.#end(supervisor),
    })
  }

  /** The session for a caller; `undefined` for callers who use that of the connection. */
  async ready(
    caller: RequestCaller | undefined,
    timeout: RequestTimeout,
  ): Promise<Session | undefined> {
    const identity = caller?.identity
    if (identity === undefined) return undefined
    const { server, main, make } = this.#host
    const { channel, name } = server
    const isHttp = channel.kind === "http"
    const isOfOneCaller =
      server.sessions === "caller" && (!isHttp || (await main.ready(timeout)).isStateful)
    if (!isHttp || fixedHeaders(channel.headers) !== undefined) {
      if (!isOfOneCaller) return undefined
      return await this.#pool.get(identity.id, () => make(server, true)).ready(timeout)
    }
    const context = { identity, operationId: caller?.operationId, signal: timeout.signal }
    const reading = readCallHeaders(channel.headers, context, `A header for MCP server "${name}"`)
    const headers = await timeout.race(reading, false)
    const key = JSON.stringify([headersKey(headers), isOfOneCaller ? identity.id : ""])
    const own = { ...server, channel: { ...channel, headers } }
    return await this.#pool.get(key, () => make(own, isOfOneCaller)).ready(timeout)
  }

  expired(session: Session): void {
    for (const supervisor of this.#pool.values()) supervisor.expired(session)
  }

  unreached(session: Session, error: CallError): void {
    for (const supervisor of this.#pool.values()) supervisor.unreached(session, error)
  }

  async close(): Promise<void> {
    for (const supervisor of this.#pool.clear()) this.#end(supervisor)
    await Promise.all(this.#closing)
  }

  #end(supervisor: Supervisor): void {
    const closing = supervisor.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
