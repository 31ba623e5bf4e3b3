import { CallError } from "../../../core/errors.ts"
import type { SettledServer } from "../config.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { isUnreached } from "../../../mcp/errors.ts"
import { statusOf } from "./era.ts"
import { memberOf } from "./frames.ts"
import type { Gate } from "./gate.ts"
import type { MCPRequestOptions, RequestCaller } from "./model.ts"
import { Patience } from "./patience.ts"
import { runRounds } from "./rounds.ts"
import type { SessionRequest } from "./exchange.ts"
import { RequestFailure } from "./failure.ts"
import type { Session } from "./session.ts"
import type { Clock } from "../../../internal/platform.ts"

/** What a request needs of its connection. */
export interface RequestHost {
  readonly settled: SettledServer
  readonly clock: Clock
  readonly gate: Gate
  /** Of the last server that answered. */
  era(): MCPEra | undefined
  /** An open session; connects if there is none. */
  ready(patience: Patience, caller: RequestCaller | undefined): Promise<Session>
  /** The server does not know this session any more. */
  expired(session: Session): void
  /** A request did not reach the server, or lost it on the way. */
  unreached(session: Session, error: CallError): void
}

/** One request, as a caller makes it. */
export interface CallRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly phase: SessionRequest["phase"]
  readonly tool?: string | undefined
  readonly definition?: unknown
  readonly options: MCPRequestOptions
}

// How often a server may say "later" to one request.
const MOST_WAITS = 3

/** Sends a request of a caller, within its limits, in its turn, with as many rounds as it takes. */
export async function runCall(
  request: CallRequest,
  host: RequestHost,
): Promise<Readonly<Record<string, unknown>>> {
  const { settled } = host
  const { options, tool } = request
  const patience = patienceFor(request, host)
  try {
    const leave = await host.gate.enter(patience)
    try {
      const result = await runRounds({
        settled,
        about: { server: settled.name, tool },
        patience,
        requestInput: options.requestInput,
        mayAsk: () => host.era() === "modern",
        send: (extra) => sendWithin(request, extra, patience, host),
      })
      refuseLarge(result, request, settled)
      return result
    } finally {
      leave()
    }
  } finally {
    patience.dispose()
  }
}

/** Limits of one request, or of several that belong together. */
export function patienceFor(
  { phase, tool, options }: Pick<CallRequest, "phase" | "tool" | "options">,
  { settled, clock }: Pick<RequestHost, "settled" | "clock">,
): Patience {
  const what = tool === undefined ? "A request" : `${SUBJECTS[phase]} "${tool}"`
  return new Patience({
    clock,
    subject: `${what} of MCP server "${settled.name}"`,
    idle: options.timeout ?? settled.timeout,
    total: settled.maxTotalTimeout,
    deadline: options.deadline,
    signal: options.signal,
  })
}

const SUBJECTS: Readonly<Record<SessionRequest["phase"], string>> = {
  connect: "Connecting",
  list: "The list",
  call: "Tool",
  read: "Resource",
  prompt: "Prompt",
  close: "Closing",
}

/**
 * Sends one request; again where nothing can have happened, or where once more does no harm.
 *
 * A session that the server has forgotten is opened anew, once; what was lost with a process is sent
 * again if it never left, or changes nothing; "later" is heeded by what changes nothing.
 */
export async function sendWithin(
  { method, params, phase, tool, definition, options }: CallRequest,
  extra: Readonly<Record<string, unknown>>,
  patience: Patience,
  host: RequestHost,
): Promise<Readonly<Record<string, unknown>>> {
  const { isRepeatable = false, progress, requestInput, meta, caller } = options
  const all = meta === undefined ? { ...params, ...extra } : { ...params, ...extra, _meta: meta }
  const about = { phase, tool, definition, caller }
  const sent = { method, params: all, ...about, patience, progress, requestInput }
  let renewals = 0
  let losses = 0
  let waits = 0
  for (;;) {
    const session = await host.ready(patience, caller)
    const hadId = session.id !== undefined
    try {
      return await session.request(sent)
    } catch (failure) {
      if (!(failure instanceof RequestFailure)) throw failure
      const { thrown, error, isSent, retryAfterMs } = failure
      if (hadId && isExpiry(thrown) && renewals++ === 0) {
        host.expired(session)
        continue
      }
      if (isUnreached(thrown)) host.unreached(session, error)
      const isLoss = session.isLost || memberOf(thrown, "code") === "CONNECTION_CLOSED"
      if (isLoss && (!isSent || isRepeatable) && losses++ === 0) continue
      const canWait = retryAfterMs !== undefined && retryAfterMs < patience.left
      if (canWait && isRepeatable && waits++ < MOST_WAITS) {
        await patience.wait(retryAfterMs)
        continue
      }
      throw error
    }
  }
}

/** Whether a server over HTTP says, in one way or another, that it does not know the session. */
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

/** A limit for results that is lower than the one for messages takes measuring. */
function refuseLarge(
  result: Readonly<Record<string, unknown>>,
  { tool, method }: CallRequest,
  { name, maxResultBytes, maxMessageBytes }: SettledServer,
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
