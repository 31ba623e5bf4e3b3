import { Type } from "typebox"
import {
  CallError,
  createRegistry,
  defineOperation,
  PendingRequestMap,
  serveCalls,
} from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyRegistry, CallServer, Identity } from "../../../src/index.ts"
import { createBusTransport } from "../../../src/transport/bus/transport.ts"
import type { BusTransport } from "../../../src/transport/bus/transport.ts"
import type { BusOptions } from "../../../src/transport/bus/options.ts"
import { MemoryBroker } from "./memory-bus.ts"
import type { MemoryBrokerOptions } from "./memory-bus.ts"

/** One worker: its transport, what it serves, and what ran there. */
export interface PairWorker {
  readonly name: string
  readonly transport: BusTransport
  readonly server: CallServer
  readonly registry: AnyRegistry
  readonly runs: string[]
  readonly aborted: unknown[]
}

/** A caller and workers on a broker in memory. */
export class PairSystem implements AsyncDisposable {
  readonly broker: MemoryBroker
  readonly workers: PairWorker[] = []
  readonly callers: PendingRequestMap[] = []

  constructor(options?: MemoryBrokerOptions) {
    this.broker = new MemoryBroker(options)
  }

  worker(
    name: string,
    options: BusOptions & { maxInFlight?: number; maxQueued?: number } = {},
  ): PairWorker {
    const { maxInFlight, maxQueued, ...bus } = options
    const runs: string[] = []
    const aborted: unknown[] = []
    const registry = operationsOf(name, runs, aborted)
    const transport = createBusTransport(this.broker.bus("worker"), {
      logger: silentLogger,
      ...bus,
    })
    const server = serveCalls(registry, { transport, maxInFlight, maxQueued, logger: silentLogger })
    const worker = { name, transport, server, registry, runs, aborted }
    this.workers.push(worker)
    return worker
  }

  caller(options: BusOptions = {}): { transport: BusTransport; map: PendingRequestMap } {
    const transport = createBusTransport(this.broker.bus("ann"), {
      logger: silentLogger,
      ...options,
    })
    const map = new PendingRequestMap(transport, { logger: silentLogger })
    this.callers.push(map)
    return { transport, map }
  }

  /** What ran, on all workers. */
  get runs(): string[] {
    return this.workers.flatMap(({ runs }) => runs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const map of this.callers) await map.close()
    for (const { server, registry } of this.workers) {
      await server.close()
      await registry.close()
    }
  }
}

function operationsOf(worker: string, runs: string[], aborted: unknown[]): AnyRegistry {
  const base = {
    ...{ namespace: "pair", version: "1.0.0", description: "Of a pair" },
    ...{ inputSchema: Type.Unknown(), outputSchema: Type.Unknown() },
    accessControl: { requiredScopes: [] },
  } as const
  const operations = [
    defineOperation({
      ...{ ...base, name: "echo", type: "query" },
      handler: (input) => input,
    }),
    defineOperation({
      ...{ ...base, name: "who", type: "query" },
      handler: (_input, { identity }) => ({ worker, identity: identity?.id ?? null }),
    }),
    defineOperation({
      ...{ ...base, name: "add", type: "mutation" },
      handler: async (input, { signal }) => {
        const { id, wait = 0, size = 0 } = input as { id: string; wait?: number; size?: number }
        runs.push(id)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, wait)
          const stop = (): void => {
            aborted.push(id)
            clearTimeout(timer)
            resolve()
          }
          signal.addEventListener("abort", stop, { once: true })
        })
        return { id, worker, text: "x".repeat(size) }
      },
    }),
    defineOperation({
      ...{ ...base, name: "fail", type: "mutation" },
      errorSchemas: [{ code: "SOLD_OUT", description: "None left", schema: Type.Unknown() }],
      handler: (input): never => {
        const about = { details: input, retryable: true, mayHaveExecuted: false }
        throw new CallError("SOLD_OUT", "None left.", about)
      },
    }),
    defineOperation({
      ...{ ...base, name: "progress", type: "mutation" },
      handler: (_input, { progress }) => {
        progress({ progress: 1, total: 2, message: "half" })
        return "done"
      },
    }),
    defineOperation({
      ...{ ...base, name: "ask", type: "mutation" },
      handler: async (input, { requestInput }) => {
        const { times = 1, size = 0 } = (input ?? {}) as { times?: number; size?: number }
        runs.push("ask")
        const message = "x".repeat(size)
        const questions = Array.from({ length: times }, (_, at) => ({
          ...{ message, schema: { type: "string" }, key: `q${at}` },
        }))
        const answers = await Promise.all(questions.map((question) => requestInput(question)))
        return answers.map(({ content }) => content)
      },
    }),
    defineOperation({
      ...{ ...base, name: "count", type: "subscription" },
      async *handler(input) {
        const { to, size = 0, failAt } = input as { to: number; size?: number; failAt?: number }
        try {
          for (let at = 1; at <= to; at++) {
            if (at === failAt) throw new CallError("UNAVAILABLE", "Broken in the middle.")
            yield { at, text: "x".repeat(size) }
          }
        } finally {
          runs.push("count ended")
        }
      },
    }),
    defineOperation({
      ...{ ...base, name: "hidden", type: "query", visibility: "internal" },
      handler: () => "secret",
    }),
    defineOperation({
      ...{ ...base, name: "guarded", type: "query" },
      accessControl: { requiredScopes: ["pair"] },
      handler: (_input, { identity }) => identity?.id,
    }),
  ] as const
  return createRegistry(operations, { logger: silentLogger })
}

export const ANN: Identity = { id: "ann", scopes: ["pair"] }
