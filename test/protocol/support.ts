import { Type } from "typebox"
import type { AnyOperation, OperationContext, OperationSpec } from "../../src/index.ts"

/** An operation that everybody may call, with whatever input and result. */
export function operation(
  name: string,
  type: OperationSpec["type"],
  handler: (input: unknown, context: OperationContext) => unknown,
  more: Partial<OperationSpec> = {},
): AnyOperation {
  const spec = {
    namespace: "demo",
    name,
    version: "1.0.0",
    type,
    description: "Of a test",
    inputSchema: Type.Unknown(),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    ...more,
    handler,
  }
  return spec
}
