import { provideNats, provideRedis, startNats, startRedis } from "../../test/support/brokers.ts"
import { callsOf, measureLatencies, startPair } from "./bus.ts"
import type { BusPair } from "./bus.ts"
import type { BusResults } from "./bus-report.ts"
import { measureBusStream } from "./bus-streams.ts"
import type { BusStream } from "./bus-streams.ts"
import type { BusName } from "./contenders/bus.ts"
import { measure } from "./measure.ts"
import type { Effort, Measurement } from "./measure.ts"

/** The first is what the others are compared with. */
const CALLS: readonly BusName[] = [
  "tcp",
  ...(["request", "table", "granted", "idempotent", "moleculer"] as const),
  ...(["redis-granted", "redis-idempotent", "redis-moleculer"] as const),
  ...(["nats-batched", "redis-batched", "nats-hand", "redis-hand"] as const),
]
/** Single calls, and what each is compared with. */
const SINGLES: readonly (readonly [name: BusName, against: BusName])[] = [
  ["nats-hand", "nats-hand"],
  ["idempotent", "nats-hand"],
  ["granted", "nats-hand"],
  ["redis-hand", "redis-hand"],
  ["redis-idempotent", "redis-hand"],
  ["redis-granted", "redis-hand"],
]
/** Pairs of a peer and ours, which must be faster: they run in turn, without others in between. */
const DUELS: readonly (readonly [peer: BusName, ours: BusName])[] = [
  ["moleculer", "granted"],
  ["moleculer", "idempotent"],
  ["redis-moleculer", "redis-granted"],
]
/** CPU milliseconds of both ends of a pair before anything counts. */
const WARM_UP = 4000

/** Measures calls and streams over brokers, which it starts itself. */
export async function measureBus(
  effort: Effort,
  { isQuick, log }: { readonly isQuick: boolean; readonly log: (text: string) => void },
): Promise<BusResults> {
  if (!(await provideNats()) || !(await provideRedis())) {
    throw new Error(
      "--bus needs nats-server and redis-server: apt-get install nats-server redis-server",
    )
  }
  await using nats = await startNats()
  await using redis = await startRedis()
  const brokers = { nats, redis }
  // A batch has to be long next to messages between processes. Both ends of a pair share what is spent warming up, and
  // need tens of thousands of calls until the engine has compiled what they run.
  const warmUp = Math.max(WARM_UP, effort.warmUp * 6)
  const longer = { ...effort, batch: effort.batch * 10, warmUp }
  log("Measuring calls over brokers")
  const pairs: BusPair[] = []
  try {
    for (const name of CALLS) pairs.push(await startPair(name, brokers))
    const pairOf = (name: BusName): BusPair => pairs[CALLS.indexOf(name)] as BusPair
    const busCalls = await measure(
      pairs.map((pair) => callsOf(pair, 64)),
      longer,
    )
    log("Measuring calls over brokers, one at a time")
    const busSingles = await measure(
      pairs.map((pair) => callsOf(pair, 1)),
      longer,
    )
    const busLatencies = await measureLatencies(
      SINGLES.map(([name, against]) => ({ pair: pairOf(name), against })),
      { rounds: effort.rounds, count: 500 },
    )
    log("Measuring calls over brokers, in pairs")
    const busDuels: Measurement[] = []
    for (const duel of DUELS) {
      const two = duel.map((name) => callsOf(pairOf(name), 64))
      const rows = await measure(two, { ...longer, rounds: 3 * effort.rounds, warmUp: 400 })
      busDuels.push(...rows.slice(1))
    }
    for (const pair of pairs.splice(0)) pair.end()
    log("Reading long streams over brokers")
    const busStreams: BusStream[] = []
    const items = isQuick ? 10_000 : 100_000
    for (const name of ["granted", "redis-granted"] as const) {
      busStreams.push(await measureBusStream(name, brokers, items))
    }
    return { busCalls, busSingles, busLatencies, busDuels, busStreams }
  } finally {
    for (const pair of pairs) pair.end()
  }
}
