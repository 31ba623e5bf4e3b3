import { pick, readSelection, type Selection } from "../schema/read/select.ts"
import { isFailedTool, type MCPResponseMeta, type ResponseEnvelope } from "./envelope.ts"
import { invalid } from "./validation.ts"

/**
 * Checks the paths that a caller wants of a result against its schema; `undefined` for none. Throws `VALIDATION_ERROR`.
 */
export function selectionOf(
  operationId: string,
  outputSchema: unknown,
  paths: unknown,
): Selection | undefined {
  if (paths === undefined || paths === null) return undefined
  const read = readSelection(paths, outputSchema)
  if ("selection" in read) return read.selection
  throw invalid("VALIDATION_ERROR", `Input for "${operationId}"`, read.issues)
}

/**
 * An envelope with the selected members of its data; of a tool's result also those of its content. The result of a tool
 * that failed stays as it is.
 */
export function selectData(
  envelope: ResponseEnvelope,
  selection: Selection | undefined,
): ResponseEnvelope {
  const { data, meta } = envelope
  if (selection === undefined || isFailedTool(meta)) return envelope
  const picked = pick(data, selection)
  return picked === data ? envelope : withData(envelope, picked, selection)
}

function withData(
  envelope: ResponseEnvelope,
  data: unknown,
  selection: Selection,
): ResponseEnvelope {
  const { meta } = envelope
  if (meta.source !== "mcp" || meta.tool === undefined) return { data, meta }
  if (hasContentOnly(meta)) {
    const content = meta.content.map((block) =>
      block?.type === "text" ? { ...block, text: pickText(block.text, selection) } : block,
    )
    return { data: content, meta: { ...meta, content } }
  }
  const others = meta.content.filter((block) => block?.type !== "text")
  const content = [{ type: "text" as const, text: JSON.stringify(data) }, ...others]
  const isStructured = meta.structuredContent !== undefined
  return { data, meta: { ...meta, content, ...(isStructured && { structuredContent: data }) } }
}

/** Whether the data of a tool's result is its content blocks. */
export function hasContentOnly(meta: MCPResponseMeta): boolean {
  const { tool, structuredContent, structuredFrom } = meta
  return tool !== undefined && structuredContent === undefined && structuredFrom === undefined
}

/** The value of the JSON text of an object or a list; the text itself if it is none. */
export function jsonOr(text: string): unknown {
  // Numbers that JSON.parse would change stay as they are written.
  const dense = text.replaceAll(/\s/g, "")
  if (!/^[[{]/.test(dense) || /[:,[]-?\d{16}/.test(dense)) return text
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value).length <= text.length ? value : text
  } catch {
    return text
  }
}

function pickText(text: string, selection: Selection): string {
  const value = jsonOr(text)
  return value === text ? text : JSON.stringify(pick(value, selection))
}
