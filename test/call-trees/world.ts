import { createRegistry, fromCall, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, CallServer, OperationRegistry, PolicyRule } from "../../src/index.ts"
import { compileRules } from "../../src/engine/policies.ts"
import { NodeClock, World } from "../protocol/sim/clock.ts"
import { Journal as Silent } from "../protocol/sim/journal.ts"
import { SimLink } from "../protocol/sim/network.ts"
import type { Network } from "../protocol/sim/network.ts"
import type { Random } from "../protocol/sim/random.ts"
import { NO_SABOTAGE } from "../protocol/sim/sabotage.ts"
import type { Sabotage } from "../protocol/sim/sabotage.ts"
import type { Journal, Node } from "./journal.ts"
import { goodClient, operationsOf } from "./operations.ts"
import type { Host } from "./operations.ts"
import { DEFAULT_TIMEOUT, KINDS } from "./plan.ts"
import type { Kind, WorldPlan } from "./plan.ts"

/** How long importing a registry may take. */
const SETUP = 1_000

/** A process with its registry. */
export interface Place {
  readonly host: Host
  readonly registry: OperationRegistry
  readonly clock: NodeClock
  readonly operations: Readonly<Record<Kind | "watch", AnyOperation>>
  readonly maps: PendingRequestMap[]
  readonly servers: CallServer[]
  /** Stops following the next registry. */
  detach: () => Promise<void>
}

/** Registries in virtual time, of which each imports the next one over a link that breaks. */
export class Registries {
  readonly world: World
  readonly places: Place[] = []
  readonly links: SimLink[] = []
  readonly #plan: WorldPlan
  readonly #journal: Journal
  readonly #nodes: ReadonlyMap<string, Node>
  #isUnreliable = false

  constructor(
    plan: WorldPlan,
    random: Random,
    journal: Journal,
    nodes: ReadonlyMap<string, Node>,
    turns: number,
  ) {
    this.world = new World(turns)
    this.#plan = plan
    this.#journal = journal
    this.#nodes = nodes
    const { loss, duplicates, slow, whileDown } = plan
    const registries = this
    const sabotage: Sabotage = {
      ...NO_SABOTAGE,
      // An answer that is lost: whoever waits for it waits until its deadline.
      alter: (event) =>
        event.type === "call.responded" &&
        event.seq === undefined &&
        registries.#isUnreliable &&
        random.chance(loss)
          ? []
          : [{ event, delay: 0 }],
    }
    const network: Network = {
      world: this.world,
      random,
      journal: new Unwritten(),
      sabotage,
      get faults() {
        const isOn = registries.#isUnreliable
        return {
          drop: 0,
          duplicate: isOn ? duplicates : 0,
          slow: isOn ? slow : 0,
          reorders: false,
          whileDown,
        }
      },
    }
    this.links = plan.registries.slice(1).map(() => new SimLink(network))
  }

  /** Starts the last registry first: the others import it. */
  async start(): Promise<void> {
    for (let at = this.#plan.registries.length - 1; at >= 0; at--) {
      this.places.unshift(await this.#place(at))
    }
    this.#isUnreliable = true
  }

  /** Sets the policies of a registry again, with one more rule: for something else, or about attempts only. */
  reload(at: number, attempts: number | undefined): void {
    const first: PolicyRule = {
      match: attempts === undefined ? "unrelated.*" : "*",
      retry: { attempts: attempts ?? 2, delay: 10 },
    }
    this.places[at]?.registry.setPolicies(compileRules([first, ...this.#rules(at)]))
  }

  async close(): Promise<void> {
    for (const { servers, maps, registry } of this.places) {
      for (const server of servers) await server.close()
      for (const map of maps) await map.close()
      await registry.close()
    }
  }

  async #place(at: number): Promise<Place> {
    const clock = new NodeClock(this.world, 0)
    const host: Host = {
      journal: this.#journal,
      clock,
      nodes: this.#nodes,
      call: goodClient(this.#journal, clock),
    }
    const operations = operationsOf(host, at)
    const registry = createRegistry(Object.values(operations), {
      clock,
      logger: silentLogger,
      timeout: DEFAULT_TIMEOUT,
      policies: this.#rules(at),
    }) as unknown as OperationRegistry
    // Their code is loaded now: a module takes real time.
    await Promise.all(KINDS.map((kind) => registry.describePolicies(`r${at}.${kind}`)))
    const place: Place = {
      ...{ host, registry, clock, operations, maps: [], servers: [] },
      detach: () => Promise.resolve(),
    }
    if (at > 0) {
      const callMap = this.#map(place, at - 1, 1)
      place.servers.push(serveCalls(registry, { callMap }))
    }
    if (at < this.links.length) {
      const map = this.#map(place, at, 0)
      const imported = fromCall(map, { registry, logger: silentLogger })
      await this.world.runTo(this.world.time + SETUP)
      const remote = await imported
      place.detach = () => remote.close()
    }
    return place
  }

  #map({ clock, maps }: Place, link: number, side: 0 | 1): PendingRequestMap {
    const end = (this.links[link] as SimLink).end(side, clock)
    const { isTrusted } = this.#plan
    const map = new PendingRequestMap(Object.assign(end, { isTrusted }), {
      clock,
      logger: silentLogger,
      timeout: DEFAULT_TIMEOUT,
    })
    maps.push(map)
    return map
  }

  #rules(at: number): PolicyRule[] {
    const own = this.#plan.registries[at] as WorldPlan["registries"][number]
    return KINDS.map((kind) => ({ match: `*.${kind}`, ...own[kind] }))
  }
}

/** Links write down nothing here. */
class Unwritten extends Silent {
  override sent(): void {}
  override delivered(): void {}
  override harm(): void {}
}
