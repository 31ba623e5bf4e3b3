import { systemClock } from "../../../internal/clock.ts"
import { CallError } from "../../../core/errors.ts"
import type { MCPStdioChannel, ResolvedServer } from "../config.ts"
import { launchWarnings } from "../launch-warnings.ts"
import { withOutput } from "../../../mcp/errors.ts"
import { MODERN_VERSION, type MCPEra } from "../../../mcp/model.ts"
import { firstAttempt, nextAttempt, type Attempt, type Tried } from "./era.ts"
import { makeHttp } from "./open-http.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { childEnvironment } from "./stdio/launch.ts"
import { ChildTransport } from "./stdio/transport.ts"
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

/** A failed attempt. */
interface Failed extends Tried {
  readonly error: CallError
}

/** Tries one way to connect after the other, as long as another makes sense; closes failed attempts. */
export async function openSession(host: OpenHost): Promise<Session> {
  const { server, signal, era } = host
  const limit = new RequestTimeout({
    clock: systemClock,
    subject: `Connecting to MCP server "${server.name}"`,
    total: server.connectTimeout,
    signal,
  })
  const tried: Failed[] = []
  try {
    for (let attempt: Attempt | undefined = firstAttempt(server, era); attempt !== undefined;) {
      const session = await createSession(attempt, host, host.isApproved || tried.length > 0)
      try {
        // On timeout it does not wait for the SDK's client.
        await limit.race(session.connect(server.connectTimeout, limit.signal), false)
        return session
      } catch (thrown) {
        const { isOver } = limit
        const error = session.errorOf(thrown, { phase: "connect" })
        await session.close()
        // Only now is the output of the process complete.
        if (isOver || limit.isOver) throw giveUpError(session, host)
        tried.push({ attempt, thrown, error })
        attempt = nextAttempt(server, tried)
      }
    }
    throw bestError(tried)
  } finally {
    limit.dispose()
  }
}

/** Creates a session and its transport without starting them. */
async function createSession(
  attempt: Attempt,
  host: OpenHost,
  isApproved: boolean,
): Promise<Session> {
  const { server, sdk, secrets } = host
  const { channel } = server
  const sessionOver = (transport: TransportLike): Session =>
    new Session(transport, NEGOTIATION[attempt.mode](server.connectTimeout), host)
  switch (channel.kind) {
    case "stdio": {
      if (!isApproved) await approveLaunch(server, channel)
      const { command, args, env, cwd, inheritEnv } = channel
      const child = sessionOver(
        new ChildTransport({
          command,
          args,
          env: await childEnvironment(inheritEnv, env),
          cwd,
          maxMessageBytes: server.maxMessageBytes,
          logger: server.logger,
          server: server.name,
        }),
      )
      host.launching(child)
      return child
    }
    case "http": {
      const session: Session = sessionOver(
        makeHttp(sdk, attempt.kind === "sse" ? "sse" : "http", {
          server,
          channel,
          exchange: (token) => session.frames.pending.get(token),
          broken: (error) => session.breakOff(error),
          secret: (value) => secrets.add(value),
        }),
      )
      return session
    }
    case "own": {
      const transport = await channel.make()
      if (used.has(transport)) {
        throw new CallError(
          "UNAVAILABLE",
          `MCP server "${server.name}" cannot be connected to again: its transport has been used. Pass "transport" as a function that creates a new one.`,
          { retryable: false },
        )
      }
      used.add(transport)
      return sessionOver(transport)
    }
  }
}

/** Transports that were started; a transport cannot be started twice. */
const used = new WeakSet<object>()

function giveUpError(session: Session, { server, signal, secrets }: OpenHost): CallError {
  const { name, connectTimeout } = server
  if (signal.aborted) {
    const message = `MCP server "${name}" was closed while it was connecting.`
    return new CallError("UNAVAILABLE", message, { retryable: false })
  }
  const error = new CallError(
    "TIMEOUT",
    `MCP server "${name}" did not answer within ${connectTimeout} ms. Check that it starts, or raise "connectTimeout" of the server (on the command line: --connect-timeout).`,
    { retryable: true, mayHaveExecuted: false, details: { reason: "connect" } },
  )
  return secrets.error(withOutput(error, session.stderrTail))
}

/** Asks the user whether a program may be started. */
async function approveLaunch(server: ResolvedServer, channel: MCPStdioChannel): Promise<void> {
  const { name, approve } = server
  const { command, args, cwd, env } = channel
  if (approve === undefined) return
  // Untyped code may return anything; only `true` is a yes.
  const answer: unknown = await approve({
    server: name,
    argv: [command, ...args],
    cwd,
    env: { ...env },
    warnings: launchWarnings(env),
  })
  if (answer === true) return
  throw new CallError(
    "ACCESS_DENIED",
    `MCP server "${name}" was not started: "approve" refused to run "${command}".`,
  )
}

/** The most useful of several failures: that of the SSE fallback only if nothing else was tried. */
function bestError(tried: readonly Failed[]): CallError | undefined {
  const own = tried.filter(({ attempt }) => attempt.kind !== "sse" || tried.length === 1)
  return (own.at(-1) ?? tried.at(-1))?.error
}
