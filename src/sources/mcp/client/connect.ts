import { validateOptions, type OptionsSchema } from "../../../internal/options.ts"
import { MCP_FIELDS } from "../config-fields.ts"
import { resolveServer } from "../config-resolve.ts"
import type { MCPClientConfig } from "../config.ts"
import { memoryPins } from "../pins.ts"
import { createConnection } from "./connection.ts"
import type { MCPLogReader } from "./log-lines.ts"
import { disabledServer, openWrapper, Wrapper, type MCPClientWrapper } from "./wrapper.ts"

/** Options of `createMCPClient` besides the configuration. */
export interface CreateMCPClientOptions {
  /** Aborts connecting; everything opened so far is closed. */
  readonly signal?: AbortSignal | undefined
}

export const CREATE_CLIENT_OPTIONS: OptionsSchema<CreateMCPClientOptions> = { signal: "signal" }

/**
 * Connects to an MCP server and lists its tools. Close the returned client when you no longer need it.
 *
 * `name` is the namespace of the operations. Rejects with a `CallError` that says what to do when the
 * configuration is invalid or the server cannot be used; nothing is left running then.
 */
export async function createMCPClient(
  name: string,
  config: MCPClientConfig,
  options: CreateMCPClientOptions = {},
): Promise<MCPClientWrapper> {
  validateOptions("createMCPClient", config, MCP_FIELDS)
  validateOptions("createMCPClient", options, CREATE_CLIENT_OPTIONS)
  return await connectClient(name, config, options.signal)
}

/** Closes a client: its connection, its process and its registrations. May be called more than once. */
export async function closeMCPClient(wrapper: MCPClientWrapper): Promise<void> {
  await wrapper.close()
}

/**
 * Connects to an MCP server; the configuration may come from a file. `log` receives what the server logs.
 *
 * Rejects with a `CallError` that says what to do; nothing is left running then.
 */
export async function connectClient(
  name: string,
  config: MCPClientConfig,
  signal: AbortSignal | undefined,
  log?: MCPLogReader,
): Promise<MCPClientWrapper> {
  const server = resolveServer(name, config)
  if (server.disabled) throw disabledServer(name)
  const connection = createConnection(server, { log })
  const opened = await openWrapper(server, connection, server.pins ?? memoryPins(), signal)
  if (opened instanceof Wrapper) return opened
  throw opened.error
}
