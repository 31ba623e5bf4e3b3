import { isPlainJson } from "./plain-json.ts"
import type { OperationSpec } from "./types.ts"
import type { ValueError } from "./validation.ts"

/** Validates how MCP servers show an operation. */
export function exposureIssues({ mcp }: Pick<OperationSpec, "mcp">): ValueError[] {
  if (mcp === undefined || isPlainJson(mcp)) return []
  return [{ path: "/mcp", message: "must be JSON data: clients receive it" }]
}
