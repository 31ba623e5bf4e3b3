import type { AnyRegistry } from "../../src/engine/registry.ts"
import { Random } from "../protocol/sim/random.ts"
import { Journal } from "./journal.ts"
import type { Node } from "./journal.ts"
import type { Intent, Step, WorldPlan } from "./plan.ts"
import { treeOf } from "./tree.ts"
import { Registries } from "./world.ts"
import type { Place } from "./world.ts"

/** What happened, and what was left when all was over. */
export interface History {
  readonly plan: WorldPlan
  readonly journal: Journal
  /** What still waits, works or ticks, in words. */
  readonly leftovers: readonly string[]
}

/** Later than anything that could still happen by itself. */
const QUIET = 100_000
/** Turns of the event loop that a request over HTTP takes within this process, and more. */
const TURNS = 3

/** A way into a registry for calls from outside. */
export interface WayIn {
  readonly call: AnyRegistry["execute"]
  readonly close: () => Promise<void>
}

/** Opens a way in. What it does takes some turns of the event loop. */
export type OpenWay = (place: Place) => Promise<WayIn>

/** Lives through a history in virtual time. One plan is one history. */
export async function play(plan: WorldPlan, openWay?: OpenWay): Promise<History> {
  const random = new Random(plan.seed)
  const { random: original } = Math
  // Retries wait a random time.
  Math.random = () => random.next()
  try {
    return await new Play(plan, random, openWay).run()
  } finally {
    Math.random = original
  }
}

class Play {
  readonly #plan: WorldPlan
  readonly #journal = new Journal()
  readonly #nodes = new Map<string, Node>()
  readonly #registries: Registries
  readonly #intents = new Map<string | undefined, number>()
  readonly #openWay: OpenWay | undefined
  readonly #ways: WayIn[] = []

  constructor(plan: WorldPlan, random: Random, openWay: OpenWay | undefined) {
    this.#plan = plan
    this.#openWay = openWay
    const turns = openWay === undefined ? 1 : TURNS
    this.#registries = new Registries(plan, random, this.#journal, this.#nodes, turns)
  }

  async run(): Promise<History> {
    const { world, places } = this.#registries
    await this.#registries.start()
    for (const place of places) this.#ways.push(await this.#open(place))
    const start = world.time
    this.#journal.now = () => world.time - start
    for (const step of this.#plan.steps) {
      await world.runTo(world.time + step.after)
      this.#take(step)
    }
    await world.runTo(world.time + QUIET)
    for (const way of this.#ways) void way.close()
    // Each registry follows the next one with a stream, for as long as it is attached.
    for (const { detach } of places) void detach()
    await world.runTo(world.time + QUIET)
    const leftovers = this.#leftovers()
    void this.#registries.close()
    await world.runTo(world.time + QUIET)
    for (const [at, { clock }] of places.entries()) {
      if (clock.size > 0) leftovers.push(`registry ${at} is closed and has ${clock.size} timers`)
    }
    return { plan: this.#plan, journal: this.#journal, leftovers }
  }

  #take(step: Step): void {
    const { links, places, world } = this.#registries
    const write = (what: string): void => this.#journal.write(what)
    switch (step.do) {
      case "call":
        this.#call(step.intent)
        return
      case "cut": {
        const link = links[step.link]
        if (link?.isUp !== true) return
        write(`link ${step.link} breaks`)
        link.cut()
        world.after(step.lasts + 60, () => {
          write(`link ${step.link} is back`)
          link.restore()
        })
        return
      }
      case "replace": {
        const place = places[step.at]
        if (place === undefined) return
        write(`r${step.at}.${step.kind} is replaced`)
        const registry: AnyRegistry = place.registry
        registry.registerAll([place.operations[step.kind]], { replace: true })
        return
      }
      case "remove": {
        const place = places[step.at]
        const id = `r${step.at}.${step.kind}`
        if (place?.registry.unregister(id) !== true) return
        write(`${id} is removed`)
        place.clock.setTimeout(() => {
          write(`${id} is registered again`)
          const registry: AnyRegistry = place.registry
          registry.registerAll([place.operations[step.kind]], { replace: true })
        }, step.lasts)
        return
      }
      case "reload":
        write(`the policies of registry ${step.at} are set again`)
        this.#registries.reload(step.at, step.attempts)
    }
  }

  #call(intent: Intent): void {
    const number = (this.#intents.get(intent.who) ?? 0) + 1
    this.#intents.set(intent.who, number)
    const name = `${intent.who ?? "anybody"}-${number}`
    const node = treeOf(this.#plan, intent, name, number)
    this.#add(node)
    const { host, clock } = this.#registries.places[node.entry] as Place
    const { call } = this.#ways[node.entry] as WayIn
    // The caller leaves once, and may come back with its key.
    const leaving = new AbortController()
    if (intent.abortAfter !== undefined) clock.setTimeout(() => leaving.abort(), intent.abortAfter)
    const calling = host.call(node, undefined, ({ id }) =>
      call(
        node.operationId,
        { node: node.id },
        {
          timeout: intent.patience,
          metadata: { attempt: id },
          ...(!leaving.signal.aborted && { signal: leaving.signal }),
          ...(intent.who !== undefined && { identity: { id: intent.who, scopes: [] } }),
          ...(node.key !== undefined && { idempotencyKey: node.key }),
          ...(intent.noRetry === true && { policy: { retry: false, cache: "skip" } }),
        },
      ),
    )
    // The journal has its outcome.
    calling.catch(() => undefined)
  }

  async #open(place: Place): Promise<WayIn> {
    const registry: AnyRegistry = place.registry
    if (this.#openWay !== undefined) return await this.#openWay(place)
    const call: WayIn["call"] = (id, ...rest) => registry.execute(id, ...rest)
    return { call, close: () => Promise.resolve() }
  }

  #add(node: Node): void {
    this.#nodes.set(node.id, node)
    for (const child of node.children.flat()) this.#add(child)
  }

  #leftovers(): string[] {
    return this.#registries.places.flatMap(({ registry, maps, servers, clock }, at) => {
      const { operations, breakers } = registry.policyState
      const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
      const left = {
        "calls over its links": sum(maps.map((map) => map.getPendingCount())),
        "served requests": sum(servers.map(({ inFlight }) => inFlight)),
        timers: clock.size,
        "places taken": sum(operations.map(({ concurrency }) => concurrency?.running ?? 0)),
        "calls in queues": sum(operations.map(({ concurrency }) => concurrency?.waiting ?? 0)),
        "probes of breakers": sum(breakers.map(({ probing }) => probing)),
      }
      return Object.entries(left).flatMap(([what, count]) =>
        count === 0 ? [] : [`in the end registry ${at} has ${count} ${what}`],
      )
    })
  }
}
