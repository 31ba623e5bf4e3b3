import { isSchema } from "../../../src/schema/json.ts"
import { initialValue } from "./schema/initial.ts"

/** What an operation's input starts as. */
export function startValue(schema: unknown): unknown {
  return isSchema(schema) ? initialValue(schema) : undefined
}
