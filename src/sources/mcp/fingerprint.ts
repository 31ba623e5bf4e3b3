import { canonicalJson } from "../../mcp/canonical.ts"
import type { MCPToolDefinition } from "../../mcp/model.ts"
import { sha256Hex } from "../../internal/sha256.ts"

/** What of a tool a model sees: what a change of it could mislead with. */
export interface PinnedDefinition extends Pick<
  MCPToolDefinition,
  "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
> {}

/** The part of a definition that is pinned. */
export function pinnedPart(tool: MCPToolDefinition): PinnedDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  }
}

/**
 * SHA-256, in hexadecimal digits, of what a model sees of a tool.
 *
 * The order of keys does not matter, everything else does. Synchronous: a list of tools is judged in
 * one turn.
 */
export function fingerprintOf(tool: MCPToolDefinition): string {
  return sha256Hex(canonicalJson(pinnedPart(tool)))
}
