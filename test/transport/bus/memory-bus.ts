import { refusal } from "../../../src/core/errors.ts"
import { systemClock } from "../../../src/internal/clock.ts"
import type { Clock } from "../../../src/internal/platform.ts"
import type { Bus, MessageOrigin, BusReceiver } from "../../../src/transport/bus/types.ts"

export interface MemoryBrokerOptions {
  readonly hasQueues?: boolean | undefined
  readonly maxPayload?: number | undefined
  readonly clock?: Clock | undefined
}

/** A broker in this process, that can be stopped. What is sent meanwhile is lost. */
export class MemoryBroker {
  readonly hasQueues: boolean
  readonly maxPayload: number
  readonly clock: Clock
  readonly buses: Set<MemoryBus> = new Set()
  isUp = true
  /** Messages that it has carried. */
  carried = 0
  #made = 0
  #turn = 0

  constructor({
    hasQueues = true,
    maxPayload = 64 * 1024,
    clock = systemClock,
  }: MemoryBrokerOptions = {}) {
    this.hasQueues = hasQueues
    this.maxPayload = maxPayload
    this.clock = clock
  }

  bus(user = "anyone"): MemoryBus {
    return new MemoryBus(this, user, `bus${++this.#made}`)
  }

  stop(): void {
    this.isUp = false
    for (const bus of this.buses) bus.receiver?.disconnected()
  }

  start(): void {
    this.isUp = true
    for (const bus of this.buses) bus.receiver?.connected()
  }

  /** One of those who serve an operation, in turn. */
  oneOf(operationId: string): MemoryBus | undefined {
    const members = [...this.buses].filter((bus) => bus.served?.has(operationId) === true)
    return members[this.#turn++ % Math.max(members.length, 1)]
  }

  find(address: string): MemoryBus | undefined {
    return [...this.buses].find((bus) => bus.address === address)
  }

  workers(): MemoryBus[] {
    return [...this.buses].filter((bus) => bus.served !== undefined)
  }

  /** Delivers in a later turn, in the order of sending; not what is on its way when the broker stops. */
  deliver(bus: MemoryBus, give: (receiver: BusReceiver) => void): void {
    this.clock.defer?.(() => {
      if (!this.isUp || !this.buses.has(bus) || bus.receiver === undefined) return
      this.carried++
      give(bus.receiver)
    })
  }
}

/** One process' link to a broker in memory. */
export class MemoryBus implements Bus {
  readonly address: string
  readonly user: string
  readonly #broker: MemoryBroker
  receiver: BusReceiver | undefined
  served: ReadonlySet<string> | undefined
  #hasServed = false

  constructor(broker: MemoryBroker, user: string, address: string) {
    this.#broker = broker
    this.user = user
    this.address = address
  }

  get isConnected(): boolean {
    return this.#broker.isUp && this.#broker.buses.has(this)
  }

  get hasQueues(): boolean {
    return this.#broker.hasQueues
  }

  get maxPayload(): number {
    return this.#broker.maxPayload
  }

  open(receiver: BusReceiver): void {
    this.receiver = receiver
    this.#broker.clock.defer?.(() => {
      this.#broker.buses.add(this)
      if (this.#broker.isUp) receiver.connected()
    })
  }

  toAny(operationId: string, text: string, correlationId: string): void {
    this.#send(text, correlationId, operationId, [this.#broker.oneOf(operationId)])
  }

  toWorker(worker: string, operationId: string, text: string, correlationId: string): void {
    this.#send(text, correlationId, operationId, [this.#listening(worker)])
  }

  control(worker: string, text: string, correlationId: string): void {
    this.#send(text, correlationId, undefined, [this.#listening(worker)])
  }

  toAll(operationId: string, text: string, correlationId: string): void {
    this.#send(text, correlationId, operationId, this.#broker.workers())
  }

  ask(text: string, correlationId: string): void {
    this.#send(text, correlationId, undefined, this.#broker.workers())
  }

  answer(reply: string, text: string): void {
    this.#check(text)
    const bus = this.#broker.find(reply)
    if (bus !== undefined) this.#broker.deliver(bus, (receiver) => receiver.fromWorker(text))
  }

  announce(text: string): void {
    this.#check(text)
    for (const bus of this.#broker.buses) {
      this.#broker.deliver(bus, (receiver) => receiver.fromWorker(text))
    }
  }

  serve(operationIds: readonly string[] | undefined): void {
    this.served = operationIds === undefined ? undefined : new Set(operationIds)
    this.#hasServed = true
  }

  async close(): Promise<void> {
    // What it has sent still leaves.
    this.#broker.buses.delete(this)
  }

  #listening(address: string): MemoryBus | undefined {
    const bus = this.#broker.find(address)
    return bus !== undefined && bus.#hasServed ? bus : undefined
  }

  #send(
    text: string,
    correlationId: string,
    operationId: string | undefined,
    to: readonly (MemoryBus | undefined)[],
  ): void {
    this.#check(text)
    const { user, address } = this
    const from: MessageOrigin = { user, address, reply: address, operationId }
    const receivers = to.filter((bus) => bus !== undefined)
    for (const bus of receivers) {
      this.#broker.deliver(bus, (receiver) => receiver.fromCaller(text, from))
    }
    if (receivers.length === 0)
      this.#broker.deliver(this, (receiver) => receiver.noResponders(correlationId))
  }

  #check(text: string): void {
    const bytes = Buffer.byteLength(text)
    if (bytes <= this.maxPayload) return
    throw refusal("PAYLOAD_TOO_LARGE", `${bytes} bytes are more than ${this.maxPayload}.`)
  }
}
