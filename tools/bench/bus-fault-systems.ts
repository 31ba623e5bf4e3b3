/** The systems that are tested with the same faults: our calls over NATS, and Moleculer's. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { ServiceBroker } from "moleculer"
import type { BrokerOptions } from "moleculer"
import { LabCaller } from "../faults/caller.ts"
import { Child } from "../faults/children.ts"
import { createTransport } from "../faults/engines.ts"
import type { CallerRecords, CallRecord } from "../faults/records.ts"
import type { WorkerSettings } from "../faults/worker.ts"
import type { Broker } from "../../test/support/brokers.ts"
import type { FaultWorkerSettings } from "./bus-fault-worker.ts"

const PROGRAM = fileURLToPath(import.meta.resolve("./bus-fault-worker.ts"))

/** The duration of a call and the timeout of its caller, in milliseconds. */
const WORK = 300
export const DEADLINE = 5000

/** A way to call work that is not idempotent. */
export interface FaultSystem {
  readonly name: string
  startWorker(name: string, broker: Broker, folder: string): Promise<FaultWorker>
  connect(broker: Broker): Promise<FaultCaller>
}

/** A worker process into which faults are injected. */
export interface FaultWorker extends AsyncDisposable {
  kill(signal: NodeJS.Signals): void
}

/** The calling end, which records the outcome of each call. */
export interface FaultCaller {
  call(): Promise<CallRecord>
  report(): CallerRecords
  close(): Promise<void>
}

/** Calls over NATS with the guard, with default settings. */
export const ours: FaultSystem = {
  name: "operations over NATS",
  async startWorker(name, { port }, folder) {
    const bus = { engine: "nats", port } as const
    const settings: WorkerSettings = { name, bus, folder, grace: 10_000 }
    const worker = new Child("worker.ts", name, settings)
    await worker.message("ready")
    return worker
  },
  async connect({ port }) {
    const caller = new LabCaller("c", createTransport({ engine: "nats", port }))
    await caller.transport.whenConnected()
    return {
      call: () => caller.call({ operation: "work", ms: WORK, timeout: DEADLINE }),
      report: () => caller.records,
      close: () => caller[Symbol.asyncDispose](),
    }
  },
}

/** Moleculer with default settings, without a deadline. */
export const moleculer: FaultSystem = moleculerWith("Moleculer over NATS, defaults", {})

/** Moleculer with a deadline, a quick heartbeat, and retries of what it calls retryable. */
export const moleculerTuned: FaultSystem = moleculerWith("Moleculer over NATS, tuned", {
  requestTimeout: DEADLINE,
  heartbeatInterval: 1,
  heartbeatTimeout: 3,
  retryPolicy: { enabled: true, retries: 5, delay: 100, maxDelay: 1000, factor: 2 },
})

function moleculerWith(name: string, options: BrokerOptions): FaultSystem {
  return {
    name,
    async startWorker(worker, { url }, folder) {
      const settings: FaultWorkerSettings = { name: worker, url, folder, options }
      return await startMoleculer(settings)
    },
    async connect({ url }) {
      const broker = new ServiceBroker({
        nodeID: "caller",
        transporter: url,
        logger: false,
        ...options,
      })
      await broker.start()
      await broker.waitForServices("lab", 20_000)
      return new MoleculerCaller(broker)
    },
  }
}

async function startMoleculer(settings: FaultWorkerSettings): Promise<FaultWorker> {
  const child = fork(PROGRAM, [JSON.stringify(settings)], { execArgv: ["--import", "tsx"] })
  const ended = once(child, "exit")
  await Promise.race([
    once(child, "message"),
    ended.then(([code]) => Promise.reject(new Error(`A worker ended with ${code}.`))),
  ])
  return {
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await ended
    },
  }
}

class MoleculerCaller implements FaultCaller {
  readonly #broker: ServiceBroker
  readonly #calls: CallRecord[] = []

  constructor(broker: ServiceBroker) {
    this.#broker = broker
  }

  async call(): Promise<CallRecord> {
    const record: CallRecord = {
      id: `c-${this.#calls.length + 1}`,
      operationId: "lab.work",
      isIdempotent: false,
      sentAt: Date.now(),
      timeout: DEADLINE,
      settled: 0,
    }
    this.#calls.push(record)
    try {
      const { id, run, worker } = await this.#broker.call<
        { id: string; run: string; worker: string },
        object
      >("lab.work", { id: record.id, ms: WORK })
      Object.assign(record, { run, worker, isWrong: id !== record.id })
    } catch (error) {
      const { type, name, message, retryable } = error as Error & {
        readonly type?: string
        readonly retryable?: boolean
      }
      // Its errors do not state whether the call ran, so they cannot be wrong.
      record.error = {
        code: type ?? name,
        message,
        retryable: retryable === true,
        mayHaveExecuted: true,
      }
    }
    record.settled++
    record.settledAt = Date.now()
    return record
  }

  report(): CallerRecords {
    return { calls: this.#calls, streams: [] }
  }

  async close(): Promise<void> {
    await this.#broker.stop()
  }
}
