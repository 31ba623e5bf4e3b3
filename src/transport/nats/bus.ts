// A bus over NATS. Reconnecting, subscriptions and subjects are in other files.

import type { Msg, NatsConnection, PermissionViolationError } from "@nats-io/transport-node"
import { refusal, type CallError } from "../../core/errors.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Bus, BusReceiver } from "../bus/types.ts"
import { UNKNOWN_ORIGIN } from "../bus/broker.ts"
import { isLoopback } from "../../internal/unencrypted.ts"
import { Warnings } from "../bus/warnings.ts"
import { NatsLink, type LinkEvents } from "./link.ts"
import { Pulse, type PulseEvents } from "./pulse.ts"
import { versionWarning, type NatsTarget } from "./servers.ts"
import { Subjects, tagOf } from "./subjects.ts"
import { Subscriptions, type Listeners } from "./subscriptions.ts"

/** Options of a `NatsBus`. */
export interface NatsBusParts {
  readonly from: NatsTarget | NatsConnection
  readonly user: string
  readonly prefix: string
  readonly clock: Clock
  readonly logger: Logger
  /** Allows tickets over a server on another machine whose permissions can be bypassed. */
  readonly insecure?: boolean | undefined
}

/** The default `max_payload` of servers. */
const DEFAULT_MAX_PAYLOAD = 1024 * 1024
/** The number of recent requests for which a denial by the broker can be reported. */
const MAX_REMEMBERED = 1000

const encoder = new TextEncoder()

/** A bus over NATS: one connection, callback subscriptions, and no persistence. */
export class NatsBus implements Bus, PulseEvents, LinkEvents, Listeners {
  readonly address: string
  readonly hasQueues = true
  isConnected = false
  maxPayload: number = DEFAULT_MAX_PAYLOAD
  readonly #subjects: Subjects
  readonly #warnings: Warnings
  readonly #link: NatsLink
  readonly #pulse: Pulse
  readonly #subscriptions: Subscriptions
  /** Subjects of recent requests, by correlation id. */
  readonly #requests = new Map<string, string>()
  readonly #warned = new Set<string>()
  readonly #insecure: boolean
  #receiver: BusReceiver | undefined
  #connection: NatsConnection | undefined
  #isClosed = false
  /** The error when this user may not subscribe to its inbox, and so cannot receive answers. */
  #inboxDenied: CallError | undefined
  /** The error when this user may not subscribe to announcements; logged with the first request. */
  #newsDenied: CallError | undefined

  constructor({ from, user, prefix, clock, logger, insecure = false }: NatsBusParts) {
    this.#insecure = insecure
    this.address = tagOf(user) + randomName()
    this.#subjects = new Subjects(prefix, user, this.address)
    this.#warnings = new Warnings(logger, clock)
    this.#pulse = new Pulse(clock, this)
    this.#link = new NatsLink(from, clock, this.#warnings, this)
    this.#subscriptions = new Subscriptions(this.#subjects, this.#warnings, this)
  }

  ticketRisk(): string | undefined {
    const connection = this.#connection
    // Read from the connection: after a reconnect, messages may arrive before the client reports it.
    const version = connection?.info?.version
    if (this.#insecure || connection === undefined || version === undefined) return undefined
    const warning = versionWarning(version)
    if (warning === undefined) return undefined
    const server = connection.getServer()
    if (isLoopback(server.slice(0, server.lastIndexOf(":")))) return undefined
    return `${warning}, or pass { insecure: true } to createNatsTransport() if its network is private.`
  }

  open(receiver: BusReceiver): void {
    this.#receiver = receiver
    this.#link.start()
  }

  toAny(operationId: string, text: string, correlationId: string): void {
    this.#request(this.#subjects.any(operationId), text, correlationId)
  }

  toWorker(worker: string, operationId: string, text: string, correlationId: string): void {
    this.#request(this.#subjects.worker(worker, operationId), text, correlationId)
  }

  toAll(operationId: string, text: string, correlationId: string): void {
    this.#request(this.#subjects.all(operationId), text, correlationId)
  }

  control(worker: string, text: string, correlationId: string): void {
    this.#publish(this.#subjects.control(worker), text, this.#subjects.reply(correlationId))
  }

  ask(text: string, correlationId: string): void {
    this.#publish(this.#subjects.ask, text, this.#subjects.reply(correlationId))
  }

  answer(reply: string, text: string): void {
    this.#publish(reply, text)
  }

  announce(text: string): void {
    this.#publish(this.#subjects.news, text)
  }

  serve(operationIds: readonly string[] | undefined): void {
    this.#subscriptions.serve(operationIds)
  }

  ready(): Promise<void> | undefined {
    return this.isConnected ? this.#pulse.ready() : undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.isConnected = false
    this.#subscriptions.end()
    await this.#link.close()
    this.#pulse.stop()
    this.#connection = undefined
  }

  #request(subject: string, text: string, correlationId: string): void {
    if (this.#inboxDenied !== undefined) throw this.#inboxDenied
    if (this.#newsDenied !== undefined) {
      this.#warnings.warn(this.#newsDenied.message)
      this.#newsDenied = undefined
    }
    this.#publish(subject, text, this.#subjects.reply(correlationId))
    this.#requests.set(correlationId, subject)
    if (this.#requests.size <= MAX_REMEMBERED) return
    const [oldest] = this.#requests.keys()
    if (oldest !== undefined) this.#requests.delete(oldest)
  }

  #publish(subject: string, text: string, reply?: string): void {
    const bytes = encoder.encode(text)
    if (bytes.length > this.maxPayload) throw tooLarge(bytes.length, this.maxPayload)
    // The sender knows that there is no connection, and resends what matters.
    if (!this.isConnected) return
    try {
      if (reply === undefined) this.#connection?.publish(subject, bytes)
      else this.#connection?.publish(subject, bytes, { reply })
    } catch (error) {
      throw refusal("UNAVAILABLE", "The connection to NATS was closed meanwhile.", { cause: error })
    }
    this.#pulse.sent(bytes.length)
  }

  silent(): void {
    this.#warnings.warn("The NATS server does not answer. Calls wait for it")
    this.#down()
  }

  alive(): void {
    if (this.isConnected || this.#isClosed) return
    this.isConnected = true
    this.#receiver?.connected()
  }

  lost(error?: CallError): void {
    this.#pulse.stop()
    this.#down(error)
  }

  failed(error: CallError): void {
    this.#down()
    this.#receiver?.failed(error)
  }

  opened(connection: NatsConnection): void {
    this.#connection = connection
    this.#inboxDenied = undefined
    this.#subscriptions.attach(connection)
    // A connection of the user may still be waiting for its server; its status reports when it is connected.
    if (connection.info !== undefined) this.restored()
  }

  restored(): void {
    const connection = this.#connection
    if (connection === undefined) return
    if (this.isConnected) this.#down()
    this.maxPayload = connection.info?.max_payload ?? this.maxPayload
    this.#warnOfVersion(connection.info?.version)
    this.#subscriptions.follow()
    this.#inboxDenied = undefined
    this.#pulse.start(() => connection.flush())
    this.alive()
  }

  #down(error?: CallError): void {
    if (this.#isClosed) return
    const isNews = this.isConnected || error !== undefined
    this.isConnected = false
    if (isNews || this.#connection === undefined) this.#receiver?.disconnected(undefined, error)
  }

  request(message: Msg): void {
    this.#pulse.received()
    const caller = this.#subjects.callerOf(message.subject, message.reply)
    // The receiver counts an empty text as invalid.
    this.#receiver?.fromCaller(
      caller === undefined ? "" : message.string(),
      caller ?? UNKNOWN_ORIGIN,
    )
  }

  answered(message: Msg): void {
    this.#pulse.received()
    // Headers are read only for empty messages, because reading them is slow.
    if (message.data.length === 0 && message.headers?.code === 503) {
      return this.#receiver?.noResponders(this.#subjects.correlationIdOf(message.subject))
    }
    this.#receiver?.fromWorker(message.string())
  }

  news(message: Msg): void {
    this.#receiver?.fromWorker(message.string())
  }

  #warnOfVersion(version: string | undefined): void {
    if (version === undefined || this.#warned.has(version)) return
    this.#warned.add(version)
    const warning = versionWarning(version)
    if (warning !== undefined) this.#warnings.warn(`${warning}.`)
  }

  problem(error: Error): void {
    if (error.name === "PermissionViolationError") {
      const { operation, subject } = error as PermissionViolationError
      if (operation === "publish") this.#onDeniedPublish(subject)
      return
    }
    this.#warnings.warn(`The NATS server says: ${error.message}`)
  }

  #onDeniedPublish(subject: string): void {
    const error = notPermitted("publish", subject)
    this.#warnings.warn(error.message)
    for (const [correlationId, to] of this.#requests) {
      if (to !== subject) continue
      this.#requests.delete(correlationId)
      this.#receiver?.denied(correlationId, error)
    }
  }

  denied(subject: string): void {
    const error = notPermitted("subscribe", subject)
    // A user that only serves needs neither answers nor news, and may lack their permission; calls report it.
    if (subject === this.#subjects.inbox) this.#inboxDenied = error
    else if (subject === this.#subjects.news) this.#newsDenied = error
    else this.#warnings.warn(error.message)
  }
}

function notPermitted(action: "publish" | "subscribe", subject: string): CallError {
  const message =
    `The NATS server does not permit this user to ${action} to "${subject}". ` +
    `Grant it (see docs/guides/broker-permissions.md), or check "user" of createNatsTransport().`
  return refusal("ACCESS_DENIED", message)
}

function tooLarge(bytes: number, limit: number): CallError {
  const message = `A message of ${bytes} bytes exceeds the NATS server's limit of ${limit} bytes. Send less at once, or raise max_payload of the server.`
  return refusal("PAYLOAD_TOO_LARGE", message, { details: { bytes, limit } })
}

/** A random unique name of letters and digits. */
function randomName(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join("")
}
