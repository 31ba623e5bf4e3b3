import { resolve } from "node:path"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { ClientCapabilities, Transport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { MCPClientConfig, MCPClientWrapper } from "../../../../src/from-mcp.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { OperationRegistry } from "../../../../src/index.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import { quietRegistry } from "../../../support/operations.ts"
import { program } from "../support/program.ts"

export type Era = "legacy" | "modern"

/** A way to a server that a client of the SDK can go. */
export type Way = { readonly command: string; readonly args: string[] } | { readonly url: string }

type Message = Readonly<Record<string, unknown>>

/** An answer as it stood on the wire. */
export interface Answer {
  readonly result?: Message
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface CallSettings {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: object) => void
  readonly timeout?: number
}

/** A client of the SDK, and what it receives. */
export interface WatchedClient extends AsyncDisposable {
  readonly client: Client
  /** Everything that was received, in order. */
  readonly received: readonly Message[]
  /** Definitions as they came, all pages of them. */
  tools(): Promise<Message[]>
  /** The answer to a call as it came, whatever the SDK makes of it. */
  call(tool: string, input?: object, settings?: CallSettings): Promise<Answer>
  /** What the SDK makes of it. */
  use(tool: string, input?: object): Promise<Message>
}

export interface ClientSettings {
  readonly capabilities?: ClientCapabilities
  readonly prepare?: (client: Client) => void
  /** The client wants to know when tools change. */
  readonly listens?: boolean
}

/** Connects a client of the SDK. */
export async function connect(
  way: Way,
  era: Era,
  { capabilities = {}, prepare, listens = false }: ClientSettings = {},
): Promise<WatchedClient> {
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy"
  const client = new Client(
    { name: "round-trip", version: "1.0.0" },
    {
      capabilities,
      versionNegotiation: { mode },
      ...(listens && {
        listChanged: { tools: { autoRefresh: false, onChanged: () => undefined } },
      }),
    },
  )
  const transport: Transport =
    "url" in way
      ? new StreamableHTTPClientTransport(new URL(way.url))
      : new StdioClientTransport({ ...way, stderr: "ignore", maxBufferSize: 100_000_000 })
  const received: Message[] = []
  const sent: Message[] = []
  watch(transport, received, sent)
  prepare?.(client)
  await client.connect(transport)
  /** The answer to the last request of these, as it came. */
  const answerTo = async (
    isMeant: (request: Message) => boolean,
    work: Promise<unknown>,
  ): Promise<Answer> => {
    const thrown = await work.then(
      () => undefined,
      (error: unknown) => error,
    )
    const request = sent.findLast(isMeant)
    const answer = received.find((one) => one["id"] === request?.["id"] && !("method" in one))
    if (answer === undefined) throw thrown ?? new Error("There was no answer.")
    return answer
  }
  return {
    client,
    received,
    async tools() {
      const all: Message[] = []
      let cursor: string | undefined
      do {
        const asked = client.request({ method: "tools/list", params: { cursor } })
        const { result } = await answerTo(({ method }) => method === "tools/list", asked)
        all.push(...(result?.["tools"] as Message[]))
        cursor = result?.["nextCursor"] as string | undefined
      } while (cursor !== undefined)
      return all
    },
    call: (name, input = {}, settings = {}) => {
      // An object of its own, by which its request is known.
      const given = { ...input } as Record<string, unknown>
      return answerTo(
        ({ params }) => (params as Message | undefined)?.["arguments"] === given,
        client.callTool({ name, arguments: given }, settings),
      )
    },
    use: async (name, input = {}) =>
      await client.callTool({ name, arguments: input as Record<string, unknown> }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** The data of a result. */
export function dataOf<TData>(result: Message | undefined): TData {
  return (result ?? {})["structuredContent"] as TData
}

/** Keeps what goes through a transport, before anyone else sees it. */
function watch(transport: Transport, received: Message[], sent: Message[]): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    sent.push({ ...message })
    return send(message, options)
  }
  let deliver: Transport["onmessage"]
  const see: NonNullable<Transport["onmessage"]> = (message, extra) => {
    received.push({ ...structuredClone(message) })
    deliver?.(message, extra)
  }
  Object.defineProperty(transport, "onmessage", {
    get: () => (deliver === undefined ? undefined : see),
    set: (next: Transport["onmessage"]) => {
      deliver = next
    },
  })
}

/** A registry with the tools of one server, served over HTTP in this process. */
export interface Gateway extends AsyncDisposable {
  readonly way: Way
  readonly wrapper: MCPClientWrapper
  readonly registry: OperationRegistry
}

/** Imports a server and serves it again. */
export async function gateway(config: MCPClientConfig): Promise<Gateway> {
  const registry = quietRegistry()
  const wrapper = await createMCPClient("up", { logger: silentLogger, ...config })
  wrapper.registerAll(registry)
  const server = toMCP(registry, { logger: silentLogger, naming: "raw", expose: { mode: "all" } })
  const { url } = await server.listen({ port: 0 })
  return {
    way: { url },
    wrapper,
    registry,
    async [Symbol.asyncDispose]() {
      await server.close()
      await wrapper.close()
    },
  }
}

/** The same as a process of its own, for clients over standard input and output. */
export function gatewayProcess(config: MCPClientConfig): Way {
  const script = program(resolve(import.meta.dirname, "gateway.ts"))
  return { command: process.execPath, args: [script, JSON.stringify(config)] }
}

export { until } from "../connection/support.ts"
