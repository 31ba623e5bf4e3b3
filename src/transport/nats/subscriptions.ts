import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node"
import type { Warnings } from "../bus/warnings.ts"
import { isAddressable, QUEUE, type Subjects } from "./subjects.ts"

/** Handlers of incoming messages. */
export interface Listeners {
  /** To this worker, or to any. */
  request(message: Msg): void
  /** To this caller. */
  answered(message: Msg): void
  /** To every caller. */
  news(message: Msg): void
  denied(subject: string): void
}

type Kind = "request" | "answered" | "news"

/**
 * The subscriptions of one end, independent of the connection.
 *
 * `#wanted` is the desired state; `#active` follows it.
 */
export class Subscriptions {
  readonly #subjects: Subjects
  readonly #warnings: Warnings
  readonly #listeners: Listeners
  readonly #wanted = new Map<string, { readonly kind: Kind; readonly queue?: string }>()
  readonly #active = new Map<string, Subscription>()
  #connection: NatsConnection | undefined

  constructor(subjects: Subjects, warnings: Warnings, listeners: Listeners) {
    this.#subjects = subjects
    this.#warnings = warnings
    this.#listeners = listeners
    this.#wanted.set(subjects.inbox, { kind: "answered" })
    this.#wanted.set(subjects.news, { kind: "news" })
  }

  /** Subscribes to everything on a new connection. */
  attach(connection: NatsConnection): void {
    this.#connection = connection
    this.#active.clear()
    this.follow()
  }

  /** Subscribes to requests for these operations; with `undefined` only to messages for this worker itself. */
  serve(operationIds: readonly string[] | undefined): void {
    const { requests, control, all, asks } = this.#subjects.ofWorker
    const hasServed = this.#wanted.has(requests)
    for (const [subject, { kind }] of this.#wanted) {
      if (kind === "request") this.#wanted.delete(subject)
    }
    if (operationIds !== undefined || hasServed) {
      for (const subject of [requests, control]) this.#wanted.set(subject, { kind: "request" })
    }
    if (operationIds !== undefined) {
      for (const subject of [all, asks]) this.#wanted.set(subject, { kind: "request" })
    }
    for (const operationId of operationIds ?? []) {
      if (isAddressable(operationId)) {
        const subject = this.#subjects.served(operationId)
        this.#wanted.set(subject, { kind: "request", queue: QUEUE })
      } else {
        const name = JSON.stringify(operationId)
        this.#warnings.warn(
          `Operation ${name} is not served over NATS: its id is not valid in a subject`,
        )
      }
    }
    this.follow()
  }

  end(): void {
    for (const subscription of this.#active.values()) {
      if (!subscription.isClosed()) subscription.unsubscribe()
    }
    this.#active.clear()
    this.#wanted.clear()
    this.#connection = undefined
  }

  /** Subscribes to what is wanted. Call it again after a reconnect: permissions may have changed with it. */
  follow(): void {
    const connection = this.#connection
    if (connection === undefined || connection.isClosed() || connection.isDraining()) return
    for (const [subject, subscription] of this.#active) {
      if (this.#wanted.has(subject)) continue
      this.#active.delete(subject)
      // Messages in flight are still delivered.
      subscription.drain().catch(() => undefined)
    }
    for (const [subject, { kind, queue }] of this.#wanted) {
      if (this.#active.has(subject)) continue
      const options = { callback: this.#callback(subject, kind) }
      this.#active.set(
        subject,
        connection.subscribe(subject, queue === undefined ? options : { ...options, queue }),
      )
    }
  }

  #callback(subject: string, kind: Kind): (error: Error | null, message: Msg) => void {
    return (error, message) => {
      if (error !== null) {
        this.#active.delete(subject)
        return this.#listeners.denied(subject)
      }
      try {
        this.#listeners[kind](message)
      } catch (cause) {
        // An error here would end the client's reading, and with it the connection.
        this.#warnings.warn("A message was dropped because it cannot be read", { cause })
      }
    }
  }
}
