import { createORPCClient } from "@orpc/client"
import { RPCLink } from "@orpc/client/fetch"
import { BatchLinkPlugin } from "@orpc/client/plugins"
import { createTRPCClient, httpBatchLink, httpLink } from "@trpc/client"
import type { Quote, QuoteInput } from "../cases.ts"
import { loadBuiltHTTPClient } from "../library.ts"
import type { TRPCRoutes } from "./http-peers.ts"

/** The clients; those of batches send the calls of one turn together. */
export type ClientName = "fetch" | "ours" | "trpc" | "trpc-batch" | "orpc" | "orpc-batch"

type Call = (input: QuoteInput) => Promise<Quote>

/** A function that calls the small operation. */
export async function clientFor(name: ClientName, url: string): Promise<Call> {
  switch (name) {
    case "fetch":
      return byHand(url)
    case "ours":
      return await ours(url)
    case "trpc":
    case "trpc-batch": {
      const link = name === "trpc" ? httpLink({ url }) : httpBatchLink({ url })
      const client = createTRPCClient<TRPCRoutes>({ links: [link] })
      return (input) => client.quote.mutate(input)
    }
    case "orpc":
    case "orpc-batch":
      return orpc(url, name === "orpc-batch")
  }
}

/** A hand-written client. */
function byHand(url: string): Call {
  return async (input) => {
    const response = await fetch(`${url}/quote`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
    })
    if (!response.ok) throw new Error(`The server answered ${response.status}.`)
    return (await response.json()) as Quote
  }
}

async function ours(url: string): Promise<Call> {
  const { createClient, createHTTPTransport } = await loadBuiltHTTPClient()
  const client = createClient(createHTTPTransport(url))
  return async (input) => (await client.call("shop.quote", input)).data as Quote
}

function orpc(url: string, isBatched: boolean): Call {
  const plugins = isBatched
    ? [new BatchLinkPlugin({ groups: [{ condition: () => true, context: {} }] })]
    : []
  const client = createORPCClient<{ quote: Call }>(new RPCLink({ url, plugins }))
  return (input) => client.quote(input)
}
