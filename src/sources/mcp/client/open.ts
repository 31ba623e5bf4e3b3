import { CallError } from "../../../core/errors.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { MODERN_VERSION } from "../../../mcp/model.ts"
import { attempts, nextAttempt } from "./era.ts"
import type { Attempt } from "./era.ts"
import { approveLaunch, makeChild } from "./open-child.ts"
import { makeHttp } from "./open-http.ts"
import type { TransportLike } from "./sdk.ts"
import { Session } from "./session.ts"
import type { SessionHost } from "./session.ts"

/** What opening a session is told, and tells. */
export interface OpenHost extends SessionHost {
  /** What was found out about the server before. */
  readonly era: MCPEra | undefined
  /** Fires when it is no longer wanted. */
  readonly signal: AbortSignal
  /** The user has agreed to run its program. */
  readonly isApproved: boolean
  /** A process is about to be started. */
  launching(session: Session): void
}

// How much of the time for connecting a server may take to say whether it is modern.
const PROBE_SHARE = 1 / 3
const PROBE_MOST = 10_000

const NEGOTIATION: Readonly<Record<Attempt["mode"], (timeout: number) => object>> = {
  legacy: () => ({ mode: "legacy" }),
  modern: () => ({ mode: { pin: MODERN_VERSION } }),
  auto: (timeout) => ({
    mode: "auto",
    probe: { timeoutMs: Math.min(timeout * PROBE_SHARE, PROBE_MOST) },
  }),
}

/** Connects in one way after the other, as far as the answers give hope; leaves nothing behind that failed. */
export async function openSession(host: OpenHost): Promise<Session> {
  const { settled, signal } = host
  const limit = new AbortController()
  const stop = (): void => limit.abort()
  const timer =
    settled.connectTimeout > 2_147_483_647
      ? undefined
      : globalThis.setTimeout(stop, settled.connectTimeout)
  signal.addEventListener("abort", stop)
  if (signal.aborted) stop()
  const tried: {
    readonly attempt: Attempt
    readonly thrown: unknown
    readonly error: CallError
  }[] = []
  try {
    for (let attempt: Attempt | undefined = attempts(settled, host.era); attempt !== undefined;) {
      const made = await makeTransport(attempt, host, host.isApproved || tried.length > 0)
      const session = new Session(
        made.transport,
        NEGOTIATION[attempt.mode](settled.connectTimeout) as Readonly<Record<string, unknown>>,
        host,
      )
      made.settle(session)
      try {
        await connect(session, settled.connectTimeout, limit.signal)
        return session
      } catch (thrown) {
        const isOver = limit.signal.aborted
        const error = session.errorOf(thrown, { phase: "connect" })
        await session.close()
        // Only now is everything read that the process had to say.
        if (isOver || limit.signal.aborted) throw gaveUp(session, host)
        tried.push({ attempt, thrown, error })
        attempt = nextAttempt(settled, tried)
      }
    }
    throw tellingOf(tried)
  } finally {
    globalThis.clearTimeout(timer)
    signal.removeEventListener("abort", stop)
  }
}

/** Connects; when the time is over, does not wait for what the package still does. */
async function connect(session: Session, timeout: number, signal: AbortSignal): Promise<void> {
  let stop: (() => void) | undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Error("The time for connecting is over."))
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
  settle(session: Session): void
}

async function makeTransport(attempt: Attempt, host: OpenHost, isApproved: boolean): Promise<Made> {
  const { settled, sdk, secrets } = host
  const { channel } = settled
  switch (channel.kind) {
    case "stdio": {
      if (!isApproved) await approveLaunch(settled, channel)
      const transport = await makeChild(settled, channel)
      return { transport, settle: (session) => host.launching(session) }
    }
    case "http": {
      let session: Session | undefined
      const transport = makeHttp(sdk, attempt.kind === "sse" ? "sse" : "http", {
        settled,
        channel,
        exchange: (token) => session?.frames.exchange(token),
        broken: (error) => session?.breakOff(error),
        secret: (value) => secrets.add(value),
      })
      return {
        transport,
        settle(made) {
          session = made
        },
      }
    }
    case "own": {
      const transport = await channel.make()
      if (used.has(transport)) throw usedUp(settled.name)
      used.add(transport)
      return { transport, settle() {} }
    }
  }
}

/** Transports that were started; none can be started twice. */
const used = new WeakSet<object>()

function usedUp(name: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `MCP server "${name}" cannot be connected to again: its transport has been used. Give "transport" as a function that makes a new one.`,
    { retryable: false },
  )
}

function gaveUp(session: Session, { settled, signal, secrets }: OpenHost): CallError {
  const { name, connectTimeout } = settled
  if (signal.aborted) {
    return new CallError(
      "UNAVAILABLE",
      `MCP server "${name}" was closed while it was being connected to.`,
      { retryable: false },
    )
  }
  const tail = session.stderrTail?.trim() ?? ""
  const said = tail === "" ? "" : ` It wrote: ${tail.slice(-500)}`
  return secrets.error(
    new CallError(
      "TIMEOUT",
      `MCP server "${name}" did not answer within ${connectTimeout} ms. See that it starts, or raise "connectTimeout" of the server.${said}`,
      {
        retryable: true,
        mayHaveExecuted: false,
        details: { reason: "connect", ...(tail !== "" && { stderrTail: tail.slice(-4000) }) },
      },
    ),
  )
}

/** Of several failures the one that says most: an older way was only tried because it might be there. */
function tellingOf(
  tried: readonly { readonly attempt: Attempt; readonly error: CallError }[],
): CallError | undefined {
  const own = tried.filter(({ attempt }) => attempt.kind !== "sse" || tried.length === 1)
  return (own.at(-1) ?? tried.at(-1))?.error
}
