// Every way to call the operations of `who/`, for tests of what holds for all of them.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { expect } from "vitest"
import { WebSocket } from "ws"
import { createHTTPTransport } from "../../src/http.ts"
import { PendingRequestMap } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { PendingOptions } from "../../src/index.ts"
import { clientOf } from "./mcp/support/clients.ts"
import type { Era } from "./mcp/support/clients.ts"

export type Headers = Readonly<Record<string, string>>

/** Somewhere to call: a server, or a function that answers in place of one. */
export interface Place {
  readonly url: string
  readonly fetch: typeof fetch
}

/** One way in: asks who calls, and gives the id, or the status with which it was refused. */
export type Ask = (place: Place, headers: Headers) => Promise<string | number>

const json = { "content-type": "application/json" }
const events = { accept: "text/event-stream" }
const call = { id: "who.am", input: {} }

/** Asks with one request; `find` gets the id out of a body. */
function request(path: string, init: RequestInit, find: (body: string) => string | undefined): Ask {
  return async ({ url, fetch: send }, headers) => {
    const sent = { ...init, headers: { ...(init.headers as Headers), ...headers } }
    const response = await send(url + path, sent)
    const text = await response.text()
    return response.status === 200 ? (find(text) ?? text) : response.status
  }
}

const idIn = (body: string): string | undefined => /"id":"([^"]*)"/.exec(body)?.[1]

const mcp =
  (era: Era): Ask =>
  async ({ url, fetch: send }, headers) => {
    const client = clientOf(era)
    let refused: number | undefined
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
      fetch: async (input, init) => {
        const response = await send(input, init)
        if ([401, 403, 429].includes(response.status)) refused = response.status
        if (response.status === 401) {
          expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/)
        }
        return response
      },
    })
    try {
      await client.connect(transport)
      const { structuredContent } = await client.callTool({ name: "who_am", arguments: {} })
      return (structuredContent as { id: string }).id
    } catch (error) {
      if (refused === undefined) throw error
      return refused
    } finally {
      await client.close()
    }
  }

/** Asks with our own client, which claims to be somebody else. */
const httpClient =
  (open: (map: PendingRequestMap, options: PendingOptions) => Promise<unknown>): Ask =>
  async ({ url, fetch: send }, headers) => {
    let refused: number | undefined
    const transport = createHTTPTransport(url, {
      headers,
      fetch: async (input, init) => {
        const response = await send(input, init)
        if (!response.ok) refused = response.status
        return response
      },
    })
    const map = new PendingRequestMap(transport, { logger: silentLogger })
    const identity = { id: "mallory", scopes: ["admin"] }
    try {
      return ((await open(map, { identity, metadata: { identity } })) as { id: string }).id
    } catch (error) {
      if (refused === undefined) throw error
      return refused
    } finally {
      await map.close()
    }
  }

const webSocket: Ask = async ({ url }, headers) => {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers })
  try {
    return await new Promise<string | number>((resolve, reject) => {
      socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode ?? 0))
      socket.on("error", reject)
      socket.on("open", () =>
        socket.send(
          JSON.stringify({
            type: "call.requested",
            requestId: "1",
            operationId: "who.am",
            input: {},
          }),
        ),
      )
      socket.on("message", (data: Buffer) => {
        const text = String(data)
        if (text.includes("RATE_LIMITED")) resolve(429)
        else if (text.includes("call.")) resolve(idIn(text) ?? text)
      })
    })
  } finally {
    socket.terminate()
  }
}

const REST = "/api/{namespace}/{name}"
const GATEWAY = "/operations/{id}"
const posted = { method: "POST", headers: json, body: "{}" }

/** Every way to call an operation, and the endpoint that it is. */
export const SURFACES: Readonly<Record<string, readonly [endpoint: string, ask: Ask]>> = {
  "REST by GET": [REST, request("/api/who/am", {}, idIn)],
  "REST by POST": [REST, request("/api/who/am", posted, idIn)],
  "REST events": [REST, request("/api/who/watch", { headers: events }, idIn)],
  gateway: [GATEWAY, request("/operations/who.am", posted, idIn)],
  "gateway events": [GATEWAY, request("/operations/who.watch", { headers: events }, idIn)],
  batch: ["/batch", request("/batch", { ...posted, body: JSON.stringify([call]) }, idIn)],
  "HTTP client": [
    GATEWAY,
    httpClient(async (map, { identity }) => (await map.call("who.am", {}, { identity })).data),
  ],
  "HTTP client, batch": [
    "/batch",
    httpClient(async (map, options) => {
      const calls = [map.call("who.am", {}, options), map.call("who.am", {}, options)]
      const results = await Promise.all(calls)
      return results.at(-1)?.data
    }),
  ],
  "HTTP client, stream": [
    GATEWAY,
    httpClient(async (map, options) => {
      for await (const { data } of map.subscribe("who.watch", {}, options)) return data
      return undefined
    }),
  ],
  "MCP, sessions": ["/mcp", mcp("legacy")],
  "MCP, single requests": ["/mcp", mcp("modern")],
  WebSocket: ["/ws", webSocket],
}
