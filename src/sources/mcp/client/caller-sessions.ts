import type { CallError } from "../../../core/errors.ts"
import { fixedHeaders, headersKey, readCallHeaders } from "../../../core/call-headers.ts"
import { IdlePool } from "../../../internal/idle-pool.ts"
import type { MCPHttpChannel, SettledServer } from "../config.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { RequestCaller } from "./model.ts"
import type { Patience } from "./patience.ts"
import type { Session } from "./session.ts"
import type { Supervisor } from "./supervisor.ts"

const MAX_SESSIONS = 200
const IDLE_MS = 300_000

/**
 * Sessions of callers whose headers differ: what one caller's credential opened is never used for
 * another. Callers for whom `headers` returns the same share one.
 */
export class CallerSessions {
  readonly #settled: SettledServer
  readonly #channel: MCPHttpChannel
  readonly #make: (settled: SettledServer) => Supervisor
  readonly #pool: IdlePool<Supervisor>

  /** `undefined` where no header depends on who calls. */
  static of(
    settled: SettledServer,
    clock: Clock,
    make: (settled: SettledServer) => Supervisor,
  ): CallerSessions | undefined {
    const { channel } = settled
    if (channel.kind !== "http" || fixedHeaders(channel.headers) !== undefined) return undefined
    return new CallerSessions(settled, channel, clock, make)
  }

  private constructor(
    settled: SettledServer,
    channel: MCPHttpChannel,
    clock: Clock,
    make: (settled: SettledServer) => Supervisor,
  ) {
    this.#settled = settled
    this.#channel = channel
    this.#make = make
    // What runs on a session may finish.
    const giveUp = (supervisor: Supervisor): void => supervisor.retire()
    this.#pool = new IdlePool({ clock, maxSize: MAX_SESSIONS, idle: IDLE_MS, dispose: giveUp })
  }

  /** The session for a caller; `undefined` for an anonymous one, who has that of the connection. */
  async ready(caller: RequestCaller | undefined, patience: Patience): Promise<Session | undefined> {
    const identity = caller?.identity
    if (identity === undefined) return undefined
    const context = { identity, operationId: caller?.operationId, signal: patience.signal }
    const subject = `A header for MCP server "${this.#settled.name}"`
    const reading = readCallHeaders(this.#channel.headers, context, subject)
    const headers = await patience.race(reading, false)
    const supervisor = this.#pool.get(headersKey(headers), () =>
      this.#make({ ...this.#settled, channel: { ...this.#channel, headers } }),
    )
    return await supervisor.ready(patience)
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
