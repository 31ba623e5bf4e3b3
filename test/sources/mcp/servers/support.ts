import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { MCPClientConfig, MCPClientWrapper } from "../../../../src/from-mcp.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type {
  CallOptions,
  MCPResponseMeta,
  OperationRegistry,
  ResponseEnvelope,
} from "../../../../src/index.ts"
import { quietRegistry } from "../../../support/operations.ts"
import { real, serveReal } from "../support/real.ts"
import { waitFor } from "../../../support/wait-for.ts"

export const EVERYTHING = "@modelcontextprotocol/server-everything"
export const FILESYSTEM = "@modelcontextprotocol/server-filesystem"
export const MEMORY = "@modelcontextprotocol/server-memory"
export const THINKING = "@modelcontextprotocol/server-sequential-thinking"
export const CONTEXT7 = "@upstash/context7-mcp"

/** A server whose operations are in a registry. */
export interface UsedServer extends AsyncDisposable {
  readonly wrapper: MCPClientWrapper
  readonly registry: OperationRegistry
  /** Calls a tool by its name on the server. */
  call(tool: string, input?: object, options?: CallOptions): Promise<ResponseEnvelope>
}

/** Connects to a server and registers what it has; disposing of it makes sure that its process is gone. */
export async function use(name: string, config: MCPClientConfig): Promise<UsedServer> {
  const wrapper = await createMCPClient(name, { logger: silentLogger, ...config })
  const registry = quietRegistry()
  wrapper.registerAll(registry)
  return {
    wrapper,
    registry,
    call: (tool, input = {}, options) => registry.execute(`${name}.${tool}`, input, options),
    async [Symbol.asyncDispose]() {
      const { pid } = wrapper.status()
      await wrapper.close()
      expect(registry.list()).toEqual([])
      if (pid !== undefined) expect(isAlive(pid)).toBe(false)
    },
  }
}

/** What an envelope of a tool says beside its data. */
export function metaOf({ meta }: ResponseEnvelope): MCPResponseMeta {
  if (meta.source !== "mcp") throw new Error(`The envelope is of ${meta.source}.`)
  return meta
}

/** The texts of a result, one after the other. */
export function textOf(envelope: ResponseEnvelope): string {
  return metaOf(envelope)
    .content.map((block) => (block.type === "text" ? block.text : ""))
    .join("\n")
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A folder of its own, without links on the way to it, that goes away again. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "mcp-servers-")))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** The ways to the server with everything. */
export const CHANNELS = ["stdio", "streamableHttp", "sse"] as const

export type Channel = (typeof CHANNELS)[number]

/** Starts the server with everything, for one client or for any. */
export async function everything(
  channel: Channel,
): Promise<AsyncDisposable & { readonly config: MCPClientConfig }> {
  if (channel === "stdio") {
    return { config: real(EVERYTHING, "stdio"), async [Symbol.asyncDispose]() {} }
  }
  const http = await serveReal(EVERYTHING, () => [channel])
  const url = `http://127.0.0.1:${http.port}/${channel === "sse" ? "sse" : "mcp"}`
  return {
    config: channel === "sse" ? { url, type: "sse" } : { url },
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  }
}

/** A client of the server with everything for all tests of a block; there once they run. */
export function usingEverything(
  channel: Channel,
  config: MCPClientConfig = {},
): { readonly server: UsedServer } {
  let way: Awaited<ReturnType<typeof everything>>
  let used: UsedServer
  beforeAll(async () => {
    way = await everything(channel)
    used = await use("every", { ...way.config, ...config })
    // Some tools are there only once the server knows its client; it tells of them.
    const last = "every.simulate-research-query"
    await waitFor(() => expect(used.registry.has(last)).toBe(true))
  })
  afterAll(async () => {
    await used[Symbol.asyncDispose]()
    await way[Symbol.asyncDispose]()
  })
  return {
    get server() {
      return used
    },
  }
}
