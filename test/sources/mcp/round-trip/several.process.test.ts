import { expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import { greet, quietRegistry } from "../../../support/operations.ts"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { connect, gateway } from "./support.ts"

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

test.each(["legacy", "modern"] as const)(
  "tools of two servers that share a name are told apart, beside operations, for a %s client",
  async (era) => {
    const registry = quietRegistry([greet])
    await using first = await createMCPClient("first", {
      ...awkward({ only: "echo,process" }),
      logger: silentLogger,
    })
    await using second = await createMCPClient("second", {
      ...awkward({ only: "process,add", era: "modern" }),
      logger: silentLogger,
    })
    first.registerAll(registry)
    second.registerAll(registry)
    await using server = toMCP(registry, { logger: silentLogger })
    const { url } = await server.listen({ port: 0 })
    await using client = await connect({ url }, era)

    const names = (await client.tools()).map(({ name }) => name)

    expect(names.map(String).toSorted((left, right) => (left < right ? -1 : 1))).toEqual([
      "demo_greet",
      "first_echo",
      "first_process",
      "second_add",
      "second_process",
    ])
    const pids = []
    for (const name of ["first_process", "second_process"]) {
      const { structuredContent } = await client.use(name)
      pids.push((structuredContent as { pid: number }).pid)
    }
    expect(pids).toEqual([first.status().pid, second.status().pid])
    expect((await client.use("demo_greet", { name: "Ada" }))["structuredContent"]).toEqual({
      text: "Hello, Ada",
    })
  },
)

test.each(["legacy", "modern"] as const)(
  "a trace that a %s client began reaches the server; what else it says of itself does not",
  async (era) => {
    await using gate = await gateway({ ...awkward(), era: "modern" })
    await using client = await connect(gate.way, era)

    const { structuredContent } = await client.client.callTool({
      name: "anything",
      arguments: {},
      _meta: { traceparent: TRACE, baggage: "a=1", "example.com/secret": "mine" },
    })

    const { meta } = structuredContent as { meta: Record<string, unknown> }
    expect(meta).toMatchObject({ traceparent: TRACE, baggage: "a=1" })
    expect(meta).not.toHaveProperty(["example.com/secret"])
    expect(meta["io.modelcontextprotocol/clientInfo"]).not.toMatchObject({ name: "round-trip" })
  },
)

test("headers that a tool asks for are sent all the way, and tools that ask for bad ones are not there", async () => {
  await using server = await serveAwkward({ era: "modern", groups: "headers", strictHeaders: true })
  await using gate = await gateway({ url: server.url })
  await using client = await connect(gate.way, "modern")
  const tools = (await client.client.listTools()).tools.map(({ name }) => name)

  await client.use("region", { region: "eu-west", query: "q" })

  expect(tools.filter((name) => name.includes("header"))).toEqual([])
  const call = server.requests.findLast(({ message }) => message?.method === "tools/call")
  expect(call?.headers["mcp-param-region"]).toBe("eu-west")
})

test("one connection serves all clients, however many there are", async () => {
  await using server = await serveAwkward({ era: "legacy", sessions: true })
  await using gate = await gateway({ url: server.url })
  for (const era of ["legacy", "modern", "legacy", "modern"] as const) {
    await using client = await connect(gate.way, era)
    await client.call("echo", { text: era })
  }

  expect(server.sessions.size).toBe(1)
})
