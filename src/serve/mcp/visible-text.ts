import { withoutHiddenText } from "../../mcp/hidden-text.ts"
import type { JsonSchema } from "../../schema/json.ts"
import { mapSchemas } from "../../schema/read/plain-schema.ts"

/** Removes text that is invisible to people and would be read by models only. */
export function visibleText(text: string): string {
  return withoutHiddenText(text)
}

/** Removes invisible text from titles and descriptions; returns the same schema if there is none. */
export function visibleSchema(schema: JsonSchema): JsonSchema {
  let isChanged = false
  const changed = mapSchemas(schema, (node) => {
    let out = node
    for (const key of ["title", "description", "$comment"]) {
      const text = node[key]
      if (typeof text !== "string") continue
      const visible = withoutHiddenText(text)
      if (visible === text) continue
      isChanged = true
      out = { ...out, [key]: visible }
    }
    return out
  })
  return isChanged ? changed : schema
}
