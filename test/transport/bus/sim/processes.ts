import { PendingRequestMap, serveCalls } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { CallServer, OperationRegistry } from "../../../../src/index.ts"
import type { BusOptions } from "../../../../src/transport/bus/options.ts"
import { createBusTransport } from "../../../../src/transport/bus/transport.ts"
import type { BusTransport } from "../../../../src/transport/bus/transport.ts"
import type { Transport } from "../../../../src/protocol/transport.ts"
import type { SimBroker } from "./broker.ts"
import { SimBus } from "./bus.ts"
import { simRegistry } from "./operations.ts"
import { CALL_TIMEOUT } from "./plan.ts"
import type { Scenario } from "./plan.ts"
import { ProcessClock } from "./process-clock.ts"

/** Messages that take longer than these milliseconds may be taken for lost. */
const QUICK = 50

/** What is in every process: a clock, a way to the broker and the guard on it. */
export interface Process {
  readonly name: string
  readonly clock: ProcessClock
  readonly bus: SimBus
  readonly transport: BusTransport
  readonly map: PendingRequestMap
  readonly server: CallServer | undefined
  readonly registry: OperationRegistry | undefined
  isClosed: boolean
  isLeaving: boolean
}

/** A process that only calls. */
export function startCaller(broker: SimBroker, name: string): Process {
  return start(broker, name, undefined)
}

/** A process that serves; not each of them all there is. */
export function startWorker(broker: SimBroker, index: number): Process {
  return start(broker, `worker${index}`, index)
}

function start(broker: SimBroker, name: string, index: number | undefined): Process {
  const { world, random, scenario, sabotage } = broker.lab
  const { skew, retryBudget, maxKeptBytes, limits } = scenario
  const clock = new ProcessClock(world, random.between(-skew, skew))
  const bus = new SimBus(broker, clock, name, "anyone")
  const logger = silentLogger
  const guard = { retryBudget, maxKeptBytes, ...sabotage.guard }
  const options = { clock, logger, guard, ...identification(clock, scenario) }
  const transport = createBusTransport(bus, options)
  const delay = (run: () => void, milliseconds: number): void =>
    void world.after(milliseconds, () => clock.reach(run))
  const link: Transport = sabotage.wrap?.(transport, delay) ?? transport
  const map = new PendingRequestMap(link, { clock, logger, timeout: CALL_TIMEOUT })
  const common = { name, clock, bus, transport, map, isClosed: false, isLeaving: false }
  if (index === undefined) return { ...common, server: undefined, registry: undefined }
  const serves = { hasRare: index === 0 || index > 2, isCareful: index % 2 === 1 }
  const registry = simRegistry({ lab: broker.lab, clock, name, map, ...serves })
  const server = serveCalls(registry, { callMap: map, ...limits })
  return { ...common, server, registry }
}

/** A member of all queues whose process is no more, which the broker has not noticed. */
export function addDeadMember(broker: SimBroker, name: string): void {
  const clock = new ProcessClock(broker.lab.world, 0)
  const bus = new SimBus(broker, clock, name, "anyone")
  clock.isDead = true
  bus.isHeardOf = true
  bus.known = new Set(KINDS_WITH_QUEUES.map((kind) => `sim.${kind}`))
}

const KINDS_WITH_QUEUES = [
  "query",
  "upsert",
  "change",
  "mixed",
  "relay",
  "stubborn",
  "fail",
  "stream",
]

/** How it is found out who calls: at once, or after some time. */
function identification(
  clock: ProcessClock,
  { identifyMs, signMs }: Scenario,
): Partial<BusOptions> {
  const slowly = async <TValue>(milliseconds: number, value: TValue): Promise<TValue> => {
    await clock.sleep(milliseconds)
    return value
  }
  const ann = { id: "ann", scopes: [] }
  return {
    ...(identifyMs !== undefined && { identify: () => slowly(identifyMs, ann) }),
    ...(signMs !== undefined && {
      signer: { sign: (_identity, { requestId }) => slowly(signMs, `for ${requestId}`) },
      verifier: { verify: () => slowly(signMs, ann) },
    }),
  }
}

/** Ends a process in good order. */
export async function stop(process: Process): Promise<void> {
  const { server, map, registry } = process
  process.isClosed = true
  await server?.close()
  await map.close()
  await registry?.close()
}

/** What a process still has when it should have nothing, in words. */
export function leftovers(process: Process, when: "over" | "closed" | "forgotten"): string[] {
  const { name, clock, map, server, transport } = process
  const { calling, serving } = transport.stats()
  const { waiting, running, kept, keptBytes } = serving
  const { all, holding } = clock.timers
  const counts = {
    "pending requests": map.getPendingCount(),
    "requests in the guard": calling.pending,
    "held requests": calling.held,
    ...(when !== "over" && { "served requests": server?.inFlight ?? 0, waiting, running }),
    ...(when !== "over" && { "kept results": kept, "kept bytes": keptBytes }),
    ...(when === "forgotten" && { "timers that hold it": holding }),
    ...(when === "closed" && { timers: all }),
  }
  return Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : [`when all was ${when}: ${name} has ${count} ${what}`],
  )
}

/** What a process did for nothing, in words: where all is well it has nothing to say twice. */
export function waste(
  { name, transport }: Process,
  { mood, faults, deadMembers }: Scenario,
): string[] {
  const { calling, serving } = transport.stats()
  const { repeats, workersLost, stalls } = calling
  const { resent, callersLost } = serving
  const isQuiet = mood === "calm" && deadMembers === 0 && faults.latency[1] < QUICK
  const counts = {
    "answers that make no sense": calling.dropped,
    ...(isQuiet && { repeats, "lost workers": workersLost, standstills: stalls }),
    ...(isQuiet && { "repeated answers": resent, "lost callers": callersLost }),
  }
  return Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : [`${name} counts ${count} ${what}`],
  )
}
