import type { MCPToolDefinition } from "../mcp/model.ts"
import type { ToolCost } from "./model.ts"

/** An estimate. */
const BYTES_PER_TOKEN = 4

/** The bytes of a definition as JSON. */
export function bytesOf(definition: MCPToolDefinition): number {
  return new TextEncoder().encode(JSON.stringify(definition)).length
}

/** The size of a list of definitions, and an estimate of their tokens. */
export function costOf(sizes: readonly number[]): ToolCost {
  const brackets = 2 + Math.max(sizes.length - 1, 0)
  const bytes = sizes.reduce((sum, size) => sum + size, brackets)
  return { tools: sizes.length, bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) }
}
