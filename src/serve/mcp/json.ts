import { CallError } from "../../core/errors.ts"
import { encodeValue } from "../../core/envelope-codec.ts"

/** The JSON of data; `undefined` for values that JSON omits. Throws a `CallError` that names the unsupported place. */
export function jsonOf(data: unknown): string | undefined {
  return JSON.stringify(encodeValue(data).value)
}

export function noJson(why: string): CallError {
  return new CallError("EXECUTION_ERROR", `The result has no form in JSON: ${why}.`)
}
