import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { asNodeSocket, writeQueueSize } from "./ws.ts"
import type { NodeWebSocketLike, WebSocketLike } from "./ws.ts"

/** What a `SendBuffer` goes by. */
export interface SendBufferLimits {
  readonly maxBufferedBytes: number
  readonly stallTimeout: number
}

// A browser does not tell when its buffer has drained.
const POLL = 5

/** What waits in a socket to be sent: tells when there is room again, and when nothing moves. */
export class SendBuffer {
  readonly #socket: WebSocketLike
  readonly #node: NodeWebSocketLike | undefined
  readonly #clock: Clock
  readonly #mark: number
  readonly #stallTimeout: number
  readonly #stalled: () => void
  #waiting: Promise<void> | undefined
  #resolve: (() => void) | undefined
  #timer: unknown
  /** What the last look found, and when something had last moved. */
  #buffered = 0
  #queued = 0
  #movedAt = 0

  constructor(
    socket: WebSocketLike,
    { maxBufferedBytes, stallTimeout }: SendBufferLimits,
    clock: Clock,
    stalled: () => void,
  ) {
    this.#socket = socket
    this.#node = asNodeSocket(socket)
    this.#clock = clock
    this.#mark = maxBufferedBytes / 4
    this.#stallTimeout = stallTimeout
    this.#stalled = stalled
  }

  /** Hands a frame to the socket. */
  send(text: string): void {
    const socket = this.#socket
    if (this.#timer !== undefined) this.#look()
    if (this.#node === undefined) socket.send(text)
    else this.#node.send(text, this.#onSent)
    if (socket.bufferedAmount > this.#mark) this.#watch()
  }

  /** A promise while more than a quarter of the limit waits. */
  ready(unsent: number): Promise<void> | undefined {
    if (this.#waiting !== undefined) return this.#waiting
    if (this.#socket.bufferedAmount + unsent <= this.#mark) return undefined
    this.#waiting = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#watch()
    return this.#waiting
  }

  /** Nobody waits any more. */
  close(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#letGo()
  }

  readonly #onSent = (): void => {
    if (this.#waiting !== undefined && this.#socket.bufferedAmount <= this.#mark) this.#letGo()
  }

  #letGo(): void {
    this.#resolve?.()
    this.#waiting = undefined
    this.#resolve = undefined
  }

  #watch(): void {
    // Later sends add to what waits; that alone is no movement.
    this.#buffered = this.#socket.bufferedAmount
    if (this.#timer !== undefined) return
    this.#movedAt = this.#clock.now()
    this.#queued = writeQueueSize(this.#socket)
    this.#arm()
  }

  #arm(): void {
    const every = this.#node === undefined ? POLL : Math.max(1, this.#stallTimeout / 5)
    this.#timer = this.#clock.setTimeout(this.#onTimer, every)
    setRef(this.#timer, false)
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    this.#look()
    const { bufferedAmount } = this.#socket
    if (bufferedAmount <= this.#mark) {
      this.#letGo()
      return
    }
    if (this.#clock.now() - this.#movedAt >= this.#stallTimeout) {
      this.#stalled()
      return
    }
    this.#arm()
  }

  #look(): void {
    const { bufferedAmount } = this.#socket
    const queued = writeQueueSize(this.#socket)
    if (bufferedAmount < this.#buffered || queued !== this.#queued) {
      this.#movedAt = this.#clock.now()
    }
    this.#buffered = bufferedAmount
    this.#queued = queued
  }
}
