import { MAX_TIMER_DELAY } from "../../../internal/clock.ts"
import { CallError } from "../../../core/errors.ts"
import { withOutput } from "../../../mcp/errors.ts"
import { MODERN_VERSION, type MCPEra } from "../../../mcp/model.ts"
import { firstAttempt, nextAttempt, type Attempt } from "./era.ts"
import { approveLaunch, makeChild } from "./open-child.ts"
import { makeHttp } from "./open-http.ts"
import type { TransportLike } from "./sdk.ts"
import { Session, type SessionHost } from "./session.ts"

/** Dependencies of opening a session. */
export interface OpenHost extends SessionHost {
  /** The server's era, if known. */
  readonly era: MCPEra | undefined
  /** Aborts opening. */
  readonly signal: AbortSignal
  /** The user has agreed to run its program. */
  readonly isApproved: boolean
  /** Called before a process is started. */
  launching(session: Session): void
}

// The part of the connect timeout that the probe for a modern server may take.
const PROBE_SHARE = 1 / 3
const MAX_PROBE_MS = 10_000

const NEGOTIATION: Readonly<Record<Attempt["mode"], (timeout: number) => object>> = {
  legacy: () => ({ mode: "legacy" }),
  modern: () => ({ mode: { pin: MODERN_VERSION } }),
  auto: (timeout) => ({
    mode: "auto",
    probe: { timeoutMs: Math.min(timeout * PROBE_SHARE, MAX_PROBE_MS) },
  }),
}

/** Tries one way to connect after the other, as long as another makes sense; closes failed attempts. */
export async function openSession(host: OpenHost): Promise<Session> {
  const { server, signal } = host
  const limit = new AbortController()
  const stop = (): void => limit.abort()
  const timer =
    server.connectTimeout > MAX_TIMER_DELAY
      ? undefined
      : globalThis.setTimeout(stop, server.connectTimeout)
  signal.addEventListener("abort", stop)
  if (signal.aborted) stop()
  const tried: {
    readonly attempt: Attempt
    readonly thrown: unknown
    readonly error: CallError
  }[] = []
  try {
    for (
      let attempt: Attempt | undefined = firstAttempt(server, host.era);
      attempt !== undefined;
    ) {
      const made = await makeTransport(attempt, host, host.isApproved || tried.length > 0)
      const session = new Session(
        made.transport,
        NEGOTIATION[attempt.mode](server.connectTimeout) as Readonly<Record<string, unknown>>,
        host,
      )
      made.attach(session)
      try {
        await connect(session, server.connectTimeout, limit.signal)
        return session
      } catch (thrown) {
        const isOver = limit.signal.aborted
        const error = session.errorOf(thrown, { phase: "connect" })
        await session.close()
        // Only now is the output of the process complete.
        if (isOver || limit.signal.aborted) throw giveUpError(session, host)
        tried.push({ attempt, thrown, error })
        attempt = nextAttempt(server, tried)
      }
    }
    throw bestError(tried)
  } finally {
    globalThis.clearTimeout(timer)
    signal.removeEventListener("abort", stop)
  }
}

/** Connects; on timeout it does not wait for the SDK's client. */
async function connect(session: Session, timeout: number, signal: AbortSignal): Promise<void> {
  let stop: (() => void) | undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Error("Connecting took too long."))
    if (signal.aborted) stop()
    signal.addEventListener("abort", stop)
  })
  stopped.catch(() => {})
  const connecting = session.connect(timeout, signal)
  connecting.catch(() => {})
  try {
    await Promise.race([connecting, stopped])
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop)
  }
}

interface Made {
  readonly transport: TransportLike
  attach(session: Session): void
}

async function makeTransport(attempt: Attempt, host: OpenHost, isApproved: boolean): Promise<Made> {
  const { server, sdk, secrets } = host
  const { channel } = server
  switch (channel.kind) {
    case "stdio": {
      if (!isApproved) await approveLaunch(server, channel)
      const transport = await makeChild(server, channel)
      return { transport, attach: (session) => host.launching(session) }
    }
    case "http": {
      let session: Session | undefined
      const transport = makeHttp(sdk, attempt.kind === "sse" ? "sse" : "http", {
        server,
        channel,
        exchange: (token) => session?.frames.pending.get(token),
        broken: (error) => session?.breakOff(error),
        secret: (value) => secrets.add(value),
      })
      return {
        transport,
        attach(made) {
          session = made
        },
      }
    }
    case "own": {
      const transport = await channel.make()
      if (used.has(transport)) throw transportUsedError(server.name)
      used.add(transport)
      return { transport, attach() {} }
    }
  }
}

/** Transports that were started; a transport cannot be started twice. */
const used = new WeakSet<object>()

function transportUsedError(name: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `MCP server "${name}" cannot be connected to again: its transport has been used. Pass "transport" as a function that creates a new one.`,
    { retryable: false },
  )
}

function giveUpError(session: Session, { server, signal, secrets }: OpenHost): CallError {
  const { name, connectTimeout } = server
  if (signal.aborted) {
    return new CallError(
      "UNAVAILABLE",
      `MCP server "${name}" was closed while it was connecting.`,
      { retryable: false },
    )
  }
  const error = new CallError(
    "TIMEOUT",
    `MCP server "${name}" did not answer within ${connectTimeout} ms. Check that it starts, or raise "connectTimeout" of the server.`,
    { retryable: true, mayHaveExecuted: false, details: { reason: "connect" } },
  )
  return secrets.error(withOutput(error, session.stderrTail))
}

/** The most useful of several failures: that of the SSE fallback only if nothing else was tried. */
function bestError(
  tried: readonly { readonly attempt: Attempt; readonly error: CallError }[],
): CallError | undefined {
  const own = tried.filter(({ attempt }) => attempt.kind !== "sse" || tried.length === 1)
  return (own.at(-1) ?? tried.at(-1))?.error
}
