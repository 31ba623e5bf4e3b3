import type { SocketLimits } from "./limits.ts"
import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { deferred, type Deferred } from "../../internal/wait.ts"
import { asNodeSocket, writeQueueSize, type NodeWebSocketLike, type WebSocketLike } from "./ws.ts"

// A browser does not report when its buffer has drained.
const POLL = 5

/** Watches the send buffer of a socket: reports when there is room again, and when the peer stalls. */
export class SendBuffer {
  readonly #socket: WebSocketLike
  readonly #node: NodeWebSocketLike | undefined
  readonly #clock: Clock
  readonly #highWaterMark: number
  readonly #stallTimeout: number
  readonly #stalled: () => void
  #waiting: Deferred | undefined
  #timer: unknown
  /** The last observed sizes, and when the buffer last shrank. */
  #buffered = 0
  #queued = 0
  #movedAt = 0

  constructor(
    socket: WebSocketLike,
    { maxBufferedBytes, stallTimeout }: SocketLimits,
    clock: Clock,
    stalled: () => void,
  ) {
    this.#socket = socket
    this.#node = asNodeSocket(socket)
    this.#clock = clock
    this.#highWaterMark = maxBufferedBytes / 4
    this.#stallTimeout = stallTimeout
    this.#stalled = stalled
  }

  send(text: string): void {
    const socket = this.#socket
    if (this.#timer !== undefined) this.#look()
    if (this.#node === undefined) socket.send(text)
    else this.#node.send(text, this.#onSent)
    if (socket.bufferedAmount > this.#highWaterMark) this.#watch()
  }

  /** Back pressure: a promise while more than a quarter of the limit is buffered. */
  ready(unsent: number): Promise<void> | undefined {
    if (this.#waiting !== undefined) return this.#waiting.promise
    if (this.#socket.bufferedAmount + unsent <= this.#highWaterMark) return undefined
    this.#waiting = deferred()
    this.#watch()
    return this.#waiting.promise
  }

  /** Stops watching, and resolves waiting promises. */
  close(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#resolveWaiting()
  }

  readonly #onSent = (): void => {
    if (this.#waiting !== undefined && this.#socket.bufferedAmount <= this.#highWaterMark)
      this.#resolveWaiting()
  }

  #resolveWaiting(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  #watch(): void {
    // Later sends fill the buffer; that is no progress.
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
    if (bufferedAmount <= this.#highWaterMark) return this.#resolveWaiting()
    if (this.#clock.now() - this.#movedAt >= this.#stallTimeout) return this.#stalled()
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
