import { CallError } from "../../../core/errors.ts"
import type { MCPClientConfig } from "../config.ts"
import { disabledStatus, failedStatus } from "./status.ts"
import type { MCPServerStatus } from "./status.ts"
import type { MCPClientWrapper, Wrapper } from "./wrapper.ts"

/** The servers that are connected, and what became of each that was asked for. */
export type MCPLoaded = MCPClientWrapper[] & {
  readonly servers: Readonly<Record<string, MCPServerStatus>>
}

/** A server that was asked for. */
export interface Entry {
  /** `undefined`: there is none that could be used. */
  readonly config: MCPClientConfig | undefined
  readonly wrapper: Wrapper | undefined
  /** Why there is no wrapper, or why the one there is was not replaced. */
  readonly trouble: MCPServerStatus | undefined
}

/** What `load` gives for the servers it was asked for. */
export function loadedOf(names: readonly string[], entries: ReadonlyMap<string, Entry>): MCPLoaded {
  const wrappers: Wrapper[] = []
  const servers: [string, MCPServerStatus][] = []
  for (const name of names) {
    const { wrapper, trouble } = entries.get(name) ?? {}
    if (wrapper !== undefined && trouble === undefined) wrappers.push(wrapper)
    servers.push([name, trouble ?? wrapper?.status() ?? failedStatus(name, closedMeanwhile(name))])
  }
  // Not enumerable: the array holds servers and nothing else.
  return Object.defineProperty(wrappers, "servers", {
    value: Object.freeze(Object.fromEntries(servers)),
  }) as unknown as MCPLoaded
}

/** How a server is doing, whatever became of the last attempt to load it. */
export function entryStatus(name: string, { wrapper, trouble }: Entry): MCPServerStatus {
  if (wrapper === undefined) return trouble ?? disabledStatus(name)
  const status = wrapper.status()
  if (trouble === undefined) return status
  const why = trouble.error?.message ?? "unknown reason"
  const warning = `It could not be loaded again, and stays as it was: ${why}`
  return { ...status, warnings: [...status.warnings, warning] }
}

/** The error for a server that shares a namespace with another. */
export function namespaceTaken(server: string, namespace: string, owner: string): CallError {
  return new CallError(
    "CONFLICT",
    `MCP server "${server}" was not loaded: the namespace "${namespace}" belongs to server "${owner}". Give one of them another name.`,
    { details: { server, namespace }, mayHaveExecuted: false },
  )
}

/** The error for a server that nobody loaded. */
export function unknownServer(name: string, known: readonly string[]): CallError {
  const names = known.map((one) => `"${one}"`).join(", ")
  return new CallError(
    "OPERATION_NOT_FOUND",
    `No MCP server "${name}" is loaded. Loaded: ${names || "none"}.`,
    { details: { server: name }, mayHaveExecuted: false },
  )
}

/** The error for a server whose loader was closed before it was ready. */
export function closedMeanwhile(name: string): CallError {
  return new CallError(
    "ABORTED",
    `MCP server "${name}" was not loaded: closeAll() was called meanwhile.`,
    { details: { server: name }, mayHaveExecuted: false },
  )
}
