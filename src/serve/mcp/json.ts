import { CallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { encodeValue } from "../../core/envelope-codec.ts"

/** The JSON of data; `undefined` for values that JSON omits. Throws a `CallError` that names the unsupported place. */
export function jsonOf(data: unknown): string | undefined {
  const { value } = encodeValue(data)
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw noJson(reasonOf(cause), cause)
  }
}

export function noJson(why: string, cause: unknown): CallError {
  return new CallError("EXECUTION_ERROR", `The result has no form in JSON: ${why}.`, { cause })
}
