import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { ClientCapabilities } from "@modelcontextprotocol/client"

export type Era = "legacy" | "modern"

/** Ways to start a client of the SDK. */
export interface ConnectOptions {
  readonly capabilities?: ClientCapabilities
  readonly headers?: Readonly<Record<string, string>>
  readonly prepare?: (client: Client) => void
}

/** A client of the SDK that speaks one era. */
export function clientOf(era: Era, capabilities: ClientCapabilities = {}): Client {
  return new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities,
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  )
}

/** Connects to a server over HTTP. */
export async function connect(
  url: string,
  era: Era,
  { capabilities, headers = {}, prepare }: ConnectOptions = {},
): Promise<Client & AsyncDisposable> {
  const client = clientOf(era, capabilities)
  prepare?.(client)
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** The text of a tool result. */
export function textOf(result: unknown): string {
  const { content } = result as { content: { text?: string }[] }
  return content.map(({ text }) => text ?? "").join("\n")
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
}

/** A request whose body and headers are texts. */
export interface RawRequest extends RequestInit {
  readonly headers: Record<string, string>
  readonly body: string
}

/** What a raw modern request may differ in. */
export interface RawOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly meta?: Readonly<Record<string, unknown>>
  readonly params?: Readonly<Record<string, unknown>>
  readonly id?: number
}

/** A modern request as it stands on the wire. */
export function rawRequest(
  method: string,
  { headers = {}, meta = {}, params = {}, id = 1 }: RawOptions = {},
): RawRequest {
  const name = params["name"]
  return {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id,
      method,
      params: { ...params, _meta: { ...ENVELOPE, ...meta } },
    }),
  }
}

/** Headers as the server looks them up. */
export function headed(headers: Readonly<Record<string, string>>): {
  header(name: string): string | undefined
} {
  const all = new Headers(headers)
  return { header: (name) => all.get(name) ?? undefined }
}

/** A legacy request as it stands on the wire. */
export function legacyRequest(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): RawRequest {
  return {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  }
}

export const initialize = (headers: Readonly<Record<string, string>> = {}): RawRequest =>
  legacyRequest(
    "initialize",
    {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "raw", version: "1.0.0" },
    },
    headers,
  )

/** The JSON-RPC messages of a response, whether it is JSON or a stream. */
export async function messagesOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text()
  if (response.headers.get("content-type")?.includes("text/event-stream") !== true) {
    return [JSON.parse(text) as Record<string, unknown>]
  }
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
}

/** The answer to a request: the last of its messages. */
export async function answerOf(response: Response): Promise<{
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly id?: unknown
}> {
  return (await messagesOf(response)).at(-1) ?? {}
}
