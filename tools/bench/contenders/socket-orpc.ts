import { once } from "node:events"
import { createORPCClient } from "@orpc/client"
import { RPCLink } from "@orpc/client/websocket"
import { eventIterator, os } from "@orpc/server"
import type { RouterClient } from "@orpc/server"
import { RPCHandler } from "@orpc/server/ws"
import { WebSocket, WebSocketServer } from "ws"
import { Quote, quote, QuoteInput } from "../cases.ts"
import { standard } from "./orpc.ts"
import type { SocketContender } from "./socket.ts"
import { listen, quotes, StreamInput } from "./socket.ts"

/** oRPC over WebSocket. */
export async function orpcOverSocket(): Promise<SocketContender> {
  const { server, url, close } = await listen()
  const router = {
    quote: os
      .input(standard<QuoteInput>(QuoteInput))
      .output(standard<Quote>(Quote))
      .handler(({ input }) => quote(input)),
    quotes: os
      .input(standard<StreamInput>(StreamInput))
      .output(eventIterator(standard<Quote>(Quote)))
      .handler(({ input }) => quotes(input.count)),
  }
  const handler = new RPCHandler(router)
  const wss = new WebSocketServer({ server, perMessageDeflate: false })
  wss.on("connection", (socket) => void handler.upgrade(socket, { context: {} }))
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, "open")
  const link = new RPCLink({ websocket: socket as unknown as globalThis.WebSocket })
  const client: RouterClient<typeof router> = createORPCClient(link)
  return {
    name: "oRPC over WebSocket",
    call: (input) => client.quote(input),
    async stream(count) {
      let seen = 0
      for await (const item of await client.quotes({ count })) if (item !== undefined) seen++
      return seen
    },
    data: (result) => result,
    async close() {
      socket.terminate()
      wss.close()
      await close()
    },
  }
}
