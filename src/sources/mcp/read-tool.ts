import { frozenCopy } from "../../internal/frozen.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { depthOf } from "../../mcp/canonical.ts"
import type { MCPToolAnnotations, MCPToolDefinition } from "../../mcp/model.ts"

/** Characters of JSON past which a definition is refused. */
const MAX_SIZE = 1_000_000
/** Past which it is told of. */
const LARGE = 256_000
const MAX_DEPTH = 500

/**
 * A tool of a list, frozen and with every field as it came, or why it is none.
 *
 * What is beside the schemas and of the wrong type is left out: it would mislead whoever trusts the
 * types. `warn` hears of tools that are taken and cost more than they should.
 */
export function readTool(
  value: unknown,
  warn?: (message: string) => void,
): MCPToolDefinition | string {
  if (!isPlainRecord(value)) return "it is no object"
  const { name } = value
  if (typeof name !== "string" || name === "") return "it has no name"
  const size = sizeOf(value)
  if (typeof size === "string") return size
  if (size > MAX_SIZE) {
    return `its definition has ${size} characters, more than the ${MAX_SIZE} that are taken`
  }
  if (size > LARGE) {
    warn?.(`its definition has ${size} characters, which every model that sees it has to read`)
  }
  return sound(frozenCopy(value) as Readonly<Record<string, unknown>>, name)
}

function sizeOf(value: unknown): number | string {
  if (depthOf(value, MAX_DEPTH) > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`
  try {
    return JSON.stringify(value).length
  } catch {
    return "it is not JSON"
  }
}

/** Fields as the types say, in the order in which they came; what is not known here as it is. */
function sound(fields: Readonly<Record<string, unknown>>, name: string): MCPToolDefinition {
  const kept = Object.entries(fields).flatMap(([key, value]) => {
    if (key === "annotations" && isPlainRecord(value)) return [[key, annotationsOf(value)] as const]
    const isSound = FIELDS.get(key)
    return isSound === undefined || isSound(value) ? [[key, value] as const] : []
  })
  return Object.freeze({ ...Object.fromEntries(kept), name })
}

const isText = (value: unknown): boolean => typeof value === "string"

const FIELDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["title", isText],
  ["description", isText],
  ["annotations", isPlainRecord],
  ["icons", Array.isArray],
  ["execution", isPlainRecord],
  ["_meta", isPlainRecord],
])

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]

function annotationsOf(given: Readonly<Record<string, unknown>>): MCPToolAnnotations {
  const kept = Object.entries(given).filter(([key, value]) => {
    if (key === "title") return isText(value)
    return !HINTS.includes(key) || typeof value === "boolean"
  })
  return Object.freeze(Object.fromEntries(kept))
}
