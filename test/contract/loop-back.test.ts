import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

testTransport(
  "nothing at all",
  async ({ rule }) => {
    const { registry, log } = contractOperations()
    const map = new PendingRequestMap(undefined, { logger: silentLogger })
    const server = serveCalls(registry, { callMap: map, resolveIdentity: identityRule(rule) })
    return {
      map,
      log,
      countsClaims: true,
      inFlight: () => server.inFlight,
      close: async () => {
        await server.close()
        await map.close()
        await registry.close()
      },
    }
  },
  { hasPeer: false, hasTransport: false },
)
