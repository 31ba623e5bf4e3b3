import { afterAll, beforeAll, describe } from "vitest"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { provideRedis, startRedis } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { SOON } from "./link.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

const isThere = await provideRedis()

describe.skipIf(!isThere)("on a Redis server", () => {
  let broker: Broker
  let links = 0
  beforeAll(async () => {
    broker = await startRedis()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })

  testTransport(
    "Redis",
    async ({ rule, isTrusted }) => {
      const { registry, log } = contractOperations()
      // Each link has the broker to itself, as far as it can see.
      const prefix = `link${++links}`
      const shared = { url: broker.url, prefix, logger: silentLogger }
      const transport = createRedisTransport({ ...shared, isTrusted })
      const resolveIdentity = identityRule(rule)
      const server = serveCalls(registry, { transport, resolveIdentity, logger: silentLogger })
      await transport.whenConnected()
      const map = new PendingRequestMap(createRedisTransport(shared), { logger: silentLogger })
      await map.call("demo.nothing")
      return {
        map,
        log,
        countsClaims: isTrusted,
        inFlight: () => server.inFlight,
        // First the connection, without notice.
        lose: async () => {
          await transport.close()
          await server.close()
        },
        close: async () => {
          await map.close()
          await server.close()
          await registry.close()
        },
      }
    },
    { lost: { code: "WORKER_LOST", within: SOON } },
  )
})
