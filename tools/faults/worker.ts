// A worker of the fault lab, in a separate process. Its one argument is its settings, as JSON.
import { Redis } from "ioredis"
import { CallError, serveCalls } from "../../src/index.ts"
import { createRedisIdempotencyStore } from "../../src/redis.ts"
import type { IdempotencyStore } from "../../src/index.ts"
import type { ServeLimits } from "../../src/protocol/server/server.ts"
import { createTransport, loggerOf, throws } from "./engines.ts"
import type { BusAddress } from "./engines.ts"
import { JournalWriter } from "./journal.ts"
import { now } from "./now.ts"
import { labRegistry } from "./operations.ts"
import type { Sabotage } from "./operations.ts"
import { relayOperations } from "./relay.ts"

/** The settings of a worker process. */
export interface WorkerSettings {
  readonly name: string
  readonly bus: BusAddress
  /** The folder of the journals. */
  readonly folder: string
  readonly limits?: ServeLimits | undefined
  /** The time that running calls get when the worker is asked to stop, in milliseconds. */
  readonly grace: number
  /** Milliseconds by which its clock is wrong. */
  readonly skew?: number | undefined
  readonly sabotage?: Sabotage | undefined
  /** The version of all that it serves; 1.0.0. */
  readonly version?: string | undefined
  /** The URL of an API that it also serves. */
  readonly api?: string | undefined
  /** The port of a Redis that keeps its idempotency keys. */
  readonly keys?: number | undefined
}

const settings = JSON.parse(process.argv[2] ?? "{}") as WorkerSettings
let { skew = 0 } = settings
Date.now = () => now() + skew
const transport = createTransport(settings.bus)
const journal = new JournalWriter(settings.folder, settings.name)
const registry = labRegistry(journal, { ...settings, store: storeOf(settings) })
if (settings.api !== undefined) registry.registerAll(relayOperations(settings.api))
if (settings.bus.hasBadListeners === true) registry.onCall(throws)
const server = serveCalls(registry, {
  transport,
  logger: loggerOf(settings.bus),
  ...settings.limits,
})

function storeOf({ keys }: WorkerSettings): IdempotencyStore | undefined {
  if (keys === undefined) return undefined
  const client = new Redis(keys, "127.0.0.1")
  client.on("error", () => undefined)
  return createRedisIdempotencyStore({ client, timeout: 250 })
}

/** Sends a message to the lab, if it still runs. */
function notifyLab(message: { readonly type: string; readonly [field: string]: unknown }): void {
  if (process.connected) process.send?.(message)
}

process.once("SIGTERM", () => {
  // The second one ends it at once, as by default.
  void server.drain({ grace: settings.grace }).then(() => process.exit(0))
})
// The lab is gone.
process.once("disconnect", () => process.exit(3))
process.on("message", (message: { readonly type: string; readonly by?: number }) => {
  if (message.type === "step") {
    skew += message.by ?? 0
    notifyLab({ type: "stepped" })
  }
  if (message.type === "stats") {
    notifyLab({ type: "stats", stats: transport.stats(), inFlight: server.inFlight })
  }
})

notifyLab({ type: "started" })
transport.whenConnected().then(
  () => notifyLab({ type: "ready" }),
  (error: unknown) => {
    notifyLab({
      type: "failed",
      message: error instanceof CallError ? error.message : String(error),
    })
    process.exit(2)
  },
)
