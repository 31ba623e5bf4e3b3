import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, RegistryOptions, OperationRegistry } from "../../src/index.ts"

/** Says hello; needs nothing from its caller. */
export const greet = defineOperation({
  namespace: "demo",
  name: "greet",
  version: "1.0.0",
  type: "query",
  description: "Greets a person",
  inputSchema: Type.Object({ name: Type.String() }),
  outputSchema: Type.Object({ text: Type.String() }),
  accessControl: { requiredScopes: [] },
  handler: async ({ name }) => ({ text: `Hello, ${name}` }),
})

/** Counts up; ends by itself after `to`. */
export const count = defineOperation({
  namespace: "demo",
  name: "count",
  version: "1.0.0",
  type: "subscription",
  description: "Counts up to a number",
  inputSchema: Type.Object({ to: Type.Number() }),
  outputSchema: Type.Object({ at: Type.Number() }),
  accessControl: { requiredScopes: [] },
  async *handler({ to }) {
    for (let at = 1; at <= to; at++) yield { at }
  },
})

/** A registry that keeps its log to itself. */
export function quietRegistry(
  operations: readonly AnyOperation[] = [],
  options: RegistryOptions = {},
): OperationRegistry {
  const registry = createRegistry(operations, { logger: silentLogger, ...options })
  return registry
}

/** An operation of which only some things matter. */
export function operation(
  id: string,
  parts: Partial<AnyOperation> & { handler?: (input: never, context: never) => unknown },
): AnyOperation {
  const dot = id.indexOf(".")
  return {
    namespace: id.slice(0, dot),
    name: id.slice(dot + 1),
    version: "1.0.0",
    type: "mutation",
    description: `Test operation ${id}`,
    inputSchema: Type.Unknown(),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    ...parts,
  }
}

/** The error a promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error("Expected a rejection, got a result.")
}

/** What a function throws; fails when it does not. */
export function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error("Expected a throw, got a result.")
}
