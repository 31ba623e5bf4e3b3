// Files in which editors keep their MCP servers: `.mcp.json`, `.vscode/mcp.json`, Claude's, opencode's.

import { basename } from "node:path"
import { isPlainRecord } from "../../schema/json.ts"

/** Where the servers stand in a file of an editor. */
export interface EditorConfig {
  readonly servers: Readonly<Record<string, unknown>>
  readonly keys: readonly string[]
}

/** Under which keys programs keep their servers. */
const PLACES: readonly (readonly string[])[] = [
  ["mcpServers"],
  ["servers"],
  ["mcp", "servers"],
  ["mcp"],
  ["context_servers"],
]
const OURS = ["sources", "server", "registry"]

/**
 * The servers of a file that is an editor's rather than ours; `undefined` otherwise. Such a file may hold
 * much beside, which is none of our business.
 */
export function editorConfig(value: unknown, file: string): EditorConfig | undefined {
  if (!isPlainRecord(value) || basename(file).startsWith("operations.config.")) return undefined
  if (OURS.some((key) => Object.hasOwn(value, key))) return undefined
  for (const keys of PLACES) {
    const servers = at(value, keys)
    if (isPlainRecord(servers) && Object.values(servers).some(isEntry)) return { servers, keys }
  }
  // Just servers by name, in a file that says so.
  const isNamed = /^\.?mcp\.jsonc?$/.test(basename(file))
  return isNamed && Object.values(value).some(isEntry) ? { servers: value, keys: [] } : undefined
}

function at(value: unknown, keys: readonly string[]): unknown {
  let current = value
  for (const key of keys) {
    if (!isPlainRecord(current) || !Object.hasOwn(current, key)) return undefined
    current = current[key]
  }
  return current
}

function isEntry(value: unknown): boolean {
  return (
    isPlainRecord(value) &&
    ["command", "url", "serverUrl", "httpUrl"].some((key) => Object.hasOwn(value, key))
  )
}
