import type { MCPContentBlock } from "../core/envelope.ts"
import { isRecord, isString } from "../internal/guards.ts"
import { printJson } from "./canonical.ts"

/** Content blocks, and those of unknown type. */
export interface MappedBlocks {
  /** One block per received block, in order. */
  readonly content: MCPContentBlock[]
  /** The blocks of unknown type as received; in `content` they are texts. */
  readonly unknown: unknown[]
}

/** Maps content blocks, keeping every field; an invalid block becomes a text with its JSON. */
export function mapMCPContentBlocks(blocks: unknown): MCPContentBlock[] {
  return mapBlocks(blocks).content
}

/** Like `mapMCPContentBlocks`, and lists the blocks of unknown type. */
export function mapBlocks(blocks: unknown): MappedBlocks {
  const unknown: unknown[] = []
  const content = listOf(blocks).map((block): MCPContentBlock => {
    if (isContentBlock(block)) return block
    unknown.push(block)
    return { type: "text", text: printJson(block) }
  })
  return { content, unknown }
}

/** Whether a value is a block of a known type with its required fields. */
function isContentBlock(value: unknown): value is MCPContentBlock {
  if (!isRecord(value)) return false
  switch (value["type"]) {
    case "text":
      return isString(value["text"])
    case "image":
    case "audio":
      return isString(value["data"]) && isString(value["mimeType"])
    case "resource":
      return isRecord(value["resource"]) && isString(value["resource"]["uri"])
    case "resource_link":
      return isString(value["uri"]) && isString(value["name"])
    default:
      return false
  }
}

// Tolerates a single block where a list belongs.
function listOf(blocks: unknown): readonly unknown[] {
  if (Array.isArray(blocks)) return blocks
  return blocks === undefined || blocks === null ? [] : [blocks]
}
