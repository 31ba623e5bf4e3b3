import { isRecord } from "../internal/guards.ts"
import { getOwn, setOwn } from "../schema/json.ts"
import type { InputRequest, InputResponse } from "./types.ts"
import { validateOrThrow } from "./validation.ts"

/**
 * An answer whose content matches the schema of its question; missing fields have their defaults.
 *
 * Throws `VALIDATION_ERROR` for other content. `asker` is the one that asked, such as `"task.create"`.
 */
export function checkedAnswer(
  request: InputRequest,
  response: InputResponse,
  asker: string,
): InputResponse {
  if (response.action !== "accept" || !("schema" in request)) return response
  const content = withDefaults(request.schema, response.content)
  validateOrThrow(request.schema, content, `The answer to ${asker}`)
  return { ...response, content }
}

function withDefaults(schema: object, given: unknown): unknown {
  const properties = getOwn(schema, "properties")
  // A form without fields may be accepted without content.
  const isForm = isRecord(properties) || getOwn(schema, "type") === "object"
  const content = given === undefined && isForm ? {} : given
  if (!isRecord(content) || !isRecord(properties)) return content
  const filled = { ...content }
  for (const [name, property] of Object.entries(properties)) {
    const value = isRecord(property) ? getOwn(property, "default") : undefined
    if (value !== undefined && filled[name] === undefined) setOwn(filled, name, value)
  }
  return filled
}
