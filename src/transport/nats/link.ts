import type * as nats from "@nats-io/transport-node"
import type { NatsConnection, NodeConnectionOptions, Status } from "@nats-io/transport-node"
import { refusal } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import { setRef } from "../../internal/defer.ts"
import { importPeer, MissingPackage } from "../../internal/import-peer.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Warnings } from "../bus/warnings.ts"
import { Pace } from "./pace.ts"
import type { NatsTarget } from "./servers.ts"

/** What a link tells whoever uses its connection. */
export interface LinkEvents {
  /** A connection that was not there before. Nothing is subscribed on it. */
  opened(connection: NatsConnection): void
  /** The same connection is back, with its subscriptions. */
  restored(): void
  /** It cannot be used now; for the first attempt as well. With an error, calls need not wait for it. */
  lost(error?: CallError): void
  /** The broker said what is wrong, such as a permission that is missing. */
  problem(error: Error): void
  /** There will be no connection. */
  failed(error: CallError): void
}

/** Refusals in a row after which credentials are wrong, and not only about to be loaded. */
const MOST_REFUSALS = 2
/** Milliseconds until the next attempt with credentials that were taken once and are refused now. */
const REFUSED_PAUSE = 1000
const LONGEST_REFUSED_PAUSE = 30_000
/** Milliseconds that ending may take, before it goes on behind one's back. */
const CLOSING = 1000
/** Milliseconds after which a closed client is looked after. */
const LATE = [100, 1000, 10_000]
/** Milliseconds for one attempt; what is late on its way is not given up for it. */
const ATTEMPT = 5000

/**
 * A connection to a broker that may be absent, go, and come back.
 *
 * The first connection is dialled here, since a client that waits for it can neither be told to stop nor asked
 * why it waits. Once there is one, the client brings it back by itself.
 */
export class NatsLink {
  readonly #target: NatsTarget | undefined
  readonly #given: NatsConnection | undefined
  readonly #clock: Clock
  readonly #warnings: Warnings
  readonly #events: LinkEvents
  readonly #pace: Pace
  #connection: NatsConnection | undefined
  #statuses: StatusQueue | undefined
  #isUp = false
  /** There was a connection once. */
  #wasUp = false
  #isClosing = false
  #endPause: (() => void) | undefined
  #over: Promise<unknown> | undefined
  #ended: Promise<unknown> | undefined

  /** With a connection that the user made, or with what it takes to make one. */
  constructor(
    from: NatsTarget | NatsConnection,
    clock: Clock,
    warnings: Warnings,
    events: LinkEvents,
  ) {
    if ("servers" in from) this.#target = from
    else this.#given = from
    this.#clock = clock
    this.#warnings = warnings
    this.#events = events
    this.#pace = new Pace(clock)
  }

  start(): void {
    this.#over = this.#given === undefined ? this.#dialOn() : this.#use(this.#given)
  }

  /** Sends what waits, and ends the connection if it was made here. */
  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true
      this.#endPause?.()
      this.#ended = Promise.all([this.#end(this.#connection), this.#over])
    }
    await this.#atMost(2 * CLOSING, this.#ended)
  }

  async #end(connection: NatsConnection | undefined): Promise<void> {
    const wasUp = this.#isUp
    if (wasUp) await this.#atMost(CLOSING, connection?.flush())
    this.#statuses?.stop?.()
    if (connection === undefined || this.#given !== undefined) return
    await connection.close().catch(() => undefined)
    discard(connection)
    if (wasUp) return
    // A name that is being looked up just now becomes one more socket.
    for (const after of LATE) {
      setRef(
        this.#clock.setTimeout(() => discard(connection), after),
        false,
      )
    }
  }

  /** Tries until there is a connection, and again when that one has ended. */
  async #dialOn(): Promise<void> {
    let refusals = 0
    while (!this.#isClosing) {
      try {
        const connection = await this.#dial()
        refusals = 0
        const reason = await this.#use(connection)
        // The client gives up by itself when it is refused; the next attempt tells whether for good.
        if (reason !== undefined && !this.#isClosing) this.#absent(reason)
      } catch (error) {
        if (this.#isClosing) return
        refusals = isRefusal(error) ? refusals + 1 : 0
        const failure = permanent(error, refusals, this.#target)
        if (failure !== undefined && !this.#wasUp) {
          this.#events.failed(failure)
          return
        }
        // They were right once: whoever rotates or reloads credentials is not done yet.
        this.#absent(error, failure)
      }
      await this.#pause(refusals)
    }
  }

  async #dial(): Promise<NatsConnection> {
    const { connect } = await importPeer("transport/nats", "@nats-io/transport-node", importNats)
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
      timeout: ATTEMPT,
      // A broker that is gone without a word is found out within ten seconds.
      pingInterval: 3000,
      maxPingOut: 2,
      noAsyncTraces: true,
      ...options,
      servers: [...servers],
      waitOnFirstConnect: false,
      maxReconnectAttempts: -1,
      reconnectDelayHandler: () => {
        // The only word that a client listens to between two attempts.
        if (this.#isClosing) throw new Error("closing")
        return reconnectDelayHandler()
      },
    }
  }

  /** Uses a connection until it has ended; gives why it did. */
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
    if (this.#given === undefined) return reason ?? new Error("the connection was closed")
    this.#events.failed(
      refusal(
        "UNAVAILABLE",
        "The connection that createNatsTransport() was given is closed. Make a new one, and a new transport.",
      ),
    )
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

  #absent(error: unknown, failure?: CallError): void {
    this.#events.lost(
      failure &&
        refusal("UNAVAILABLE", `${failure.message} It is tried again.`, {
          retryable: true,
          mayHaveExecuted: false,
          cause: failure,
        }),
    )
    const where = this.#target?.servers.join(", ") ?? "the broker"
    const message = `NATS is out of reach at ${where}: ${reasonOf(error)}. It is tried again`
    this.#warnings.warn(message, {})
  }

  #pause(refusals = 0): Promise<void> {
    if (this.#isClosing) return Promise.resolve()
    const slowly =
      refusals < MOST_REFUSALS
        ? 0
        : Math.min(REFUSED_PAUSE * 2 ** (refusals - MOST_REFUSALS), LONGEST_REFUSED_PAUSE)
    return new Promise((resolve) => {
      // Holds the process: a worker must not end because its broker starts later.
      const timer = this.#clock.setTimeout(resolve, slowly + this.#pace.draw())
      this.#endPause = () => {
        this.#clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  async #atMost(milliseconds: number, promise: Promise<unknown> | undefined): Promise<void> {
    let timer: unknown
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.setTimeout(resolve, milliseconds)
    })
    await Promise.race([Promise.resolve(promise).catch(() => undefined), late])
    this.#clock.clearTimeout(timer)
  }
}

/** What `status()` gives can be ended, although its type does not say so. */
type StatusQueue = AsyncIterable<Status> & { stop?(): void }

// Bundlers leave alone what handles its failure: see transport/ws.ts.
function importNats(): Promise<Pick<typeof nats, "connect">> {
  return import("@nats-io/transport-node")
}

/**
 * Ends the socket of a client that was closed while it reconnected.
 *
 * It forgets about such a socket, which then holds the process for as long as a broker leaves it open.
 */
function discard(connection: NatsConnection): void {
  const { protocol } = connection as { readonly protocol?: { readonly transport?: unknown } }
  const transport = protocol?.transport as { discard?(): void } | undefined
  transport?.discard?.()
}

/** Wrong credentials. A broker that is slow to answer is none, although the client takes it for one. */
function isRefusal(error: unknown): boolean {
  const { name, message } = error as Partial<Error>
  const isAuthorization = name === "AuthorizationError" || name === "UserAuthenticationExpiredError"
  return isAuthorization && !/timeout/i.test(message ?? "")
}

/** What will not change by trying again. */
function permanent(
  error: unknown,
  refusals: number,
  target: NatsTarget | undefined,
): CallError | undefined {
  if (error instanceof MissingPackage) {
    return refusal("UNAVAILABLE", error.message, { retryable: false, cause: error })
  }
  if (refusals < MOST_REFUSALS) return undefined
  const where = target?.servers.join(", ")
  return refusal(
    "UNAUTHENTICATED",
    `NATS at ${where} refuses the credentials of this transport (${reasonOf(error)}). ` +
      `Check "connect" of createNatsTransport(): user and pass, token, or authenticator.`,
    { cause: error },
  )
}

/** Why a connection failed, in a few words. */
function reasonOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "it could not be opened"
  const { message, code, cause } = error as Partial<Error> & { readonly code?: unknown }
  if (typeof message === "string" && message !== "") return message
  if (typeof code === "string") return code
  return cause === undefined ? "it could not be opened" : reasonOf(cause)
}
