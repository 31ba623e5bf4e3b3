import { isRecord } from "../internal/guards.ts"
import type { JsonSchema } from "../schema/json.ts"
import { viewOf, type SchemaView } from "../schema/read/view.ts"
import { isExtensible, type InputForm } from "./tool-forms.ts"
import { mapSchemas } from "../schema/keywords.ts"

/** The name of the input that selects members of a result. */
export const SELECT = "select"

/** Adds `select` to the inputs of the operation; `undefined` if it has one, or takes no further inputs. */
export function selectForm({ schema, toInput, pointer, note }: InputForm): InputForm | undefined {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
  if (!isExtensible(schema) || Object.hasOwn(properties, SELECT)) return undefined
  return {
    schema: { ...schema, properties: { ...properties, [SELECT]: SELECT_SCHEMA } },
    toInput: ({ [SELECT]: _, ...args }) => toInput(args),
    pointer,
    note,
  }
}

export const SELECT_SCHEMA: JsonSchema = {
  type: "array",
  items: { type: "string" },
  description: `Return only these fields of the result, such as ["id", "owner.name"].`,
}

/** Whether a schema describes a list of objects, or an object with one: results of any length. */
export function isLong(schema: unknown): boolean {
  const view = viewOf(schema)
  const isList = (one: SchemaView): boolean =>
    one.types.has("array") && one.item(0).names.length > 1
  return isList(view) || view.names.some((name) => isList(view.property(name)))
}

/** Keywords that may refuse a part of an object, beside those that are left out. */
const NEED_WHOLE = ["oneOf", "not", "if", "minProperties", "dependentRequired", "dependentSchemas"]

/** The schema of results of which members were left out; `undefined` if they cannot fit one. */
export function partialOutput(schema: JsonSchema): JsonSchema | undefined {
  let isPartial = true
  const changed = mapSchemas(schema, ({ required: _, ...node }) => {
    if (NEED_WHOLE.some((keyword) => keyword in node)) isPartial = false
    return node
  })
  return isPartial ? changed : undefined
}
