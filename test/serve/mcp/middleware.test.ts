import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { CallError, localEnvelope } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { OperationContext } from "../../../src/index.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { connect, textOf } from "./support/clients.ts"

const schema = Type.Object({ name: Type.String() })

/** Fails at first; then reports progress, asks the caller and says who it is. */
async function ask(_input: never, context: OperationContext): Promise<string> {
  context.progress({ progress: context.attempt, total: 2 })
  if (context.attempt === 1) {
    throw new CallError("UNAVAILABLE", "away", { mayHaveExecuted: false })
  }
  const { content } = await context.requestInput({ message: "Who?", schema, key: "who" })
  const { name } = content as { name: string }
  return `${String(context.metadata?.["tenant"])}: ${name}`
}

describe.each(["legacy", "modern"] as const)(
  "middleware around the tools of a client of the %s era",
  (era) => {
    test("sees the caller; attempts report progress and ask; the handler is not always needed", async () => {
      const inputSchema = Type.Object({})
      const seen: unknown[] = []
      await using registry = quietRegistry([
        operation("demo.ask", {
          inputSchema,
          resilience: { retry: { delay: 0 }, timeout: { attempt: 20_000 } },
          handler: ask,
        }),
        operation("demo.closed", { inputSchema, handler: () => "open" }),
      ])
      registry.use((call, next) => {
        seen.push([call.operationId, call.identity?.id])
        if (call.operationId !== "demo.closed") return next({ metadata: { tenant: "acme" } })
        return Promise.resolve(localEnvelope("closed", call.operationId))
      })
      await using server = toMCP(registry, {
        logger: silentLogger,
        expose: { mode: "all" },
        authenticate: () => ({ id: "ada", scopes: [] }),
      })
      await using listening = await server.listen({ port: 0 })
      await using client = await connect(listening.url, era, {
        capabilities: { elicitation: { form: {} } },
        prepare: (made) =>
          made.setRequestHandler("elicitation/create", () => ({
            action: "accept" as const,
            content: { name: "Ada" },
          })),
      })
      const progress: number[] = []

      const asked = await client.callTool(
        { name: "demo_ask", arguments: {} },
        { onprogress: (update) => progress.push(update.progress) },
      )
      const closed = await client.callTool({ name: "demo_closed", arguments: {} })

      expect([textOf(asked), textOf(closed)]).toEqual(["acme: Ada", "closed"])
      expect(progress.slice(0, 2)).toEqual([1, 2])
      // A question ends the call of a modern client, which calls again with the answer.
      const rounds = era === "modern" ? 2 : 1
      expect(seen).toEqual([
        ...Array.from({ length: rounds }, () => ["demo.ask", "ada"]),
        ["demo.closed", "ada"],
      ])
    })
  },
)
