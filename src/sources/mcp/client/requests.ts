import type { JsonObject } from "../../../mcp/model.ts"
import { CallError, isCallError } from "../../../core/errors.ts"
import type { ResolvedServer } from "../config.ts"
import { deferred } from "../../../internal/wait.ts"
import { isUnreached } from "../../../mcp/errors.ts"
import { statusOf } from "./era.ts"
import { memberOf } from "./sdk.ts"
import type { CallerSessions } from "./caller-sessions.ts"
import type { MCPRequestOptions } from "./model.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { runRounds } from "./rounds.ts"
import { RequestFailure, type SessionRequest } from "./running-request.ts"
import type { Session } from "./session.ts"
import type { Supervisor } from "./supervisor.ts"
import type { Clock } from "../../../internal/platform.ts"

/** A request of a caller. */
export interface CallRequest extends Pick<
  SessionRequest,
  "method" | "params" | "phase" | "tool" | "definition"
> {
  readonly options: MCPRequestOptions
}

// Milliseconds in which a process has to answer a ping.
const PING_MS = 5000
// How often one request obeys a `Retry-After` of the server.
const MAX_WAITS = 3

/** Sends the requests of one connection, each on a session of its caller. */
export class Requests {
  readonly #server: ResolvedServer
  readonly #clock: Clock
  readonly #supervisor: Supervisor
  readonly #callers: CallerSessions | undefined
  readonly #semaphore: Semaphore

  constructor(
    server: ResolvedServer,
    clock: Clock,
    supervisor: Supervisor,
    callers: CallerSessions | undefined,
  ) {
    this.#server = server
    this.#clock = clock
    this.#supervisor = supervisor
    this.#callers = callers
    this.#semaphore = new Semaphore(server.maxConcurrency)
  }

  /** Sends a caller's request within its timeout and the concurrency limit, with as many rounds as necessary. */
  async call(request: CallRequest): Promise<JsonObject> {
    this.#supervisor.assertOpen()
    const server = this.#server
    const { options, tool } = request
    const timeout = this.timeoutFor(request)
    try {
      return await this.#semaphore.run(timeout, async () => {
        const result = await runRounds({
          server,
          tool,
          timeout,
          requestInput: options.requestInput,
          mayAsk: () => this.#supervisor.peer?.era === "modern",
          send: (extra) => this.send(request, extra, timeout),
        })
        refuseLarge(result, request, server)
        return result
      })
    } finally {
      timeout.dispose()
    }
  }

  /** The timeout of one request, or of several that belong together. */
  timeoutFor({
    phase,
    tool,
    options,
  }: Pick<CallRequest, "phase" | "tool" | "options">): RequestTimeout {
    const server = this.#server
    const what = tool === undefined ? "A request" : `${SUBJECTS[phase]} "${tool}"`
    return new RequestTimeout({
      clock: this.#clock,
      subject: `${what} of MCP server "${server.name}"`,
      idle: options.timeout ?? server.timeout,
      total: server.maxTotalTimeout,
      get deadline() {
        return options.deadline
      },
      signal: options.signal,
    })
  }

  /**
   * Sends one request, and repeats it when that is safe.
   *
   * An expired session is reopened once. A request that was lost with its connection is repeated once if it was
   * never sent or has no effect. `Retry-After` is obeyed for requests without effect.
   */
  async send(
    { method, params, phase, tool, definition, options }: CallRequest,
    extra: JsonObject,
    timeout: RequestTimeout,
  ): Promise<JsonObject> {
    const { isRepeatable = false, progress, requestInput, meta, caller, client } = options
    const all = meta === undefined ? { ...params, ...extra } : { ...params, ...extra, _meta: meta }
    const about = { phase, tool, definition, caller, client }
    const sent = { method, params: all, ...about, timeout, progress, requestInput }
    let renewals = 0
    let losses = 0
    let waits = 0
    for (;;) {
      const session =
        (await this.#callers?.ready(caller, timeout)) ?? (await this.#supervisor.ready(timeout))
      const hadId = session.id !== undefined
      try {
        return await session.request(sent)
      } catch (failure) {
        if (!(failure instanceof RequestFailure)) {
          // Handles its own failures.
          if (isCallError(failure, "TIMEOUT")) void this.#checkAlive(session)
          throw failure
        }
        const { thrown, error } = failure
        const { isSent, retryAfterMs } = failure.request
        if (hadId && isExpiry(thrown) && renewals++ === 0) {
          this.#supervisor.expired(session)
          this.#callers?.expired(session)
          continue
        }
        if (isUnreached(thrown)) {
          this.#supervisor.unreached(session, error)
          this.#callers?.unreached(session, error)
        }
        const isLoss = session.isLost || memberOf(thrown, "code") === "CONNECTION_CLOSED"
        if (isLoss && (!isSent || isRepeatable) && losses++ === 0) continue
        const canWait = retryAfterMs !== undefined && retryAfterMs < timeout.left
        if (canWait && isRepeatable && waits++ < MAX_WAITS) {
          await timeout.wait(retryAfterMs)
          continue
        }
        throw error
      }
    }
  }

  /** Ends a process that does not answer a ping either. A stopped one would keep all later calls waiting. */
  async #checkAlive(session: Session): Promise<void> {
    if (session.child === undefined || session.isLost || checking.has(session)) return
    checking.add(session)
    const { name } = this.#server
    const subject = `A ping of MCP server "${name}"`
    const clock = this.#clock
    const timeout = new RequestTimeout({ clock, subject, idle: PING_MS, total: PING_MS })
    // Servers of the modern era have no method for it; this one has no effect and no parameters.
    const method = session.peer.era === "modern" ? "server/discover" : "ping"
    try {
      await session.request({ method, params: {}, phase: "list", timeout })
    } catch {
      // An error is an answer.
      if (!timeout.isOver) return
      const message = `MCP server "${name}" did not answer a ping within ${PING_MS} ms after a request had timed out. Its process was ended, and the next call starts it again.`
      session.breakOff(new CallError("UNAVAILABLE", message, { mayHaveExecuted: true }))
    } finally {
      timeout.dispose()
      checking.delete(session)
    }
  }
}

const SUBJECTS: Readonly<Record<SessionRequest["phase"], string>> = {
  connect: "Connecting",
  list: "The list",
  call: "Tool",
  read: "Resource",
  prompt: "Prompt",
  complete: "The completion",
}

/** Sessions that are being checked. */
const checking = new WeakSet<Session>()

/** Whether an HTTP server reports, in one of several ways, that it does not know the session. */
function isExpiry(thrown: unknown): boolean {
  const status = statusOf(thrown)
  if (status === 404) return true
  const body = memberOf(memberOf(thrown, "data"), "text")
  const text = typeof body === "string" ? body : ""
  const message = thrown instanceof Error ? thrown.message : ""
  if (status === 400) {
    return /session|not initiali[sz]ed|-32001/i.test(`${message} ${text}`)
  }
  return memberOf(thrown, "code") === -32001 && /session/i.test(message)
}

/** Checks the size of a result; needed only if `maxResultBytes` is lower than `maxMessageBytes`. */
function refuseLarge(
  result: JsonObject,
  { tool, method }: CallRequest,
  { name, maxResultBytes, maxMessageBytes }: ResolvedServer,
): void {
  if (maxResultBytes >= maxMessageBytes) return
  const size = new TextEncoder().encode(JSON.stringify(result)).length
  if (size <= maxResultBytes) return
  throw new CallError(
    "PAYLOAD_TOO_LARGE",
    `The result of "${tool ?? method}" of MCP server "${name}" has ${size} bytes, more than ${maxResultBytes}. Ask for less, or raise "maxResultBytes" of the server.`,
    { mayHaveExecuted: true, details: { size, limit: maxResultBytes } },
  )
}

/** A semaphore: limits concurrent requests; the others wait in order, until their timeout. */
export class Semaphore {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs some work when there is a slot for it. */
  async run<TResult>(timeout: RequestTimeout, work: () => Promise<TResult>): Promise<TResult> {
    if (timeout.isOver) throw timeout.error(false)
    if (this.#inside < this.#limit) this.#inside++
    else await this.#queue(timeout)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #queue(timeout: RequestTimeout): Promise<void> {
    const { promise, resolve } = deferred()
    this.#waiting.add(resolve)
    try {
      await timeout.race(promise, false)
    } catch (error) {
      // Admitted at the moment it gave up: pass the slot to the next one.
      if (!this.#waiting.delete(resolve)) this.#leave()
      throw error
    }
  }

  /** Passes the slot to the next waiter instead of freeing it, so that no request overtakes another. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#inside--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
