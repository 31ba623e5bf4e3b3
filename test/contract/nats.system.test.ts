import { connect } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe } from "vitest"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { provideNats, startNats } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { SOON } from "./link.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("on a NATS server", () => {
  let broker: Broker
  let links = 0
  beforeAll(async () => {
    broker = await startNats()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })

  testTransport(
    "NATS",
    async ({ rule, isTrusted }) => {
      const { registry, log } = contractOperations()
      // Each link has the broker to itself, as far as it can see.
      const prefix = `link${++links}`
      const servers = broker.url
      const connection = await connect({ servers })
      const transport = createNatsTransport({ connection, prefix, isTrusted, logger: silentLogger })
      const resolveIdentity = identityRule(rule)
      const server = serveCalls(registry, { transport, resolveIdentity, logger: silentLogger })
      await transport.whenConnected()
      const map = new PendingRequestMap(
        createNatsTransport({ servers, prefix, logger: silentLogger }),
        { logger: silentLogger },
      )
      await map.call("demo.nothing")
      return {
        map,
        log,
        countsClaims: isTrusted,
        inFlight: () => server.inFlight,
        lose: async () => await connection.close(),
        close: async () => {
          await map.close()
          await server.close()
          await connection.close()
          await registry.close()
        },
      }
    },
    { lost: { code: "WORKER_LOST", within: SOON } },
  )
})
