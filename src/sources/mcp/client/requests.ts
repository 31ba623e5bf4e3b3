import { CallError, isCallError } from "../../../core/errors.ts"
import type { ResolvedServer } from "../config.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { isUnreached } from "../../../mcp/errors.ts"
import { statusOf } from "./era.ts"
import { memberOf } from "./sdk.ts"
import type { Semaphore } from "./semaphore.ts"
import type { MCPRequestOptions, RequestCaller } from "./model.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { runRounds } from "./rounds.ts"
import { RequestFailure, type SessionRequest } from "./running-request.ts"
import type { Session } from "./session.ts"
import type { Clock } from "../../../internal/platform.ts"

/** The connection, as far as requests need it. */
export interface RequestHost {
  readonly server: ResolvedServer
  readonly clock: Clock
  readonly semaphore: Semaphore
  /** The era of the last connected server. */
  era(): MCPEra | undefined
  /** Returns an open session; connects if there is none. */
  ready(timeout: RequestTimeout, caller: RequestCaller | undefined): Promise<Session>
  /** Called when the server no longer knows the session. */
  expired(session: Session): void
  /** Called when a request did not reach the server, or lost the connection. */
  unreached(session: Session, error: CallError): void
}

/** A request of a caller. */
export interface CallRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly phase: SessionRequest["phase"]
  readonly tool?: string | undefined
  readonly definition?: unknown
  readonly options: MCPRequestOptions
}

// Milliseconds in which a process has to answer a ping.
const PING_MS = 5000
// How often one request obeys a `Retry-After` of the server.
const MAX_WAITS = 3

/** Sends a caller's request within its timeout and the concurrency limit, with as many rounds as necessary. */
export async function runCall(
  request: CallRequest,
  host: RequestHost,
): Promise<Readonly<Record<string, unknown>>> {
  const { server } = host
  const { options, tool } = request
  const timeout = timeoutFor(request, host)
  try {
    const leave = await host.semaphore.acquire(timeout)
    try {
      const result = await runRounds({
        server,
        about: { server: server.name, tool },
        timeout,
        requestInput: options.requestInput,
        mayAsk: () => host.era() === "modern",
        send: (extra) => sendWithin(request, extra, timeout, host),
      })
      refuseLarge(result, request, server)
      return result
    } finally {
      leave()
    }
  } finally {
    timeout.dispose()
  }
}

/** The timeout of one request, or of several that belong together. */
export function timeoutFor(
  { phase, tool, options }: Pick<CallRequest, "phase" | "tool" | "options">,
  { server, clock }: Pick<RequestHost, "server" | "clock">,
): RequestTimeout {
  const what = tool === undefined ? "A request" : `${SUBJECTS[phase]} "${tool}"`
  return new RequestTimeout({
    clock,
    subject: `${what} of MCP server "${server.name}"`,
    idle: options.timeout ?? server.timeout,
    total: server.maxTotalTimeout,
    get deadline() {
      return options.deadline
    },
    signal: options.signal,
  })
}

const SUBJECTS: Readonly<Record<SessionRequest["phase"], string>> = {
  connect: "Connecting",
  list: "The list",
  call: "Tool",
  read: "Resource",
  prompt: "Prompt",
}

/**
 * Sends one request, and repeats it when that is safe.
 *
 * An expired session is reopened once. A request that was lost with its connection is repeated once if it was
 * never sent or has no effect. `Retry-After` is obeyed for requests without effect.
 */
export async function sendWithin(
  { method, params, phase, tool, definition, options }: CallRequest,
  extra: Readonly<Record<string, unknown>>,
  timeout: RequestTimeout,
  host: RequestHost,
): Promise<Readonly<Record<string, unknown>>> {
  const { isRepeatable = false, progress, requestInput, meta, caller } = options
  const all = meta === undefined ? { ...params, ...extra } : { ...params, ...extra, _meta: meta }
  const about = { phase, tool, definition, caller }
  const sent = { method, params: all, ...about, timeout, progress, requestInput }
  let renewals = 0
  let losses = 0
  let waits = 0
  for (;;) {
    const session = await host.ready(timeout, caller)
    const hadId = session.id !== undefined
    try {
      return await session.request(sent)
    } catch (failure) {
      if (!(failure instanceof RequestFailure)) {
        // Handles its own failures.
        if (isCallError(failure, "TIMEOUT")) void checkAlive(session, host)
        throw failure
      }
      const { thrown, error, isSent, retryAfterMs } = failure
      if (hadId && isExpiry(thrown) && renewals++ === 0) {
        host.expired(session)
        continue
      }
      if (isUnreached(thrown)) host.unreached(session, error)
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

/** Sessions that are being checked. */
const checking = new WeakSet<Session>()

/** Ends a process that does not answer a ping either. A stopped one would keep all later calls waiting. */
async function checkAlive(session: Session, { server, clock }: RequestHost): Promise<void> {
  if (session.child === undefined || session.isLost || checking.has(session)) return
  checking.add(session)
  const subject = `A ping of MCP server "${server.name}"`
  const timeout = new RequestTimeout({ clock, subject, idle: PING_MS, total: PING_MS })
  // Servers of the modern era have no method for it; this one has no effect and no parameters.
  const method = session.peer.era === "modern" ? "server/discover" : "ping"
  try {
    await session.request({ method, params: {}, phase: "list", timeout })
  } catch {
    // An error is an answer.
    if (!timeout.isOver) return
    const message = `MCP server "${server.name}" did not answer a ping within ${PING_MS} ms after a request had timed out. Its process was ended, and the next call starts it again.`
    session.breakOff(new CallError("UNAVAILABLE", message, { mayHaveExecuted: true }))
  } finally {
    timeout.dispose()
    checking.delete(session)
  }
}

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
  result: Readonly<Record<string, unknown>>,
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
