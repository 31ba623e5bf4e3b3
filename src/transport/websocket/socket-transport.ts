// A transport over a WebSocket that reconnects: events wait for the connection, or are reported as undelivered.

import { Closable } from "../../internal/closable.ts"
import type { CallEvent } from "../../core/events.ts"
import type { CallError } from "../../core/errors.ts"
import { Deadlines } from "../../internal/deadlines.ts"
import { setRef } from "../../internal/defer.ts"
import { backOff } from "../../internal/back-off.ts"
import type { Identity } from "../../core/types.ts"
import { encodeWithin, type EncodedEvent } from "./lazy-codec.ts"
import type { WatchLifecycle } from "../page-lifecycle.ts"
import { full, lost, unavailable } from "./socket-errors.ts"
import { SocketLink, type SocketOwner, type SocketSettings } from "./socket.ts"
import type { DeliveryStatus, Transport, TransportReceiver } from "../../protocol/transport.ts"
import type { WebSocketLike } from "./ws.ts"

/** The state of a connection: `waiting` is the pause before the next attempt. */
export type WebSocketState = "idle" | "connecting" | "open" | "waiting" | "closed"

/** A transport over a WebSocket. */
export interface WebSocketTransport extends Transport, AsyncDisposable {
  readonly state: WebSocketState
}

/** Why a connection could not be opened. */
export interface ConnectFailure {
  readonly reason: string
  /** The HTTP status of the server's answer, if it is available. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

/** Tries once to open a connection, and calls back once. Returns a function that gives up. */
export type Connect = (
  opened: (socket: WebSocketLike) => void,
  failed: (failure: ConnectFailure) => void,
) => () => void

/** Delays between attempts to connect again, in milliseconds. */
export interface ReconnectDelays {
  readonly minDelay: number
  readonly maxDelay: number
}

/** Settings of a `SocketTransport`. */
export interface SocketTransportSettings extends Omit<SocketSettings, "pings"> {
  readonly connect: Connect
  /** The name of the other end, for messages. */
  readonly peer: string
  /** `spread`: milliseconds over which the first attempts of many clients are spread. */
  readonly reconnect?: (ReconnectDelays & { readonly spread: number }) | undefined
  readonly resumeMs?: Transport["resumeMs"]
  /** Watches for suspension of the page: the connection is then closed, and opened again afterwards. */
  readonly lifecycle?: WatchLifecycle | undefined
  /** A shared timer for pings; its own when left out. */
  readonly pings?: Deadlines | undefined
  /** The code that `close()` sends. */
  readonly closeCode?: number | undefined
  readonly identity?: Identity | undefined
  readonly isTrusted?: boolean | undefined
  /** What the peer says that it is. */
  readonly client?: string | undefined
  /** Called when the state of the connection changes. */
  readonly onState?: ((state: WebSocketState, error?: CallError) => void) | undefined
}

const SUSPENDED = "the page was hidden"

/** A transport over a socket, which is opened with the transport and reopened when it breaks. */
export class SocketTransport extends Closable implements WebSocketTransport, SocketOwner {
  readonly identity: Identity | undefined
  readonly isTrusted: boolean
  readonly client: string | undefined
  readonly surface = "websocket"
  readonly carriesQuestions = true
  state: WebSocketState = "idle"
  /** The code and reason that `close()` sends instead of the default. */
  closeFrame: { readonly code: number; readonly reason: string } | undefined
  readonly #settings: SocketTransportSettings
  readonly #pings: Deadlines
  #receiver: TransportReceiver | undefined
  #link: SocketLink | undefined
  /** The previous connection, which may still be closing. */
  #leaving: SocketLink | undefined
  #giveUp: (() => void) | undefined
  /** Events that wait for a connection, in their order; requests by their id. */
  readonly #held = new Map<unknown, EncodedEvent>()
  #heldSize = 0
  #timer: unknown
  #failures = 0
  #openedAt = 0
  #wasLost = false
  /** Connecting is paused until the page runs again. */
  #isSuspended = false
  #unwatch: (() => void) | undefined
  /** Why nothing can be sent any more; `undefined` while it is open. */
  #over: string | undefined

  constructor(settings: SocketTransportSettings) {
    super()
    this.#settings = settings
    this.#pings = settings.pings ?? new Deadlines(settings.clock)
    this.identity = settings.identity
    this.isTrusted = settings.isTrusted ?? false
    this.client = settings.client
  }

  get resumeMs(): number | undefined {
    return this.#over === undefined ? this.#settings.resumeMs : 0
  }

  open(receiver: TransportReceiver): void {
    if (this.#receiver !== undefined) {
      throw new TypeError("This WebSocket transport is already open: create one for each use.")
    }
    this.#receiver = receiver
    if (this.state !== "idle") return
    this.#unwatch = this.#settings.lifecycle?.(this.#suspend, this.#resume)
    this.#connect()
  }

  send(event: CallEvent): void {
    if (this.#over !== undefined) throw unavailable(this.#settings.peer, this.#over)
    const { maxSentBytes, maxBufferedBytes } = this.#settings.limits
    const item = encodeWithin(event, maxSentBytes)
    if (this.#link !== undefined) return this.#link.send(item)
    // Whatever was sent before has ended with its connection; a request that was not sent is not sent later.
    if (event.type === "call.aborted") {
      this.#held.delete(event.requestId)
      return
    }
    if (this.#heldSize > maxBufferedBytes) throw full(this.#settings.peer, this.#heldSize, event)
    this.#held.set(event.type === "call.requested" ? event.requestId : item, item)
    this.#heldSize += item.text.length
    setRef(this.#timer, true)
  }

  /** A request that still waits for a connection has not been sent. */
  deliveryStatus(requestId: string): DeliveryStatus | undefined {
    return this.#held.has(requestId) ? { mayHaveExecuted: false, retryable: true } : undefined
  }

  ready(): Promise<void> | undefined {
    return this.#link?.ready()
  }

  protected async end(): Promise<void> {
    const { closeCode = 1000 } = this.#settings
    const { code, reason } = this.closeFrame ?? { code: closeCode, reason: "" }
    const link = this.#link ?? this.#leaving
    this.#link = undefined
    this.#leaving = undefined
    this.#over = "this transport was closed"
    this.#set("closed")
    this.#stopWatching()
    this.#stopConnecting()
    this.#dropHeld({ reason: this.#over })
    await link?.close(code, reason)
    // What is still pending got no answer before the end.
    this.#receiver?.lost(unavailable(this.#settings.peer, this.#over))
  }

  #connect(): void {
    this.#timer = undefined
    this.#set("connecting")
    this.#giveUp = this.#settings.connect(
      (socket) => this.#onOpened(socket),
      (failure) => this.#onFailed(failure),
    )
  }

  #stopConnecting(): void {
    this.#settings.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#giveUp?.()
    this.#giveUp = undefined
  }

  #stopWatching(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  /** Closes the connection, because the peer would otherwise wait for a page that cannot answer. */
  readonly #suspend = (): void => {
    if (this.#isSuspended) return
    this.#isSuspended = true
    const link = this.#link
    if (link === undefined) {
      this.#stopConnecting()
      return this.#onFailed({ reason: SUSPENDED })
    }
    // Not awaited: no code runs here any more.
    void link.close(1001, SUSPENDED)
    this.ended(1001, SUSPENDED)
  }

  readonly #resume = (): void => {
    if (!this.#isSuspended) return
    this.#isSuspended = false
    this.#failures = 0
    this.#connect()
  }

  #onOpened(socket: WebSocketLike): void {
    this.#giveUp = undefined
    this.#openedAt = this.#settings.clock.now()
    const link = new SocketLink(socket, { ...this.#settings, pings: this.#pings }, this)
    // It was closed before listeners were added; that has been reported already.
    if (socket.readyState > 1) return
    this.#link = link
    this.#leaving = undefined
    this.#set("open")
    for (const item of this.#takeHeld()) {
      try {
        link.send(item)
      } catch (error) {
        this.#receiver?.undelivered(item.event, error as CallError)
      }
    }
    if (this.#wasLost) this.#receiver?.restored()
    this.#wasLost = false
  }

  event(event: unknown): void {
    this.#failures = 0
    this.#receiver?.event(event)
  }

  unsent(event: CallEvent): void {
    const why = "it was lost before this was sent"
    this.#receiver?.undelivered(event, unavailable(this.#settings.peer, why))
  }

  #onFailed(failure: ConnectFailure): void {
    this.#giveUp = undefined
    this.#wasLost = true
    this.#reconnectLater(failure.reason)
    this.#dropHeld(failure)
    this.#settings.onState?.(this.state)
  }

  ended(code: number, reason: string, cause?: unknown): void {
    const { reconnect, clock } = this.#settings
    this.#leaving = this.#link
    this.#link = undefined
    this.#wasLost = true
    // The delays are reset only if the connection lasted: a server that drops connections needs longer ones.
    if (reconnect !== undefined && clock.now() - this.#openedAt > reconnect.maxDelay) {
      this.#failures = 0
    }
    const what = `it was lost (code ${code}${reason === "" ? "" : `: ${reason}`})`
    const error = lost(this.#settings.peer, code, what, cause)
    this.#reconnectLater(what)
    this.#receiver?.lost(error)
    this.#settings.onState?.(this.state, error)
  }

  /** Schedules the next attempt, or gives up for good. */
  #reconnectLater(why: string): void {
    const { reconnect, clock } = this.#settings
    if (reconnect === undefined) {
      this.#over = why
      this.state = "closed"
      return this.#stopWatching()
    }
    this.state = "waiting"
    if (this.#isSuspended) return
    const { minDelay, maxDelay, spread } = reconnect
    const delay = backOff(++this.#failures, minDelay, maxDelay)
    const wait = delay / 2 + Math.random() * (Math.max(delay, spread) - delay / 2)
    this.#timer = clock.setTimeout(() => this.#connect(), wait)
    setRef(this.#timer, false)
  }

  #takeHeld(): EncodedEvent[] {
    const held = [...this.#held.values()]
    this.#held.clear()
    this.#heldSize = 0
    return held
  }

  #dropHeld({ reason, cause, status }: ConnectFailure): void {
    for (const { event } of this.#takeHeld()) {
      this.#receiver?.undelivered(event, unavailable(this.#settings.peer, reason, cause, status))
    }
  }

  #set(state: WebSocketState): void {
    this.state = state
    this.#settings.onState?.(state)
  }
}
