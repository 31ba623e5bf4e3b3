import { callsOf, measureLatencies, startPair } from "./bus.ts"
import type { BusPair } from "./bus.ts"
import type { BusName } from "./contenders/bus.ts"
import type { BetweenResults, ProtocolResults } from "./goals.ts"
import type { Library } from "./library.ts"
import { measure } from "./measure.ts"
import type { Effort } from "./measure.ts"
import { flatness } from "./memory.ts"
import { protocol } from "./protocol.ts"
import { sockets } from "./websocket.ts"

/** Measures the call protocol: in process, over WebSockets, and with streams that are long. */
export async function measureProtocol(
  library: Library,
  effort: Effort,
  { isQuick, log }: { readonly isQuick: boolean; readonly log: (text: string) => void },
): Promise<ProtocolResults> {
  log("Measuring the call protocol")
  const inProcess = protocol(library)
  const calls = await measure(inProcess.calls, effort)
  const inFlight = await measure(inProcess.inFlight, effort)
  log("Measuring WebSockets")
  const overSocket = await sockets(library)
  // A batch has to be long next to a turn of the event loop, and to the opening of a stream.
  const longer = { ...effort, batch: effort.batch * 4 }
  const socketCalls = await measure(overSocket.calls, longer)
  const socketStreams = await measure(overSocket.streams, longer)
  log("Reading long streams")
  const items = isQuick ? 100_000 : 1_000_000
  const lengths = [
    await flatness("in process", items, inProcess.stream),
    await flatness("over WebSocket", items, overSocket.stream),
  ]
  await inProcess.close()
  await overSocket.close()
  const between = await measureBetween(effort, log)
  return {
    protocol: calls,
    inFlight,
    socketCalls,
    socketStreams,
    flatness: lengths,
    ...between,
  }
}

/** Calls over WebSocket with both ends in separate processes. */
async function measureBetween(
  effort: Effort,
  log: (text: string) => void,
): Promise<BetweenResults> {
  log("Measuring WebSockets between processes")
  const pairs = new Map<BusName, BusPair>()
  const pairOf = (name: BusName): BusPair => pairs.get(name) as BusPair
  try {
    for (const name of ["tcp", "ws-batched", "ws-hand", "ws"] as const)
      pairs.set(name, await startPair(name, {}))
    const longer = {
      ...effort,
      batch: effort.batch * 10,
      warmUp: Math.max(4000, effort.warmUp * 6),
    }
    return {
      betweenCalls: await measure(
        (["tcp", "ws-batched", "ws-hand", "ws"] as const).map((name) => callsOf(pairOf(name), 64)),
        longer,
      ),
      betweenLatencies: await measureLatencies(
        (["ws-hand", "ws"] as const).map((name) => ({ pair: pairOf(name), against: "ws-hand" })),
        { rounds: effort.rounds, count: 500 },
      ),
    }
  } finally {
    for (const pair of pairs.values()) pair.end()
  }
}
