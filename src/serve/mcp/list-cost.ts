import type { MCPToolDefinition } from "../../mcp/model.ts"

/** Size of a list of tools in a model's context. */
export interface ListCost {
  readonly tools: number
  readonly bytes: number
  /** An estimate: about four bytes per token. */
  readonly tokens: number
}

const BYTES_PER_TOKEN = 4

/** Computes the bytes of definitions as JSON, and estimates their tokens. */
export function costOf(definitions: readonly MCPToolDefinition[]): ListCost {
  const encoder = new TextEncoder()
  let bytes = 2 + Math.max(definitions.length - 1, 0)
  // One by one: a large registry would be a very large text.
  for (const definition of definitions) bytes += encoder.encode(JSON.stringify(definition)).length
  return { tools: definitions.length, bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) }
}
