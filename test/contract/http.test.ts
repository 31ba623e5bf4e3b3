import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { PendingRequestMap } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { toHTTP } from "../../src/to-http.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

testTransport(
  "HTTP",
  async ({ rule }) => {
    const { registry, log } = contractOperations()
    const resolve = identityRule(rule)
    const api = toHTTP(registry, {
      logger: silentLogger,
      ...(resolve && { authenticate: () => resolve() }),
    })
    const http = createServer((request, response) => api.node(request, response))
    const sockets = new Set<Socket>()
    http.on("connection", (socket) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
    })
    http.listen(0, "127.0.0.1")
    await once(http, "listening")
    const { port } = http.address() as AddressInfo
    const transport = createHTTPTransport(`http://127.0.0.1:${port}`)
    const map = new PendingRequestMap(transport, { logger: silentLogger })
    return {
      map,
      log,
      countsClaims: false,
      lose: () => {
        for (const socket of sockets) socket.destroy()
      },
      close: async () => {
        await map.close()
        await api.close()
        http.closeAllConnections()
        http.close()
        await registry.close()
      },
    }
  },
  // Identities come from headers, a served registry is imported with `FromOpenAPI`, and a server does not hear of credit.
  { canTrust: false, canImport: false, hasWindow: false, carriesQuestions: false },
)
