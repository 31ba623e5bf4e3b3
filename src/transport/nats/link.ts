import type * as nats from "@nats-io/transport-node"
import type { NatsConnection, NodeConnectionOptions, Status } from "@nats-io/transport-node"
import { refusal, type CallError } from "../../core/errors.ts"
import { setRef } from "../../internal/defer.ts"
import { importError, MissingPackage } from "../../internal/import-peer.ts"
import type { Clock } from "../../internal/platform.ts"
import { refusedDelay, refusedForNow } from "../bus/broker.ts"
import { pause, withTimeout } from "../../internal/wait.ts"
import type { Warnings } from "../bus/warnings.ts"
import { Pace } from "./pace.ts"
import type { NatsTarget } from "./servers.ts"

/** Events of a `NatsLink`. */
export interface LinkEvents {
  /** There is a new connection, without subscriptions. */
  opened(connection: NatsConnection): void
  /** The same connection is restored, with its subscriptions. */
  restored(): void
  /** The connection is lost, or the first attempt failed. With an error, calls should not wait for it. */
  lost(error?: CallError): void
  /** The broker reported an error, such as a missing permission. */
  problem(error: Error): void
  /** There will be no connection. */
  failed(error: CallError): void
}

/** Consecutive refusals after which credentials count as wrong; a starting server may not have loaded them yet. */
const MAX_REFUSALS = 2
/** How long `close` waits, in milliseconds; the rest continues in the background. */
const CLOSE_TIMEOUT_MS = 1000
/** When to discard sockets that a closed client may still open, in milliseconds. */
const DISCARD_AFTER_MS = [100, 1000, 10_000]
/** The timeout of one connection attempt, in milliseconds; generous for slow networks. */
const ATTEMPT_TIMEOUT_MS = 5000

/**
 * A connection to a broker that may be absent, disappear, and come back.
 *
 * The first connection is retried here, because a client that waits for it can neither be stopped nor report why it
 * waits. Once connected, the client reconnects by itself.
 */
export class NatsLink {
  readonly #target: NatsTarget | undefined
  readonly #userConnection: NatsConnection | undefined
  readonly #clock: Clock
  readonly #warnings: Warnings
  readonly #events: LinkEvents
  readonly #pace: Pace
  #connection: NatsConnection | undefined
  #statuses: StatusQueue | undefined
  #isUp = false
  /** It was connected before. */
  #wasUp = false
  readonly #closing = new AbortController()
  #over: Promise<unknown> | undefined
  #ended: Promise<unknown> | undefined

  /** Takes a connection of the user, or the target to connect to. */
  constructor(
    from: NatsTarget | NatsConnection,
    clock: Clock,
    warnings: Warnings,
    events: LinkEvents,
  ) {
    if ("servers" in from) this.#target = from
    else this.#userConnection = from
    this.#clock = clock
    this.#warnings = warnings
    this.#events = events
    this.#pace = new Pace(clock)
  }

  start(): void {
    this.#over =
      this.#userConnection === undefined ? this.#keepConnected() : this.#use(this.#userConnection)
  }

  /** Flushes, and closes the connection if it was opened here. */
  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#closing.abort()
      this.#ended = Promise.all([this.#end(this.#connection), this.#over])
    }
    await this.#atMost(2 * CLOSE_TIMEOUT_MS, this.#ended)
  }

  async #end(connection: NatsConnection | undefined): Promise<void> {
    const wasUp = this.#isUp
    if (wasUp) await this.#atMost(CLOSE_TIMEOUT_MS, connection?.flush())
    this.#statuses?.stop?.()
    if (connection === undefined || this.#userConnection !== undefined) return
    await connection.close().catch(() => undefined)
    discard(connection)
    if (wasUp) return
    // A pending name lookup may still open another socket.
    for (const after of DISCARD_AFTER_MS) {
      setRef(
        this.#clock.setTimeout(() => discard(connection), after),
        false,
      )
    }
  }

  /** Connects until it succeeds, and again when the connection has ended. */
  async #keepConnected(): Promise<void> {
    let refusals = 0
    while (!this.#isClosing) {
      try {
        const connection = await this.#dial()
        refusals = 0
        const reason = await this.#use(connection)
        // The client gives up when it is refused; the next attempt shows whether that is permanent.
        if (reason !== undefined && !this.#isClosing) this.#reportUnreachable(reason)
      } catch (error) {
        if (this.#isClosing) return
        refusals = isRefusal(error) ? refusals + 1 : 0
        const failure = permanentFailure(error, refusals, this.#target)
        if (failure !== undefined && !this.#wasUp) return this.#events.failed(failure)
        // They were accepted before: a rotation of credentials may be in progress.
        this.#reportUnreachable(error, failure)
      }
      const delay = refusedDelay(refusals - MAX_REFUSALS) + this.#pace.draw()
      // Keeps the process alive: a worker must not exit because its broker starts later.
      await pause(delay, { clock: this.#clock, signal: this.#closing.signal })
    }
  }

  async #dial(): Promise<NatsConnection> {
    const { connect } = await loadNats()
    const connection = await connect(this.#options())
    if (!this.#isClosing) return connection
    await connection.close()
    throw new Error("closed meanwhile")
  }

  #options(): NodeConnectionOptions {
    const { servers = [], options = {} } = this.#target ?? {}
    const { reconnectDelayHandler = () => this.#pace.next() } = options
    return {
      name: "@alkdev/operations",
      timeout: ATTEMPT_TIMEOUT_MS,
      // Detects a silently lost broker within ten seconds.
      pingInterval: 3000,
      maxPingOut: 2,
      noAsyncTraces: true,
      ...options,
      servers: [...servers],
      waitOnFirstConnect: false,
      maxReconnectAttempts: -1,
      reconnectDelayHandler: () => {
        // The only way to stop a client between two attempts.
        if (this.#isClosing) throw new Error("closing")
        return reconnectDelayHandler()
      },
    }
  }

  /** Uses a connection until it has ended; resolves with the reason. */
  async #use(connection: NatsConnection): Promise<Error | undefined> {
    this.#connection = connection
    const statuses: StatusQueue = connection.status()
    this.#statuses = statuses
    this.#isUp = connection.info !== undefined
    this.#wasUp = true
    this.#pace.reached()
    this.#events.opened(connection)
    void connection.closed().then(() => statuses.stop?.())
    for await (const status of statuses) this.#onStatus(status)
    if (this.#isClosing) return undefined
    const reason = await connection.closed()
    this.#isUp = false
    this.#connection = undefined
    this.#events.lost()
    if (this.#userConnection === undefined) return reason ?? new Error("the connection was closed")
    const message =
      "The connection that you passed to createNatsTransport() is closed. Create a new one, and a new transport."
    this.#events.failed(refusal("UNAVAILABLE", message))
    return undefined
  }

  #onStatus(status: Status): void {
    switch (status.type) {
      case "disconnect":
        this.#isUp = false
        if (!this.#isClosing) this.#events.lost()
        return
      case "reconnect":
        this.#isUp = true
        this.#pace.reached()
        if (!this.#isClosing) this.#events.restored()
        return
      case "error":
        if (!this.#isClosing) this.#events.problem(status.error)
        return
      default:
    }
  }

  #reportUnreachable(error: unknown, failure?: CallError): void {
    this.#events.lost(failure && refusedForNow(failure))
    const where = this.#target?.servers.join(", ") ?? "the broker"
    const message = `NATS is unreachable at ${where}: ${reasonOf(error)}. Reconnecting`
    this.#warnings.warn(message)
  }

  async #atMost(milliseconds: number, promise: Promise<unknown> | undefined): Promise<void> {
    const done = Promise.resolve(promise).catch(() => undefined)
    await withTimeout(done, milliseconds, () => undefined, { clock: this.#clock })
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted
  }
}

/** The result of `status()` can be stopped, although its type does not say so. */
type StatusQueue = AsyncIterable<Status> & { stop?(): void }

async function loadNats(): Promise<Pick<typeof nats, "connect">> {
  try {
    return await import("@nats-io/transport-node")
  } catch (error) {
    throw importError("transport/nats", "@nats-io/transport-node", error)
  }
}

/**
 * Closes the socket of a client that was closed while it reconnected.
 *
 * The client forgets such a socket, which then keeps the process alive as long as the broker leaves it open.
 */
function discard(connection: NatsConnection): void {
  const { protocol } = connection as { readonly protocol?: { readonly transport?: unknown } }
  const transport = protocol?.transport as { discard?(): void } | undefined
  transport?.discard?.()
}

/** Whether credentials were refused. The client also reports a slow broker as an authorization error. */
function isRefusal(error: unknown): boolean {
  const { name, message } = error as Partial<Error>
  const isAuthorization = name === "AuthorizationError" || name === "UserAuthenticationExpiredError"
  return isAuthorization && !/timeout/i.test(message ?? "")
}

/** The error for a failure that a retry cannot fix; otherwise `undefined`. */
function permanentFailure(
  error: unknown,
  refusals: number,
  target: NatsTarget | undefined,
): CallError | undefined {
  if (error instanceof MissingPackage) {
    return refusal("UNAVAILABLE", error.message, { retryable: false, cause: error })
  }
  if (refusals < MAX_REFUSALS) return undefined
  const where = target?.servers.join(", ")
  const message =
    `NATS at ${where} refuses the credentials of this transport (${reasonOf(error)}). ` +
    `Check "connect" of createNatsTransport(): user and pass, token, or authenticator.`
  return refusal("UNAUTHENTICATED", message, { cause: error })
}

/** Why a connection failed, in a few words. */
function reasonOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "it could not be opened"
  const { message, code, cause } = error as Partial<Error> & { readonly code?: unknown }
  if (typeof message === "string" && message !== "") return message
  if (typeof code === "string") return code
  return cause === undefined ? "it could not be opened" : reasonOf(cause)
}
