import type { OperationSpec } from "../core/types.ts"
import { isRecord } from "../internal/guards.ts"
import type { MCPOrigin } from "./model.ts"

/** An operation that MCP clients use as a resource or a prompt. */
export interface ServedAs {
  readonly as: "resource" | "prompt"
  /** The address of a resource, or a template of addresses. */
  readonly uri?: string | undefined
  readonly mimeType?: string | undefined
  /** The name of an imported prompt on its server. */
  readonly prompt?: string | undefined
}

/** Where an operation of an MCP server comes from; `undefined` for others. */
export function originOf({ _meta }: Pick<OperationSpec, "_meta">): MCPOrigin | undefined {
  const origin = _meta?.["mcp"] as MCPOrigin | undefined
  return isRecord(origin) && typeof origin.server === "string" ? origin : undefined
}

/** What MCP clients use an operation as; `undefined` for a tool. */
export function servedAs(
  spec: Pick<OperationSpec, "mcp" | "_meta" | "outputSchema">,
): ServedAs | undefined {
  const { as, uri } = spec.mcp ?? {}
  if (as === "resource") return { as, uri, mimeType: mimeTypeOf(spec.outputSchema) }
  if (as !== undefined) return as === "prompt" ? { as } : undefined
  const { kind, definition } = originOf(spec) ?? {}
  if (!isRecord(definition) || kind === "tool") return undefined
  if (kind === "prompt") return { as: kind, prompt: textAt(definition["name"]) }
  return {
    as: "resource",
    uri: textAt(definition["uri"]) ?? textAt(definition["uriTemplate"]),
    mimeType: textAt(definition["mimeType"]),
  }
}

/** The media type of a result that its schema declares. */
export function mimeTypeOf(outputSchema: unknown): string | undefined {
  const { contentMediaType, type } = (outputSchema ?? {}) as Readonly<Record<string, unknown>>
  if (typeof contentMediaType === "string") return contentMediaType
  if (type === "string") return "text/plain"
  return type === "object" || type === "array" ? "application/json" : undefined
}

function textAt(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
