import { frozenCopy } from "../../internal/frozen.ts"
import { isRecord, isString } from "../../internal/guards.ts"
import { depthOf } from "../../mcp/canonical.ts"
import { hiddenDataOf, withoutHiddenText } from "../../mcp/hidden-text.ts"
import type { MCPToolAnnotations, MCPToolDefinition } from "../../mcp/model.ts"

/** Maximum size of a definition, in characters of JSON. */
const MAX_SIZE = 1_000_000
/** Size past which there is a warning. */
const LARGE = 256_000
const MAX_DEPTH = 500

/**
 * Reads a tool of a list: returns a frozen copy with every field, or a text that says why it is invalid.
 *
 * Fields of the wrong type, except schemas, are left out, since they would break the types. `warn` receives
 * warnings about very large definitions.
 */
export function readTool(
  value: unknown,
  warn?: (message: string) => void,
): MCPToolDefinition | string {
  if (!isRecord(value)) return "it is not an object"
  const { name } = value
  if (typeof name !== "string" || name === "") return "it has no name"
  const size = sizeOf(value)
  if (typeof size === "string") return size
  if (size > MAX_SIZE) {
    return `its definition has ${size} characters, more than the maximum of ${MAX_SIZE}`
  }
  if (size > LARGE) {
    warn?.(`its definition has ${size} characters, which every model that sees it has to read`)
  }
  const tool = toDefinition(frozenCopy(value) as Readonly<Record<string, unknown>>, name)
  const hidden = hiddenDataOf(tool)
  if (hidden === undefined) return tool
  return `it hides ${hidden.characters.join(", ")} at ${withoutHiddenText(hidden.path)}, where models would have to send them back`
}

function sizeOf(value: unknown): number | string {
  if (depthOf(value, MAX_DEPTH) > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`
  try {
    return JSON.stringify(value).length
  } catch {
    return "it is not JSON"
  }
}

/** Keeps fields of the right type, in order; unknown fields stay unchanged. */
function toDefinition(fields: Readonly<Record<string, unknown>>, name: string): MCPToolDefinition {
  const kept = Object.entries(fields).flatMap(([key, value]) => {
    if (key === "annotations" && isRecord(value)) return [[key, annotationsOf(value)] as const]
    const isValid = FIELDS.get(key)
    return isValid === undefined || isValid(value) ? [[key, value] as const] : []
  })
  return Object.freeze({ ...Object.fromEntries(kept), name })
}

const FIELDS = new Map<string, (value: unknown) => boolean>([
  ["title", isString],
  ["description", isString],
  ["annotations", isRecord],
  ["icons", Array.isArray],
  ["execution", isRecord],
  ["_meta", isRecord],
])

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]

function annotationsOf(annotations: Readonly<Record<string, unknown>>): MCPToolAnnotations {
  const kept = Object.entries(annotations).filter(([key, value]) => {
    if (key === "title") return isString(value)
    return !HINTS.includes(key) || typeof value === "boolean"
  })
  return Object.freeze(Object.fromEntries(kept))
}
