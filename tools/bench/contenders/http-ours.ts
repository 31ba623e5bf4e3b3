import { createServer } from "node:http"
import type { Server } from "node:http"
import { Quote, quoteInputs, quoteNow } from "../cases.ts"
import type { QuoteInput } from "../cases.ts"
import type { HTTPLibrary } from "../library.ts"
import { served } from "../protocol.ts"

/** A served registry, with a stream that stays open and sends nothing after its first item. */
export async function httpOurs(library: HTTPLibrary): Promise<Server> {
  const { createRegistry, defineOperation, serveHTTP } = library
  const idle = defineOperation({
    namespace: "shop",
    name: "idle",
    type: "subscription",
    description: "",
    inputSchema: {},
    outputSchema: Quote,
    accessControl: { requiredScopes: [] },
    async *handler() {
      yield quoteNow(quoteInputs[0] as QuoteInput)
      await new Promise<never>(() => undefined)
    },
  })
  const server = createServer()
  // One caller opens more streams than the default limit.
  const limits = {
    maxConcurrency: Infinity,
    sse: { maxStreams: Infinity },
    websocket: { maxStreams: Infinity },
  }
  await serveHTTP(createRegistry([...served(library), idle]), { server, ...limits })
  return server
}
