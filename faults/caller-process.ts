// Callers of the fault lab, in a process of their own. Its one argument is its settings, as JSON.
import { LabCaller } from "./caller.ts"
import type { CallOrder, RateOrder } from "./caller.ts"
import type { StreamOrder } from "./consume.ts"
import { createTransport } from "./engines.ts"
import type { BusAddress } from "./engines.ts"
import type { Told } from "./told.ts"

/** What a process of callers is told when it is started. */
export interface CallersSettings {
  readonly name: string
  readonly bus: BusAddress
  /** Callers, each with a connection of its own. */
  readonly callers: number
}

/** What it is asked to do. It says `settled` when all of it is over. */
export type CallersOrder =
  | { readonly type: "burst"; readonly count: number; readonly order: CallOrder }
  | { readonly type: "rate"; readonly order: RateOrder }
  | { readonly type: "stream"; readonly order: StreamOrder }

const settings = JSON.parse(process.argv[2] ?? "{}") as CallersSettings
const callers = Array.from(
  { length: settings.callers },
  (_, at) => new LabCaller(`${settings.name}.${at}`, createTransport(settings.bus)),
)
const connections: number[] = []
for (const { transport } of callers) {
  transport.onHealth((reason) => {
    if (reason === undefined) connections.push(Date.now())
  })
}

/** Tells the lab, as long as there is one. */
function tell(message: { readonly type: string; readonly [field: string]: unknown }): void {
  if (process.connected) process.send?.(message)
}

async function obey(caller: LabCaller, order: CallersOrder): Promise<void> {
  switch (order.type) {
    case "burst":
      caller.burst(order.count, order.order)
      break
    case "rate":
      await caller.rate(order.order)
      break
    case "stream":
      await caller.stream(order.order)
      break
  }
  await caller.settled()
}

function toldByAll(): Told {
  return {
    calls: callers.flatMap(({ told }) => told.calls),
    streams: callers.flatMap(({ told }) => told.streams),
  }
}

process.once("disconnect", () => process.exit(3))
process.on("message", (message: CallersOrder | { readonly type: "report" }) => {
  if (message.type === "report") {
    const stats = callers.map(({ transport }) => transport.stats().calling)
    tell({ type: "report", told: toldByAll(), connections, stats })
    return
  }
  void Promise.all(callers.map((caller) => obey(caller, message))).then(() =>
    tell({ type: "settled" }),
  )
})

await Promise.all(callers.map(({ transport }) => transport.whenConnected()))
tell({ type: "ready" })
