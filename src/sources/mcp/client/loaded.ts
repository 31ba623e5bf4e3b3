import { CallError } from "../../../core/errors.ts"
import type { MCPClientConfig } from "../config.ts"
import { disabledStatus, failedStatus, type MCPServerStatus } from "./status.ts"
import type { MCPClientWrapper } from "./client.ts"
import type { Wrapper } from "./wrapper.ts"

/** The connected servers, and the status of every requested one. */
export type MCPLoaded = MCPClientWrapper[] & {
  readonly servers: Readonly<Record<string, MCPServerStatus>>
}

/** A requested server. */
export interface LoadedEntry {
  /** `undefined` when the configuration is not valid. */
  readonly config: MCPClientConfig | undefined
  readonly wrapper: Wrapper | undefined
  /** Why there is no wrapper, or why the existing one was not replaced. */
  readonly failure: MCPServerStatus | undefined
}

/** The result of `load`. */
export function loadedOf(
  names: readonly string[],
  entries: ReadonlyMap<string, LoadedEntry>,
): MCPLoaded {
  const wrappers: Wrapper[] = []
  const servers: [string, MCPServerStatus][] = []
  for (const name of names) {
    const { wrapper, failure } = entries.get(name) ?? {}
    if (wrapper !== undefined && failure === undefined) wrappers.push(wrapper)
    servers.push([
      name,
      failure ?? wrapper?.status() ?? failedStatus(name, loaderClosedError(name)),
    ])
  }
  // Not enumerable: iterating the array yields servers only.
  return Object.defineProperty(wrappers, "servers", {
    value: Object.freeze(Object.fromEntries(servers)),
  }) as unknown as MCPLoaded
}

/** The status of a server, including a failed attempt to load it again. */
export function entryStatus(name: string, { wrapper, failure }: LoadedEntry): MCPServerStatus {
  if (wrapper === undefined) return failure ?? disabledStatus(name)
  const status = wrapper.status()
  if (failure === undefined) return status
  const why = failure.error?.message ?? "unknown reason"
  const warning = `Loading it again failed, so the old connection stays: ${why}`
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

/** The error for a server that is not loaded. */
export function unknownServer(name: string, loaded: readonly string[]): CallError {
  const names = loaded.map((one) => `"${one}"`).join(", ")
  return new CallError(
    "OPERATION_NOT_FOUND",
    `No MCP server "${name}" is loaded. Loaded: ${names || "none"}.`,
    { details: { server: name }, mayHaveExecuted: false },
  )
}

/** The error for a server whose loader was closed before it was ready. */
export function loaderClosedError(name: string): CallError {
  return new CallError(
    "ABORTED",
    `MCP server "${name}" was not loaded: closeAll() was called in the meantime.`,
    { details: { server: name }, mayHaveExecuted: false },
  )
}
