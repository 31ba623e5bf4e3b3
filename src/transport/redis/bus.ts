import { refusal } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Bus, BusReceiver } from "../bus/types.ts"
import { senderOf } from "./channels.ts"
import type { RedisChannels } from "./channels.ts"
import { deniedCall, isDenied, permanentFault, reasonOf } from "./faults.ts"
import type { Outgoing } from "./publisher.ts"
import { reconnectDelay } from "./reconnect.ts"
import { RedisSession } from "./session.ts"
import type { SessionEvents, SessionParts } from "./session.ts"

/** What a bus on Redis goes by. */
export interface RedisBusParts extends SessionParts {
  readonly address: string
  readonly maxPayload: number
  readonly logger: Logger
}

/** Refusals of known credentials that are put up with: a server that is being set up may not know them yet. */
const MOST_REFUSALS = 3
/** Milliseconds until the next attempt with credentials that were taken once and are refused now. */
const REFUSED_PAUSE = 1000
const LONGEST_REFUSED_PAUSE = 30_000

/** Publish and subscribe, as the guard needs it. A message that nobody hears is gone. */
export class RedisBus implements Bus, SessionEvents {
  readonly address: string
  readonly maxPayload: number
  readonly hasQueues = false
  readonly #parts: RedisBusParts
  readonly #channels: RedisChannels
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #warned = new Set<string>()
  #receiver: BusReceiver | undefined
  /** The one that is open, or being opened. */
  #session: RedisSession | undefined
  #patterns: readonly string[] = []
  #timer: unknown
  #failures = 0
  #refusals = 0
  #peers = 1
  #isConnected = false
  #wasConnected = false
  #isOver = false
  #closing: Promise<void> | undefined

  constructor(parts: RedisBusParts) {
    this.#parts = parts
    this.#channels = parts.channels
    this.#clock = parts.clock
    this.#logger = parts.logger
    this.address = parts.address
    this.maxPayload = parts.maxPayload
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  open(receiver: BusReceiver): void {
    this.#receiver = receiver
    if (!this.#isOver) void this.#connect()
  }

  toAny(operationId: string): void {
    throw new TypeError(`Redis finds no worker for "${operationId}": callers choose one.`)
  }

  toWorker(worker: string, operationId: string, text: string, mark: string): void {
    this.#refuseDeaf()
    this.#send({ channel: this.#channels.call(worker, operationId), text, mark, operationId })
  }

  control(worker: string, text: string, mark: string): void {
    this.#send({ channel: this.#channels.control(worker), text, mark })
  }

  toAll(operationId: string, text: string, mark: string): void {
    this.toWorker("all", operationId, text, mark)
  }

  ask(text: string, mark: string): void {
    this.#send({ channel: this.#channels.ask, text, mark })
  }

  answer(reply: string, text: string): void {
    this.#send({ channel: reply, text })
  }

  announce(text: string): void {
    // Who hears of a worker asks it at once: by then it has to hear.
    const session = this.#session
    session?.whenListening(() => {
      if (this.#session === session) this.#send({ channel: this.#channels.news, text })
    })
  }

  /** Who serves what is for the workers to say; the server knows only who is one. */
  serve(operationIds: readonly string[] | undefined): void {
    const { ownPatterns, sharedPatterns } = this.#channels
    this.#patterns = operationIds === undefined ? ownPatterns : [...ownPatterns, ...sharedPatterns]
    this.#session?.listen(this.#patterns)
  }

  ready(): Promise<void> | undefined {
    return this.#isConnected ? this.#session?.publisher?.ready() : undefined
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  message(text: string): void {
    if (this.#isOver) return
    const isFrame = text.length <= this.maxPayload && senderOf(text) !== undefined
    // An empty text is no frame: the guard counts it as one that made no sense.
    this.#receiver?.fromWorker(isFrame ? text : "")
  }

  request(channel: string, text: string): void {
    if (this.#isOver) return
    const from = this.#channels.read(channel)
    if (from?.isShared === true && !this.#isServing) return
    const sender = text.length <= this.maxPayload ? senderOf(text) : undefined
    const isSound = from !== undefined && sender !== undefined
    const caller = isSound ? this.#channels.callerOf(from, sender) : NOBODY
    this.#receiver?.fromCaller(isSound ? text : "", caller)
  }

  received({ mark }: Outgoing, count: number): void {
    if (count > 0 || mark === undefined || this.#isOver) return
    if (this.#session?.server.countsAll === true) this.#receiver?.unheard(mark)
  }

  refused(message: Outgoing, error: Error): void {
    // Otherwise the connection is going to be lost, and that is told.
    if (this.#isOver || !isDenied(error)) return
    const { channel, mark, operationId } = message
    this.#warn("The broker does not let this user publish", { channel: kindOf(channel) })
    if (mark === undefined || operationId === undefined) return
    this.#receiver?.denied(mark, deniedCall(this.#parts.peer, operationId, channel))
  }

  peers(count: number): void {
    this.#peers = count
  }

  lost(cause: unknown): void {
    this.#session = undefined
    this.#disconnected(reasonOf(cause))
    this.#again()
  }

  failed(error: CallError): void {
    this.#session = undefined
    this.#isConnected = false
    this.#isOver = true
    this.#receiver?.failed(error)
  }

  async #connect(): Promise<void> {
    this.#timer = undefined
    const session = new RedisSession(this.#parts, this)
    this.#session = session
    session.listen(this.#patterns)
    try {
      await session.open()
    } catch (error) {
      if (this.#isOver) return
      this.#session = undefined
      this.#notOpened(error)
      return
    }
    if (!this.#isOver) this.#connected(session)
  }

  #connected({ server, deaf }: RedisSession): void {
    const { peer } = this.#parts
    this.#failures = 0
    this.#refusals = 0
    this.#isConnected = true
    this.#wasConnected = true
    this.#logger.info("The broker is reached", { peer })
    if (deaf !== undefined) this.#logger.info("This end serves, and cannot call", { peer })
    if (server.isReplica) {
      this.#warn("The broker is a replica: only who is connected to it hears what is sent", {
        peer,
      })
    }
    this.#receiver?.connected()
  }

  #notOpened(error: unknown): void {
    const fault = permanentFault(error, this.#parts.peer)
    this.#refusals = fault === undefined ? 0 : this.#refusals + 1
    if (fault !== undefined && !this.#wasConnected) {
      this.failed(fault)
      return
    }
    // They were right once: whoever rotates or reloads credentials is not done yet.
    if (fault !== undefined && this.#refusals >= MOST_REFUSALS) {
      const refused = refusal("UNAVAILABLE", `${fault.message} It is tried again.`, {
        retryable: true,
        mayHaveExecuted: false,
        cause: fault,
      })
      this.#receiver?.disconnected(undefined, refused)
    }
    // Told once, also when it was never reached.
    if (this.#failures === 0 && !this.#wasConnected) this.#disconnected(reasonOf(error))
    this.#again()
  }

  #disconnected(reason: string): void {
    this.#isConnected = false
    this.#warned.clear()
    this.#logger.warn("The broker is out of reach; it is tried again", {
      peer: this.#parts.peer,
      reason,
    })
    this.#receiver?.disconnected()
  }

  #again(): void {
    if (this.#isOver) return
    const slowly =
      this.#refusals < MOST_REFUSALS
        ? 0
        : Math.min(REFUSED_PAUSE * 2 ** (this.#refusals - MOST_REFUSALS), LONGEST_REFUSED_PAUSE)
    const delay = slowly + reconnectDelay(this.#failures++, this.#peers)
    // Holds the process, as the connection did.
    this.#timer = this.#clock.setTimeout(() => void this.#connect(), delay)
  }

  async #close(): Promise<void> {
    this.#isOver = true
    this.#isConnected = false
    this.#clock.clearTimeout(this.#timer)
    await this.#session?.close()
    this.#session = undefined
  }

  #send(message: Outgoing): void {
    this.#refuseLarge(message)
    // What cannot leave now is lost, as it would be on its way: the guard sends again what matters.
    if (this.#isConnected) this.#session?.publisher?.add(message)
  }

  #refuseDeaf(): void {
    const deaf = this.#session?.deaf
    if (deaf !== undefined) throw deaf
  }

  #refuseLarge({ text, operationId, mark }: Outgoing): void {
    // A character is at most three bytes, so that most texts need not be measured.
    if (text.length * 3 <= this.maxPayload) return
    const bytes = new TextEncoder().encode(text).length
    if (bytes <= this.maxPayload) return
    throw refusal(
      "PAYLOAD_TOO_LARGE",
      `A message of ${bytes} bytes is more than one may have, ${this.maxPayload} bytes (maxPayload). ` +
        "Send less, or a stream.",
      {
        details: { bytes, maxPayload: this.maxPayload },
        // Answers have no mark.
        mayHaveExecuted: mark === undefined,
        ...(operationId !== undefined && { operationId }),
      },
    )
  }

  get #isServing(): boolean {
    return this.#patterns.length > this.#channels.ownPatterns.length
  }

  #warn(message: string, fields: Readonly<Record<string, string>>): void {
    const key = message + Object.values(fields).join(" ")
    if (this.#warned.has(key)) return
    this.#warned.add(key)
    this.#logger.warn(message, fields)
  }
}

/** Who sent something that made no sense. */
const NOBODY = { user: "", address: "", reply: "", operationId: undefined }

/** A channel without what differs from message to message. */
function kindOf(channel: string): string {
  return channel.split(":").slice(0, 3).join(":")
}
