import type { MCPOrigin, MCPToolAnnotations } from "../../mcp/model.ts"
import { isRecord } from "../../internal/guards.ts"
import type { OperationSpec } from "../../core/types.ts"

/** Where an imported operation comes from; `undefined` for any other. */
export function originOf(spec: OperationSpec): MCPOrigin | undefined {
  const origin = spec._meta?.["mcp"]
  return isRecord(origin) && typeof origin["server"] === "string"
    ? (origin as unknown as MCPOrigin)
    : undefined
}

/**
 * The annotations of a tool. Those of the definition take precedence; by default a query is read-only, and a
 * mutation may be destructive.
 */
export function annotationsOf(spec: OperationSpec): MCPToolAnnotations {
  const { readOnly, destructive, idempotent, openWorld } = spec.annotations ?? {}
  const readOnlyHint = readOnly ?? spec.type !== "mutation"
  return {
    readOnlyHint,
    ...(destructive === undefined
      ? !readOnlyHint && { destructiveHint: true }
      : { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    openWorldHint: openWorld ?? isRemote(spec),
  }
}

/** Whether results come from outside this process. */
function isRemote(spec: OperationSpec): boolean {
  const { _meta } = spec
  return _meta !== undefined && (_meta["mcp"] !== undefined || _meta["openapi"] !== undefined)
}
