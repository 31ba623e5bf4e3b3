import { connect, createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { LineTransport } from "../../examples/transport/lines.ts"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { contractOperations, identityRule } from "../contract/operations.ts"
import { testTransport } from "../contract/transport.ts"

testTransport("lines over TCP", async ({ rule, isTrusted }) => {
  const { registry, log } = contractOperations()
  const server = createServer().listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
  const link = await new Promise<LineTransport>((resolve) => {
    server.once("connection", (accepted) => resolve(new LineTransport(accepted, { isTrusted })))
  })
  const resolveIdentity = identityRule(rule)
  const served = serveCalls(registry, { transport: link, resolveIdentity, logger: silentLogger })
  const map = new PendingRequestMap(new LineTransport(socket), { logger: silentLogger })
  return {
    map,
    log,
    countsClaims: isTrusted,
    inFlight: () => served.inFlight,
    lose: () => void socket.destroy(),
    close: async () => {
      await map.close()
      await served.close()
      server.close()
    },
  }
})
