import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text as textIn } from "node:stream/consumers"
import { buildSync } from "esbuild"
import { createMCPClient } from "../../src/from-mcp.ts"
import type { MCPClientConfig, MCPClientWrapper, MCPTransportLike } from "../../src/from-mcp.ts"
import { createRegistry, isCallError } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { valueFor } from "../sources/openapi/fuzz/inputs.ts"
import { junk } from "../sources/openapi/fuzz/junk.ts"
import { Random } from "../sources/openapi/fuzz/random.ts"
import { TOO_LONG } from "../support/patience.ts"
import { expectThat } from "./laws.ts"
import type { Fuzzer } from "./laws.ts"
import { HostilePeer } from "./mcp-peer.ts"

/** How a server is reached. A process takes long to start. */
const CHANNELS = [
  ...Array<"own">(5).fill("own"),
  ...Array<"http">(5).fill("http"),
  "stdio",
] as const

interface Case {
  readonly channel: (typeof CHANNELS)[number]
  readonly config: MCPClientConfig
}

/** Milliseconds that a request may take. */
const TIMEOUT = 150
const MOST_CALLS = 3

/** Hostile MCP servers: what is asked of them ends with a result or a `CallError`, in time. */
export async function createMCPFuzzer(): Promise<Fuzzer> {
  const folder = mkdtempSync(join(tmpdir(), "operations-fuzz-mcp-"))
  const program = buildChild(folder)
  const web = await serveHostile()
  const configOf = (seed: number, { channel, config }: Case): MCPClientConfig => {
    if (channel === "own") return { ...config, transport: () => new HostileTransport(seed) }
    if (channel === "http") return { ...config, url: `${web.url}/${seed}` }
    return { ...config, command: process.execPath, args: [program, String(seed)] }
  }
  return {
    show: caseOf,
    async run(seed) {
      const one = caseOf(seed)
      const outcome = await inTime("it", use(configOf(seed, one), new Random(seed ^ 0x5bd1e995)))
      web.forget(seed)
      return `${one.channel} ${outcome}`
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
      await web.close()
    },
  }
}

function caseOf(seed: number): Case {
  const random = new Random(seed ^ 0x2545f491)
  const channel = random.pick(CHANNELS)
  return {
    channel,
    config: {
      era: random.pick(["auto", "legacy", "modern"]),
      timeout: TIMEOUT,
      maxTotalTimeout: TIMEOUT * 4,
      connectTimeout: channel === "stdio" ? 10_000 : TIMEOUT * 4,
      maxPages: 5,
      maxTools: 100,
      maxMessageBytes: 1_000_000,
      resources: random.once(2),
      prompts: random.once(2),
      trust: random.once(2),
      forwardInput: random.once(4),
      logger: silentLogger,
    },
  }
}

/** Connects, lists, and calls what there is. */
async function use(config: MCPClientConfig, random: Random): Promise<string> {
  let wrapper: MCPClientWrapper
  try {
    wrapper = await createMCPClient("hostile", config)
  } catch (error) {
    return refused(error)
  }
  const registry = createRegistry([], { logger: silentLogger })
  let failures = 0
  try {
    wrapper.registerAll(registry)
    const ids = wrapper.operations
      .slice(0, MOST_CALLS)
      .map(({ namespace, name }) => `${namespace}.${name}`)
    for (const id of ids) {
      const { inputSchema } = registry.getSpec(id) ?? {}
      const input = valueFor(inputSchema, {}, random)
      await registry.execute(id, input, { timeout: TIMEOUT * 8 }).catch((error: unknown) => {
        refused(error)
        failures++
      })
    }
    const { client } = wrapper
    for (const ask of [
      () => client.callTool("echo", junk(random)),
      () => client.list(random.pick(["tools", "resources", "prompts"])),
      () => client.readResource("file:///a"),
      () => client.getPrompt("p", {}),
      () => wrapper.refresh(),
    ]) {
      if (random.once(2)) await ask().catch(refused)
    }
    void JSON.stringify(wrapper.status())
    return ids.length === 0 ? "empty" : failures === 0 ? "answered" : "failed"
  } finally {
    await inTime("close()", wrapper.close())
    expectThat(registry.list().length === 0, "operations are left after close()")
    await registry.close()
  }
}

function refused(error: unknown): string {
  if (!isCallError(error)) throw error
  expectThat(error.message.length < 20_000, "a message is very long")
  void JSON.stringify(error)
  return "refused"
}

async function inTime<TValue>(what: string, done: Promise<TValue>): Promise<TValue> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), TOO_LONG)
  })
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Speaks without a wire: also what is no JSON-RPC arrives. */
class HostileTransport implements MCPTransportLike {
  onmessage?: ((message: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  readonly #peer: HostilePeer

  constructor(seed: number) {
    this.#peer = new HostilePeer(seed)
  }

  async start(): Promise<void> {}

  async send(message: unknown): Promise<void> {
    for (const said of this.#peer.answer(message as object)) {
      setImmediate(() => {
        if (said === "cut") this.onclose?.()
        else this.onmessage?.(parsed(said.text) as never)
      })
    }
  }

  async close(): Promise<void> {
    this.onclose?.()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface HostileWeb {
  readonly url: string
  forget(seed: number): void
  close(): Promise<void>
}

/** Servers on one port: the path is the seed. */
async function serveHostile(): Promise<HostileWeb> {
  const peers = new Map<string, HostilePeer>()
  const server = createServer((request, response) => {
    response.on("error", () => undefined)
    const path = request.url ?? ""
    const peer = peers.get(path) ?? new HostilePeer(Number(path.slice(1)))
    peers.set(path, peer)
    void answer(peer, request, response).catch(() => response.destroy())
  })
  const url = await listen(server)
  return {
    url,
    forget: (seed) => void peers.delete(`/${seed}`),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const TYPES = [
  "application/json",
  "text/event-stream",
  "text/html",
  "application/json; charset=x",
  "",
]
const STATUS = [200, 202, 204, 301, 307, 400, 401, 403, 404, 405, 406, 429, 500, 503, 600]

async function answer(
  peer: HostilePeer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { random } = peer
  const body = await textIn(request)
  const isOdd = random.once(8)
  if (request.method !== "POST") {
    response.writeHead(isOdd ? random.pick(STATUS) : 405).end(isOdd ? "data: {}\n\n" : "")
    return
  }
  const said = peer.answer(JSON.parse(body) as object)
  const asEvents = random.once(2)
  const type = isOdd ? random.pick(TYPES) : asEvents ? "text/event-stream" : "application/json"
  response.writeHead(
    isOdd && random.once(2) ? random.pick(STATUS) : said.length === 0 ? 202 : 200,
    {
      "content-type": type,
      ...(random.once(6) && { "mcp-session-id": random.pick(["a", "b", "", "x".repeat(5000)]) }),
      ...(isOdd && { location: "/elsewhere", "retry-after": "0", "www-authenticate": "Bearer x=" }),
    },
  )
  for (const one of said) {
    if (one === "cut") {
      response.destroy()
      return
    }
    response.write(asEvents ? `event: message\ndata: ${one.text}\n\n` : one.text)
  }
  // A stream that is not ended, now and then.
  if (!isOdd || random.once(2)) response.end()
}

function buildChild(folder: string): string {
  const outfile = join(folder, "child.mjs")
  const entryPoints = [join(import.meta.dirname, "mcp-child.ts")]
  buildSync({ entryPoints, outfile, bundle: true, platform: "node", format: "esm" })
  return outfile
}
