import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, OperationRegistry } from "../../src/index.ts"

const base = {
  namespace: "leak",
  description: "Part of the leak run",
  accessControl: { requiredScopes: [] },
} as const

/** Operations that count how many of their handlers are running. */
export function createLeakRegistry(): {
  readonly registry: OperationRegistry
  running(): number
} {
  let running = 0
  const operations: readonly AnyOperation[] = [
    defineOperation({
      ...base,
      name: "echo",
      type: "query",
      inputSchema: Type.Object({ n: Type.Number() }),
      outputSchema: Type.Object({ n: Type.Number() }),
      handler: async (input) => input,
    }),
    defineOperation({
      ...base,
      name: "hang",
      type: "mutation",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: (_input, { signal }) => {
        running++
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            running--
            reject(signal.reason as Error)
          })
        })
      },
    }),
    defineOperation({
      ...base,
      name: "ticks",
      type: "subscription",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Number(),
      async *handler() {
        running++
        try {
          for (let n = 0; ; n++) yield n
        } finally {
          running--
        }
      },
    }),
    defineOperation({
      ...base,
      name: "drip",
      type: "subscription",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Number(),
      async *handler(_input, { signal }) {
        running++
        try {
          yield 1
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
        } finally {
          running--
        }
      },
    }),
    defineOperation({
      ...base,
      name: "running",
      type: "query",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Number(),
      handler: () => running,
    }),
  ]
  const registry = createRegistry(operations, { logger: silentLogger })
  return { registry, running: () => running }
}
