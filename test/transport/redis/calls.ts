import { PendingRequestMap, serveCalls } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyOperation, CallServer } from "../../../src/index.ts"
import { createRedisTransport } from "../../../src/redis.ts"
import type { BusTransport, RedisTransportOptions } from "../../../src/redis.ts"
import { quietRegistry } from "../../support/operations.ts"

export interface Worker extends AsyncDisposable {
  readonly transport: BusTransport
  readonly server: CallServer
}

export interface Caller extends AsyncDisposable {
  readonly transport: BusTransport
  readonly map: PendingRequestMap
}

/** Serves operations at a broker. */
export function startWorker(
  operations: readonly AnyOperation[],
  options: RedisTransportOptions,
): Worker {
  const registry = quietRegistry(operations)
  const transport = createRedisTransport({ logger: silentLogger, ...options })
  const server = serveCalls(registry, { transport, logger: silentLogger })
  const dispose = async (): Promise<void> => {
    await server.close()
    await transport.close()
    await registry.close()
  }
  return { transport, server, [Symbol.asyncDispose]: dispose }
}

/** Calls over a broker. */
export function startCaller(options: RedisTransportOptions): Caller {
  const transport = createRedisTransport({ logger: silentLogger, ...options })
  const map = new PendingRequestMap(transport, { logger: silentLogger })
  return { transport, map, [Symbol.asyncDispose]: () => map.close() }
}
