// A Moleculer worker of the fault comparison, in a separate process: bus-fault-worker.ts <settings as JSON>
import { setTimeout as sleep } from "node:timers/promises"
import { ServiceBroker } from "moleculer"
import type { BrokerOptions, Context } from "moleculer"
import { JournalWriter } from "../faults/journal.ts"

/** The settings with which a worker is started. */
export interface FaultWorkerSettings {
  readonly name: string
  readonly url: string
  /** The folder of the journals. */
  readonly folder: string
  readonly options: BrokerOptions
}

const { name, url, folder, options } = JSON.parse(process.argv[2] ?? "{}") as FaultWorkerSettings
const journal = new JournalWriter(folder, name)
const broker = new ServiceBroker({ nodeID: name, transporter: url, logger: false, ...options })
broker.createService({
  name: "lab",
  actions: {
    async work({ params: { id, ms } }: Context<{ readonly id: string; readonly ms: number }>) {
      const run = journal.start(id)
      await sleep(ms)
      journal.note("end", id, run)
      return { id, run, worker: name }
    },
  },
})
// The parent process is gone.
process.once("disconnect", () => process.exit(3))
await broker.start()
process.send?.({ type: "ready" })
