import type { Clock } from "../../internal/platform.ts"
import { deferOn, wallTimeOf, systemClock } from "../../internal/clock.ts"
import type { CallEvent } from "../../core/events.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import type {
  DeliveryStatus,
  ServedOperations,
  Transport,
  TransportReceiver,
} from "../../protocol/transport.ts"
import { BusCaller } from "./caller/caller.ts"
import { resolveGuardSettings, type BusOptions } from "./options.ts"
import type { BusStats } from "./stats.ts"
import type { Bus, MessageOrigin, BusReceiver } from "./types.ts"
import { BusWorker } from "./worker/worker.ts"
import type { Logger } from "../../internal/logger.ts"
import { isolatedLogger } from "../../internal/notify.ts"
import { Listeners } from "../../internal/listeners.ts"

/** A transport over a broker: calls find a worker, and workers answer any caller. */
export interface BusTransport extends Transport {
  readonly isConnected: boolean
  /** Connects, and resolves once that is done; rejects when it never will be. Calls need not wait for it. */
  whenConnected(): Promise<void>
  /** Calls the listener when the broker is connected, or with the reason when it is not. Returns an unsubscribe function. */
  onHealth(listener: (reason: string | undefined) => void): () => void
  stats(): BusStats
}

/** Creates a transport over a bus. */
export function createBusTransport(bus: Bus, options: BusOptions, surface = "bus"): BusTransport {
  return new BrokerTransport(bus, options, surface)
}

class BrokerTransport implements BusTransport, BusReceiver {
  readonly isTrusted: boolean
  readonly hasVersions = true
  readonly carriesQuestions = true
  readonly surface: string
  readonly #bus: Bus
  readonly #caller: BusCaller
  readonly #worker: BusWorker
  readonly #listeners = new Listeners<string | undefined>()
  /** Called when the broker is connected, or with the reason why it never will be. */
  #waiting: ((error?: CallError) => void)[] = []
  #receiver: TransportReceiver | undefined
  #isOpen = false
  #wasLost = false
  readonly #logger: Logger
  /** The error of calls until the broker is connected again. */
  #unavailable: CallError | undefined
  /** The error that ended the connection for good. */
  #error: CallError | undefined

  constructor(bus: Bus, options: BusOptions, surface: string) {
    const { isTrusted = false } = options
    const logger = isolatedLogger(options.logger)
    const clock = turnClock(options.clock ?? systemClock)
    const { signer, verifier, identify } = options
    const settings = resolveGuardSettings(options.guard)
    this.isTrusted = isTrusted
    this.surface = surface
    this.#bus = bus
    this.#logger = logger
    const context = { bus, settings, clock, logger, signer, verifier, identify }
    this.#caller = new BusCaller(context)
    this.#worker = new BusWorker(context)
  }

  get isConnected(): boolean {
    return this.#bus.isConnected
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    this.#caller.open(receiver)
    this.#worker.open(receiver)
    this.#openBus()
  }

  send(event: CallEvent): void {
    switch (event.type) {
      case "call.requested":
        if (this.#error !== undefined) throw this.#error
        if (this.#unavailable !== undefined) throw this.#unavailable
        return this.#caller.send(event)
      case "call.credit":
      case "call.answered":
        return this.#caller.send(event)
      case "call.aborted":
        if (this.#caller.has(event.requestId)) this.#caller.send(event)
        else this.#worker.send(event)
        return
      default:
        this.#worker.send(event)
    }
  }

  ready(stream?: string): Promise<void> | undefined {
    return this.#bus.ready?.() ?? (stream === undefined ? undefined : this.#worker.ready(stream))
  }

  serve(served: ServedOperations): void {
    this.#worker.serve(served)
  }

  leave(): void {
    this.#worker.leave()
  }

  deliveryStatus(requestId: string): DeliveryStatus | undefined {
    return this.#caller.deliveryStatus(requestId)
  }

  whenConnected(): Promise<void> {
    if (this.#bus.isConnected) return Promise.resolve()
    if (this.#error !== undefined) return Promise.reject(this.#error)
    this.#openBus()
    return new Promise((resolve, reject) =>
      this.#waiting.push((error) => (error === undefined ? resolve() : reject(error))),
    )
  }

  onHealth(listener: (reason: string | undefined) => void): () => void {
    return this.#listeners.add(listener)
  }

  stats(): BusStats {
    const { isConnected } = this.#bus
    return { isConnected, calling: this.#caller.stats(), serving: this.#worker.stats() }
  }

  async close(): Promise<void> {
    this.#error ??= refusal("UNAVAILABLE", "The transport was closed.")
    this.#settle(this.#error)
    this.#receiver?.lost(this.#error)
    this.#listeners.clear()
    this.#worker.close()
    this.#caller.close()
    await this.#bus.close()
  }

  fromCaller(text: string, caller: MessageOrigin): void {
    this.#worker.fromCaller(text, caller)
  }

  fromWorker(text: string): void {
    this.#caller.fromWorker(text)
  }

  noResponders(correlationId: string): void {
    this.#caller.noResponders(correlationId)
  }

  denied(correlationId: string, error: CallError): void {
    this.#caller.denied(correlationId, error)
  }

  connected(): void {
    this.#unavailable = undefined
    this.#worker.connected()
    this.#caller.connected()
    if (this.#wasLost) this.#receiver?.restored()
    this.#wasLost = false
    this.#settle()
    this.#notifyHealth(undefined)
  }

  disconnected(reason = "The broker is unreachable.", error?: CallError): void {
    this.#wasLost = true
    this.#unavailable = error
    this.#caller.disconnected()
    this.#notifyHealth(error?.message ?? reason)
  }

  failed(error: CallError): void {
    if (this.#error !== undefined) return
    this.#error = error
    this.#settle(error)
    this.#receiver?.lost(error)
    // This also ends held calls.
    this.#caller.close()
    this.#worker.close()
    this.#notifyHealth(error.message)
  }

  #openBus(): void {
    if (!this.#isOpen) this.#bus.open(this)
    this.#isOpen = true
  }

  #settle(error?: CallError): void {
    for (const settle of this.#waiting.splice(0)) settle(error)
  }

  #notifyHealth(reason: string | undefined): void {
    this.#listeners.notifyLogged(reason, this.#logger, "A listener of onHealth threw")
  }
}

/**
 * A clock that runs all deferred callbacks of a turn in one go, in order.
 *
 * What they send then leaves together: between two callbacks of its own the platform does other things, and a
 * connection writes its buffer whenever it gets the chance.
 */
function turnClock(clock: Clock): Clock {
  const waiting: (() => void)[] = []
  const run = (): void => {
    for (const callback of waiting.splice(0)) callback()
  }
  return {
    now: () => clock.now(),
    wallTime: () => wallTimeOf(clock),
    setTimeout: (callback, milliseconds) => clock.setTimeout(callback, milliseconds),
    clearTimeout: (timer) => clock.clearTimeout(timer),
    defer(callback) {
      if (waiting.push(callback) === 1) deferOn(clock, run)
    },
  }
}
