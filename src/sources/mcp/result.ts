import { mcpEnvelope } from "../../core/envelope.ts"
import type { MCPContentBlock, MCPResponseMeta, ResponseEnvelope } from "../../core/envelope.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { mapBlocks } from "../../mcp/content.ts"
import type { MappedBlocks } from "../../mcp/content.ts"
import type { MCPEra, MCPToolDefinition, MCPToolResult } from "../../mcp/model.ts"

/** Who answered; `MCPPeer` is one. */
export interface AnsweringPeer {
  readonly era: MCPEra
  readonly protocolVersion: string
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined
}

/** Where a result is from. */
export interface AnswerOrigin {
  /** The namespace. */
  readonly server: string
  readonly peer: AnsweringPeer | undefined
  readonly durationMs: number
}

/** The compiled form of an output schema; one that accepts everything tells nothing. */
export interface OutputCheck {
  readonly isOpen?: boolean
  check(value: unknown): boolean
}

/** Where the result of a tool is from. */
export interface ToolAnswerOrigin extends AnswerOrigin {
  readonly tool: MCPToolDefinition
  /** The check of the output schema, `compileSchema(operation.outputSchema)`; only for reading a text as data. */
  readonly output?: OutputCheck | undefined
}

/**
 * The envelope of what a tool call came back with.
 *
 * The data is the structured result, whatever JSON value it is. Without one it is the blocks, or, of
 * a tool that declares an output schema, what its only text says, if that fits.
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

/** The envelope of a resource that was read: the data is the result without its `_meta`. */
export function resourceEnvelope(
  result: Readonly<Record<string, unknown>>,
  about: AnswerOrigin,
): ResponseEnvelope {
  const { contents } = result
  const parts: readonly unknown[] = Array.isArray(contents) ? contents : []
  const mapped = mapBlocks(parts.map((resource) => ({ type: "resource", resource })))
  return mcpEnvelope({ contents: parts }, metaOf(mapped, false, result["_meta"], about))
}

/** The envelope of a prompt that was filled in: the data is its description and messages. */
export function promptEnvelope(
  result: Readonly<Record<string, unknown>>,
  about: AnswerOrigin,
): ResponseEnvelope {
  const { description, messages } = result
  const list: readonly unknown[] = Array.isArray(messages) ? messages : []
  const mapped = mapBlocks(list.map((item) => (isPlainRecord(item) ? item["content"] : item)))
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
    ...(isPlainRecord(own) && { _meta: own }),
    server,
    ...(peer?.serverInfo !== undefined && { serverInfo: peer.serverInfo }),
    ...(peer !== undefined && { protocolVersion: peer.protocolVersion, era: peer.era }),
    durationMs,
    ...(unknown.length > 0 && { unknownBlocks: unknown }),
  }
}

/** What the only text of a result says, where the tool promised data and the text is such data. */
function readText(
  { content, unknown }: MappedBlocks,
  { tool, output }: ToolAnswerOrigin,
): { readonly value: unknown } | undefined {
  if (tool.outputSchema === undefined || output === undefined || output.isOpen === true) {
    return undefined
  }
  const texts = content.filter(isTextBlock)
  const [only] = texts
  // A block of an unknown type is a text here, too, and was none when it came.
  if (only === undefined || texts.length > 1 || unknown.length > 0) return undefined
  try {
    const value: unknown = JSON.parse(only.text)
    return output.check(value) ? { value } : undefined
  } catch {
    return undefined
  }
}

function isTextBlock(block: MCPContentBlock): block is MCPContentBlock & { type: "text" } {
  return block.type === "text"
}
