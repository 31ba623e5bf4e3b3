import { compileSchema } from "../../schema/compiled.ts"
import type { OperationSpec } from "../../core/types.ts"
import { viewOf } from "../../schema/read/view.ts"

const cache = new WeakMap<OperationSpec, boolean>()

/**
 * Returns the input; a missing one becomes the empty object if the operation takes only objects and `{}` is
 * valid.
 */
export function inputOrEmpty(input: unknown, spec: OperationSpec): unknown {
  if (input !== undefined) return input
  let isEmpty = cache.get(spec)
  if (isEmpty === undefined) cache.set(spec, (isEmpty = takesEmpty(spec)))
  return isEmpty ? {} : undefined
}

function takesEmpty({ inputSchema }: OperationSpec): boolean {
  const compiled = compileSchema(inputSchema)
  const { types } = viewOf(compiled.schema)
  if (types.size !== 1 || !types.has("object") || compiled.check(undefined)) return false
  // A property with a default may be left out even if it is required.
  return compiled.check({}) || compiled.check(compiled.normalizer("defaults").normalize({}).value)
}
