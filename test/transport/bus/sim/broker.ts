import type { World } from "../../../protocol/sim/clock.ts"
import type { Random } from "../../../protocol/sim/random.ts"
import type { SimBus } from "./bus.ts"
import { describeFrame, missedAborts, runsAtOnce } from "./frames.ts"
import type { Journal } from "./journal.ts"
import type { Scenario } from "./plan.ts"
import { tamper } from "./sabotage.ts"
import type { Sabotage } from "./sabotage.ts"

/** What everything in a history shares. */
export interface Lab {
  readonly world: World
  readonly random: Random
  readonly scenario: Scenario
  readonly journal: Journal
  readonly sabotage: Sabotage
}

/** Where a message goes. */
export type Address =
  | { readonly to: "any"; readonly operationId: string }
  | { readonly to: "worker"; readonly worker: string; readonly operationId: string | undefined }
  | { readonly to: "all"; readonly operationId: string | undefined }
  | { readonly to: "caller"; readonly caller: string }
  | { readonly to: "everyone" }

/** A broker that finds who listens, and on whose ways messages get lost, doubled, late and out of order. */
export class SimBroker {
  readonly lab: Lab
  readonly members = new Map<string, SimBus>()
  isUp = false
  /** Counts its ends: what was on its way then does not arrive. */
  epoch = 0
  /** It stands still until then, and keeps what comes. */
  stalledUntil = 0
  /** When the last message arrives on the way between two. */
  readonly #last = new Map<string, number>()

  constructor(lab: Lab) {
    this.lab = lab
  }

  start(): void {
    this.isUp = true
    for (const bus of this.members.values()) bus.seekBroker()
  }

  stop(): void {
    this.isUp = false
    this.epoch++
    for (const bus of this.members.values()) bus.breakOff()
  }

  /** Stands still, and keeps what comes until it goes on. */
  stall(until: number): void {
    this.stalledUntil = until
    for (const bus of this.members.values()) bus.standStill(until)
  }

  /** Takes a message, and reports to its sender when nobody listens. */
  publish(source: SimBus, address: Address, text: string, correlationId: string | undefined): void {
    const targets = this.#listeners(address)
    if (targets.length === 0) this.#missed(text)
    if (targets.length === 0 && correlationId !== undefined) {
      this.#carry("broker", source, "unheard", (bus) => bus.noResponders(correlationId))
    }
    for (const target of targets) this.#toOne(source, target, address, text, correlationId)
  }

  /** A message to one who listens, as it is or as a saboteur wants it. */
  #toOne(source: SimBus, target: SimBus, to: Address, text: string, correlationId = ""): void {
    const { sabotage } = this.lab
    const give = (what: string): void =>
      this.#carry(source.address, target, what, (bus) =>
        bus.receive(source, to, what, correlationId),
      )
    if (sabotage.alter === undefined) {
      give(text)
      return
    }
    tamper(text, sabotage, this, source, target, to, give)
  }

  /** Hands a worker something that its caller never said. */
  forge(caller: SimBus, worker: SimBus, text: string): void {
    const address = { to: "worker", worker: worker.address, operationId: undefined } as const
    this.#carry(caller.address, worker, text, (bus) => bus.receive(caller, address, text, "forged"))
  }

  #listeners(address: Address): readonly SimBus[] {
    const all = [...this.members.values()].filter((bus) => bus.isHeardOf)
    switch (address.to) {
      case "any": {
        const serving = all.filter((bus) => bus.known?.has(address.operationId) === true)
        if (serving.length < 2 || this.lab.sabotage.isDoubling === true) return serving
        return [this.lab.random.pick(serving)]
      }
      case "worker":
        return all.filter((bus) => bus.address === address.worker && bus.isWorker)
      case "all":
        return all.filter((bus) => bus.isWorker)
      case "caller":
        return all.filter((bus) => bus.address === address.caller)
      case "everyone":
        return all
    }
  }

  #carry(from: string, target: SimBus, text: string, arrive: (bus: SimBus) => void): void {
    const { random, scenario, journal, world } = this.lab
    const { faults } = scenario
    if (target.isDeaf || random.chance(faults.drop)) {
      journal.say(`x ${from} > ${target.address} ${describeFrame(text, journal)}`)
      this.#missed(text)
      return
    }
    const at = this.#timeFor(`${from}>${target.address}`)
    const times = random.chance(faults.duplicate) ? [at, at + random.between(0, 1000)] : [at]
    for (const time of times) {
      const { epoch } = this
      const link = target.epoch
      world.after(time - world.time, () => {
        if (epoch === this.epoch && link === target.epoch) {
          if (journal.isDetailed)
            journal.say(`${from} > ${target.address} ${describeFrame(text, journal)}`)
          target.delivered(text, arrive)
          target.clock.reach(() => arrive(target))
          return
        }
        const { heir } = target
        if (epoch === this.epoch && heir !== undefined && !runsAtOnce(text)) {
          heir.clock.reach(() => arrive(heir))
          return
        }
        this.#missed(text)
      })
    }
  }

  #missed(text: string): void {
    for (const id of missedAborts(text)) this.lab.journal.missedAborts.add(id)
  }

  /** When a message arrives: after those that were sent before it, mostly. */
  #timeFor(lane: string): number {
    const { world, random, scenario } = this.lab
    const { latency, slow, reorder } = scenario.faults
    const extra = random.chance(slow) ? random.between(0, 1000) : 0
    const start = Math.max(world.time, this.stalledUntil)
    const at = start + random.between(latency[0], latency[1]) + extra
    if (random.chance(reorder)) return at + random.between(0, 1000)
    const last = Math.max(at, this.#last.get(lane) ?? 0)
    this.#last.set(lane, last)
    return last
  }
}
