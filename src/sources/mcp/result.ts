import { mcpEnvelope, type MCPResponseMeta, type ResponseEnvelope } from "../../core/envelope.ts"
import { isRecord } from "../../internal/guards.ts"
import { mapBlocks, type MappedBlocks } from "../../mcp/content.ts"
import type { JsonObject, MCPToolDefinition, MCPToolResult } from "../../mcp/model.ts"
import type { MCPPeer } from "./client/model.ts"

/** The origin of a result. */
export interface AnswerOrigin {
  /** The namespace. */
  readonly server: string
  readonly peer: Pick<MCPPeer, "era" | "protocolVersion" | "serverInfo"> | undefined
  readonly durationMs: number
}

/** The origin of a tool's result. */
export interface ToolAnswerOrigin extends AnswerOrigin {
  readonly tool: MCPToolDefinition
  /** Whether a value matches the output schema; asked only to read a text as data. */
  readonly isOutput: (value: unknown) => boolean
}

/**
 * Creates the envelope of a tool's result.
 *
 * The data is the structured result, which may be any JSON value. Without one it is the content blocks; or, if
 * the tool declares an output schema and its only text is JSON that matches it, that JSON.
 */
export function toolEnvelope(result: MCPToolResult, about: ToolAnswerOrigin): ResponseEnvelope {
  const mapped = mapBlocks(result.content)
  const isError = result.isError === true
  const meta = {
    ...metaOf(mapped, isError, result._meta, about),
    tool: about.tool.name,
    ...(result.structuredContent !== undefined && { structuredContent: result.structuredContent }),
  }
  if (result.structuredContent !== undefined) return mcpEnvelope(result.structuredContent, meta)
  const read = isError ? undefined : readText(mapped, about)
  if (read === undefined) return mcpEnvelope(mapped.content, meta)
  return mcpEnvelope(read.value, { ...meta, structuredFrom: "text" })
}

/** Creates the envelope of a resource: the data is the result without its `_meta`. */
export function resourceEnvelope(result: JsonObject, about: AnswerOrigin): ResponseEnvelope {
  const { contents } = result
  const parts: readonly unknown[] = Array.isArray(contents) ? contents : []
  const mapped = mapBlocks(parts.map((resource) => ({ type: "resource", resource })))
  return mcpEnvelope({ contents: parts }, metaOf(mapped, false, result["_meta"], about))
}

/** Creates the envelope of a prompt: the data is its description and messages. */
export function promptEnvelope(result: JsonObject, about: AnswerOrigin): ResponseEnvelope {
  const { description, messages } = result
  const list: readonly unknown[] = Array.isArray(messages) ? messages : []
  const mapped = mapBlocks(list.map((item) => (isRecord(item) ? item["content"] : item)))
  const data = { ...(typeof description === "string" && { description }), messages: list }
  return mcpEnvelope(data, metaOf(mapped, false, result["_meta"], about))
}

function metaOf(
  { content, unknown }: MappedBlocks,
  isError: boolean,
  own: unknown,
  { server, peer, durationMs }: AnswerOrigin,
): Omit<MCPResponseMeta, "source"> {
  return {
    isError,
    content,
    ...(isRecord(own) && { _meta: own }),
    server,
    ...(peer?.serverInfo !== undefined && { serverInfo: peer.serverInfo }),
    ...(peer !== undefined && { protocolVersion: peer.protocolVersion, era: peer.era }),
    durationMs,
    ...(unknown.length > 0 && { unknownBlocks: unknown }),
  }
}

/** Parses the only text of a result as JSON, if it matches the tool's output schema. */
function readText(
  { content, unknown }: MappedBlocks,
  { tool, isOutput }: ToolAnswerOrigin,
): { readonly value: unknown } | undefined {
  if (tool.outputSchema === undefined) return undefined
  const texts = content.filter((block) => block.type === "text")
  const [only] = texts
  // Blocks of unknown type have become texts here.
  if (only === undefined || texts.length > 1 || unknown.length > 0) return undefined
  try {
    const value: unknown = JSON.parse(only.text)
    return isOutput(value) ? { value } : undefined
  } catch {
    return undefined
  }
}
