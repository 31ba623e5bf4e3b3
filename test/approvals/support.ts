import { Type } from "typebox"
import { defineOperation, type AnyOperation, type OperationContext } from "../../src/index.ts"

/** A mutation or query with an open object as its input. */
export function mutationNamed(
  id: string,
  handler: (input: unknown, context: OperationContext) => unknown,
  settings: Partial<AnyOperation> = {},
): AnyOperation {
  const [namespace = "", name = ""] = id.split(".")
  return defineOperation({
    ...{ namespace, name, version: "1.0.0", type: "mutation", description: `Runs ${id}.` },
    inputSchema: Type.Object({ n: Type.Optional(Type.Number()) }, { additionalProperties: true }),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    handler,
    ...settings,
  } as never) as AnyOperation
}
