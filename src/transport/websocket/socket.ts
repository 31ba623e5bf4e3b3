// One open socket: frames of events in both directions, with limits, liveness, and what a frame waits for.

import type { CallEvent } from "../../core/events.ts"
import { refusal } from "../../core/errors.ts"
import type { Clock } from "../../internal/platform.ts"
import { deferred, type Deferred } from "../../internal/wait.ts"
import { Batch } from "../batch.ts"
import { frameOf, decodeEvent, loadCodec, needsCodec, type EncodedEvent } from "./lazy-codec.ts"
import { ALIVE, Liveness, PING, type LivenessSettings, type LivePeer } from "./liveness.ts"
import type { SocketLimits } from "./limits.ts"
import { SendBuffer } from "./send-buffer.ts"
import { asNodeSocket, closeSocket, endSocket, OPEN, protocolCode } from "./ws.ts"
import type { NodeWebSocketLike, WebSocketLike } from "./ws.ts"

/** Settings of a `SocketLink`. */
export interface SocketSettings extends LivenessSettings {
  readonly limits: SocketLimits
  /** Parses the text of a frame, also later, and throws for one that is not accepted; default: `JSON.parse`. */
  readonly parse?: ((text: string) => unknown) | undefined
}

/** The owner of a `SocketLink`, which receives its events. */
export interface SocketOwner {
  event(event: unknown): void
  /** An event was accepted but not sent. */
  unsent(event: CallEvent): void
  /** The connection ended. Called once, and not after `close`. */
  ended(code: number, reason: string, cause?: unknown): void
}

// Larger frames are not more efficient.
const BATCH_CHARACTERS = 64 * 1024
const BATCH_EVENTS = 10_000
const CLOSE_GRACE = 1000

/** One open socket: sends and receives events as JSON frames, enforces limits, and checks liveness. */
export class SocketLink implements LivePeer {
  readonly #socket: WebSocketLike
  readonly #node: NodeWebSocketLike | undefined
  readonly #limits: SocketLimits
  readonly #parse: (text: string) => unknown
  readonly #clock: Clock
  readonly #owner: SocketOwner
  readonly #batch: Batch<EncodedEvent>
  readonly #buffer: SendBuffer
  readonly #listeners: (readonly [type: string, listener: (...args: unknown[]) => void])[] = []
  readonly #liveness: Liveness
  /** Resolves when the frames that wait for the parser or the decoder have been handled. */
  #loading: Promise<void> | undefined
  #isOpen = true
  #graceTimer: unknown
  /** Resolved when the socket is closed; set by `close`. */
  #gone: Deferred | undefined

  constructor(socket: WebSocketLike, settings: SocketSettings, owner: SocketOwner) {
    const { limits, clock, parse = JSON.parse } = settings
    this.#socket = socket
    this.#node = asNodeSocket(socket)
    this.#limits = limits
    this.#parse = parse
    this.#clock = clock
    this.#owner = owner
    const most = Math.min(BATCH_CHARACTERS, Math.floor(limits.maxSentBytes / 3))
    this.#batch = new Batch(most, (items) => this.#write(items))
    this.#buffer = new SendBuffer(socket, limits, clock, () =>
      this.#fail(1013, "it reads too slowly"),
    )
    this.#liveness = new Liveness(this, settings)
    this.#listen()
  }

  /** Sends an event with the others of this turn. Throws when too much is buffered. */
  send(item: EncodedEvent): void {
    const buffered = this.#socket.bufferedAmount + this.#batch.weight
    if (buffered > this.#limits.maxBufferedBytes) this.#overflow(item.event, buffered)
    this.#batch.add(item, item.text.length)
  }

  /** Back pressure: a promise while too much is buffered. */
  ready(): Promise<void> | undefined {
    return this.#isOpen ? this.#buffer.ready(this.#batch.weight) : undefined
  }

  /** Sends what is buffered, and closes; cuts the connection if the peer does not confirm in time. */
  close(code: number, reason = ""): Promise<void> {
    if (this.#gone !== undefined) return this.#gone.promise
    if (this.#isOpen) this.#batch.flush()
    this.#gone = deferred()
    if (this.#isOpen) {
      this.#release()
      closeSocket(this.#socket, code, reason)
      this.#armGrace()
    } else if (this.#graceTimer === undefined) this.#gone.resolve()
    return this.#gone.promise
  }

  ping(isAnswering: boolean): boolean {
    const node = this.#node
    if (isAnswering) this.#sendFrame(PING)
    else if (node?.readyState === OPEN) node.ping()
    return isAnswering || node !== undefined
  }

  gone(silence: number): void {
    this.#end(1006, `nothing came from it for ${silence} ms`)
    endSocket(this.#socket)
    this.#armGrace()
  }

  #listen(): void {
    const node = this.#node
    const add = (type: string, listener: (...args: unknown[]) => void): void => {
      if (node === undefined) this.#socket.addEventListener(type, listener)
      else node.on(type, listener)
      this.#listeners.push([type, listener])
    }
    if (node !== undefined) {
      add("message", (data, isBinary) => this.#onFrame(data, isBinary === true))
      add("ping", () => {
        this.#liveness.receivedOnSocket()
        this.#checkRoom()
      })
      add("pong", () => this.#liveness.receivedOnSocket())
      add("close", (code, reason) => this.#onClose(Number(code), String(reason)))
      add("error", (error) => this.#onError(error))
    } else {
      add("message", (event) => {
        const { data } = event as MessageEvent<unknown>
        this.#onFrame(data, typeof data !== "string")
      })
      add("close", (event) => {
        const { code, reason } = event as CloseEvent
        this.#onClose(code, reason)
      })
    }
    // It may have closed before anyone listened.
    if (this.#socket.readyState > OPEN) this.#onClose(1006, "")
  }

  #onFrame(data: unknown, isBinary: boolean): void {
    if (!this.#isOpen) return
    this.#liveness.received()
    if (isBinary) return this.#fail(1003, "it sent a binary frame instead of text")
    const text = String(data)
    // Sockets that were created elsewhere may not have the limit set.
    if (text.length > this.#limits.maxFrameBytes) {
      return this.#fail(1009, `it sent a frame of more than ${this.#limits.maxFrameBytes} bytes`)
    }
    let parsed: unknown
    try {
      parsed = this.#parse(text)
    } catch (error) {
      return this.#refuse(error)
    }
    const isLate = this.#loading !== undefined || parsed instanceof Promise || needsCodec(parsed)
    if (isLate) this.#holdFrame(parsed)
    else this.#onParsed(parsed)
  }

  /** Handles a frame when it has been parsed and what decodes it has been loaded, and those after it in their order. */
  #holdFrame(parsed: unknown): void {
    const handled = this.#handleLater(parsed, this.#loading).then(() => {
      if (this.#loading === handled) this.#loading = undefined
    })
    this.#loading = handled
  }

  /** Never rejects. */
  async #handleLater(parsed: unknown, before: Promise<void> | undefined): Promise<void> {
    const frame = await Promise.resolve(parsed).catch((error: unknown) => this.#refuse(error))
    try {
      if (needsCodec(frame)) await loadCodec()
    } catch (error) {
      this.#onError(error)
    }
    await before
    if (this.#isOpen) this.#onParsed(frame)
  }

  /** Ends the connection because of a frame that cannot be parsed. */
  #refuse(error: unknown): void {
    const isJSON = !(error instanceof SyntaxError)
    this.#fail(1007, `it sent a frame that is not ${isJSON ? "accepted" : "JSON"}`)
  }

  #onParsed(parsed: unknown): void {
    if (!Array.isArray(parsed)) {
      // The value of `PING`.
      if (parsed === "ping") this.#onPingFrame()
      else this.#onEvent(parsed)
      return
    }
    if (parsed.length > BATCH_EVENTS) {
      return this.#fail(1009, `it sent more than ${BATCH_EVENTS} events in one frame`)
    }
    for (const item of parsed as unknown[]) {
      // A receiver of events may close the connection.
      if (!this.#isOpen) return
      this.#onEvent(item)
    }
  }

  #onEvent(event: unknown): void {
    this.#liveness.readEvent(event)
    this.#owner.event(decodeEvent(event))
  }

  #write(items: readonly EncodedEvent[]): void {
    // A peer that is closing reads no more.
    if (this.#socket.readyState === OPEN) {
      try {
        return this.#buffer.send(this.#liveness.announce(frameOf(items), this.#limits.maxSentBytes))
      } catch (error) {
        this.#onError(error)
      }
    }
    for (const { event } of items) this.#owner.unsent(event)
  }

  #overflow(event: CallEvent, buffered: number): never {
    const { requestId, type } = event
    const details = { bufferedBytes: buffered, maxBufferedBytes: this.#limits.maxBufferedBytes }
    if (type === "call.requested") {
      const { operationId } = event
      const message = `"${operationId}" was not sent: ${buffered} bytes wait to be sent already. Try again later.`
      throw refusal("OVERLOADED", message, { requestId, operationId, details, retryAfterMs: 100 })
    }
    this.#fail(1013, "it reads too slowly")
    const message = `The peer was disconnected: ${buffered} bytes were waiting for it.`
    throw refusal("SLOW_CONSUMER", message, { requestId, details })
  }

  #onPingFrame(): void {
    this.#liveness.pinged()
    if (this.#checkRoom()) this.#sendFrame(ALIVE)
  }

  /** Gives up a peer that sends pings but does not read the answers, which would fill the memory. */
  #checkRoom(): boolean {
    if (this.#socket.bufferedAmount > this.#limits.maxBufferedBytes) {
      this.#fail(1013, "it reads too slowly")
    }
    return this.#isOpen
  }

  #sendFrame(text: string): void {
    if (this.#socket.readyState !== OPEN) return
    try {
      this.#buffer.send(text)
    } catch (error) {
      this.#onError(error)
    }
  }

  #onError(error: unknown): void {
    this.#end(1006, error instanceof Error ? error.message : String(error), error)
    this.#armGrace()
  }

  #onClose(code: number, reason: string): void {
    // What arrived before the end counts.
    if (this.#loading !== undefined && this.#isOpen) {
      void this.#loading.then(() => this.#onClose(code, reason))
      return
    }
    for (const [type, listener] of this.#listeners.splice(0)) {
      if (this.#node === undefined) this.#socket.removeEventListener(type, listener)
      else this.#node.off(type, listener)
    }
    this.#clock.clearTimeout(this.#graceTimer)
    this.#graceTimer = undefined
    this.#end(protocolCode(code), reason)
    this.#gone?.resolve()
  }

  #fail(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.#end(code, reason)
    closeSocket(this.#socket, code, reason)
    this.#armGrace()
  }

  #end(code: number, reason: string, cause?: unknown): void {
    if (!this.#isOpen) return
    this.#release()
    for (const { event } of this.#batch.take()) this.#owner.unsent(event)
    this.#owner.ended(code, reason, cause)
  }

  #release(): void {
    this.#isOpen = false
    this.#liveness.stop()
    this.#buffer.close()
  }

  #armGrace(): void {
    if (this.#listeners.length === 0) return
    this.#graceTimer ??= this.#clock.setTimeout(() => {
      endSocket(this.#socket)
      // A browser's socket cannot be cut.
      if (this.#node === undefined) this.#onClose(1006, "")
    }, CLOSE_GRACE)
  }
}
