import { Type } from "typebox"
import { createRegistry, defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyOperation, Identity, OperationRegistry } from "../../../src/index.ts"

/** Who users of the broker are to the workers. A hub is nobody: it brings a ticket for whom it speaks. */
export function identify(user: string): Identity | undefined {
  const scopes: Readonly<Record<string, readonly string[]>> = {
    alice: ["task"],
    bob: ["task"],
    mallory: [],
  }
  return Object.hasOwn(scopes, user) ? { id: user, scopes: scopes[user] ?? [] } : undefined
}

const base = { version: "1.0.0", description: "To be attacked" } as const
const open = { ...base, accessControl: { requiredScopes: [] } } as const
const anything = Type.Unknown()

/** An operation that anybody may call. */
export function plainOperation(id: string, run: () => unknown): AnyOperation {
  const dot = id.indexOf(".")
  return defineOperation({
    ...open,
    // Without a dot it has no two halves; let it be refused as it is.
    ...{ namespace: dot === -1 ? id : id.slice(0, dot), name: id.slice(dot + 1), type: "mutation" },
    inputSchema: anything,
    outputSchema: anything,
    handler: () => run(),
  })
}

/** What is served, and what was run. */
export function attackedOperations(): {
  readonly registry: OperationRegistry
  /** Ids of operations, in the order in which they were run. */
  readonly runs: readonly string[]
  /** Lets the slow ones end. */
  release(): void
  /** How many wait for that. */
  readonly waiting: () => number
} {
  const runs: string[] = []
  let waiters: (() => void)[] = []
  const registry = createRegistry(
    [
      defineOperation({
        ...open,
        ...{ namespace: "task", name: "whoami", type: "mutation" },
        inputSchema: anything,
        outputSchema: anything,
        handler: (_, { identity }) => {
          runs.push("task.whoami")
          return identity ?? null
        },
      }),
      defineOperation({
        ...open,
        ...{ namespace: "task", name: "list", type: "query" },
        inputSchema: anything,
        outputSchema: anything,
        handler: (input) => {
          runs.push("task.list")
          return input
        },
      }),
      defineOperation({
        ...base,
        ...{ namespace: "task", name: "secret", type: "mutation" },
        accessControl: { requiredScopes: ["root"] },
        inputSchema: anything,
        outputSchema: anything,
        handler: () => {
          runs.push("task.secret")
          return "canary"
        },
      }),
      defineOperation({
        ...open,
        ...{ namespace: "task", name: "slow", type: "mutation" },
        inputSchema: anything,
        outputSchema: anything,
        handler: async (_, { signal }) => {
          runs.push("task.slow")
          await new Promise<void>((resolve, reject) => {
            waiters.push(resolve)
            signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true })
          })
          return "the real one"
        },
      }),
      defineOperation({
        ...open,
        ...{ namespace: "task", name: "ask", type: "mutation" },
        inputSchema: anything,
        outputSchema: anything,
        handler: async (_, { requestInput }) => {
          runs.push("task.ask")
          return (await requestInput({ message: "Sure?", schema: { type: "string" } })).content
        },
      }),
      defineOperation({
        ...open,
        ...{ namespace: "task", name: "count", type: "subscription" },
        inputSchema: Type.Object({ to: Type.Integer() }),
        outputSchema: Type.Integer(),
        async *handler({ to }) {
          runs.push("task.count")
          for (let at = 1; at <= to; at++) yield at
        },
      }),
      defineOperation({
        ...open,
        ...{ namespace: "admin", name: "drop", type: "mutation" },
        inputSchema: anything,
        outputSchema: anything,
        handler: () => {
          runs.push("admin.drop")
          return "dropped"
        },
      }),
    ],
    { logger: silentLogger },
  )
  return {
    registry,
    runs,
    waiting: () => waiters.length,
    release() {
      for (const resolve of waiters) resolve()
      waiters = []
    },
  }
}
