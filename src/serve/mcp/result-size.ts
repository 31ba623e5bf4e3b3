import { isRecord } from "../../internal/guards.ts"
import type { SurfaceResult } from "./model.ts"
import type { OperationTool } from "./tool.ts"

/** Usual names of inputs that make results smaller. */
const NARROWING =
  /^_?(?:limit|max(?:_?results|_?items)?|count|first|top|take|page(?:_?size)?|per_?page|offset|cursor|after|before|since|until|from|to|start|end|range|fields|select|filter|query|q|search|head|tail|lines)$/i

/** Returns the result, or an error in place of one that is too large for most clients. */
export function boundedResult(
  tool: OperationTool,
  result: SurfaceResult,
  most: number,
): SurfaceResult {
  const bytes = sizeOf(result, most)
  return bytes <= most ? result : tooLarge(tool, bytes, most)
}

/** The error for a result that is too large, with inputs that would make it smaller. */
function tooLarge(tool: OperationTool, bytes: number, most: number): SurfaceResult {
  const { properties } = tool.form.schema
  const names = isRecord(properties) ? Object.keys(properties) : []
  const useful = names.filter((name) => NARROWING.test(name)).map((name) => `"${name}"`)
  const cure =
    useful.length > 0
      ? `Ask for less with ${useful.join(", ")}.`
      : "Ask for less, or for parts of it."
  const effect = tool.spec.type === "mutation" ? " The operation ran." : ""
  const text = `PAYLOAD_TOO_LARGE: The result of "${tool.id}" has ${inMegabytes(bytes)}, more than the ${inMegabytes(most)} that are sent.${effect} ${cure}`
  return { content: [{ type: "text", text }], isError: true }
}

/** Bytes of a result as JSON; exact only near the limit. */
function sizeOf(result: SurfaceResult, most: number): number {
  if (roughly(result.content) + roughly(result.structuredContent) + roughly(result._meta) <= most) {
    return 0
  }
  return new TextEncoder().encode(JSON.stringify(result)).length
}

/** An upper bound of the bytes: a character takes at most six. */
function roughly(value: unknown): number {
  if (typeof value === "string") return value.length * 6 + 2
  if (typeof value !== "object" || value === null) return 26
  let bytes = 2
  if (Array.isArray(value)) for (const item of value) bytes += roughly(item) + 1
  else {
    for (const key of Object.keys(value)) {
      bytes += key.length * 6 + 4 + roughly((value as Readonly<Record<string, unknown>>)[key])
    }
  }
  return bytes
}

function inMegabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / (1024 * 1024)).toFixed(1)} MB`
}
