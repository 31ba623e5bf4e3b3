import { isRecord } from "../internal/guards.ts"
import type { InputRequest, InputResponse } from "./types.ts"

/** Whether a value is a question that this version knows. */
export function isInputRequest(value: unknown): value is InputRequest {
  if (!isRecord(value)) return false
  const { type, key, message, schema, url, params } = value
  if (key !== undefined && typeof key !== "string") return false
  if (type === "sampling") return isRecord(params)
  if (type === "roots") return true
  if (typeof message !== "string") return false
  if (type === "url") return typeof url === "string"
  return (type === undefined || type === "form") && isRecord(schema)
}

/** Whether a value is an answer to a question. Its content may be anything. */
export function isInputResponse(value: unknown): value is InputResponse {
  if (!isRecord(value)) return false
  const { action } = value as Partial<InputResponse>
  return action === "accept" || action === "decline" || action === "cancel"
}
