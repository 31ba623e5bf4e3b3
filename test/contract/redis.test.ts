import { afterAll, beforeAll, describe } from "vitest"
import { PendingRequestMap, serveCalls, silentLogger } from "../../src/index.ts"
import { createRedisTransport } from "../../src/transport/redis.ts"
import { provideRedis, startRedis } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

const isThere = await provideRedis()

describe.skipIf(!isThere)("with a real server", () => {
  let broker: Broker
  let links = 0
  beforeAll(async () => {
    broker = await startRedis()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })

  testTransport("Redis", async ({ rule, isTrusted }) => {
    const { registry, log } = contractOperations()
    // Links of one test do not meet those of another.
    const prefix = `contract${++links}`
    const { url } = broker
    const shared = { url, prefix, logger: silentLogger }
    const serving = createRedisTransport({ ...shared, isTrusted })
    const server = serveCalls({
      registry,
      transport: serving,
      resolveIdentity: identityRule(rule),
      logger: silentLogger,
    })
    const calling = createRedisTransport(shared)
    const map = new PendingRequestMap(calling, { logger: silentLogger })
    await serving.whenConnected()
    await map.call("demo.nothing")
    return {
      map,
      log,
      countsClaims: isTrusted,
      inFlight: () => server.inFlight,
      lose: () => serving.close(),
      close: async () => {
        await map.close()
        await server.close()
        await serving.close()
        await registry.close()
      },
    }
  })
})
