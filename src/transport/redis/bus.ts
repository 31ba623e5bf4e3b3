import { refusal, type CallError } from "../../core/errors.ts"
import type { Logger } from "../../internal/logger.ts"
import { backOff } from "../../internal/back-off.ts"
import { utf8Length } from "../../internal/utf8.ts"
import type { Bus, BusReceiver } from "../bus/types.ts"
import { senderOf } from "./channels.ts"
import { deniedCall, isDenied, permanentFailure, reasonOf } from "./failures.ts"
import type { Outgoing } from "./publisher.ts"
import { refusedDelay, refusedForNow, UNKNOWN_ORIGIN } from "../bus/broker.ts"
import { RedisSession, type SessionEvents, type SessionParts } from "./session.ts"

/** Options of a `RedisBus`. */
export interface RedisBusParts extends SessionParts {
  readonly address: string
  readonly maxPayload: number
  readonly logger: Logger
}

/** Consecutive refusals after which credentials count as wrong; a starting server may not have loaded them yet. */
const MAX_REFUSALS = 3

/** A bus over Redis publish/subscribe. A message without a subscriber is lost. */
export class RedisBus implements Bus, SessionEvents {
  readonly address: string
  readonly maxPayload: number
  readonly hasQueues = false
  isConnected = false
  readonly #parts: RedisBusParts
  readonly #warned = new Set<string>()
  #receiver: BusReceiver | undefined
  /** The session that is open, or being opened. */
  #session: RedisSession | undefined
  #patterns: readonly string[] = []
  #timer: unknown
  #failures = 0
  #refusals = 0
  #peers = 1
  #wasConnected = false
  #isOver = false
  #closing: Promise<void> | undefined

  constructor(parts: RedisBusParts) {
    this.#parts = parts
    this.address = parts.address
    this.maxPayload = parts.maxPayload
  }

  open(receiver: BusReceiver): void {
    this.#receiver = receiver
    if (!this.#isOver) void this.#connect()
  }

  toAny(operationId: string): void {
    throw new TypeError(`Redis has no queue for "${operationId}": callers choose a worker.`)
  }

  toWorker(worker: string, operationId: string, text: string, correlationId: string): void {
    const denied = this.#session?.inboxDenied
    if (denied !== undefined) throw denied
    const channel = this.#parts.channels.call(worker, operationId)
    this.#send({ channel, text, correlationId, operationId })
  }

  control(worker: string, text: string, correlationId: string): void {
    this.#send({ channel: this.#parts.channels.control(worker), text, correlationId })
  }

  toAll(operationId: string, text: string, correlationId: string): void {
    this.toWorker("all", operationId, text, correlationId)
  }

  ask(text: string, correlationId: string): void {
    this.#send({ channel: this.#parts.channels.ask, text, correlationId })
  }

  answer(reply: string, text: string): void {
    this.#send({ channel: reply, text })
  }

  announce(text: string): void {
    // Callers react to an announcement at once: the worker has to be subscribed by then.
    const session = this.#session
    session?.whenListening(() => {
      if (this.#session === session) this.#send({ channel: this.#parts.channels.news, text })
    })
  }

  /** Subscribes to all requests or to none: Redis does not know operations; workers announce them. */
  serve(operationIds: readonly string[] | undefined): void {
    const { ownPatterns, sharedPatterns } = this.#parts.channels
    this.#patterns = operationIds === undefined ? ownPatterns : [...ownPatterns, ...sharedPatterns]
    this.#session?.listen(this.#patterns)
  }

  ready(): Promise<void> | undefined {
    return this.isConnected ? this.#session?.publisher?.room.ready() : undefined
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  message(text: string): void {
    if (this.#isOver) return
    const isFrame = text.length <= this.maxPayload && senderOf(text) !== undefined
    // The receiver counts an empty text as an invalid frame.
    this.#receiver?.fromWorker(isFrame ? text : "")
  }

  request(channel: string, text: string): void {
    if (this.#isOver) return
    const from = this.#parts.channels.read(channel)
    if (from?.isShared === true && !this.#isServing) return
    const sender = text.length <= this.maxPayload ? senderOf(text) : undefined
    const isSound = from !== undefined && sender !== undefined
    const caller = isSound ? this.#parts.channels.callerOf(from, sender) : UNKNOWN_ORIGIN
    this.#receiver?.fromCaller(isSound ? text : "", caller)
  }

  received({ correlationId }: Outgoing, count: number): void {
    if (count > 0 || correlationId === undefined || this.#isOver) return
    if (this.#session?.server.countsAll === true) this.#receiver?.noResponders(correlationId)
  }

  refused(message: Outgoing, error: Error): void {
    // Any other error ends the connection, which is reported separately.
    if (this.#isOver || !isDenied(error)) return
    const { channel, correlationId, operationId } = message
    this.#warn("The broker does not permit this user to publish", { channel: kindOf(channel) })
    if (correlationId === undefined || operationId === undefined) return
    this.#receiver?.denied(correlationId, deniedCall(this.#parts.peer, operationId, channel))
  }

  peers(count: number): void {
    this.#peers = count
  }

  lost(cause: unknown): void {
    this.#session = undefined
    this.#disconnected(reasonOf(cause))
    this.#reconnectLater()
  }

  failed(error: CallError): void {
    this.#session = undefined
    this.isConnected = false
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
      return this.#notOpened(error)
    }
    if (!this.#isOver) this.#connected(session)
  }

  #connected({ server, inboxDenied: denied }: RedisSession): void {
    const { peer } = this.#parts
    this.#failures = 0
    this.#refusals = 0
    this.isConnected = true
    this.#wasConnected = true
    this.#parts.logger.info("Connected to the broker", { peer })
    if (denied !== undefined) this.#parts.logger.info("This end can serve, but not call", { peer })
    if (server.isReplica) {
      this.#warn("The broker is a replica: only clients of this replica receive messages", { peer })
    }
    this.#receiver?.connected()
  }

  #notOpened(error: unknown): void {
    const failure = permanentFailure(error, this.#parts.peer)
    this.#refusals = failure === undefined ? 0 : this.#refusals + 1
    if (failure !== undefined && !this.#wasConnected) return this.failed(failure)
    // They were accepted before: a rotation of credentials may be in progress.
    if (failure !== undefined && this.#refusals >= MAX_REFUSALS) {
      this.#receiver?.disconnected(undefined, refusedForNow(failure))
    }
    // Reported once, also if it was never connected.
    if (this.#failures === 0 && !this.#wasConnected) this.#disconnected(reasonOf(error))
    this.#reconnectLater()
  }

  #disconnected(reason: string): void {
    this.isConnected = false
    this.#warned.clear()
    const { logger, peer } = this.#parts
    logger.warn("The broker is unreachable; reconnecting", { peer, reason })
    this.#receiver?.disconnected()
  }

  #reconnectLater(): void {
    if (this.#isOver) return
    const slowly = refusedDelay(this.#refusals - MAX_REFUSALS)
    const delay = slowly + reconnectDelay(this.#failures++, this.#peers)
    // Keeps the process alive, as the connection did.
    this.#timer = this.#parts.clock.setTimeout(() => void this.#connect(), delay)
  }

  async #close(): Promise<void> {
    this.#isOver = true
    this.isConnected = false
    this.#parts.clock.clearTimeout(this.#timer)
    await this.#session?.close()
    this.#session = undefined
  }

  #send(message: Outgoing): void {
    this.#refuseLarge(message)
    // A message that cannot be sent now is lost, as on the network: the caller and the worker resend what matters.
    if (this.isConnected) this.#session?.publisher?.add(message)
  }

  #refuseLarge({ text, operationId, correlationId }: Outgoing): void {
    // A character has at most three bytes, so that most texts need not be measured.
    if (text.length * 3 <= this.maxPayload) return
    const bytes = utf8Length(text)
    if (bytes <= this.maxPayload) return
    const message = `A message of ${bytes} bytes exceeds the limit of ${this.maxPayload} bytes (maxPayload). Send less, or a stream.`
    throw refusal("PAYLOAD_TOO_LARGE", message, {
      details: { bytes, maxPayload: this.maxPayload },
      // Only answers have no correlation id.
      mayHaveExecuted: correlationId === undefined,
      ...(operationId !== undefined && { operationId }),
    })
  }

  get #isServing(): boolean {
    return this.#patterns.length > this.#parts.channels.ownPatterns.length
  }

  #warn(message: string, fields: Readonly<Record<string, string>>): void {
    const key = message + Object.values(fields).join(" ")
    if (this.#warned.has(key)) return
    this.#warned.add(key)
    this.#parts.logger.warn(message, fields)
  }
}

/** A channel without the parts that differ between messages. */
function kindOf(channel: string): string {
  return channel.split(":").slice(0, 3).join(":")
}

const MIN_DELAY_MS = 150
const MAX_DELAY_MS = 800
const PER_PEER_MS = 12
const MAX_CROWD_DELAY_MS = 5000

/**
 * The delay before the next attempt, in milliseconds: short for a few processes, and spread for many.
 *
 * `peers` is the number of processes on the broker when it was last connected.
 */
export function reconnectDelay(failures: number, peers: number): number {
  const alone = backOff(failures + 1, MIN_DELAY_MS, MAX_DELAY_MS)
  const window = Math.max(alone, Math.min(MAX_CROWD_DELAY_MS, peers * PER_PEER_MS))
  return (0.1 + 0.9 * Math.random()) * window
}
