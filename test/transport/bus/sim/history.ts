import { isCallError } from "../../../../src/index.ts"
import { mintNumber } from "../../../../src/engine/ids.ts"
import { World } from "../../../protocol/sim/clock.ts"
import { Random } from "../../../protocol/sim/random.ts"
import { SimBroker } from "./broker.ts"
import type { Lab } from "./broker.ts"
import { Journal } from "./journal.ts"
import type { Trouble } from "./journal.ts"
import { scenario } from "./plan.ts"
import type { Accident, Plan, Scenario } from "./plan.ts"
import { play } from "./play.ts"
import { addDeadMember, leftovers, startCaller, startWorker, stop, waste } from "./processes.ts"
import type { Process } from "./processes.ts"
import { NO_SABOTAGE } from "./sabotage.ts"
import type { Sabotage } from "./sabotage.ts"

/** What happened, and what was left when all was over. */
export interface History {
  readonly scenario: Scenario
  readonly journal: Journal
  /** When the processes were closed. */
  readonly closedAt: number
  /** What callers have paid for repeats. */
  readonly budgets: readonly Budget[]
  /** What still waits, works or ticks, in words. */
  readonly leftovers: readonly string[]
}

/** What a caller says of its repeats. */
export interface Budget {
  readonly caller: number
  readonly repeats: number
  /** Repeats that are still paid for. */
  readonly left: number
}

/** How a history is lived through. */
export interface LiveOptions {
  readonly sabotage?: Sabotage | undefined
  /** Writes down every message. */
  readonly isDetailed?: boolean | undefined
}

// Later than anything that has an end by itself.
const LATEST = 150_000
/** After which nobody remembers a call: callers ping for 30 s, and are given up after 30 more. */
const FORGOTTEN = 80_000

// Request ids have one length in all histories, because the sizes of messages are part of them.
while (mintNumber() < 36 ** 4);

/** Lives through the history of a seed. */
export async function live(seed: number, options: LiveOptions = {}): Promise<History> {
  const { sabotage = NO_SABOTAGE, isDetailed = false } = options
  const { random: platformRandom } = Math
  const random = new Random(seed ^ 0x2545f491)
  // The guard's own dice are part of the history.
  Math.random = () => random.next()
  const undo = sabotage.patch?.()
  try {
    return await new Simulation(scenario(seed), sabotage, new Journal(isDetailed)).run()
  } finally {
    undo?.()
    Math.random = platformRandom
  }
}

class Simulation {
  readonly #lab: Lab
  readonly #broker: SimBroker
  readonly #callers: Process[] = []
  readonly #workers: Process[] = []
  #born = 0
  #open = 0

  constructor(plan: Scenario, sabotage: Sabotage, journal: Journal) {
    const world = new World()
    journal.time = () => world.time
    const random = new Random(plan.seed ^ 0x5bd1e995)
    this.#lab = { world, random, scenario: plan, journal, sabotage }
    this.#broker = new SimBroker(this.#lab)
  }

  async run(): Promise<History> {
    const { world, journal } = this.#lab
    const { plans, accidents, callers, workers, brokerStartsAt, isLong, dateSteps, deadMembers } =
      this.#lab.scenario
    world.after(brokerStartsAt, () => this.#broker.start())
    for (let index = 0; index < workers; index++) this.#startWorker()
    for (let index = 0; index < callers; index++) {
      this.#callers.push(startCaller(this.#broker, `caller${index}`))
    }
    for (let index = 0; index < deadMembers; index++) addDeadMember(this.#broker, `dead${index}`)
    for (const plan of plans) this.#begin(plan)
    for (const accident of accidents) world.after(accident.at, () => this.#happen(accident))
    for (const { at, who, whom, by } of dateSteps) {
      world.after(at, () => {
        const process = (who === "caller" ? this.#callers : this.#workers)[whom]
        process?.clock.stepDate(by)
        journal.say(`! date of ${process?.name} by ${by}`)
      })
    }
    await this.#runOut()
    const left = this.#leftovers("over")
    if (isLong) {
      await world.runTo(world.time + FORGOTTEN)
      left.push(...this.#leftovers("forgotten"))
    }
    const closedAt = world.time
    const budgets = this.#budgets()
    for (const process of this.#living) left.push(...waste(process, this.#lab.scenario))
    for (const process of this.#living) await stop(process)
    await world.runTo(world.time + 1)
    left.push(...this.#leftovers("closed"))
    return { scenario: this.#lab.scenario, journal, closedAt, budgets, leftovers: left }
  }

  get #living(): Process[] {
    return [...this.#callers, ...this.#workers].filter(({ clock }) => !clock.isDead)
  }

  /** Until every plan has its end and no accident is left. */
  async #runOut(): Promise<void> {
    const { world, scenario: plan } = this.#lab
    const last = [
      ...plan.plans.map(({ startAt }) => startAt),
      ...plan.accidents.map(({ at }) => at),
    ]
    await world.runTo(Math.max(...last) + 1)
    const isOver = (): boolean =>
      this.#open === 0 && this.#lab.journal.troubles.every(({ to }) => to < world.time)
    while (!isOver() && world.time < LATEST) await world.runTo(world.time + 250)
    await world.runTo(world.time + 1500)
  }

  #startWorker(): void {
    this.#workers.push(startWorker(this.#broker, this.#born++))
  }

  #begin(plan: Plan): void {
    const { world, journal } = this.#lab
    const process = this.#callers[plan.caller] as Process
    this.#open++
    world.after(plan.startAt, () => {
      if (process.clock.isDead) this.#open--
      else process.clock.reach(() => void play(plan, process, this.#lab).then(ended))
    })
    const ended = (): void => {
      const outcome = journal.outcomes.get(plan.key)
      if (outcome === undefined || process.clock.isDead) return
      this.#open--
      const { error, result, items } = outcome
      const how = isCallError(error) ? `${error.code} ${error.mayHaveExecuted}` : String(result)
      journal.say(`${process.name} receives ${plan.key}: ${how} ${items.length}`)
    }
  }

  #happen(accident: Accident): void {
    const { what, whom, replacedAfter } = accident
    const { world } = this.#lab
    if (what === "broker outage" || what === "broker stall") {
      this.#harmBroker(what, accident.lasts)
      return
    }
    const process = (what.endsWith("caller") ? this.#callers : this.#workers)[whom]
    if (process === undefined || process.clock.isDead || process.isClosed) return
    if (process.clock.isFrozen || process.bus.isCut || process.isLeaving) return
    if (replacedAfter !== undefined) world.after(replacedAfter, () => this.#startWorker())
    this.#harm(process, accident)
  }

  #harmBroker(what: "broker outage" | "broker stall", lasts: number): void {
    const { world } = this.#lab
    const broker = this.#broker
    if (!broker.isUp || broker.stalledUntil > world.time) return
    const trouble = this.#trouble(what === "broker outage" ? "outage" : "stall", "broker")
    trouble.to = world.time + lasts
    if (what === "broker stall") broker.stall(trouble.to)
    else {
      broker.stop()
      world.after(lasts, () => broker.start())
    }
  }

  #harm(process: Process, { what, lasts }: Accident): void {
    const { world, random } = this.#lab
    const { clock, bus, name } = process
    const [harm] = what.split(" ")
    const back = (run: () => void, trouble: Trouble): void => {
      trouble.to = world.time + lasts
      world.after(lasts, run)
    }
    if (harm === "restart") {
      back(() => this.#restart(process), this.#kill(process, false))
    } else if (harm === "freeze") {
      clock.freeze()
      back(() => clock.thaw(random), this.#trouble("freeze", name))
    } else if (harm === "cut") {
      bus.isCut = true
      bus.breakOff()
      const heal = (): void => {
        bus.isCut = false
        bus.seekBroker()
      }
      back(heal, this.#trouble("cut", name))
    } else if (harm === "deafen" || harm === "mute") {
      const flag = harm === "mute" ? "isMute" : "isDeaf"
      bus[flag] = true
      back(() => (bus[flag] = false), this.#trouble(harm, name))
    } else if (harm === "leave") {
      process.isLeaving = true
      world.after(lasts, () => void this.#leave(process))
    } else if (harm === "close") {
      this.#trouble("close", name)
      void stop(process)
    } else this.#kill(process, harm === "vanish")
  }

  /** Starts a process again in the place and at the address of one that was killed. */
  #restart(process: Process): void {
    const index = this.#workers.indexOf(process)
    const heir = startWorker(this.#broker, index)
    heir.bus.inherit(process.bus)
    this.#workers[index] = heir
  }

  async #leave(process: Process): Promise<void> {
    if (process.clock.isDead) return
    this.#trouble("leave", process.name)
    await process.server?.drain({ grace: 30_000 })
    if (!process.clock.isDead) await stop(process)
  }

  #kill(process: Process, isSilent: boolean): Trouble {
    const { world, journal, scenario: plan } = this.#lab
    const { clock, bus, name } = process
    const trouble = this.#trouble("kill", name)
    clock.isDead = true
    // The broker sees a process end; it takes its time where a whole machine does.
    if (!isSilent) bus.breakOff()
    const index = this.#callers.indexOf(process)
    for (const { caller, key } of plan.plans) {
      const outcome = journal.outcomes.get(key)
      if (caller !== index || outcome?.ends !== 0) continue
      outcome.callerDiedAt = world.time
      this.#open--
    }
    return trouble
  }

  #trouble(what: Trouble["what"], whom: string): Trouble {
    const { world, journal } = this.#lab
    const trouble: Trouble = { what, whom, from: world.time, to: world.time }
    journal.troubles.push(trouble)
    journal.say(`! ${what} ${whom}`)
    return trouble
  }

  #budgets(): Budget[] {
    return this.#callers.map(({ transport }, caller) => {
      const { repeats, retryBudget } = transport.stats().calling
      return { caller, repeats, left: retryBudget }
    })
  }

  #leftovers(when: "over" | "closed" | "forgotten"): string[] {
    // What a worker calls in turn may go on until it hears that nobody wants it.
    const those = when === "over" ? this.#callers : this.#living
    return those
      .filter(({ clock, isClosed }) => !clock.isDead && (when === "closed" || !isClosed))
      .flatMap((process) => leftovers(process, when))
  }
}
