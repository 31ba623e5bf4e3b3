import type { OperationSpec } from "../../core/types.ts"
import { plainSchema } from "../../schema/read/plain-schema.ts"

const descriptions = new WeakMap<OperationSpec, string>()

/** A spec as JSON: its input, output and errors, without implementation details. */
export function describeOperation(spec: OperationSpec): string {
  let text = descriptions.get(spec)
  if (text === undefined) {
    const { namespace, name, version, type, title, description, tags } = spec
    const { inputSchema, outputSchema, errorSchemas, accessControl } = spec
    const { annotations, deprecated, examples, _meta } = spec
    text = JSON.stringify({
      id: `${namespace}.${name}`,
      namespace,
      name,
      version,
      type,
      title,
      description,
      tags,
      inputSchema: plainSchema(inputSchema),
      outputSchema: plainSchema(outputSchema),
      errorSchemas: errorSchemas?.map((one) => ({ ...one, schema: plainSchema(one.schema) })),
      accessControl,
      annotations,
      deprecated,
      examples,
      _meta,
    } satisfies Omit<Record<keyof OperationSpec | "id", unknown>, "visibility">)
    descriptions.set(spec, text)
  }
  return text
}
