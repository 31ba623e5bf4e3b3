import { createTRPCClient, createWSClient, wsLink } from "@trpc/client"
import { initTRPC } from "@trpc/server"
import { applyWSSHandler } from "@trpc/server/adapters/ws"
import { WebSocket, WebSocketServer } from "ws"
import { Quote, quote, QuoteInput } from "../cases.ts"
import type { SocketContender } from "./socket.ts"
import { listen, parser, quotes, StreamInput } from "./socket.ts"

/** tRPC over WebSocket. It checks no items of subscriptions; here the handler does. */
export async function trpcOverSocket(): Promise<SocketContender> {
  const { server, url, close } = await listen()
  const { procedure, router } = initTRPC.create()
  const parseQuote = parser<Quote>(Quote)
  const routes = router({
    quote: procedure
      .input(parser<QuoteInput>(QuoteInput))
      .output(parseQuote)
      .query(({ input }) => quote(input)),
    quotes: procedure.input(parser<StreamInput>(StreamInput)).subscription(async function* ({
      input,
    }) {
      for await (const item of quotes(input.count)) yield parseQuote(item)
    }),
  })
  const wss = new WebSocketServer({ server, perMessageDeflate: false })
  applyWSSHandler({ wss, router: routes })
  const socket = createWSClient({
    url,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
  })
  const client = createTRPCClient<typeof routes>({ links: [wsLink({ client: socket })] })
  return {
    name: "tRPC over WebSocket",
    call: (input) => client.quote.query(input),
    stream: (count) =>
      new Promise((resolve, reject) => {
        let seen = 0
        client.quotes.subscribe(
          { count },
          {
            onData: () => void seen++,
            onComplete: () => resolve(seen),
            onError: (error) => reject(error),
          },
        )
      }),
    data: (result) => result,
    async close() {
      await socket.close()
      wss.close()
      await close()
    },
  }
}
