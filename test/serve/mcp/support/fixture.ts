import { Type } from "typebox"
import type { AnyOperation, OperationContext, OperationRegistry } from "../../../../src/index.ts"
import { count, greet, operation, quietRegistry } from "../../../support/operations.ts"

/** What handlers of the fixture have seen. */
export interface Seen {
  readonly contexts: OperationContext[]
  readonly aborted: string[]
  runs: number
}

/** A registry with something for everything that serving has to do. */
export function fixture(): { registry: OperationRegistry; seen: Seen } {
  const seen: Seen = { contexts: [], aborted: [], runs: 0 }
  const registry = quietRegistry([greet, count, ...operationsOf(seen)])
  return { registry, seen }
}

function operationsOf(seen: Seen): AnyOperation[] {
  return [
    operation("demo.look", {
      type: "query",
      inputSchema: Type.Object({}),
      handler: (_input: never, context: OperationContext) => {
        seen.contexts.push(context)
        return { id: context.identity?.id ?? null }
      },
    }),
    operation("demo.secret", {
      type: "query",
      inputSchema: Type.Object({}),
      accessControl: { requiredScopes: ["secret"] },
      handler: () => "for your eyes only",
    }),
    operation("demo.wait", {
      inputSchema: Type.Object({}),
      handler: async (_input: never, context: OperationContext) => {
        seen.runs++
        context.progress({ progress: 1, message: "waiting" })
        await new Promise<void>((resolve) => {
          context.signal.addEventListener("abort", () => {
            seen.aborted.push(context.requestId)
            resolve()
          })
        })
        return "over"
      },
    }),
    operation("demo.steps", {
      inputSchema: Type.Object({}),
      handler: (_input: never, context: OperationContext) => {
        for (const progress of [0, 50, 50, 40, 100]) context.progress({ progress, total: 100 })
        return "done"
      },
    }),
    operation("demo.chat", {
      inputSchema: Type.Object({}),
      handler: (_input: never, context: OperationContext) => {
        context.log.debug("quiet")
        context.log.info("hello", { password: "hunter2", step: 1 })
        context.log.error("loud")
        return "logged"
      },
    }),
    operation("demo.region", {
      type: "query",
      inputSchema: Type.Object({
        region: Type.String({ "x-mcp-header": "Region" }),
        size: Type.Optional(Type.Integer({ "x-mcp-header": "Size" })),
        nested: Type.Optional(Type.Object({ on: Type.Boolean({ "x-mcp-header": "On" }) })),
      }),
      handler: (input: never) => input,
    }),
    operation("demo.boom", {
      inputSchema: Type.Object({}),
      handler: () => {
        throw new Error("the disk at /var/secret is full")
      },
    }),
  ]
}
