// Converts results of operations to the contents of resources and the messages of prompts.

import type { ResponseEnvelope } from "../../core/envelope.ts"
import { isRecord } from "../../internal/guards.ts"
import type { JsonObject } from "../../mcp/model.ts"
import { mimeTypeOf } from "../../mcp/served-as.ts"
import { withoutServer } from "../../tools/results.ts"
import type { SurfaceResult } from "../../tools/model.ts"
import type { OperationTool } from "../../tools/tool.ts"

/** The data of an operation that has the form of the protocol already, with the `_meta` of its server. */
export function readyResult(
  { data, meta }: ResponseEnvelope,
  member: "contents" | "messages",
): JsonObject | undefined {
  if (!isRecord(data) || !Array.isArray(data[member])) return undefined
  if (!(data[member] as unknown[]).every(isRecord)) return undefined
  if (meta.source !== "mcp" || !isRecord(meta._meta)) return data
  return { ...data, _meta: withoutServer(meta._meta) }
}

/** The contents of a resource whose operation returned data of its own. */
export function contentsOf(
  { content }: SurfaceResult,
  data: unknown,
  uri: string,
  { id, spec }: OperationTool,
): readonly JsonObject[] {
  const declared = mimeTypeOf(spec.outputSchema)
  const mimeType = declared ?? (typeof data === "string" ? "text/plain" : "application/json")
  return content.map((block) => {
    const { type, text, data: bytes, resource, mimeType: own = mimeType } = block
    if (type === "text") return { uri, mimeType, text }
    if (type === "image" || type === "audio") return { uri, mimeType: own, blob: bytes }
    if (type !== "resource" || !isRecord(resource))
      return { uri, mimeType: "application/json", text: JSON.stringify(block) }
    const isOwn = !String(resource["uri"]).startsWith(`operation://${id}/`)
    return isOwn ? resource : { ...resource, uri }
  })
}
