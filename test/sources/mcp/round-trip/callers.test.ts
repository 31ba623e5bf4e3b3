// What a server behind a gateway knows of the client that calls, and what that client receives of it.
import { Type } from "typebox"
import { expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { OperationContext } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import { connect, textOf, type Era } from "../../../serve/mcp/support/clients.ts"
import { operation, quietRegistry } from "../../../support/operations.ts"

const operations = [
  operation("job.talk", {
    type: "query",
    inputSchema: Type.Object({}),
    handler: (_: never, { log }: OperationContext) => {
      log.debug("a detail")
      log.warn("careful", { step: 2, password: "hunter2" })
      return "Done."
    },
  }),
  operation("job.ask", {
    type: "query",
    inputSchema: Type.Object({}),
    handler: async (_: never, { requestInput }: OperationContext) => {
      const schema = { type: "object", properties: { name: { type: "string" } } }
      const asked = requestInput({ message: "Who?", schema })
      return await asked.then(
        ({ content }) => `asked: ${JSON.stringify(content)}`,
        (error: { readonly details?: { readonly reason?: string } }) => {
          if (error.details?.reason === "INPUT_REQUIRED") throw error
          return "did not ask"
        },
      )
    },
  }),
]

async function gateway(era: Era) {
  const first = toMCP(quietRegistry(operations), { logger: silentLogger })
  const { url } = await first.listen({ port: 0 })
  const imported = await createMCPClient("up", {
    url,
    era,
    forwardInput: true,
    logger: silentLogger,
  })
  const registry = quietRegistry([])
  imported.registerAll(registry)
  const second = toMCP(registry, { logger: silentLogger })
  const served = await second.listen({ port: 0 })
  return {
    url: served.url,
    async [Symbol.asyncDispose]() {
      await second.close()
      await imported.close()
      await first.close()
    },
  }
}

test.each(["legacy", "modern"] as const)(
  "a client receives what a server logs during its call, from the level that it asked for, %s",
  async (era) => {
    await using gate = await gateway(era)
    const lines: unknown[] = []
    await using client = await connect(gate.url, era, {
      prepare: (one) =>
        one.setNotificationHandler("notifications/message", ({ params }) => {
          const { level, logger, data } = params
          lines.push({ level, logger, data })
        }),
    })
    const call = async (level: string): Promise<void> => {
      if (era === "legacy") await client.setLoggingLevel(level as "debug")
      const _meta = { "io.modelcontextprotocol/logLevel": level }
      await client.callTool({
        name: "up_job_talk",
        arguments: {},
        ...(era === "modern" && { _meta }),
      })
    }

    await call("warning")
    await expect.poll(() => lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: "warning",
      logger: "job_talk",
      data: { message: "careful", step: 2 },
    })
    expect(JSON.stringify(lines)).not.toContain("hunter2")
    lines.length = 0
    await call("debug")
    await expect.poll(() => lines).toHaveLength(2)
    expect(lines[0]).toMatchObject({ level: "debug", data: "a detail" })
    lines.length = 0
    await call("error")
    expect(lines).toEqual([])
  },
)

test("a server learns from each request what the caller behind a gateway can answer", async () => {
  await using gate = await gateway("modern")
  const name = "up_job_ask"
  await using silent = await connect(gate.url, "modern")
  await using person = await connect(gate.url, "modern", {
    capabilities: { elicitation: {} },
    prepare: (one) =>
      one.setRequestHandler("elicitation/create", async () => ({
        action: "accept",
        content: { name: "Ada" },
      })),
  })

  expect(textOf(await silent.callTool({ name, arguments: {} }))).toContain("did not ask")
  expect(textOf(await person.callTool({ name, arguments: {} }))).toContain("Ada")
})
