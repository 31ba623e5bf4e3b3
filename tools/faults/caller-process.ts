// Callers of the fault lab, in a separate process. Its one argument is its settings, as JSON.
import { LabCaller } from "./caller.ts"
import type { CallOrder, RateOrder } from "./caller.ts"
import type { StreamOrder } from "./consume.ts"
import { createTransport } from "./engines.ts"
import type { BusAddress } from "./engines.ts"
import type { CallerRecords } from "./records.ts"

/** The settings of a caller process. */
export interface CallersSettings {
  readonly name: string
  readonly bus: BusAddress
  /** The number of callers; each has its own connection. */
  readonly callers: number
}

/** A command for a caller process, which sends `settled` when all calls have ended. */
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

/** Sends a message to the lab, if it still runs. */
function notifyLab(message: { readonly type: string; readonly [field: string]: unknown }): void {
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

function recordsOfAll(): CallerRecords {
  return {
    calls: callers.flatMap(({ records }) => records.calls),
    streams: callers.flatMap(({ records }) => records.streams),
  }
}

process.once("disconnect", () => process.exit(3))
process.on("message", (message: CallersOrder | { readonly type: "report" }) => {
  if (message.type === "report") {
    const stats = callers.map(({ transport }) => transport.stats().calling)
    notifyLab({ type: "report", records: recordsOfAll(), connections, stats })
    return
  }
  void Promise.all(callers.map((caller) => obey(caller, message))).then(() =>
    notifyLab({ type: "settled" }),
  )
})

await Promise.all(callers.map(({ transport }) => transport.whenConnected()))
notifyLab({ type: "ready" })
