import { DRY_RUN } from "../mcp/model.ts"
import { isRecord } from "../internal/guards.ts"
import type { SurfaceResult } from "./model.ts"

/** What a tool returned. */
export interface ToolOutcome {
  /** The call failed; the parts say why, and what to do. */
  readonly isError: boolean
  /** The code of the error, such as `VALIDATION_ERROR`. */
  readonly code?: string
  /** What the model receives. */
  readonly parts: readonly ToolPart[]
  /** The same as data, for programs; a long result is cut. */
  readonly data?: unknown
}

/** A part of an outcome; bytes are base64. */
export type ToolPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "file"
      readonly data: string
      readonly mimeType: string
      readonly name?: string
    }

/** The result of a tool as parts. */
export function outcomeOf({
  content,
  structuredContent,
  isError,
  _meta,
}: SurfaceResult): ToolOutcome {
  const error = _meta?.["alkdev.operations/error"]
  const code = isRecord(error) && typeof error["code"] === "string" ? error["code"] : undefined
  const report = _meta?.[DRY_RUN]
  // Some APIs refuse a message with an empty text.
  const parts = content.map(partOf).filter((part) => part.type !== "text" || part.text !== "")
  if (report !== undefined) return { isError: false, parts, data: report }
  return {
    isError: isError === true,
    ...(code !== undefined && { code }),
    parts,
    ...(structuredContent !== undefined && { data: structuredContent }),
  }
}

/** The texts of an outcome, one per line. */
export function textOf({ parts }: ToolOutcome): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : `[${part.type}: ${part.mimeType}]`))
    .join("\n")
}

function partOf(block: Readonly<Record<string, unknown>>): ToolPart {
  const { type, data, mimeType, resource, uri, name } = block
  if (type === "text") return { type, text: String(block["text"]) }
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { type, data, mimeType: String(mimeType) }
  }
  if (type === "resource" && isRecord(resource)) {
    const { blob, text, uri: place, mimeType: kind } = resource
    if (typeof text === "string") return { type: "text", text }
    if (typeof blob === "string") {
      const file = String(place).split("/").at(-1) ?? "result"
      const isKnown = typeof kind === "string"
      return {
        type: "file",
        data: blob,
        mimeType: isKnown ? kind : "application/octet-stream",
        name: file,
      }
    }
  }
  if (type === "resource_link") return { type: "text", text: `${String(name)}: ${String(uri)}` }
  return { type: "text", text: JSON.stringify(block) }
}
