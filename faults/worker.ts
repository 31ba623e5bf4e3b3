// A worker of the fault lab, in a process of its own. Its one argument is its settings, as JSON.
import { CallError, serveCalls } from "../src/index.ts"
import type { ServeLimits } from "../src/protocol/server/server.ts"
import { createTransport, loggerOf, throws } from "./engines.ts"
import type { BusAddress } from "./engines.ts"
import { JournalWriter } from "./journal.ts"
import { now } from "./now.ts"
import { labRegistry } from "./operations.ts"
import type { Sabotage } from "./operations.ts"
import { relayOperations } from "./relay.ts"

/** What a worker is told when it is started. */
export interface WorkerSettings {
  readonly name: string
  readonly bus: BusAddress
  /** The folder of the journals. */
  readonly folder: string
  readonly limits?: ServeLimits | undefined
  /** Milliseconds that calls have to end when the worker is told to. */
  readonly grace: number
  /** Milliseconds by which its clock is wrong. */
  readonly skew?: number | undefined
  readonly sabotage?: Sabotage | undefined
  /** The version of all that it serves; 1.0.0. */
  readonly version?: string | undefined
  /** The URL of an API that it offers, too. */
  readonly api?: string | undefined
}

const settings = JSON.parse(process.argv[2] ?? "{}") as WorkerSettings
let { skew = 0 } = settings
Date.now = () => now() + skew
const transport = createTransport(settings.bus)
const journal = new JournalWriter(settings.folder, settings.name)
const registry = labRegistry(journal, settings)
if (settings.api !== undefined) registry.registerAll(relayOperations(settings.api))
if (settings.bus.hasBadListeners === true) registry.onCall(throws)
const server = serveCalls({
  registry,
  transport,
  logger: loggerOf(settings.bus),
  ...settings.limits,
})

/** Tells the lab, as long as there is one. */
function tell(message: { readonly type: string; readonly [field: string]: unknown }): void {
  if (process.connected) process.send?.(message)
}

process.once("SIGTERM", () => {
  // The second one ends it at once, as by default.
  void server.drain({ grace: settings.grace }).then(() => process.exit(0))
})
// Whoever started it is gone, and with it every reason to be here.
process.once("disconnect", () => process.exit(3))
process.on("message", (message: { readonly type: string; readonly by?: number }) => {
  if (message.type === "step") {
    skew += message.by ?? 0
    tell({ type: "stepped" })
  }
  if (message.type === "stats") {
    tell({ type: "stats", stats: transport.stats(), inFlight: server.inFlight })
  }
})

tell({ type: "started" })
transport.whenConnected().then(
  () => tell({ type: "ready" }),
  (error: unknown) => {
    tell({ type: "failed", message: error instanceof CallError ? error.message : String(error) })
    process.exit(2)
  },
)
