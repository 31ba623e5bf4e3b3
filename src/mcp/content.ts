import type { MCPContentBlock } from "../core/envelope.ts"
import { isPlainRecord } from "../schema/json.ts"
import { printJson } from "./canonical.ts"

/** Blocks, and those of them that are of no known type. */
export interface MappedBlocks {
  /** One for each that came, in order. */
  readonly content: MCPContentBlock[]
  /** As they came; in `content` they are texts. */
  readonly unknown: unknown[]
}

/** Content blocks as they came, each field kept; what is none becomes a text with its JSON. */
export function mapMCPContentBlocks(blocks: unknown): MCPContentBlock[] {
  return mapBlocks(blocks).content
}

/** The same, with those that are of no known type once more. */
export function mapBlocks(blocks: unknown): MappedBlocks {
  const unknown: unknown[] = []
  const content = listOf(blocks).map((block): MCPContentBlock => {
    if (isContentBlock(block)) return block
    unknown.push(block)
    return { type: "text", text: printJson(block) }
  })
  return { content, unknown }
}

/** Whether a value is a block of a known type, with the fields that such a block has to have. */
function isContentBlock(value: unknown): value is MCPContentBlock {
  if (!isPlainRecord(value)) return false
  switch (value["type"]) {
    case "text":
      return isText(value["text"])
    case "image":
    case "audio":
      return isText(value["data"]) && isText(value["mimeType"])
    case "resource":
      return isPlainRecord(value["resource"]) && isText(value["resource"]["uri"])
    case "resource_link":
      return isText(value["uri"]) && isText(value["name"])
    default:
      return false
  }
}

// A single block where a list belongs is a mistake that loses nothing.
function listOf(blocks: unknown): readonly unknown[] {
  if (Array.isArray(blocks)) return blocks
  return blocks === undefined || blocks === null ? [] : [blocks]
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}
