import { isCallError, PendingRequestMap, serveCalls } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { CallServer, OperationRegistry, PendingResponse } from "../../../src/index.ts"
import { NodeClock, World } from "./clock.ts"
import { Journal } from "./journal.ts"
import type { Outcome } from "./journal.ts"
import { SimLink } from "./network.ts"
import type { Network } from "./network.ts"
import { simRegistry } from "./operations.ts"
import type { Work } from "./operations.ts"
import { CALL_TIMEOUT, scenario } from "./plan.ts"
import type { Accident, Plan, Scenario } from "./plan.ts"
import { Random } from "./random.ts"
import { NO_SABOTAGE } from "./sabotage.ts"
import type { Sabotage } from "./sabotage.ts"

/** What happened, and what was left when all was over. */
export interface History {
  readonly scenario: Scenario
  readonly journal: Journal
  /** What still waits, works or ticks, in words. */
  readonly leftovers: readonly string[]
}

// Later than anything that could still happen by itself.
const END = 300_000

/** Lives through the history of a seed. */
export async function live(seed: number, sabotage: Sabotage = NO_SABOTAGE): Promise<History> {
  const simulation = new Simulation(scenario(seed), sabotage)
  return await simulation.run()
}

/** A process: its clock, what it called, what it serves. */
interface Node {
  readonly clock: NodeClock
  readonly name: string
  readonly maps: PendingRequestMap[]
  readonly servers: CallServer[]
  registry: OperationRegistry | undefined
}

class Simulation {
  readonly #scenario: Scenario
  readonly #world = new World()
  readonly #journal = new Journal()
  readonly #random: Random
  /** One from each caller to the first server, and one from that to the second. */
  readonly #links: SimLink[]
  readonly #nodes: Node[] = []
  #callers: Node[] = []
  #first: Node | undefined
  #second: Node | undefined

  constructor(plan: Scenario, sabotage: Sabotage) {
    this.#scenario = plan
    this.#random = new Random(plan.seed ^ 0x5bd1e995)
    const network: Network = {
      world: this.#world,
      random: this.#random,
      faults: plan.faults,
      journal: this.#journal,
      sabotage,
    }
    this.#links = Array.from({ length: plan.callers + 1 }, () => new SimLink(network))
  }

  async run(): Promise<History> {
    const { plans, accidents, callers } = this.#scenario
    this.#startSecond()
    this.#startFirst()
    this.#callers = Array.from({ length: callers }, (_item, index) => this.#startCaller(index))
    for (const plan of plans) this.#begin(plan)
    for (const accident of accidents) {
      this.#world.after(accident.at, () => this.#happen(accident))
    }
    await this.#world.runTo(END)
    const leftovers = this.#leftovers("was over")
    for (const node of this.#nodes) await this.#close(node)
    await this.#world.runTo(END + 1)
    return {
      scenario: this.#scenario,
      journal: this.#journal,
      leftovers: [...leftovers, ...this.#leftovers("was closed")],
    }
  }

  #node(name: string): Node {
    const { skew } = this.#scenario
    const clock = new NodeClock(this.#world, this.#random.between(-skew, skew))
    const node: Node = { clock, name, maps: [], servers: [], registry: undefined }
    this.#nodes.push(node)
    return node
  }

  #map(node: Node, link: number, side: 0 | 1): PendingRequestMap {
    const { clock } = node
    const end = (this.#links[link] as SimLink).end(side, clock)
    const map = new PendingRequestMap(end, { clock, logger: silentLogger, timeout: CALL_TIMEOUT })
    node.maps.push(map)
    return map
  }

  #startCaller(index: number): Node {
    const node = this.#node(`caller ${index}`)
    this.#map(node, index, 0)
    return node
  }

  #startFirst(): void {
    const { callers, maxInFlight } = this.#scenario
    const node = this.#node("first server")
    const next = this.#map(node, callers, 0)
    const registry = this.#serve(node, next)
    for (let link = 0; link < callers; link++) {
      const callMap = this.#map(node, link, 1)
      node.servers.push(serveCalls(registry, { callMap, maxInFlight }))
    }
    this.#first = node
  }

  #startSecond(): void {
    const node = this.#node("second server")
    const registry = this.#serve(node, undefined)
    node.servers.push(serveCalls(registry, { callMap: this.#map(node, this.#scenario.callers, 1) }))
    this.#second = node
  }

  #serve(node: Node, next: PendingRequestMap | undefined): OperationRegistry {
    const { clock } = node
    node.registry = simRegistry({ world: this.#world, clock, journal: this.#journal, next })
    return node.registry
  }

  #happen({ what, link, lasts }: Accident): void {
    const { callers } = this.#scenario
    const back = (run: () => void): void => void this.#world.after(lasts + 60, run)
    if (what === "crash server") {
      const isSecond = link === callers
      const links = isSecond ? [callers] : this.#links.map((_link, index) => index)
      if (!this.#cut(links)) return
      this.#kill(isSecond ? this.#second : this.#first)
      back(() => {
        if (isSecond) this.#startSecond()
        else this.#startFirst()
        this.#restore(links)
      })
    } else if (what === "crash caller" && link < callers) {
      if (this.#cut([link])) this.#kill(this.#callers[link])
    } else if (this.#cut([link])) back(() => this.#restore([link]))
  }

  /** One accident at a time for a link. */
  #cut(links: readonly number[]): boolean {
    if (links.some((link) => this.#links[link]?.isUp === false)) return false
    for (const link of links) {
      this.#links[link]?.cut()
      this.#journal.cuts.push({ link, from: this.#world.time, to: END })
    }
    return true
  }

  #restore(links: readonly number[]): void {
    for (const link of links) {
      this.#links[link]?.restore()
      for (const cut of this.#journal.cuts)
        if (cut.link === link) cut.to = Math.min(cut.to, this.#world.time)
    }
  }

  #kill(node: Node | undefined): void {
    if (node === undefined) return
    node.clock.isDead = true
    const index = this.#callers.indexOf(node)
    for (const { caller, key } of this.#scenario.plans) {
      const outcome = this.#journal.outcomes.get(key)
      if (caller === index && outcome?.ends === 0) outcome.callerDiedAt = this.#world.time
    }
  }

  #begin(plan: Plan): void {
    const node = this.#callers[plan.caller] as Node
    node.clock.setTimeout(() => void this.#play(plan, node), plan.startAt)
  }

  async #play(plan: Plan, node: Node): Promise<void> {
    const outcome: Outcome = {
      ends: 0,
      endedAt: -1,
      startedAt: this.#world.time,
      result: undefined,
      data: undefined,
      items: [],
      error: undefined,
      callerDiedAt: undefined,
      requestId: "",
    }
    this.#journal.outcomes.set(plan.key, outcome)
    try {
      outcome.result = await this.#ask(plan, node, outcome)
    } catch (error) {
      outcome.result = "error"
      outcome.error = error
    }
    if (node.clock.isDead) return
    outcome.ends++
    outcome.endedAt = this.#world.time
    const how = isCallError(outcome.error) ? outcome.error.code : outcome.result
    this.#journal.lines.push(`${this.#world.time} end ${plan.key} ${how} ${outcome.items.length}`)
  }

  async #ask(plan: Plan, { clock, maps }: Node, outcome: Outcome): Promise<"ok" | "left"> {
    const [map] = maps as [PendingRequestMap]
    const { kind, key, work, depth, items, failAt, window, abortAfter, abortsWith } = plan
    const input: Work = { key, work, depth, items, failAt }
    const controller = new AbortController()
    const options = {
      deadline: plan.deadline === undefined ? undefined : clock.wallTime() + plan.deadline,
      signal: abortsWith === "signal" ? controller.signal : undefined,
    }
    const abortBy = (request: { abort(): void }): unknown =>
      abortAfter === undefined
        ? undefined
        : clock.setTimeout(() => {
            if (abortsWith === "signal") controller.abort()
            else request.abort()
          }, abortAfter)
    if (kind !== "stream") {
      const call: PendingResponse = map.call(`sim.${kind}`, input, options)
      outcome.requestId = call.requestId
      const timer = abortBy(call)
      outcome.data = await call.finally(() => clock.clearTimeout(timer)).then(({ data }) => data)
      return "ok"
    }
    const stream = map.subscribe("sim.stream", input, {
      ...options,
      window,
      idleTimeout: plan.idleTimeout,
    })
    outcome.requestId = stream.requestId
    const timer = abortBy(stream)
    try {
      for await (const { data } of stream) {
        outcome.items.push((data as { at: number }).at)
        if (outcome.items.length === plan.leaveAfter) return "left"
        if (plan.pace > 0) await clock.sleep(plan.pace)
      }
    } finally {
      clock.clearTimeout(timer)
    }
    return "ok"
  }

  async #close(node: Node): Promise<void> {
    if (node.clock.isDead) return
    for (const server of node.servers) await server.close()
    for (const map of node.maps) await map.close()
    await node.registry?.close()
  }

  #leftovers(when: string): string[] {
    return this.#nodes
      .filter(({ clock }) => !clock.isDead)
      .flatMap(({ name, maps, servers, clock }) => {
        const pending = maps.reduce((sum, map) => sum + map.getPendingCount(), 0)
        const served = servers.reduce((sum, server) => sum + server.inFlight, 0)
        const all = { pending, served, timers: clock.size }
        return Object.entries(all).flatMap(([what, count]) =>
          count === 0 ? [] : [`after all ${when}: ${name} has ${count} ${what}`],
        )
      })
  }
}
