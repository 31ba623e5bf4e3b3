import { compileSchema } from "../../schema/compiled.ts"
import type { OperationSpec } from "../../core/types.ts"
import { typesOf } from "../../schema/read/properties.ts"

const known = new WeakMap<OperationSpec, boolean>()

/**
 * An input, or what no input at all stands for: the empty object, where only objects are taken and it is
 * one of them.
 */
export function inputOrEmpty(input: unknown, spec: OperationSpec): unknown {
  if (input !== undefined) return input
  let isEmpty = known.get(spec)
  if (isEmpty === undefined) known.set(spec, (isEmpty = takesEmpty(spec)))
  return isEmpty ? {} : undefined
}

function takesEmpty({ inputSchema }: OperationSpec): boolean {
  const compiled = compileSchema(inputSchema)
  const types = typesOf(compiled.schema, compiled.schema)
  if (types.size !== 1 || !types.has("object") || compiled.check(undefined)) return false
  // What has a default may be left out, required or not.
  return compiled.check({}) || compiled.check(compiled.normalizer("defaults").normalize({}).value)
}
