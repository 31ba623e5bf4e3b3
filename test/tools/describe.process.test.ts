import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { createRegistry, FromSchema } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation } from "../../src/index.ts"
import { plainText } from "../../src/tools/describe.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { corpusText, hasCorpus } from "../sources/openapi/corpus.ts"
import { count, greet, operation, quietRegistry } from "../support/operations.ts"
import { faultsOf } from "../typegen/compile.ts"
import { connect, textOf } from "../serve/mcp/support/clients.ts"
import { caller, surfaceOf, textsOf } from "./surface-support.ts"

const searching = { expose: { mode: "search" as const } }

interface Description {
  readonly id: string
  readonly description: string
  readonly types: string
  readonly note?: string
  readonly examples?: unknown[]
}

/** What `describe_operation` says of one operation; the text is the same as JSON. */
async function described(one: AnyOperation): Promise<Description> {
  const surface = surfaceOf([one], searching)
  const id = `${one.namespace}.${one.name}`
  const result = await surface.call("describe_operation", { id }, caller())
  expect(JSON.parse(textsOf(result))).toEqual(result.structuredContent)
  return result.structuredContent as Description
}

const withInput = (schema: unknown): AnyOperation =>
  operation("a.b", { inputSchema: FromSchema(schema), handler: () => 1 })
const withOutput = (schema: unknown): AnyOperation =>
  operation("a.b", { outputSchema: FromSchema(schema), handler: () => 1 })

describe("describe_operation", () => {
  test.each(["types", "schema"])(
    "names no successor that callers may not see: %s",
    async (format) => {
      const handler = (): number => 1
      const old = (name: string, replacedBy: string): AnyOperation =>
        operation(name, { handler, deprecation: { replacedBy } })
      const surface = surfaceOf(
        [
          old("a.a", "a.internal"),
          old("a.b", "a.admin"),
          old("a.c", "a.open"),
          operation("a.internal", { handler, visibility: "internal" }),
          operation("a.admin", { handler, accessControl: { requiredScopes: ["admin"] } }),
          operation("a.open", { handler }),
        ],
        searching,
      )
      const texts: string[] = []
      for (const id of ["a.a", "a.b", "a.c"]) {
        texts.push(textsOf(await surface.call("describe_operation", { id, format }, caller())))
      }
      texts.push(textsOf(await surface.call("search_operations", { query: "a" }, caller())))
      expect(texts.map((text) => /a\.internal|a\.admin/.test(text))).not.toContain(true)
      expect(texts[2]).toContain("a.open")
    },
  )

  test("gives input, output and errors as TypeScript declarations", async () => {
    const one = operation("task.create", {
      title: "Create a task",
      description: "Adds a task. See [the manual](https://example.com/manual).",
      inputSchema: Type.Object({
        title: Type.String({ minLength: 1, description: "What is [to be done](https://x.test)" }),
        points: Type.Optional(Type.Integer({ minimum: 1, maximum: 8 })),
        due: Type.Optional(Type.String({ format: "date-time" })),
        kind: Type.Union([Type.Literal("bug"), Type.Literal("chore")], { default: "chore" }),
      }),
      outputSchema: Type.Object({ id: Type.String({ description: "Not shown" }) }),
      errorSchemas: [
        {
          code: "TAKEN",
          description: "There is such a task",
          schema: Type.Object({ by: Type.String() }),
        },
      ],
      examples: [{ title: "x" }],
      handler: () => 1,
    })

    expect(await described(one)).toEqual({
      id: "task.create",
      type: "mutation",
      title: "Create a task",
      description: "Adds a task. See the manual.",
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      types: [
        "type Input = {",
        "  /** What is to be done (at least 1 character) */",
        "  title: string",
        "  /** (integer, 1 to 8) */",
        "  points?: number",
        "  /** (date-time) */",
        "  due?: string",
        '  /** @default "chore" */',
        '  kind?: "bug" | "chore"',
        "}",
        "type Output = { id: string }",
        "type Errors = {",
        "  /** There is such a task */",
        "  TAKEN: { by: string }",
        "}",
        "",
      ].join("\n"),
      examples: [{ title: "x" }],
    })
  })

  test("shows what a subscription takes and gives as a tool", async () => {
    const { types } = await described(count)

    expect(types).toContain("  limit?: number")
    expect(types).toContain("type Output = { items: { at: number }[]; isComplete: boolean }\n")
  })

  test("refuses formats that it does not have", async () => {
    const surface = surfaceOf([greet], searching)
    const given = { id: "demo.greet", format: "yaml" }

    expect(textsOf(await surface.call("describe_operation", given, caller()))).toContain("/format")
  })

  test("keeps what is near the top of a large output, and says that it is abridged", async () => {
    const leaf = { type: "object", properties: Object.fromEntries(names(40, "leaf")) }
    const middle = {
      type: "object",
      properties: Object.fromEntries(names(40, "middle").map(([key]) => [key, leaf])),
    }
    const properties = { deep: middle, name: { type: "string" }, list: { $ref: "#/$defs/many" } }
    const one = withOutput({
      type: "object",
      properties,
      $defs: { many: { type: "array", items: middle } },
    })

    const { types, note } = await described(one)

    expect(types.length).toBeLessThan(4000)
    expect(types).toContain("name?: string")
    expect(types).toContain("middle39?: unknown")
    expect(types).toMatch(/type Many = /)
    expect(note).toMatch(/^Abridged\..*path: "\/body\/spec"/)
  })

  test("describes the part of the input at a path, and names the members where there is none", async () => {
    const container = {
      type: "object",
      required: ["name"],
      properties: { name: {}, uid: { readOnly: true } },
    }
    const one = withInput({
      type: "object",
      properties: { body: { $ref: "#/$defs/spec" }, none: { type: "string" } },
      $defs: {
        spec: {
          type: "object",
          properties: {
            containers: { type: "array", items: container },
            again: { $ref: "#/$defs/spec" },
          },
        },
      },
    })
    const surface = surfaceOf([one], searching)
    const ask = async (path: unknown): Promise<string> =>
      textsOf(await surface.call("describe_operation", { id: "a.b", path }, caller()))

    for (const path of ["/body/containers", "body/again/again/containers/0", "body.containers"])
      expect(JSON.parse(await ask(path))).toMatchObject({
        path,
        types: expect.stringContaining("name: unknown"),
      })
    expect(await ask("/body/containers")).not.toContain("uid")
    expect(await ask("/body/container")).toContain("has the members containers, again")
    expect(await ask("/body/container")).toContain('Did you mean "containers"?')
    expect(await ask("/none/x")).toContain("no members")
    for (const path of ["/__proto__", "/~", "/body/constructor"])
      expect(await ask(path)).toContain("VALIDATION_ERROR")
  })

  test("declares each of the types that it mentions, if only as unknown", async () => {
    const body = { type: "object", properties: Object.fromEntries(names(30, "key")) }
    const $defs = Object.fromEntries(names(20, "part").map(([key]) => [key, body]))
    const properties = Object.fromEntries(
      Object.keys($defs).map((key) => [key, { $ref: `#/$defs/${key}` }]),
    )

    const { types } = await described(withOutput({ type: "object", properties, $defs }))

    expect(types).toContain("type Part0 = {\n")
    expect(types).toContain("type Part19 = unknown\n")
    expect(await faultsOf({ "one.d.ts": types })).toEqual([])
  })
})

function names(length: number, start: string): [string, object][] {
  return Array.from({ length }, (_, at) => [`${start}${at}`, { type: "string" }])
}

describe("describe_operation of hostile schemas", () => {
  const text = "end */ } evil(): void; /* \u202E\u200B\u{E0041}[x](y) @deprecated"
  const hostile: readonly (readonly [string, AnyOperation])[] = [
    [
      "comments, keys and literals that break out",
      withInput({
        type: "object",
        description: text,
        properties: {
          [text]: { type: "string", description: text, pattern: "*/", format: "*/" },
          "a\n*/": { enum: [text, "*/", "`${x}`", "\u{E0041}"], default: text },
          Input: { $ref: "#/$defs/Input" },
          "*/": { $ref: "#/$defs/*~1 evil" },
        },
        $defs: { Input: { type: "string" }, "*/ evil": { const: 1, description: text } },
      }),
    ],
    [
      "loops",
      withOutput({
        $ref: "#/$defs/Output",
        $defs: {
          Output: {
            type: "object",
            properties: { next: { $ref: "#/$defs/Output" }, other: { $ref: "#/$defs/loop" } },
          },
          loop: { anyOf: [{ $ref: "#/$defs/loop" }, { $ref: "#" }] },
        },
      }),
    ],
    [
      "thousands of properties",
      withInput({ type: "object", properties: Object.fromEntries(names(20_000, "p")) }),
    ],
    [
      "thousands of values",
      withInput({ properties: { a: { enum: names(5000, "v").map(String) } } }),
    ],
    [
      "endless keys and values",
      withInput({
        type: "object",
        properties: { ["k".repeat(100_000)]: { const: "v".repeat(100_000) }, short: {} },
      }),
    ],
    ["deep nesting", withOutput(nested(60))],
    [
      "endless descriptions",
      operation("a.b", {
        title: "t".repeat(100_000),
        description: "[x](".repeat(100_000),
        inputSchema: FromSchema({
          properties: { a: { description: "[x](y".repeat(100_000) } },
          type: "object",
        }),
        errorSchemas: names(1000, "ERR_").map(([code]) => ({
          code: code.toUpperCase(),
          description: "e".repeat(5000),
          schema: Type.Unknown(),
        })),
        examples: ["e".repeat(100_000)],
        handler: () => 1,
      }),
    ],
  ]

  test.each(hostile)("stays small and harmless: %s", async (_, one) => {
    const description = await described(one)

    expect(JSON.stringify(description).length).toBeLessThan(16_000)
    expect(description.types).not.toMatch(/[\u202E\u200B\u{E0041}]/u)
    expect(await faultsOf({ "one.d.ts": description.types })).toEqual([])
  })

  test("the types are declarations and nothing else", async () => {
    const [, breaking] = hostile[0] as (typeof hostile)[number]
    const { types } = await described(breaking)

    const outside = types.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\/\*\*[^]*?\*\//g, "")
    expect(outside).not.toContain("evil()")
    expect(types).toMatch(/^type Input = \{/)
    expect(types.match(/^type Input =/gm)).toHaveLength(1)
  })

  function nested(depth: number): object {
    return depth === 0
      ? { type: "string" }
      : { type: "object", properties: { child: nested(depth - 1), other: { type: "string" } } }
  }
})

describe("links in a text", () => {
  test.each([
    ["See [the docs](https://x.test/a_(b)?c#d).", "See the docs."],
    ["![logo](x.png) and [two](</a> 'title') [three](b \"t\")", "logo and two three"],
    ["[a][b] and [c] and (d) stay", "[a][b] and [c] and (d) stay"],
    ["array[0](x) reads as array0", "array0 reads as array0"],
    ["[unfinished](x", "[unfinished](x"],
  ])("%s", (text, expected) => {
    expect(plainText(text)).toBe(expected)
  })

  test("are replaced in the results of a search", async () => {
    const one = operation("a.b", {
      description: "Adds\n\n[a label](https://x.test) to it.",
      handler: () => 1,
    })
    const result = await surfaceOf([one], searching).call(
      "search_operations",
      { query: "label" },
      caller(),
    )
    expect(result.structuredContent).toMatchObject({
      operations: [{ description: "Adds a label to it." }],
    })
  })
})

describe.each(["legacy", "modern"] as const)("a client of the %s era", (era) => {
  test("a model is instructed to search, describe, then call, and can", async () => {
    const options = { logger: silentLogger, ...searching }
    await using server = toMCP(quietRegistry([greet, count]), options)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)
    const call = async (name: string, input: Record<string, unknown>) =>
      await client.callTool({ name, arguments: input })

    expect(client.getInstructions()).toMatch(
      /search_operations.*describe_operation.*call_operation.*\n\nOperations by namespace: demo \(2\)\.$/s,
    )
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      "search_operations",
      "describe_operation",
      "call_operation",
      "read_result",
    ])
    const found = await call("search_operations", { query: "greet a person" })
    expect(found.structuredContent).toMatchObject({ operations: [{ id: "demo.greet" }] })
    const types = await call("describe_operation", { id: "demo.greet" })
    expect(types.structuredContent).toMatchObject({
      types: "type Input = { name: string }\ntype Output = { text: string }\n",
    })
    const schemas = await call("describe_operation", { id: "demo.greet", format: "schema" })
    expect(schemas.structuredContent).toHaveProperty("inputSchema.properties.name")
    const input = JSON.stringify({ name: "Ada" })
    const called = await call("call_operation", { id: "demo.greet", input })
    expect(textOf(called)).toContain("Hello, Ada")
  })

  test.each([
    ["Be kind.", /^To use an operation: .*\n\nBe kind\.$/s],
    [false, /^$/],
  ] as const)("is told so before the server's own instructions: %s", async (instructions, said) => {
    await using server = toMCP(quietRegistry([greet]), { instructions, ...searching })
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    expect(client.getInstructions() ?? "").toMatch(said)
  })
})

describe.runIf(hasCorpus)("describe_operation of GitHub's document", () => {
  test("takes a third of its schemas, never more than 12 kB", async () => {
    const registry = createRegistry(
      FromOpenAPI(corpusText("github.json.gz"), {
        namespace: "github",
        baseUrl: "https://api.github.com",
      }),
    )
    const surface = new ToolSurface(registry, { logger: silentLogger, ...searching })
    const sizeOf = async (id: string, format: string): Promise<number> =>
      textsOf(await surface.call("describe_operation", { id, format }, caller())).length
    const sums = { types: 0, schema: 0 }
    for (const name of [
      "issues_get",
      "issues_list-for-repo",
      "issues_create",
      "pulls_list",
      "pulls_create",
      "repos_list-for-authenticated-user",
      "repos_list-commits",
      "users_get-authenticated",
      "search_code",
      "checks_create",
    ]) {
      sums.types += await sizeOf(`github.${name}`, "types")
      sums.schema += await sizeOf(`github.${name}`, "schema")
    }
    expect(sums.types / sums.schema).toBeLessThan(0.35)
    const all = await Promise.all(
      registry.list().map(async (one) => await sizeOf(`${one.namespace}.${one.name}`, "types")),
    )
    expect(Math.max(...all)).toBeLessThan(12_000)
  })
})
