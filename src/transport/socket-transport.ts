import type { CallEvent } from "../call-events.ts"
import { refusal } from "../errors.ts"
import type { CallError, ErrorCode } from "../errors.ts"
import { setRef } from "../internal/defer.ts"
import type { Clock } from "../platform.ts"
import type { Identity } from "../types.ts"
import { encodeWithin } from "./encoded.ts"
import type { EncodedEvent } from "./encoded.ts"
import { SocketLink } from "./socket.ts"
import type { SocketLimits } from "./socket.ts"
import type { Transport, TransportReceiver } from "./types.ts"
import type { WebSocketLike } from "./ws.ts"

/** How far a connection is: `waiting` is the pause before the next attempt. */
export type WebSocketState = "idle" | "connecting" | "open" | "waiting" | "closed"

/** A transport over a WebSocket. */
export interface WebSocketTransport extends Transport, AsyncDisposable {
  readonly state: WebSocketState
}

/** Why a connection could not be opened. */
export interface ConnectFailure {
  readonly reason: string
  /** What the server answered instead, where that can be seen. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

/** Tries to open a connection once, and answers once. Gives a function that gives up. */
export type Connect = (
  opened: (socket: WebSocketLike) => void,
  failed: (failure: ConnectFailure) => void,
) => () => void

/** Delays between attempts to connect again, in milliseconds. */
export interface ReconnectDelays {
  readonly minDelay: number
  readonly maxDelay: number
}

/** What a `SocketTransport` goes by. */
export interface SocketTransportSettings {
  readonly connect: Connect
  /** Who is at the other end, for messages. */
  readonly peer: string
  readonly limits: SocketLimits
  readonly clock: Clock
  readonly reconnect?: ReconnectDelays | undefined
  /** The code that `close()` sends. */
  readonly closeCode?: number | undefined
  readonly identity?: Identity | undefined
  readonly isTrusted?: boolean | undefined
  /** Told of what happens to the connection. */
  readonly onState?: ((state: WebSocketState, error?: CallError) => void) | undefined
}

const REFUSALS: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHENTICATED",
  403: "ACCESS_DENIED",
  429: "RATE_LIMITED",
}

/** Events over a socket that is opened when the transport is, and again when it breaks. */
export class SocketTransport implements WebSocketTransport {
  readonly identity: Identity | undefined
  readonly isTrusted: boolean
  /** What `close()` tells the peer instead of the usual code. */
  farewell: { readonly code: number; readonly reason: string } | undefined
  readonly #settings: SocketTransportSettings
  #receiver: TransportReceiver | undefined
  #state: WebSocketState = "idle"
  #link: SocketLink | undefined
  /** The connection before this one, which may still be on its way out. */
  #leaving: SocketLink | undefined
  #giveUp: (() => void) | undefined
  #held: EncodedEvent[] = []
  #heldSize = 0
  #timer: unknown
  #failures = 0
  #openedAt = 0
  #wasLost = false
  /** Why nothing can be sent any more. */
  #over: string | undefined
  #closing: Promise<void> | undefined

  constructor(settings: SocketTransportSettings) {
    this.#settings = settings
    this.identity = settings.identity
    this.isTrusted = settings.isTrusted ?? false
  }

  get state(): WebSocketState {
    return this.#state
  }

  open(receiver: TransportReceiver): void {
    if (this.#receiver !== undefined) {
      throw new TypeError("This WebSocket transport is already open: make one for each use.")
    }
    this.#receiver = receiver
    if (this.#state === "idle") this.#connect()
  }

  send(event: CallEvent): void {
    if (this.#over !== undefined) throw this.#unavailable(this.#over)
    const { maxFrameBytes, maxBufferedBytes } = this.#settings.limits
    const item = encodeWithin(event, maxFrameBytes)
    if (this.#link !== undefined) {
      this.#link.send(item)
      return
    }
    if (this.#heldSize > maxBufferedBytes) throw this.#full(event)
    this.#held.push(item)
    this.#heldSize += item.text.length
    setRef(this.#timer, true)
  }

  ready(): Promise<void> | undefined {
    return this.#link?.ready()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { clock, closeCode = 1000 } = this.#settings
    const { code, reason } = this.farewell ?? { code: closeCode, reason: "" }
    const link = this.#link ?? this.#leaving
    this.#link = undefined
    this.#leaving = undefined
    this.#over = "this transport was closed"
    this.#set("closed")
    clock.clearTimeout(this.#timer)
    this.#giveUp?.()
    this.#giveUp = undefined
    this.#dropHeld({ reason: this.#over })
    await link?.close(code, reason)
  }

  #connect(): void {
    this.#timer = undefined
    this.#set("connecting")
    this.#giveUp = this.#settings.connect(
      (socket) => this.#onOpened(socket),
      (failure) => this.#onFailed(failure),
    )
  }

  #onOpened(socket: WebSocketLike): void {
    const { limits, clock } = this.#settings
    this.#giveUp = undefined
    this.#openedAt = clock.now()
    const link = new SocketLink(socket, limits, clock, {
      event: (event) => {
        this.#failures = 0
        this.#receiver?.event(event)
      },
      unsent: (event) => {
        this.#receiver?.undelivered(event, this.#unavailable("it was lost before this was sent"))
      },
      ended: (code, reason, cause) => this.#onEnded(code, reason, cause),
    })
    // It was closed before anyone could listen, and that has been told.
    if (socket.readyState > 1) return
    this.#link = link
    this.#leaving = undefined
    this.#set("open")
    for (const item of this.#takeHeld()) this.#sendHeld(link, item)
    if (this.#wasLost) this.#receiver?.restored()
    this.#wasLost = false
  }

  #sendHeld(link: SocketLink, item: EncodedEvent): void {
    try {
      link.send(item)
    } catch (error) {
      this.#receiver?.undelivered(item.event, error as CallError)
    }
  }

  #onFailed(failure: ConnectFailure): void {
    this.#giveUp = undefined
    this.#wasLost = true
    this.#again(failure.reason)
    this.#dropHeld(failure)
    this.#settings.onState?.(this.#state)
  }

  #onEnded(code: number, reason: string, cause: unknown): void {
    const { reconnect, clock } = this.#settings
    this.#leaving = this.#link
    this.#link = undefined
    this.#wasLost = true
    // A server that accepts and then drops is not to be hurried.
    if (reconnect !== undefined && clock.now() - this.#openedAt > reconnect.maxDelay) {
      this.#failures = 0
    }
    const what = `it was lost (code ${code}${reason === "" ? "" : `: ${reason}`})`
    const error = this.#lostError(code, what, cause)
    this.#again(what)
    this.#receiver?.lost(error)
    this.#settings.onState?.(this.#state, error)
  }

  /** Waits for the next attempt, or gives up for good. */
  #again(why: string): void {
    const { reconnect, clock } = this.#settings
    if (reconnect === undefined) {
      this.#over = why
      this.#state = "closed"
      return
    }
    const { minDelay, maxDelay } = reconnect
    const delay = Math.min(maxDelay, minDelay * 2 ** Math.min(this.#failures++, 30))
    // Half of it at random: many clients of one server do not come back all at once.
    this.#timer = clock.setTimeout(() => this.#connect(), (delay * (1 + Math.random())) / 2)
    setRef(this.#timer, false)
    this.#state = "waiting"
  }

  #takeHeld(): EncodedEvent[] {
    const held = this.#held
    this.#held = []
    this.#heldSize = 0
    return held
  }

  #dropHeld({ reason, cause, status }: ConnectFailure): void {
    for (const { event } of this.#takeHeld()) {
      this.#receiver?.undelivered(event, this.#unavailable(reason, cause, status))
    }
  }

  #set(state: WebSocketState): void {
    this.#state = state
    this.#settings.onState?.(state)
  }

  #unavailable(why: string, cause?: unknown, status?: number): CallError {
    const code = (status === undefined ? undefined : REFUSALS[status]) ?? "UNAVAILABLE"
    return refusal(code, `There is no connection to ${this.#settings.peer}: ${why}.`, {
      mayHaveExecuted: false,
      // A server that knows why it refuses will do so again.
      ...(status !== undefined && status < 500 && { retryable: false }),
      ...(cause === undefined ? {} : { cause }),
    })
  }

  #lostError(code: number, what: string, cause: unknown): CallError {
    return refusal(
      code === 1013 ? "SLOW_CONSUMER" : "UNAVAILABLE",
      `There is no connection to ${this.#settings.peer}: ${what}.`,
      {
        details: { closeCode: code },
        mayHaveExecuted: true,
        retryable: false,
        ...(cause === undefined ? {} : { cause }),
      },
    )
  }

  #full(event: CallEvent): CallError {
    return refusal(
      "OVERLOADED",
      `There is no connection to ${this.#settings.peer} yet, and ${this.#heldSize} bytes wait for it. ` +
        "Try again later.",
      { requestId: event.requestId, retryAfterMs: 1000 },
    )
  }
}
