import type { Msg, NatsConnection, PermissionViolationError } from "@nats-io/transport-node"
import { refusal } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import { tagOf } from "../../internal/user-tag.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Bus, BusCaller, BusReceiver } from "../bus/types.ts"
import { isLoopback } from "../bus/broker-safety.ts"
import { Warnings } from "../bus/warnings.ts"
import { NatsLink } from "./link.ts"
import { Pulse } from "./pulse.ts"
import type { NatsTarget } from "./servers.ts"
import { Subjects } from "./subjects.ts"
import { Subscriptions } from "./subscriptions.ts"
import { versionWarning } from "./version.ts"

/** What a bus on NATS is made of. */
export interface NatsBusParts {
  readonly from: NatsTarget | NatsConnection
  readonly user: string
  readonly prefix: string
  readonly clock: Clock
  readonly logger: Logger
  /** Tickets may go over a server on another machine that is known to have ways round its permissions. */
  readonly insecure?: boolean | undefined
}

/** What servers take unless they are told otherwise. */
const USUAL_PAYLOAD = 1024 * 1024
/** Requests whose refusal by the broker can be told to who made them. */
const MOST_REMEMBERED = 1000

const encoder = new TextEncoder()

/** NATS as a bus: one connection, messages by callbacks, and nothing that lasts. */
export class NatsBus implements Bus {
  readonly address: string
  readonly hasQueues = true
  readonly #subjects: Subjects
  readonly #warnings: Warnings
  readonly #link: NatsLink
  readonly #pulse: Pulse
  readonly #subscriptions: Subscriptions
  /** Marks of the last requests, with where they went. */
  readonly #requests = new Map<string, string>()
  readonly #warned = new Set<string>()
  readonly #insecure: boolean
  #receiver: BusReceiver | undefined
  #connection: NatsConnection | undefined
  #isConnected = false
  #isClosed = false
  #maxPayload = USUAL_PAYLOAD
  /** Why answers cannot be heard. */
  #deaf: CallError | undefined
  /** Why it is not heard that workers come and go, until somebody calls and wants to know. */
  #untold: CallError | undefined

  constructor({ from, user, prefix, clock, logger, insecure = false }: NatsBusParts) {
    this.#insecure = insecure
    this.address = tagOf(user) + randomName()
    this.#subjects = new Subjects(prefix, user, this.address)
    this.#warnings = new Warnings(logger, clock)
    this.#pulse = new Pulse(clock, {
      silent: () => {
        this.#warnings.warn("The NATS server does not answer. Calls wait for it", {})
        this.#down()
      },
      alive: () => this.#up(),
    })
    this.#link = new NatsLink(from, clock, this.#warnings, {
      opened: (connection) => this.#opened(connection),
      restored: () => this.#restored(),
      lost: (error) => {
        this.#pulse.stop()
        this.#down(error)
      },
      problem: (error) => this.#onProblem(error),
      failed: (error) => {
        this.#down()
        this.#receiver?.failed(error)
      },
    })
    this.#subscriptions = new Subscriptions(this.#subjects, this.#warnings, {
      request: (message) => this.#onRequest(message),
      answer: (message) => this.#onAnswer(message),
      news: (message) => this.#receiver?.fromWorker(message.string()),
      denied: (subject) => this.#onDeniedSubscription(subject),
    })
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  get maxPayload(): number {
    return this.#maxPayload
  }

  ticketRisk(): string | undefined {
    const connection = this.#connection
    // Of the connection itself: after a reconnect messages may come before the client reports it.
    const version = connection?.info?.version
    if (this.#insecure || connection === undefined || version === undefined) return undefined
    const warning = versionWarning(version)
    if (warning === undefined) return undefined
    const server = connection.getServer()
    if (isLoopback(server.slice(0, server.lastIndexOf(":")))) return undefined
    return `${warning}, or give createNatsTransport() { insecure: true } if its network is yours alone.`
  }

  open(receiver: BusReceiver): void {
    this.#receiver = receiver
    this.#link.start()
  }

  toAny(operationId: string, text: string, mark: string): void {
    this.#request(this.#subjects.any(operationId), text, mark)
  }

  toWorker(worker: string, operationId: string, text: string, mark: string): void {
    this.#request(this.#subjects.worker(worker, operationId), text, mark)
  }

  toAll(operationId: string, text: string, mark: string): void {
    this.#request(this.#subjects.all(operationId), text, mark)
  }

  control(worker: string, text: string, mark: string): void {
    this.#publish(this.#subjects.control(worker), text, this.#subjects.reply(mark))
  }

  ask(text: string, mark: string): void {
    this.#publish(this.#subjects.ask, text, this.#subjects.reply(mark))
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
    return this.#isConnected ? this.#pulse.ready() : undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#isConnected = false
    this.#subscriptions.end()
    await this.#link.close()
    this.#pulse.stop()
    this.#connection = undefined
  }

  #request(subject: string, text: string, mark: string): void {
    if (this.#deaf !== undefined) throw this.#deaf
    if (this.#untold !== undefined) {
      this.#warnings.warn(this.#untold.message, {})
      this.#untold = undefined
    }
    this.#publish(subject, text, this.#subjects.reply(mark))
    this.#requests.set(mark, subject)
    if (this.#requests.size <= MOST_REMEMBERED) return
    const [oldest] = this.#requests.keys()
    if (oldest !== undefined) this.#requests.delete(oldest)
  }

  #publish(subject: string, text: string, reply?: string): void {
    const bytes = encoder.encode(text)
    if (bytes.length > this.#maxPayload) throw tooLarge(bytes.length, this.#maxPayload)
    // Whoever sends knows that there is no connection, and sends again what matters.
    if (!this.#isConnected) return
    try {
      if (reply === undefined) this.#connection?.publish(subject, bytes)
      else this.#connection?.publish(subject, bytes, { reply })
    } catch (error) {
      throw refusal("UNAVAILABLE", "The connection to NATS was closed meanwhile.", { cause: error })
    }
    this.#pulse.sent(bytes.length)
  }

  #opened(connection: NatsConnection): void {
    this.#connection = connection
    this.#deaf = undefined
    this.#subscriptions.attach(connection)
    // One that was given may be waiting for its server: it tells when it is there.
    if (connection.info !== undefined) this.#restored()
  }

  #restored(): void {
    const connection = this.#connection
    if (connection === undefined) return
    if (this.#isConnected) this.#down()
    this.#maxPayload = connection.info?.max_payload ?? this.#maxPayload
    this.#warnOfVersion(connection.info?.version)
    this.#subscriptions.again()
    this.#deaf = undefined
    this.#pulse.start(() => connection.flush())
    this.#up()
  }

  #up(): void {
    if (this.#isConnected || this.#isClosed) return
    this.#isConnected = true
    this.#receiver?.connected()
  }

  #down(error?: CallError): void {
    if (this.#isClosed) return
    const isNews = this.#isConnected || error !== undefined
    this.#isConnected = false
    if (isNews || this.#connection === undefined) this.#receiver?.disconnected(undefined, error)
  }

  #onRequest(message: Msg): void {
    this.#pulse.heard()
    const caller = this.#subjects.callerOf(message.subject, message.reply)
    // Counted there, as all that makes no sense.
    this.#receiver?.fromCaller(caller === undefined ? "" : message.string(), caller ?? NOBODY)
  }

  #onAnswer(message: Msg): void {
    this.#pulse.heard()
    // Only what is empty is looked at more closely: reading headers costs.
    if (message.data.length === 0 && message.headers?.code === 503) {
      this.#receiver?.unheard(this.#subjects.markOf(message.subject))
      return
    }
    this.#receiver?.fromWorker(message.string())
  }

  #warnOfVersion(version: string | undefined): void {
    if (version === undefined || this.#warned.has(version)) return
    this.#warned.add(version)
    const warning = versionWarning(version)
    if (warning !== undefined) this.#warnings.warn(`${warning}.`, {})
  }

  #onProblem(error: Error): void {
    if (isViolation(error)) {
      if (error.operation === "publish") this.#onDeniedPublish(error.subject)
      return
    }
    this.#warnings.warn(`The NATS server says: ${error.message}`, {})
  }

  #onDeniedPublish(subject: string): void {
    const error = denied("publish", subject)
    this.#warnings.warn(error.message, {})
    for (const [mark, to] of this.#requests) {
      if (to !== subject) continue
      this.#requests.delete(mark)
      this.#receiver?.denied(mark, error)
    }
  }

  #onDeniedSubscription(subject: string): void {
    const error = denied("subscribe", subject)
    // Whoever only serves needs neither answers nor news, and is not permitted them; whoever calls is told.
    if (subject === this.#subjects.inbox) this.#deaf = error
    else if (subject === this.#subjects.news) this.#untold = error
    else this.#warnings.warn(error.message, {})
  }
}

/** Who sent what nobody can have sent. */
const NOBODY: BusCaller = { user: "", address: "", reply: "", operationId: undefined }

function denied(action: "publish" | "subscribe", subject: string): CallError {
  return refusal(
    "ACCESS_DENIED",
    `The NATS server does not permit this user to ${action} to "${subject}". ` +
      `Grant it (see "operations nats-permissions"), or check "user" of createNatsTransport().`,
  )
}

function isViolation(error: Error): error is PermissionViolationError {
  return error.name === "PermissionViolationError"
}

function tooLarge(bytes: number, limit: number): CallError {
  return refusal(
    "PAYLOAD_TOO_LARGE",
    `A message of ${bytes} bytes is more than the ${limit} that the NATS server takes. Send less at once, or raise max_payload of the server.`,
    { details: { bytes, limit } },
  )
}

/** Letters and digits that nobody else has. */
function randomName(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join("")
}
