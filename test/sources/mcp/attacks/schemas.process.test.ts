import { describe, expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { MCPClientWrapper } from "../../../../src/from-mcp.ts"
import { isCallError } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { OperationRegistry } from "../../../../src/index.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import { answerOf, rawRequest } from "../../../serve/mcp/support/clients.ts"
import { quietRegistry } from "../../../support/operations.ts"
import { hostile, tool } from "./support.ts"
import type { Answer, Hostile } from "./support.ts"
import { TOO_LONG } from "../../../support/patience.ts"

const quiet = { logger: silentLogger }

interface Attack extends AsyncDisposable {
  readonly remote: Hostile
  readonly evil: MCPClientWrapper
  readonly registry: OperationRegistry
}

async function attack(answers: Record<string, Answer>, more: object = {}): Promise<Attack> {
  const remote = await hostile(answers)
  const evil = await createMCPClient("evil", {
    url: remote.url,
    timeout: 10_000,
    ...quiet,
    ...more,
  })
  const registry = quietRegistry()
  evil.registerAll(registry)
  return {
    remote,
    evil,
    registry,
    async [Symbol.asyncDispose]() {
      await evil.close()
      await remote[Symbol.asyncDispose]()
    },
  }
}

const listed = (...tools: unknown[]): Record<string, Answer> => ({
  "tools/list": () => ({ tools }),
})

/** What a call comes to, result or error, and how long it took. */
async function outcome(run: Promise<unknown>): Promise<{ value: unknown; took: number }> {
  const started = performance.now()
  const value = await run.catch((error: unknown) => error)
  return { value, took: performance.now() - started }
}

/** Lists what is registered as an MCP server would. */
async function served(registry: OperationRegistry): Promise<string> {
  await using server = toMCP(registry, quiet)
  const request = new Request("http://localhost/mcp", rawRequest("tools/list"))
  return JSON.stringify(await answerOf(await server.fetch(request)))
}

/** JSON that is too deep for anyone who recurses, those who print it included. */
function nested(depth: number, before: string, core: string, after: string): string {
  return before.repeat(depth) + core + after.repeat(depth)
}

const HERE = "@deep@"

describe("a pattern that takes for ever", () => {
  const PATTERNS = [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "(.*a){20}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "^((a*)*)*b$",
    "(?=(a+))a*b\\1$",
    "^(?:a?){40}a{40}$",
  ]
  const text = `${"a".repeat(40)}!`

  test.each(PATTERNS)("of an input does not: %s", async (pattern) => {
    const properties = { text: { type: "string", pattern } }
    const byName = { patternProperties: { [pattern]: { type: "string" } } }
    await using evil = await attack(
      listed(
        tool("value", { inputSchema: { type: "object", properties } }),
        tool("name", { inputSchema: { type: "object", ...byName } }),
      ),
    )

    const value = await outcome(evil.registry.execute("evil.value", { text }))
    const name = await outcome(evil.registry.execute("evil.name", { [text]: "x" }))

    expect(value.took).toBeLessThan(TOO_LONG)
    expect(name.took).toBeLessThan(TOO_LONG)
  })

  test.each(PATTERNS)("of an output does not: %s", async (pattern) => {
    const properties = { text: { type: "string", pattern } }
    await using evil = await attack({
      ...listed(tool("echo", { outputSchema: { type: "object", properties } })),
      "tools/call": () => ({ content: [], structuredContent: { text } }),
    })

    expect((await outcome(evil.registry.execute("evil.echo", {}))).took).toBeLessThan(TOO_LONG)
  })
})

describe("a schema without a bottom", () => {
  const DEEP: Record<string, string> = {
    properties: nested(20_000, '{"properties":{"a":', "{}", "}}"),
    items: nested(20_000, '{"items":', "{}", "}"),
    not: nested(20_000, '{"not":', "{}", "}"),
    anyOf: nested(20_000, '{"anyOf":[', "{}", "]}"),
    lists: nested(100_000, "[", "1", "]"),
    "just too many": nested(600, '{"not":', "{}", "}"),
    "just not too many": nested(450, '{"not":', "{}", "}"),
  }

  test.each(Object.keys(DEEP))("of %s hides no other tool", async (kind) => {
    const tools = [
      tool("input", { inputSchema: { type: "object", properties: { deep: HERE } } }),
      tool("output", { outputSchema: HERE }),
      tool("meta", { _meta: { deep: HERE } }),
      tool("good"),
    ]
    await using evil = await attack({
      "tools/list": ({ message }, response) => {
        const text = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { tools } })
        response.writeHead(200, { "content-type": "application/json" })
        response.end(text.replaceAll(`"${HERE}"`, DEEP[kind] ?? ""))
        return undefined
      },
    })

    for (const { namespace, name } of evil.evil.tools) {
      const { took, value } = await outcome(evil.registry.execute(`${namespace}.${name}`, {}))
      expect(took).toBeLessThan(TOO_LONG)
      expect(value instanceof Error ? isCallError(value) : true).toBe(true)
    }
    expect((await outcome(evil.registry.execute("evil.good", {}))).value).toMatchObject({
      meta: { source: "mcp" },
    })
    expect(await served(evil.registry)).toContain("good")
  })

  test("of results is an error, or a result, and the next call works", async () => {
    const deep = nested(100_000, '{"a":', "1", "}")
    const results: Record<string, string> = {
      structured: `{"content":[],"structuredContent":${deep}}`,
      block: `{"content":[{"type":"text","text":"x","_meta":${deep}}]}`,
      unknown: `{"content":[{"type":"odd","it":${deep}}]}`,
      text: `{"content":[{"type":"text","text":${JSON.stringify(deep)}}]}`,
      list: `{"content":${nested(100_000, "[", "1", "]")}}`,
      meta: `{"content":[],"_meta":${deep}}`,
      good: '{"content":[]}',
    }
    const outputSchema = { type: "object", properties: { a: { type: "object" } } }
    const tools = Object.keys(results).flatMap((name) => [
      tool(name),
      tool(`${name}_checked`, { outputSchema }),
    ])
    await using evil = await attack({
      ...listed(...tools),
      "tools/call": ({ message }, response) => {
        const name = String(message.params?.["name"]).replace("_checked", "")
        response.writeHead(200, { "content-type": "application/json" })
        response.end(`{"jsonrpc":"2.0","id":${String(message.id)},"result":${results[name]}}`)
        return undefined
      },
    })
    await using server = toMCP(evil.registry, quiet)

    for (const { name } of evil.evil.tools) {
      const { took, value } = await outcome(evil.registry.execute(`evil.${name}`, {}))
      expect(took).toBeLessThan(TOO_LONG)
      expect(value instanceof Error ? isCallError(value) : true).toBe(true)
      const call = rawRequest("tools/call", { params: { name, arguments: {} } })
      const answer = await answerOf(await server.fetch(new Request("http://localhost/mcp", call)))
      expect(answer.error ?? answer.result).toBeDefined()
    }
    expect((await evil.registry.execute("evil.good", {})).data).toEqual([])
  })

  test("that refers to itself, in a ring, or doubles at each step, ends", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `d${at}`,
        {
          type: "object",
          properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } },
        },
      ]),
    )
    await using evil = await attack(
      listed(
        tool("self", { inputSchema: { type: "object", $ref: "#" } }),
        tool("ring", {
          inputSchema: {
            type: "object",
            $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
            properties: { x: { $ref: "#/$defs/a" } },
          },
        }),
        tool("bomb", {
          inputSchema: { type: "object", $defs, properties: { x: { $ref: "#/$defs/d0" } } },
        }),
      ),
    )

    for (const name of ["self", "ring", "bomb"]) {
      const { took, value } = await outcome(evil.registry.execute(`evil.${name}`, { x: {} }))
      expect(took).toBeLessThan(TOO_LONG)
      expect(isCallError(value) || typeof value === "object").toBe(true)
    }
    expect((await outcome(served(evil.registry))).took).toBeLessThan(TOO_LONG)
  })
})

test("nothing that a schema, an icon or a link names is fetched or read", async () => {
  await using elsewhere = await hostile()
  const away = `${elsewhere.origin}/schema.json`
  const schema = (at: string): object => ({ type: "object", properties: { x: { $ref: at } } })
  const link = { type: "resource_link", uri: away, name: "x", icons: [{ src: away }] }
  await using evil = await attack({
    ...listed(
      tool("http", { inputSchema: schema(away), icons: [{ src: away }] }),
      tool("file", { inputSchema: schema("file:///etc/passwd") }),
      tool("id", { inputSchema: { $id: away, $schema: away, ...schema("other.json") } }),
      tool("dynamic", { inputSchema: { type: "object", $dynamicRef: away } }),
      tool("output", { outputSchema: schema(away) }),
    ),
    "tools/call": () => ({ content: [link], structuredContent: { x: 1 } }),
  })

  for (const { namespace, name } of evil.evil.tools) {
    const { value } = await outcome(evil.registry.execute(`${namespace}.${name}`, { x: 1 }))
    expect(JSON.stringify(value)).not.toContain("root:")
  }
  await served(evil.registry)

  expect(evil.evil.tools).toHaveLength(5)
  expect(elsewhere.seen).toEqual([])
})

describe("a template of resources", () => {
  const TEMPLATES: readonly (readonly [name: string, uriTemplate: string])[] = [
    ["500 exploded variables", `x:{${"/id*,".repeat(500)}/id*}`],
    ["2,000 expressions", `x:${"{a}".repeat(2000)}`],
    ["a long name", `x:{${"a".repeat(50_000)}}`],
    ["braces that open", `x:${"{".repeat(50_000)}`],
    ["one variable 10,000 times", `x:{a${",a".repeat(10_000)}}`],
    ["a path and more", `x:{/path*}${"/{b}".repeat(40)}`],
    ["names of every object", "x:{__proto__}/{constructor}"],
  ]

  test.each(TEMPLATES)("takes no time to read and to fill in: %s", async (_name, uriTemplate) => {
    const started = performance.now()
    await using evil = await attack(
      {
        initialize: () => ({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, resources: {} },
          serverInfo: { name: "hostile", version: "1" },
        }),
        "resources/list": () => ({ resources: [] }),
        "resources/templates/list": () => ({
          resourceTemplates: [{ uriTemplate, name: "evil" }],
        }),
        "resources/read": ({ message }) => ({
          contents: [{ uri: String(message.params?.["uri"]), text: "x" }],
        }),
      },
      { resources: true },
    )
    const value = `${"/a".repeat(10_000)}!`
    for (const { namespace, name, inputSchema } of evil.evil.operations) {
      const names = Object.keys((inputSchema as { properties?: object }).properties ?? {})
      const input = Object.fromEntries(names.slice(0, 5).map((key) => [key, value]))
      await outcome(evil.registry.execute(`${namespace}.${name}`, input))
    }

    expect(performance.now() - started).toBeLessThan(TOO_LONG)
    expect(({} as Record<string, unknown>)["evil"]).toBeUndefined()
  })
})
