// Files in which editors keep their MCP servers: `.mcp.json`, `.vscode/mcp.json`, Claude's, opencode's.

import { basename } from "node:path"
import { valueAt } from "../../internal/pointer.ts"
import { isRecord } from "../../internal/guards.ts"

/** MCP servers in an editor's file, and the path of keys to them. */
export interface EditorConfig {
  readonly servers: Readonly<Record<string, unknown>>
  readonly keys: readonly string[]
}

/** Paths of keys under which editors keep their servers. */
const PLACES: readonly (readonly string[])[] = [
  ["mcpServers"],
  ["servers"],
  ["mcp", "servers"],
  ["mcp"],
  ["context_servers"],
]
const OURS = ["sources", "server", "registry"]

/**
 * Finds the servers of a file that belongs to an editor; `undefined` for a file of ours. Whatever else
 * such a file holds is ignored.
 */
export function editorConfig(value: unknown, file: string): EditorConfig | undefined {
  if (!isRecord(value) || basename(file).startsWith("operations.config.")) return undefined
  if (OURS.some((key) => Object.hasOwn(value, key))) return undefined
  for (const keys of PLACES) {
    const servers = valueAt(value, keys)
    if (isRecord(servers) && Object.values(servers).some(isEntry)) return { servers, keys }
  }
  // A file named `mcp.json` may consist of the servers alone.
  const isNamed = /^\.?mcp\.jsonc?$/.test(basename(file))
  return isNamed && Object.values(value).some(isEntry) ? { servers: value, keys: [] } : undefined
}

function isEntry(value: unknown): boolean {
  return (
    isRecord(value) &&
    ["command", "url", "serverUrl", "httpUrl"].some((key) => Object.hasOwn(value, key))
  )
}
