import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { PendingRequestMap } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { serveWebSocket } from "../../src/serve/websocket/serve-websocket.ts"
import { createWebSocketTransport } from "../../src/transport/websocket/websocket.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

testTransport("a real WebSocket", async ({ rule, isTrusted }) => {
  const { registry, log } = contractOperations()
  const http = createServer()
  const sockets = new Set<Socket>()
  http.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  const served = await serveWebSocket(registry, {
    isTrusted,
    server: http,
    resolveIdentity: identityRule(rule),
    logger: silentLogger,
  })
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  const { port } = http.address() as AddressInfo
  const transport = createWebSocketTransport(`ws://127.0.0.1:${port}`, {
    reconnect: false,
    logger: silentLogger,
  })
  const map = new PendingRequestMap(transport, { logger: silentLogger })
  await map.call("demo.nothing")
  return {
    map,
    log,
    countsClaims: isTrusted,
    lose: () => {
      for (const socket of sockets) socket.destroy()
    },
    close: async () => {
      await map.close()
      await served.close()
      http.close()
      await registry.close()
    },
  }
})
