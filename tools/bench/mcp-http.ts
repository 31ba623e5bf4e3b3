/** `tools/call` over HTTP, every server and the client in a separate process. */
import assert from "node:assert/strict"
import { AskedChild } from "./asked-child.ts"
import { quote, quoteInputs } from "./cases.ts"
import type { QuoteInput } from "./cases.ts"
import { SESSION, TOOL } from "./contenders/mcp-servers.ts"
import { CONNECTIONS, LOAD, startServer } from "./http.ts"
import type { HTTPProcess } from "./http.ts"
import type { Load } from "./http-load.ts"
import type { ServerName } from "./http-targets.ts"
import { spreadOf } from "./measure.ts"
import type { Spread, Workload } from "./measure.ts"

export const OVER_HTTP = "tools/call over HTTP"
export const STATELESS = `${OVER_HTTP}, 2025 without sessions`
export const SESSION_CALL = `${OVER_HTTP}, 2025 in a session`
export const ASKED = `${OVER_HTTP}, 2025 of a client that can be asked`
export const SDK_SESSION = "tools/call over HTTP, one session of the SDK"

/** The first requests of a new process, as a multiple of what they cost by hand. */
export interface FirstRequests {
  readonly name: string
  readonly ratio: Spread
  /** CPU of one request. */
  readonly nanoseconds: number
}

interface Target {
  readonly name: string
  readonly server: ServerName
  readonly headers: Readonly<Record<string, string>>
  readonly body: (input: QuoteInput) => string
  /** What a client declares that opens a session. */
  readonly capabilities?: object
}

const ACCEPT = { accept: "application/json, text/event-stream" }
const MODERN = {
  ...ACCEPT,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": TOOL,
}
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
}
const LEGACY = { ...ACCEPT, "mcp-protocol-version": "2025-11-25" }
const ASKABLE = { elicitation: {}, sampling: {}, roots: {} }

const modern = (input: QuoteInput): string => textOf({ arguments: input, _meta: ENVELOPE })
const legacy = (input: QuoteInput): string => textOf({ arguments: input })

const targets: readonly Target[] = [
  { name: `${OVER_HTTP}, by hand`, server: "mcp-floor", headers: MODERN, body: modern },
  { name: OVER_HTTP, server: "mcp-ours", headers: MODERN, body: modern },
  { name: STATELESS, server: "mcp-stateless", headers: LEGACY, body: legacy },
  { name: SESSION_CALL, server: "mcp-ours", headers: LEGACY, body: legacy, capabilities: {} },
  { name: ASKED, server: "mcp-ours", headers: LEGACY, body: legacy, capabilities: ASKABLE },
  {
    name: SDK_SESSION,
    server: "mcp-sdk",
    headers: { ...LEGACY, "mcp-session-id": SESSION },
    body: legacy,
  },
]

/** The rows, and what ends their processes. */
export interface MCPHTTPRows {
  readonly workloads: readonly Workload[]
  close(): void
}

/** Starts every server, checks that it works, and returns its row. */
export async function mcpOverHTTP(): Promise<MCPHTTPRows> {
  const load = new AskedChild<Load>(LOAD)
  const servers: HTTPProcess[] = []
  const workloads: Workload[] = []
  for (const { capabilities, ...one } of targets) {
    const server = await startServer(one.server)
    servers.push(server)
    const target = capabilities === undefined ? one : await opened(one, server, capabilities)
    await verify(target, server)
    workloads.push({
      name: target.name,
      cpu: () => server.ask<number>("cpu"),
      run: (count) => send(load, target, server, count),
    })
  }
  return {
    workloads,
    close() {
      load.end()
      for (const server of servers) server.end()
    },
  }
}

const FIRST = 600

/** Measures the first requests of new processes, one of each in every round. */
export async function measureFirst(rounds: number): Promise<FirstRequests[]> {
  const load = new AskedChild<Load>(LOAD)
  const costs = targets.map((): number[] => [])
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [index, target] of targets.entries()) {
        const server = await startServer(target.server)
        const before = await server.ask<number>("cpu")
        const { capabilities } = target
        const one = capabilities === undefined ? target : await opened(target, server, capabilities)
        await send(load, one, server, FIRST)
        costs[index]?.push((await server.ask<number>("cpu")) - before)
        server.end()
      }
    }
  } finally {
    load.end()
  }
  const [floor = []] = costs
  return targets.map(({ name }, index) => {
    const own = costs[index] ?? []
    const ratio = spreadOf(own.map((cost, round) => cost / (floor[round] as number)))
    return { name, ratio, nanoseconds: spreadOf(own).median / FIRST }
  })
}

/** A target whose client has opened a session. */
async function opened(
  target: Target,
  { port }: HTTPProcess,
  capabilities: object,
): Promise<Target> {
  const clientInfo = { name: "bench", version: "1.0.0" }
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo }
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...ACCEPT },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  })
  await answer.text()
  const session = answer.headers.get("mcp-session-id") ?? ""
  return { ...target, headers: { ...target.headers, "mcp-session-id": session } }
}

async function send(
  load: AskedChild<Load>,
  { name, headers, body }: Target,
  { port }: HTTPProcess,
  count: number,
): Promise<void> {
  const bodies = quoteInputs.map(body)
  const base = { kind: "requests", port, path: "/mcp", headers, connections: CONNECTIONS } as const
  assert.equal(await load.ask<number | string>({ ...base, bodies, count }), count, name)
}

async function verify({ name, headers, body }: Target, { port }: HTTPProcess): Promise<void> {
  for (const input of quoteInputs) {
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: body(input),
    })
    const text = await answer.text()
    const { result } = JSON.parse(text.slice(text.indexOf("{"))) as {
      readonly result?: { readonly structuredContent?: unknown }
    }
    assert.deepEqual(result?.structuredContent, await quote(input), `${name}: ${text}`)
  }
}

function textOf(params: object): string {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call" }
  return JSON.stringify({ ...call, params: { name: TOOL, ...params } })
}
