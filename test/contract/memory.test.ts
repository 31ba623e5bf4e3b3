import { CallError, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { Transport, TransportReceiver } from "../../src/index.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

/** A transport whose peer can be lost. */
function losable(inner: Transport): { transport: Transport; lose: () => void } {
  let receiver: TransportReceiver | undefined
  let isLost = false
  const transport: Transport = {
    isLocal: true,
    carriesQuestions: true,
    open(given) {
      receiver = given
      inner.open({
        event: (event) => isLost || given.event(event),
        undelivered: (event, error) => given.undelivered(event, error),
        lost: (error) => isLost || given.lost(error),
        restored: () => given.restored(),
      })
    },
    send(event) {
      if (isLost) throw new CallError("UNAVAILABLE", "The cable was cut.")
      inner.send(event)
    },
    close: () => inner.close(),
  }
  const lose = (): void => {
    isLost = true
    receiver?.lost(new CallError("UNAVAILABLE", "The cable was cut."))
  }
  return { transport, lose }
}

testTransport("two ends in memory", async ({ rule }) => {
  const { registry, log } = contractOperations()
  const [near, far] = createMemoryTransports().map(losable) as [
    ReturnType<typeof losable>,
    ReturnType<typeof losable>,
  ]
  const map = new PendingRequestMap(near.transport, { logger: silentLogger })
  const served = new PendingRequestMap(far.transport, { logger: silentLogger })
  const server = serveCalls(registry, { callMap: served, resolveIdentity: identityRule(rule) })
  return {
    map,
    log,
    countsClaims: true,
    inFlight: () => server.inFlight,
    lose: () => {
      near.lose()
      far.lose()
    },
    close: async () => {
      await map.close()
      await server.close()
      await served.close()
      await registry.close()
    },
  }
})
