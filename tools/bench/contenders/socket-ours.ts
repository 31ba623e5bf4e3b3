import type { Library } from "../library.ts"
import { served } from "../protocol.ts"
import type { SocketContender } from "./socket.ts"
import { listen } from "./socket.ts"

/** A registry that is served, and called by a typed client. */
export async function oursOverSocket(
  library: Library,
): Promise<SocketContender & { readonly open: (count: number) => AsyncIterable<unknown> }> {
  const { createClient, createRegistry, createWebSocketTransport, serveWebSocket } = library
  const { server, url, close } = await listen()
  const registry = createRegistry(served(library))
  const serving = await serveWebSocket(registry, { server })
  const client = createClient<typeof registry>(createWebSocketTransport(url))
  const open = (count: number): AsyncIterable<unknown> => client.shop.quotes({ count })
  return {
    open,
    name: "operations over WebSocket",
    call: (input) => client.shop.quote(input),
    async stream(count) {
      let seen = 0
      for await (const item of open(count)) if (item !== undefined) seen++
      return seen
    },
    data: (result) => (result as { readonly data: unknown }).data,
    async close() {
      await client.close()
      await serving.close()
      await close()
      await registry.close()
    },
  }
}
