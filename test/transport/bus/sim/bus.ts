import { CallError } from "../../../../src/index.ts"
import type { Bus, BusReceiver } from "../../../../src/transport/bus/types.ts"
import type { Address, SimBroker } from "./broker.ts"
import { missedAborts, runsAtOnce } from "./frames.ts"
import type { ProcessClock } from "./process-clock.ts"

const STALL_NOTICED = 2000
/** A broker delivers again what it delivered so many milliseconds before a process was started again. */
const DELIVERED_AGAIN = 1500

interface Delivery {
  readonly at: number
  readonly text: string
  readonly arrive: (bus: SimBus) => void
}

/** The way of one process to the broker. */
export class SimBus implements Bus {
  readonly address: string
  readonly clock: ProcessClock
  readonly maxPayload: number
  readonly hasQueues: boolean
  isConnected = false
  /** Counts the times its connection broke: what was on its way then does not arrive. */
  epoch = 0
  /** What it is known to serve at the broker; `undefined` while that is nothing. */
  known: ReadonlySet<string> | undefined
  /** It has served once: what is for this very worker reaches it. */
  isWorker = false
  /** The broker takes it for connected, which one that vanished is for a while. */
  isHeardOf = false
  /** Nothing gets through between it and the broker. */
  isCut = false
  /** What is for it, or what it says, gets lost, and neither side notices. */
  isDeaf = false
  isMute = false
  /** The connection of the process that was started again in the place of this one, at the same address. */
  heir: SimBus | undefined
  /** What was delivered last, and when; kept in histories where a worker is started again. */
  readonly #delivered: Delivery[] = []
  /** What is delivered again as soon as this one is connected. */
  #again: readonly Delivery[] = []
  readonly #broker: SimBroker
  readonly #user: string
  #receiver: BusReceiver | undefined
  #serves: readonly string[] | undefined
  #isClosed = false
  #isSeeking = false
  #held: (() => void)[] = []

  constructor(broker: SimBroker, clock: ProcessClock, address: string, user: string) {
    const { hasQueues, maxPayload } = broker.lab.scenario
    this.#broker = broker
    this.clock = clock
    this.address = address
    this.#user = user
    this.hasQueues = hasQueues
    this.maxPayload = maxPayload
    broker.members.set(address, this)
  }

  open(receiver: BusReceiver): void {
    this.#receiver = receiver
    this.seekBroker()
  }

  toAny(operationId: string, text: string, correlationId: string): void {
    if (!this.hasQueues) this.#fault("toAny on a bus without queues")
    this.#send({ to: "any", operationId }, text, correlationId)
  }

  toWorker(worker: string, operationId: string, text: string, correlationId: string): void {
    this.#send({ to: "worker", worker, operationId }, text, correlationId)
  }

  control(worker: string, text: string, correlationId: string): void {
    this.#send({ to: "worker", worker, operationId: undefined }, text, correlationId)
  }

  toAll(operationId: string, text: string, correlationId: string): void {
    this.#send({ to: "all", operationId }, text, correlationId)
  }

  ask(text: string, correlationId: string): void {
    this.#send({ to: "all", operationId: undefined }, text, correlationId)
  }

  answer(reply: string, text: string): void {
    const [inbox, _user, caller, ...rest] = reply.split(".")
    if (inbox !== "inbox" || caller === undefined || rest.length !== 1) {
      this.#fault(`an answer to "${reply}"`)
      return
    }
    this.#send({ to: "caller", caller }, text)
  }

  announce(text: string): void {
    this.#send({ to: "everyone" }, text)
  }

  serve(operationIds: readonly string[] | undefined): void {
    this.#serves = operationIds
    const { world, random } = this.#broker.lab
    const { epoch } = this
    // The broker hears of it a little later.
    world.after(random.between(1, 5), () => {
      if (epoch === this.epoch && this.isHeardOf) this.#subscribe()
    })
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.isHeardOf = false
    this.isConnected = false
    this.epoch++
    this.#broker.members.delete(this.address)
    return Promise.resolve()
  }

  receive(source: SimBus, address: Address, text: string, correlationId: string): void {
    if (this.#isClosed) return
    this.#notify((receiver) => {
      if (address.to === "caller" || address.to === "everyone") {
        receiver.fromWorker(text)
        return
      }
      const user = source.#user
      const reply = `inbox.${user}.${source.address}.${correlationId}`
      const { operationId } = address
      receiver.fromCaller(text, { user, address: source.address, reply, operationId })
    })
  }

  noResponders(correlationId: string): void {
    if (!this.#isClosed) this.#notify((receiver) => receiver.noResponders(correlationId))
  }

  /** The connection is gone; the process finds out a little later. */
  breakOff(): void {
    if (!this.isHeardOf) return
    this.isHeardOf = false
    this.known = undefined
    this.epoch++
    const { epoch } = this
    const { world, random } = this.#broker.lab
    const notices = random.between(0, random.chance(0.8) ? 50 : 1000)
    world.after(notices, () =>
      this.clock.reach(() => {
        if (this.#isClosed || epoch !== this.epoch) return
        this.isConnected = false
        this.#notify((receiver) => receiver.disconnected())
        this.seekBroker()
      }),
    )
  }

  /** The broker says nothing: that is noticed after a while, and nothing is lost by it. */
  standStill(until: number): void {
    const { world, random } = this.#broker.lab
    const { epoch } = this
    const notify = (isConnected: boolean): void =>
      this.clock.reach(() => {
        if (this.#isClosed || epoch !== this.epoch || this.isConnected === isConnected) return
        this.isConnected = isConnected
        this.#notify((receiver) => (isConnected ? receiver.connected() : receiver.disconnected()))
      })
    const noticedAt = world.time + STALL_NOTICED + random.between(0, 500)
    if (noticedAt >= until) return
    world.after(noticedAt - world.time, () => notify(false))
    world.after(until - world.time + random.between(0, 5), () => notify(true))
  }

  /** Something reaches this process: should it be started again, it may be delivered again. */
  delivered(text: string, arrive: (bus: SimBus) => void): void {
    const { world, scenario } = this.#broker.lab
    const mayRestart = scenario.accidents.some(({ what }) => what === "restart worker")
    if (mayRestart) this.#delivered.push({ at: world.time, text, arrive })
  }

  /** Its process died, and another one has its address. The broker does not know which messages arrived. */
  inherit(from: SimBus): void {
    const since = this.#broker.lab.world.time - DELIVERED_AGAIN
    from.heir = this
    this.#again = from.#delivered.filter(({ at, text }) => at >= since && !runsAtOnce(text))
  }

  /** Connects as soon as it can, if it is not connected. */
  seekBroker(): void {
    if (this.isConnected || this.#isSeeking || this.#receiver === undefined) return
    if (!this.#isReachable) return
    this.#isSeeking = true
    const { world, random } = this.#broker.lab
    world.after(random.between(1, 300), () =>
      this.clock.reach(() => {
        this.#isSeeking = false
        if (this.#isReachable && !this.#isClosed) this.#connect()
      }),
    )
  }

  get #isReachable(): boolean {
    return this.#broker.isUp && !this.isCut
  }

  #connect(): void {
    this.isConnected = true
    this.isHeardOf = true
    this.epoch++
    this.#subscribe()
    for (const send of this.#held.splice(0)) send()
    this.#notify((receiver) => receiver.connected())
    const { world, random } = this.#broker.lab
    for (const { arrive } of this.#again) {
      world.after(random.between(5, 50), () => this.clock.reach(() => arrive(this)))
    }
    this.#again = []
  }

  #subscribe(): void {
    if (this.#serves !== undefined) this.isWorker = true
    this.known = this.#serves === undefined ? undefined : new Set(this.#serves)
  }

  #send(address: Address, text: string, correlationId?: string): void {
    const bytes = Buffer.byteLength(text)
    if (bytes > this.maxPayload) {
      const why = `A message of ${bytes} bytes is larger than the ${this.maxPayload} that the broker takes.`
      throw new CallError("PAYLOAD_TOO_LARGE", why, { mayHaveExecuted: false, retryable: false })
    }
    if (this.#isClosed) throw unavailable()
    if (this.clock.isDead) return
    const publish = (): void => this.#broker.publish(this, address, text, correlationId)
    if (this.isConnected) {
      // Broken, and nobody has noticed: it is gone.
      if (this.isHeardOf && !this.isMute) publish()
      else this.#lose(text)
      return
    }
    const { whileDown } = this.#broker.lab.scenario.faults
    if (whileDown === "throw") {
      this.#lose(text)
      throw unavailable()
    }
    if (whileDown === "hold") this.#held.push(publish)
    else this.#lose(text)
  }

  #lose(text: string): void {
    for (const id of missedAborts(text)) this.#broker.lab.journal.missedAborts.add(id)
  }

  /** A receiver of a bus must not throw. */
  #notify(run: (receiver: BusReceiver) => void): void {
    if (this.#receiver === undefined) return
    try {
      run(this.#receiver)
    } catch (error) {
      this.#fault(`a receiver that threw ${String(error)}`)
    }
  }

  #fault(what: string): void {
    this.#broker.lab.journal.faults.push(`${this.address}: ${what}`)
  }
}

function unavailable(): CallError {
  return new CallError("UNAVAILABLE", "The broker is unreachable.", {
    mayHaveExecuted: false,
    retryable: true,
  })
}
