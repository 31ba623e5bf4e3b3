import { silentLogger } from "../../src/testing.ts"
import { createBusTransport } from "../../src/transport/bus/transport.ts"
import type { BusTransport } from "../../src/transport/bus/transport.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { provideNats, provideRedis, startNats, startRedis } from "../support/brokers.ts"
import { MemoryBroker } from "./bus/memory-bus.ts"

/** A broker, and transports of it that callers and workers use. */
export interface TestBus extends AsyncDisposable {
  transport(): BusTransport
}

const options = { logger: silentLogger }
const [hasNats, hasRedis] = await Promise.all([provideNats(), provideRedis()])

/** Every kind of broker that is there: both kinds in memory, and the real ones. */
export const EACH_BUS: readonly (readonly [string, () => Promise<TestBus>])[] = [
  ["a broker in memory with queues", async () => inMemory(true)],
  ["a broker in memory without queues", async () => inMemory(false)],
  ...(hasNats ? [["NATS", onNats] as const] : []),
  ...(hasRedis ? [["Redis", onRedis] as const] : []),
]

function inMemory(hasQueues: boolean): TestBus {
  const broker = new MemoryBroker({ hasQueues })
  return {
    transport: () => createBusTransport(broker.bus("ann"), options),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

async function onNats(): Promise<TestBus> {
  const broker = await startNats()
  return {
    transport: () => createNatsTransport({ servers: broker.url, ...options }),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  }
}

async function onRedis(): Promise<TestBus> {
  const broker = await startRedis()
  return {
    transport: () => createRedisTransport({ url: broker.url, ...options }),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  }
}
