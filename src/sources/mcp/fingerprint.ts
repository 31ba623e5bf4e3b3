import { canonicalJson } from "../../mcp/canonical.ts"
import type { MCPToolDefinition } from "../../mcp/model.ts"
import { sha256Hex } from "../../internal/sha256.ts"

/** The parts of a tool that a model sees, and that a change could use to mislead it. */
export interface PinnedDefinition extends Pick<
  MCPToolDefinition,
  "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
> {}

/** Extracts the pinned part of a definition. */
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
 * SHA-256, in hexadecimal digits, of the parts of a tool that a model sees.
 *
 * Independent of the order of keys. Synchronous, so that a list of tools is compared in one turn.
 */
export function fingerprintOf(tool: MCPToolDefinition): string {
  return sha256Hex(canonicalJson(pinnedPart(tool)))
}
