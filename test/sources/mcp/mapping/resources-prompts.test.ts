import { describe, expect, test } from "vitest"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import { promptOperations } from "../../../../src/sources/mcp/extra-operation.ts"
import { resourceOperations } from "../../../../src/sources/mcp/extra-operation.ts"
import { quietRegistry, rejection } from "../../../support/operations.ts"

const server = resolveServer("docs", { command: "x", accessControl: { requiredScopes: ["read"] } })
const identity = { id: "me", scopes: ["read"] }

function resources(list: readonly unknown[], templates: readonly unknown[] = []) {
  const warnings: string[] = []
  const uris: string[] = []
  const read = (uri: string) => {
    uris.push(uri)
    return { contents: [{ uri, text: "x" }] }
  }
  const operations = resourceOperations([...list, ...templates], {
    server,
    request: read,
    warn: (message) => warnings.push(message),
  })
  return { operations, warnings, uris, registry: quietRegistry(operations) }
}

describe("resourceOperations", () => {
  test("a resource is a query without input, in a namespace of its own", async () => {
    const { operations, registry, uris } = resources([
      {
        uri: "file:///readme.md",
        name: "readme.md",
        title: "Read me",
        mimeType: "text/markdown",
        size: 12,
        _meta: { a: 1 },
      },
    ])

    expect(operations[0]).toMatchObject({
      namespace: "docs-resources",
      name: "readme.md",
      type: "query",
      title: "Read me",
      description: "Read me",
      annotations: { readOnly: true },
      accessControl: { requiredScopes: ["read"] },
      _meta: {
        a: 1,
        mcp: { server: "docs", kind: "resource", uri: "file:///readme.md", size: 12 },
      },
    })
    const { data } = await registry.execute("docs-resources.readme.md", undefined, { identity })
    expect(data).toEqual({ contents: [{ uri: "file:///readme.md", text: "x" }] })
    expect(uris).toEqual(["file:///readme.md"])
    expect(await rejection(registry.execute("docs-resources.readme.md", {}))).toMatchObject({
      code: "ACCESS_DENIED",
    })
  })

  test("a template takes its variables as input", async () => {
    const { registry, uris } = resources(
      [],
      [{ uriTemplate: "db://{table}{/path*}{?limit}", name: "rows" }],
    )
    const call = (input: unknown) => registry.execute("docs-resources.rows", input, { identity })

    await call({ table: "a/b", limit: "5" })
    await call({ table: "t", path: ["x", "y z"] })

    expect(uris).toEqual(["db://a%2Fb?limit=5", "db://t/x/y%20z"])
    for (const input of [{}, { table: 1 }, { table: "t", limit: ["1"] }, { table: "t", no: "x" }]) {
      expect(await rejection(call(input))).toMatchObject({ code: "VALIDATION_ERROR" })
    }
  })

  test("equal names are told apart, equal addresses are one", () => {
    const { operations } = resources([
      { uri: "a:1", name: "log" },
      { uri: "a:2", name: "log" },
      { uri: "a:2", name: "log" },
      { uri: "a:3" },
    ])

    const names = operations.map(({ name }) => name)
    expect(new Set(names).size).toBe(3)
    expect(names[0]).toMatch(/^log-[0-9a-f]{6}$/)
    expect(names[2]).toMatch(/^a_3-[0-9a-f]{6}$/)
  })

  test("what is none is left out and reported", () => {
    const { operations, warnings } = resources(
      [null, { name: "x" }, { uri: "", name: "y" }],
      [
        { uriTemplate: "a:{", name: "z" },
        { uri: "a:1", name: 5, title: 7, _meta: [] },
      ],
    )

    expect(operations.map(({ name, title }) => ({ name, title }))).toEqual([
      { name: expect.stringMatching(/^a_1-/), title: undefined },
    ])
    expect(warnings).toHaveLength(4)
    expect(warnings[3]).toContain("its template cannot be used")
    expect(operations[0]?.namespace).toBe("docs-resources")
  })
})

describe("promptOperations", () => {
  function prompts(list: readonly unknown[]) {
    const warnings: string[] = []
    const asked: unknown[] = []
    const operations = promptOperations(list, {
      server,
      request: (name, input) => {
        asked.push([name, input])
        return { messages: [{ role: "user", content: { type: "text", text: "hi" } }] }
      },
      warn: (message) => warnings.push(message),
    })
    return { operations, warnings, asked, registry: quietRegistry(operations) }
  }

  test("a prompt is a query whose arguments are texts", async () => {
    const { operations, registry, asked } = prompts([
      {
        name: "code review",
        description: "Reviews",
        arguments: [
          { name: "code", description: "What", required: true },
          { name: "__proto__" },
          { name: "code" },
          { title: "no name" },
        ],
      },
    ])
    const [made] = operations
    const id = `docs-prompts.${made?.name}`

    await registry.execute(id, { code: "x", other: "y" }, { identity })

    expect(made).toMatchObject({ type: "query", description: "Reviews" })
    expect(made?.name).toMatch(/^code_review-[0-9a-f]{6}$/)
    expect(made?._meta).toMatchObject({ mcp: { kind: "prompt", prompt: "code review" } })
    expect(asked).toEqual([["code review", { code: "x", other: "y" }]])
    for (const input of [{}, { code: 1 }, { code: "x", other: 2 }]) {
      expect(await rejection(registry.execute(id, input, { identity }))).toMatchObject({
        code: "VALIDATION_ERROR",
      })
    }
  })

  test("may be called without input where nothing is required", async () => {
    const { registry, asked } = prompts([{ name: "hello" }])

    await registry.execute("docs-prompts.hello", undefined, { identity })

    expect(asked).toEqual([["hello", {}]])
  })

  test("what is none is left out and reported; the first of a name counts", () => {
    const { operations, warnings } = prompts([
      null,
      { name: "" },
      { name: "a", description: "first" },
      { name: "a", description: "second" },
      { name: "b", arguments: { code: true } },
    ])

    expect(operations.map(({ description }) => description)).toEqual([
      "first",
      'Prompt "b" of the MCP server "docs".',
    ])
    expect(warnings).toHaveLength(3)
  })
})
