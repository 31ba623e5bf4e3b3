import { lazyPartsOf } from "../core/lazy-operation.ts"
import { cutText } from "../internal/message-text.ts"
import { withoutHiddenText } from "../mcp/hidden-text.ts"
import type { OperationTool } from "./tool.ts"

/** Characters of the instructions of one imported server, and of all. */
const MAX_INSTRUCTIONS = 500
const MAX_ALL_INSTRUCTIONS = 4000

/** What trusted servers say about their tools, by namespace. */
export function importedInstructions(tools: Iterable<OperationTool>): string {
  const said = new Map<string, string>()
  for (const { spec } of tools) {
    if (said.has(spec.namespace)) continue
    const words = withoutHiddenText(lazyPartsOf(spec)?.instructions ?? "").split(/\s/)
    const text = words.filter((word) => word !== "").join(" ")
    if (text !== "") said.set(spec.namespace, cutText(text, MAX_INSTRUCTIONS))
  }
  const lines = Array.from(said, ([namespace, text]) => `${namespace}: ${text}`)
  return cutText(lines.join("\n"), MAX_ALL_INSTRUCTIONS)
}
