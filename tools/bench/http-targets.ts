/** The servers, and how the small case is requested from them. */
import type { QuoteInput } from "./cases.ts"

/** A process that serves. */
export type ServerName =
  | "floor"
  | "ours"
  | "fastify"
  | "hono"
  | "trpc"
  | "orpc"
  | "orpc-batch"
  | MCPServerName
type MCPServerName = "mcp-floor" | "mcp-ours" | "mcp-stateless" | "mcp-sdk"

/** One way to call a server. */
export interface Target {
  readonly name: string
  readonly server: ServerName
  readonly path: string
  /** What is posted. */
  readonly body: (input: QuoteInput) => unknown
  /** Extracts the handler's result from the response. */
  readonly data: (answer: unknown) => unknown
}

/** One way to ask for a stream. */
export interface StreamTarget {
  readonly name: string
  readonly server: ServerName
  /** The path of a stream with this many events. */
  readonly path: (count: number) => string
  /** The handler's item inside an event. */
  readonly data: (event: unknown) => unknown
}

export const BARE = "node:http"
const EACH = "node:http, a write for each"
const ENVELOPED = "node:http, in envelopes"
export const GATEWAY = "operations, gateway"
export const REST = "operations, REST"
export const TRPC = "tRPC"
export const ORPC = "oRPC"

const itself = (value: unknown): unknown => value
const field =
  (...names: readonly string[]) =>
  (value: unknown): unknown =>
    names.reduce((inner, name) => (inner as Record<string, unknown>)[name], value)

export const targets: readonly Target[] = [
  { name: BARE, server: "floor", path: "/quote", body: itself, data: itself },
  { name: ENVELOPED, server: "floor", path: "/enveloped", body: itself, data: field("data") },
  {
    name: GATEWAY,
    server: "ours",
    path: "/operations/shop.quote",
    body: itself,
    data: field("data"),
  },
  { name: REST, server: "ours", path: "/api/shop/quote", body: itself, data: itself },
  { name: "Fastify", server: "fastify", path: "/quote", body: itself, data: itself },
  { name: "Hono", server: "hono", path: "/quote", body: itself, data: itself },
  { name: TRPC, server: "trpc", path: "/quote", body: itself, data: field("result", "data") },
  {
    name: ORPC,
    server: "orpc",
    path: "/quote",
    body: (input) => ({ json: input }),
    data: field("json"),
  },
]

export const streamTargets: readonly StreamTarget[] = [
  {
    name: EACH,
    server: "floor",
    path: (count) => `/quotes?count=${count}`,
    data: itself,
  },
  {
    name: ENVELOPED,
    server: "floor",
    path: (count) => `/enveloped?count=${count}`,
    data: field("data"),
  },
  {
    name: GATEWAY,
    server: "ours",
    path: (count) => `/operations/shop.quotes?input=${encodeURIComponent(`{"count":${count}}`)}`,
    data: field("data"),
  },
  {
    name: REST,
    server: "ours",
    path: (count) => `/api/shop/quotes?count=${count}`,
    data: itself,
  },
]
