import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { PendingRequestMap, serveCalls } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyOperation, CallServer } from "../../../src/index.ts"
import { createNatsTransport } from "../../../src/nats.ts"
import type { BusTransport, NatsTransportOptions } from "../../../src/nats.ts"
import { count, greet, operation, quietRegistry } from "../../support/operations.ts"

/** A worker of a test, and what ran on it. */
export interface TestWorker {
  readonly transport: BusTransport
  readonly server: CallServer
  readonly runs: string[]
  /** Stops as a program does on a signal: no further calls, and running ones are completed. */
  stop(): Promise<void>
}

/** A caller of a test. */
export interface TestCaller {
  readonly transport: BusTransport
  readonly map: PendingRequestMap
}

/** Workers and callers on one broker, all of which end together. */
export class NatsSystem implements AsyncDisposable {
  readonly #options: NatsTransportOptions
  readonly #ends: (() => Promise<void>)[] = []

  constructor(options: NatsTransportOptions) {
    this.#options = { logger: silentLogger, ...options }
  }

  worker(extra: readonly AnyOperation[] = [], options: NatsTransportOptions = {}): TestWorker {
    const runs: string[] = []
    const registry = quietRegistry([...operationsOf(runs), ...extra])
    const transport = createNatsTransport({ ...this.#options, ...options })
    const server = serveCalls(registry, { transport, logger: silentLogger })
    const stop = async (): Promise<void> => {
      await server.drain()
      await server.close()
      await transport.close()
      await registry.close()
    }
    this.#ends.push(stop)
    return { transport, server, runs, stop }
  }

  caller(options: NatsTransportOptions = {}): TestCaller {
    const transport = createNatsTransport({ ...this.#options, ...options })
    const map = new PendingRequestMap(transport, { logger: silentLogger })
    this.#ends.push(() => map.close())
    return { transport, map }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()))
  }
}

/** What every worker serves; each writes down what ran. */
function operationsOf(runs: string[]): AnyOperation[] {
  return [
    greet,
    count,
    operation("demo.add", {
      inputSchema: Type.Object({ id: Type.String(), delay: Type.Optional(Type.Number()) }),
      handler: async ({ id, delay = 0 }: { id: string; delay?: number }) => {
        runs.push(id)
        if (delay > 0) await sleep(delay)
        return id
      },
    }),
    operation("demo.large", {
      inputSchema: Type.Object({ bytes: Type.Number() }),
      handler: ({ bytes }: { bytes: number }) => {
        runs.push("large")
        return "x".repeat(bytes)
      },
    }),
    operation("demo.echo", { type: "query", handler: (input: unknown) => input }),
  ]
}
