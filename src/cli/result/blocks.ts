import { Buffer } from "node:buffer"
import { isRecord } from "../../internal/guards.ts"
import type { MCPContentBlock, ResponseEnvelope } from "../../core/envelope.ts"

/** Bytes of a result and their media type. */
export interface ResultBytes {
  readonly bytes: Uint8Array
  readonly type: string
}

/** The content blocks of a result that has nothing else; `undefined` when it is data. */
export function blocksOf({ data, meta }: ResponseEnvelope): readonly MCPContentBlock[] | undefined {
  if (meta.source !== "mcp" || meta.structuredContent !== undefined) return undefined
  if (meta.structuredFrom !== undefined || !Array.isArray(data)) return undefined
  const isBlocks = data.every((one) => isRecord(one) && typeof one["type"] === "string")
  return isBlocks ? meta.content : undefined
}

/** Everything binary in a result: its data, or images, sounds and files among its blocks. */
export function bytesIn({ data, meta }: ResponseEnvelope): readonly ResultBytes[] {
  const own = asBytes(data)
  if (own !== undefined) {
    return [{ bytes: own, type: meta.source === "http" ? meta.contentType : "bytes" }]
  }
  if (meta.source !== "mcp") return []
  return meta.content.flatMap((block): readonly ResultBytes[] => {
    if (block.type === "image" || block.type === "audio") {
      return [{ bytes: Buffer.from(block.data, "base64"), type: block.mimeType }]
    }
    if (block.type !== "resource" || block.resource.blob === undefined) return []
    const { blob, mimeType = "bytes" } = block.resource
    return [{ bytes: Buffer.from(blob, "base64"), type: mimeType }]
  })
}

/** The bytes of any binary value. */
export function asBytes(data: unknown): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data
  return data instanceof ArrayBuffer ? new Uint8Array(data) : undefined
}

/** A content block as text. */
export function blockText(block: MCPContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text
    case "image":
    case "audio":
      return `[${block.type}: ${block.mimeType}, ${size(block.data)}]`
    case "resource": {
      const { uri, text, blob = "", mimeType = "bytes" } = block.resource
      return text ?? `[${uri}: ${mimeType}, ${size(blob)}]`
    }
    case "resource_link":
      return `[${block.title ?? block.name}: ${block.uri}]`
  }
}

/** A size for people. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000
    ? `${(bytes / 1000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function size(base64: string): string {
  return sizeText(Buffer.byteLength(base64, "base64"))
}
