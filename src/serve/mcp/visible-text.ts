import { withoutHiddenText } from "../../mcp/hidden-text.ts"
import type { JsonSchema } from "../../schema/json.ts"
import { mapSchemas } from "../../schema/read/plain-schema.ts"

/** A text as a person sees it: what only a model would read is gone. */
export function visibleText(text: string): string {
  return withoutHiddenText(text)
}

/** A schema whose titles and descriptions are as a person sees them; itself when they are. */
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
