import Type from "typebox"
import type { BusTransport } from "../../../src/transport/bus/transport.ts"
import { Quote, quote, QuoteInput } from "../cases.ts"
import { loadBuilt, loadBuiltBus } from "../library.ts"
import type { BusLibrary } from "../library.ts"
import { served as servedOverSocket } from "../protocol.ts"
import type { BusContender, BusName } from "./bus.ts"
import { createRedis } from "./lines.ts"
import { listen, quotes, StreamInput } from "./socket.ts"

const ITEM_TEXT = "x".repeat(8192)

/** A registry that is served over a broker, and called by a typed client. */
export function oursOverBus(name: BusName): BusContender {
  return {
    async serve(url) {
      const library = await loadBuiltBus()
      const transport = transportTo(library, url, name)
      const registry = library.createRegistry(served(library))
      library.serveCalls(registry, { transport })
      await transport.whenConnected()
    },
    async connect(url) {
      const library = await loadBuiltBus()
      const client = library.createClient<Registry>(transportTo(library, url, name))
      return {
        // Both do the same; what is not idempotent has to be granted to one worker before it runs.
        call:
          name === "idempotent" || name === "redis-idempotent"
            ? (input) => client.shop.quote(input)
            : (input) => client.shop.order(input),
        data: (result) => (result as { readonly data: unknown }).data,
        open: (count) => client.shop.blobs({ count }),
      }
    },
  }
}

/** A registry that is served over a WebSocket. */
export const oursBetweenProcesses: BusContender = {
  async serve() {
    const library = await loadBuilt()
    const { server, url } = await listen()
    await library.serveWebSocket(library.createRegistry(servedOverSocket(library)), {
      server,
    })
    return url
  },
  async connect(address) {
    const library = await loadBuilt()
    const registry = library.createRegistry(servedOverSocket(library))
    const client = library.createClient<typeof registry>(library.createWebSocketTransport(address))
    return {
      call: (input) => client.shop.quote(input),
      data: (result) => (result as { readonly data: unknown }).data,
    }
  },
}

type Registry = ReturnType<typeof registryOf>

function registryOf(library: BusLibrary) {
  return library.createRegistry(served(library))
}

function served({ defineOperation }: Pick<BusLibrary, "defineOperation">) {
  const shop = {
    namespace: "shop",
    description: "",
    accessControl: { requiredScopes: [] },
  } as const
  const small = { ...shop, inputSchema: QuoteInput, outputSchema: Quote, handler: quote } as const
  return [
    defineOperation({ ...small, name: "quote", type: "query" }),
    defineOperation({ ...small, name: "order", type: "mutation" }),
    defineOperation({
      ...shop,
      name: "blobs",
      type: "subscription",
      inputSchema: StreamInput,
      outputSchema: Type.Object({ at: Type.Integer(), text: Type.String() }),
      async *handler({ count }) {
        for (let at = 0; at < count; at++) yield { at, text: ITEM_TEXT }
      },
    }),
    defineOperation({
      ...shop,
      name: "quotes",
      type: "subscription",
      inputSchema: StreamInput,
      outputSchema: Quote,
      handler: ({ count }) => quotes(count),
    }),
  ] as const
}

/** `prefix` keeps the workers of one contender from those of another. */
function transportTo(library: BusLibrary, url: string, prefix: string): BusTransport {
  const options = { prefix, logger: library.silentLogger }
  if (!url.startsWith("redis")) return library.createNatsTransport({ ...options, servers: url })
  return library.createRedisTransport({ ...options, client: createRedis(url) })
}
