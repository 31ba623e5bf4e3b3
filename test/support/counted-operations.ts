import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyRegistry } from "../../src/index.ts"

/** Two operations that report each run: `wait` ends when it may, `fail` at once. */
export function countedOperations(
  type: "query" | "mutation",
  onRun: () => void,
  mayEnd: Promise<unknown>,
): AnyRegistry {
  const shared = {
    namespace: "demo",
    version: "1.0.0",
    description: "Counts its runs",
    inputSchema: Type.Object({ n: Type.Integer() }),
    outputSchema: Type.Object({ n: Type.Integer() }),
    accessControl: { requiredScopes: [] },
    type,
  } as const
  return createRegistry(
    [
      defineOperation({
        ...shared,
        name: "wait",
        handler: async ({ n }) => {
          onRun()
          await mayEnd
          return { n }
        },
      }),
      defineOperation({
        ...shared,
        name: "fail",
        handler: () => {
          onRun()
          throw new Error("broken")
        },
      }),
    ],
    { logger: silentLogger },
  )
}
