/* oxlint-disable no-console -- what is printed is what is tested */

// A server on standard input and output, as a program of its own. Arguments choose what it is like:
// --embedded goes on when its client is gone; --stuck has a registry that never closes; --as-ada has an identity.

import { Type } from "typebox"
import type { OperationContext } from "../../../../src/index.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import { greet, operation, quietRegistry } from "../../../support/operations.ts"

const flags = new Set(process.argv.slice(2))

const registry = quietRegistry([
  greet,
  operation("demo.noise", {
    inputSchema: Type.Object({}),
    handler: (_input: never, context: OperationContext) => {
      console.log("noise of console.log")
      console.info("noise of console.info")
      console.debug("noise of console.debug")
      console.table([{ noise: "of console.table" }])
      process.stdout.write("noise of process.stdout\n")
      return context.identity?.id ?? "nobody"
    },
  }),
  operation("demo.wait", {
    inputSchema: Type.Object({}),
    handler: async (_input: never, context: OperationContext) => {
      context.progress({ progress: 1 })
      await new Promise<void>((resolve) =>
        context.signal.addEventListener("abort", () => resolve()),
      )
      console.error("the call was ended")
    },
  }),
  operation("demo.steps", {
    inputSchema: Type.Object({}),
    handler: (_input: never, context: OperationContext) => {
      for (const progress of [0, 50, 100]) context.progress({ progress, total: 100 })
    },
  }),
  operation("demo.ask", {
    inputSchema: Type.Object({}),
    handler: async (_input: never, { requestInput }: OperationContext) => {
      const schema = Type.Object({ name: Type.String() })
      const { content } = await requestInput({ message: "Who?", schema })
      return (content as { name: string }).name
    },
  }),
  operation("demo.grow", {
    inputSchema: Type.Object({}),
    handler: () => {
      registry.registerAll([operation("demo.grown", { handler: () => 1 })])
      return "grown"
    },
  }),
])
if (flags.has("--stuck")) registry.close = () => new Promise<never>(() => undefined)

// Pools and timers of a real program.
const timer = setInterval(() => undefined, 1000)

const connection = await toMCP(registry, { drainMs: 50 }).stdio({
  exit: !flags.has("--embedded"),
  ...(flags.has("--as-ada") ? { identity: { id: "ada", scopes: [] } } : {}),
})
console.error("serving")
await connection.closed
console.error("closed")
if (flags.has("--embedded")) {
  console.log("standard output is back")
  clearInterval(timer)
}
