import { Type } from "typebox"
import { afterEach, describe, expect, test } from "vitest"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServerOptions } from "../../../src/to-mcp.ts"
import type { AnyOperation, ApprovalRule } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { connect, type Era } from "./support/clients.ts"

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const NOTES = new Map([
  ["1", "Milk"],
  ["a/b", "Slash"],
])

/** A query that is served as something else than a tool. */
function query(id: string, rest: Parameters<typeof operation>[1]): AnyOperation {
  return operation(id, { type: "query", inputSchema: Type.Object({}), ...rest })
}

const note = query("note.get", {
  title: "A note",
  inputSchema: Type.Object({ id: Type.String() }),
  outputSchema: Type.String(),
  mcp: { as: "resource", uri: "note://{id}", meta: { a: 1 }, icons: [{ src: "https://x/i.png" }] },
  handler: ({ id }: never) => NOTES.get(id) ?? "none",
})

async function serve(
  operations: readonly AnyOperation[],
  options: MCPServerOptions = {},
  approvals: readonly ApprovalRule[] = [],
) {
  const registry = quietRegistry(operations, { approvals })
  const server = toMCP(registry, { logger: silentLogger, ...options })
  const { url } = await server.listen({ port: 0 })
  open.push(server)
  return { registry, server, url }
}

const ERAS: readonly Era[] = ["legacy", "modern"]

describe.each(ERAS)("resources of a registry, %s", (era) => {
  test("are listed with what the definition says, and not among the tools", async () => {
    const fixed = query("note.all", { mcp: { as: "resource", uri: "note://" }, handler: () => [] })
    const { url } = await serve([note, fixed, query("note.count", { handler: () => 2 })])
    await using client = await connect(url, era)

    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["note_count"])
    expect((await client.listResources()).resources).toMatchObject([
      { uri: "note://", name: "note_all" },
    ])
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([
      {
        uriTemplate: "note://{id}",
        name: "note_get",
        title: "A note",
        description: note.description,
        mimeType: "text/plain",
        icons: [{ src: "https://x/i.png" }],
        _meta: { a: 1 },
      },
    ])
  })

  test("are read as text, as JSON and as bytes, and inputs have the types of their schemas", async () => {
    const { url } = await serve([
      note,
      query("sum.get", {
        inputSchema: Type.Object({ n: Type.Integer(), q: Type.Optional(Type.Boolean()) }),
        mcp: { as: "resource", uri: "sum://{n}{?q}" },
        handler: (input: never) => input,
      }),
      query("pixel.get", {
        mcp: { as: "resource", uri: "pixel://" },
        handler: () => new Blob([new Uint8Array([1, 2])], { type: "image/png" }),
      }),
    ])
    await using client = await connect(url, era)
    const read = async (uri: string) => (await client.readResource({ uri })).contents

    expect(await read("note://a%2Fb")).toEqual([
      { uri: "note://a%2Fb", mimeType: "text/plain", text: "Slash" },
    ])
    expect(await read("sum://7?q=true")).toEqual([
      { uri: "sum://7?q=true", mimeType: "application/json", text: '{"n":7,"q":true}' },
    ])
    expect(await read("pixel://")).toEqual([
      { uri: "pixel://", mimeType: "image/png", blob: "AQI=" },
    ])
    await expect(client.readResource({ uri: "sum://x" })).rejects.toThrow("/n")
  })

  test("do not exist for addresses that nothing matches, however hostile", async () => {
    const { url } = await serve([note])
    await using client = await connect(url, era)

    for (const uri of [
      "",
      "note://a/b",
      "__proto__",
      "note://%",
      "file:///etc/passwd",
      "x".repeat(5000),
    ]) {
      await expect(client.readResource({ uri })).rejects.toThrow("Resource not found")
    }
  })

  test("are hidden from callers without access, in lists and when read", async () => {
    const secret = query("note.secret", {
      accessControl: { requiredScopes: ["secret"] },
      mcp: { as: "resource", uri: "note://secret/1" },
      handler: () => "for your eyes only",
    })
    const { url } = await serve([secret], {
      authenticate: ({ headers }) => {
        const { authorization } = headers as { authorization?: string }
        return { id: String(authorization), scopes: authorization === "boss" ? ["secret"] : [] }
      },
    })
    const as = (token: string) => connect(url, era, { headers: { authorization: token } })
    await using boss = await as("boss")
    await using clerk = await as("clerk")

    expect((await boss.listResources()).resources).toHaveLength(1)
    expect((await clerk.listResources()).resources).toHaveLength(0)
    expect((await boss.readResource({ uri: "note://secret/1" })).contents).toHaveLength(1)
    await expect(clerk.readResource({ uri: "note://secret/1" })).rejects.toThrow(
      "Resource not found",
    )
  })

  test("are under the rules of approvals: denied ones are hidden, others are read when a person agrees", async () => {
    const calls: string[] = []
    const one = (name: string): AnyOperation =>
      query(`note.${name}`, {
        mcp: { as: "resource", uri: `note://${name}` },
        handler: () => `${name} ${calls.push(name)}`,
      })
    const { url } = await serve([one("asked"), one("denied"), one("free")], {}, [
      { match: "note.asked", decide: "ask" },
      { match: "note.denied", decide: "deny" },
    ])
    const answers: ("accept" | "decline")[] = ["decline", "accept"]
    await using client = await connect(url, era, {
      capabilities: { elicitation: {} },
      prepare: (raw) =>
        raw.setRequestHandler("elicitation/create", async () => ({
          action: answers.shift() ?? "decline",
          content: {},
        })),
    })

    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(["note://asked", "note://free"])
    await expect(client.readResource({ uri: "note://denied" })).rejects.toThrow(
      "Resource not found",
    )
    await expect(client.readResource({ uri: "note://asked" })).rejects.toThrow("note.asked")
    expect(calls).toEqual([])
    expect((await client.readResource({ uri: "note://asked" })).contents).toMatchObject([
      { text: "asked 1" },
    ])
  })

  test("are limited in size, and their failures are hidden as those of tools", async () => {
    const { url } = await serve(
      [
        query("big.get", {
          mcp: { as: "resource", uri: "big://" },
          handler: () => "x".repeat(5000),
        }),
        query("bad.get", {
          mcp: { as: "resource", uri: "bad://" },
          handler: () => {
            throw new Error("the disk at /var/secret is full")
          },
        }),
      ],
      { maxResultBytes: 2000 },
    )
    await using client = await connect(url, era)

    await expect(client.readResource({ uri: "big://" })).rejects.toThrow("PAYLOAD_TOO_LARGE")
    const failure = await client.readResource({ uri: "bad://" }).catch((error: unknown) => error)
    expect(String(failure)).toContain("The operation failed.")
    expect(String(failure)).not.toContain("/var/secret")
  })

  test("are listed page by page, two thousand of them", async () => {
    const many = Array.from({ length: 2000 }, (_, at) =>
      query(`item.n${at}`, { mcp: { as: "resource", uri: `item://${at}` }, handler: () => at }),
    )
    const { url } = await serve(many, { pageSize: 800 })
    await using client = await connect(url, era)

    const first = await client.request({ method: "resources/list", params: {} })
    const second = await client.request({
      method: "resources/list",
      params: { cursor: String(first.nextCursor) },
    })
    expect([first.resources.length, second.resources.length]).toEqual([800, 800])
    await expect(
      client.request({ method: "resources/list", params: { cursor: "nonsense.1" } }),
    ).rejects.toThrow("Invalid cursor")
    expect((await client.readResource({ uri: "item://1999" })).contents).toMatchObject([
      { text: "1999" },
    ])
  })

  test("announce their changes only to those who subscribed, and lists by their kind", async () => {
    const { url, server, registry } = await serve([note])
    const heard: unknown[] = []
    await using client = await connect(url, era, {
      prepare(one) {
        one.setNotificationHandler("notifications/resources/updated", ({ params }) => {
          heard.push(params.uri)
        })
        for (const kind of ["tools", "resources", "prompts"] as const) {
          one.setNotificationHandler(
            `notifications/${kind}/list_changed`,
            () => void heard.push(kind),
          )
        }
      },
    })
    const uri = "note://1"
    if (era === "legacy") await client.subscribeResource({ uri })
    else {
      await client.listen({
        resourcesListChanged: true,
        toolsListChanged: true,
        resourceSubscriptions: [uri, "other://"],
      })
    }
    // The stream of notifications of a session opens after the handshake.
    await expect
      .poll(() => {
        server.notifyUpdated(uri)
        return heard.length
      })
      .toBeGreaterThan(0)
    expect(new Set(heard)).toEqual(new Set([uri]))
    heard.length = 0
    server.notifyUpdated("note://2")
    registry.registerAll([
      query("note.more", { mcp: { as: "resource", uri: "note://more/1" }, handler: () => 1 }),
    ])
    await expect.poll(() => heard.filter((one) => one !== uri)).toEqual(["resources"])
    heard.length = 0
    // Clients of 2026 listen to all.
    if (era === "legacy") await client.unsubscribeResource({ uri })
    server.notifyUpdated(uri)
    registry.registerAll([query("note.tool", { handler: () => 1 })])
    await expect.poll(() => heard).toEqual(era === "legacy" ? ["tools"] : [uri, "tools"])
  })
})

describe("mcp of a definition", () => {
  test.each([
    [{ as: "resource" }, "mcp.uri is required"],
    [{ as: "prompt", uri: "a://b" }, "mcp.uri is for a resource"],
    [{ as: "resource", uri: "b" }, "must begin with a scheme"],
    [{ as: "resource", uri: "a://{" }, "is not a URI template"],
    [{ as: "resource", uri: "a://{x}" }, "{x}"],
    [{ as: "resource", uri: "a://b" }, "lacks the required input {id}"],
    [{ as: "banana" }, "mcp.as"],
    [{ is: "resource" }, "mcp"],
    [{ complete: { nobody: "a.b" } }, "nobody"],
    [{ complete: { id: "a" } }, "mcp.complete"],
  ])("%j is refused", (mcp, why) => {
    const wrong = { ...note, mcp: mcp as never }
    expect(() => quietRegistry([wrong])).toThrow(why)
  })

  test("refuses a resource that changes something", () => {
    const mutation = { ...note, type: "mutation" as const }
    expect(() => quietRegistry([mutation])).toThrow("mcp.as must not be")
  })

  test("gives a tool its metadata and icons", async () => {
    const meta = { "anthropic/maxResultSizeChars": 400_000 }
    const icons = [{ src: "https://x/i.png" }]
    const { url } = await serve([query("a.b", { mcp: { meta, icons }, handler: () => 1 })])
    await using client = await connect(url, "modern")

    expect((await client.listTools()).tools[0]).toMatchObject({ _meta: meta, icons })
  })
})
