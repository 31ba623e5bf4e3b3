import { specFields } from "../../core/spec-schemas.ts"
import type { OperationSpec } from "../../core/types.ts"
import { plainSchema } from "../../schema/read/plain-schema.ts"

const descriptions = new WeakMap<OperationSpec, string>()

/** A spec as JSON: its input, output and errors, without implementation details. */
export function describeOperation(spec: OperationSpec): string {
  let text = descriptions.get(spec)
  if (text === undefined) {
    const { namespace, name, inputSchema, outputSchema, errorSchemas } = spec
    const { visibility: _, ...fields } = specFields(spec)
    text = JSON.stringify({
      id: `${namespace}.${name}`,
      namespace,
      name,
      ...fields,
      inputSchema: plainSchema(inputSchema),
      outputSchema: plainSchema(outputSchema),
      errorSchemas: errorSchemas?.map((one) => ({ ...one, schema: plainSchema(one.schema) })),
    })
    descriptions.set(spec, text)
  }
  return text
}
