import { isRecord } from "../internal/guards.ts"
import { getOwn, setOwn } from "../schema/json.ts"
import { CallError } from "./errors.ts"
import type { OperationContext } from "./handler.ts"
import type { CallOptions, InputRequest, InputResponse } from "./types.ts"
import { validateOrThrow } from "./validation.ts"

/** The function that answers questions of a handler; `undefined` if its caller cannot be asked. */
export function answererOf(
  context: Pick<OperationContext, "requestInput"> & { answerer?: CallOptions["requestInput"] },
): CallOptions["requestInput"] {
  return "answerer" in context ? context.answerer : context.requestInput
}

/** The error for a question that the caller cannot answer, with the caller's reason if there is one. */
export function inputUnavailable(operationId: string, reason?: string): CallError {
  const what = `"${operationId}" asks its caller for input, and this caller `
  return new CallError(
    "UNAVAILABLE",
    reason === undefined
      ? `${what}cannot be asked. Call it with requestInput in the options, or from a client that can answer.`
      : `${what}could not answer: ${reason}`,
    { operationId, retryable: false, details: { reason: "INPUT_UNAVAILABLE" } },
  )
}

const ACTIONS: ReadonlySet<unknown> = new Set(["accept", "decline", "cancel"])

/**
 * An answer whose content matches the schema of its question; missing fields have their defaults.
 *
 * Throws `VALIDATION_ERROR` for other content, and `UNAVAILABLE` for a value without a valid action. `asker` is the one that
 * asked, such as `"task.create"`.
 */
export function checkedAnswer(
  request: InputRequest,
  response: InputResponse,
  asker: string,
): InputResponse {
  if (!ACTIONS.has((response as InputResponse | undefined | null)?.action)) {
    const why = `"action" must be "accept", "decline" or "cancel"`
    throw new CallError("UNAVAILABLE", `The answer to ${asker} is invalid: ${why}.`, {
      retryable: false,
      details: { reason: "INPUT_UNAVAILABLE" },
    })
  }
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
