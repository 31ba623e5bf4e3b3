import { decodeCallEvent, encodeCallEvent } from "../../../src/core/event-codec.ts"
import type { CallEvent } from "../../../src/core/events.ts"
import { CallError } from "../../../src/index.ts"
import type { Transport, TransportReceiver } from "../../../src/protocol/transport.ts"
import type { NodeClock, World } from "./clock.ts"
import type { Journal } from "./journal.ts"
import type { Faults } from "./plan.ts"
import type { Random } from "./random.ts"
import type { Sabotage } from "./sabotage.ts"

/** What links share. */
export interface Network {
  readonly world: World
  readonly random: Random
  readonly faults: Faults
  readonly journal: Journal
  readonly sabotage: Sabotage
}

type Side = 0 | 1

/** A way between two processes that loses, repeats, delays and breaks. */
export class SimLink {
  readonly network: Network
  isUp = true
  /** Counts the times it broke: nothing of before arrives after. */
  epoch = 0
  readonly #ends: [SimEnd | undefined, SimEnd | undefined] = [undefined, undefined]
  /** When the last event of a request arrives, by direction and id. */
  readonly #last = new Map<string, number>()

  constructor(network: Network) {
    this.network = network
  }

  /** The end at which a process listens. A process that starts anew takes the place of the old. */
  end(side: Side, clock: NodeClock): SimEnd {
    const end = new SimEnd(this, side, clock)
    this.#ends[side] = end
    return end
  }

  /** Cuts it. Both ends hear of it a little later, each in its own time. */
  cut(): void {
    if (!this.isUp) return
    this.isUp = false
    this.epoch++
    const { world, random, sabotage } = this.network
    for (const end of this.#ends) {
      const delay = random.between(0, 50)
      if (end !== undefined && sabotage.tellsLoss !== false) world.after(delay, () => end.lose())
    }
  }

  restore(): void {
    if (this.isUp) return
    this.isUp = true
    for (const end of this.#ends) end?.restore()
  }

  /** Sends an event on its way, or loses it. */
  carry(from: Side, event: CallEvent): void {
    const { journal, sabotage, random, faults } = this.network
    journal.sent(event)
    for (const { event: copy, delay } of sabotage.alter?.(event, random) ?? [{ event, delay: 0 }]) {
      if (random.chance(faults.drop)) {
        journal.harm(event, event.type === "call.aborted" ? "abort dropped" : "dropped")
        continue
      }
      const at = this.#timeFor(from, copy, delay, sabotage.keepsOrder !== false)
      this.#deliver(from, copy, at)
      if (!random.chance(faults.duplicate)) continue
      // Credit has no number: the second time it counts again.
      this.#deliver(from, copy, at + random.between(0, 1000))
    }
  }

  /** When an event arrives: after those of its request that were sent before it. */
  #timeFor(from: Side, event: CallEvent, extra: number, keepsOrder: boolean): number {
    const { world, random, faults, journal } = this.network
    const slow = random.chance(faults.slow) ? random.between(0, 1000) : 0
    let at = world.time + extra + random.between(1, 5) + slow
    const lane = `${from} ${event.requestId}`
    const last = this.#last.get(lane) ?? 0
    if (keepsOrder) {
      if (at < last && faults.reorders) journal.harm(event, "overtaken")
      else at = Math.max(at, last)
      this.#last.set(lane, Math.max(at, last))
    }
    return at
  }

  #deliver(from: Side, event: CallEvent, at: number): void {
    const { epoch } = this
    const { world } = this.network
    const text = encodeCallEvent(event)
    world.after(at - world.time, () => {
      if (epoch !== this.epoch) return
      this.#ends[from === 0 ? 1 : 0]?.receive(decodeCallEvent(JSON.parse(text)) as CallEvent)
    })
  }
}

/** One end of a link, as the library sees it. */
export class SimEnd implements Transport {
  readonly mayRepeat: boolean
  readonly #link: SimLink
  readonly #side: Side
  readonly #clock: NodeClock
  #receiver: TransportReceiver | undefined
  #isClosed = false
  /** It was notified that the peer is gone. */
  #isLost = false
  #held: CallEvent[] = []

  constructor(link: SimLink, side: Side, clock: NodeClock) {
    this.#link = link
    this.#side = side
    this.#clock = clock
    this.mayRepeat = link.network.sabotage.mayRepeat !== false
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
  }

  send(event: CallEvent): void {
    if (this.#clock.isDead) return
    if (this.#isClosed) throw unavailable()
    if (!this.#isLost) {
      // Cut but not noticed yet: it is gone, and whoever waits will be notified.
      if (this.#link.isUp) this.#link.carry(this.#side, event)
      else this.#link.network.journal.sent(event)
      return
    }
    const { faults, world, journal } = this.#link.network
    journal.sent(event)
    if (faults.whileDown === "throw") throw unavailable()
    if (faults.whileDown === "hold") this.#held.push(event)
    else world.after(10, () => this.#guard(() => this.#receiver?.undelivered(event, unavailable())))
  }

  close(): Promise<void> {
    this.#isClosed = true
    return Promise.resolve()
  }

  receive(event: CallEvent): void {
    const { journal, world } = this.#link.network
    if (this.#clock.isDead || this.#isClosed) return
    journal.delivered(event, world.time)
    this.#guard(() => this.#receiver?.event(event))
  }

  lose(): void {
    if (this.#clock.isDead || this.#isClosed) return
    this.#isLost = true
    this.#guard(() => this.#receiver?.lost(unavailable()))
  }

  restore(): void {
    if (this.#clock.isDead || this.#isClosed || !this.#isLost) return
    this.#isLost = false
    this.#guard(() => this.#receiver?.restored())
    for (const event of this.#held.splice(0)) this.#link.carry(this.#side, event)
  }

  /** A receiver of a transport must not throw. */
  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#link.network.journal.faults.push(`a receiver threw: ${String(error)}`)
    }
  }
}

function unavailable(): CallError {
  return new CallError("UNAVAILABLE", "The network is down.")
}
