import type { MCPToolDefinition } from "../../mcp/model.ts"

/** What a list of tools costs a model that is shown it. */
export interface ListCost {
  readonly tools: number
  readonly bytes: number
  /** An estimate: definitions of tools have about four bytes to a token. */
  readonly tokens: number
}

const BYTES_PER_TOKEN = 4

/** Bytes of the definitions as JSON, and about how many tokens that is. */
export function costOf(definitions: readonly MCPToolDefinition[]): ListCost {
  const encoder = new TextEncoder()
  let bytes = 2 + Math.max(definitions.length - 1, 0)
  // One by one: all of a large registry would be a very large text.
  for (const definition of definitions) bytes += encoder.encode(JSON.stringify(definition)).length
  return { tools: definitions.length, bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) }
}
