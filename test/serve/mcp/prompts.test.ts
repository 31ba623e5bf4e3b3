import { Type } from "typebox"
import { afterEach, describe, expect, test } from "vitest"
import { toMCP } from "../../../src/to-mcp.ts"
import type { OperationContext } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { connect, type Era } from "./support/clients.ts"

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const many = Array.from({ length: 150 }, (_, at) => `city${at}`)

const letter = operation("write.letter", {
  type: "query",
  title: "A letter",
  inputSchema: Type.Object({
    to: Type.String({ description: "Who gets it." }),
    tone: Type.Optional(Type.Enum(["formal", "friendly", "Frosty"])),
    copies: Type.Optional(Type.Integer()),
    city: Type.Optional(Type.String()),
  }),
  mcp: { as: "prompt", complete: { city: "geo.cities" } },
  handler: (input: never) => `Write a letter: ${JSON.stringify(input)}`,
})

const operations = [
  letter,
  operation("write.talk", {
    type: "query",
    inputSchema: Type.Object({}),
    mcp: { as: "prompt" },
    handler: () => ({
      messages: [{ role: "assistant", content: { type: "text", text: "Hello." } }],
    }),
  }),
  operation("write.asking", {
    type: "query",
    inputSchema: Type.Object({}),
    mcp: { as: "prompt" },
    handler: async (_: never, { requestInput }: OperationContext) => {
      const schema = { type: "object", properties: { name: { type: "string" } } }
      const { content } = await requestInput({ message: "Who?", schema })
      return `For ${JSON.stringify(content)}`
    },
  }),
  operation("geo.cities", {
    type: "query",
    accessControl: { requiredScopes: ["geo"] },
    inputSchema: Type.Object({ value: Type.String(), arguments: Type.Object({}) }),
    handler: ({ value }: never) => many.filter((city) => city.startsWith(value)),
  }),
]

async function serve(scopes = ["geo"]): Promise<string> {
  const authenticate = () => ({ id: "ada", scopes })
  const server = toMCP(quietRegistry(operations), { logger: silentLogger, authenticate })
  open.push(server)
  return (await server.listen({ port: 0 })).url
}

const ERAS: readonly Era[] = ["legacy", "modern"]

describe.each(ERAS)("prompts of a registry, %s", (era) => {
  test("are listed with their arguments, and not among the tools", async () => {
    await using client = await connect(await serve(), era)

    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(["write_asking", "write_letter", "write_talk"])
    expect(prompts[1]).toEqual({
      name: "write_letter",
      title: "A letter",
      description: letter.description,
      arguments: [
        { name: "to", description: "Who gets it.", required: true },
        { name: "tone" },
        { name: "copies" },
        { name: "city" },
      ],
    })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["geo_cities"])
  })

  test("return texts as messages, and messages as they are", async () => {
    await using client = await connect(await serve(), era)

    const written = await client.getPrompt({
      name: "write_letter",
      arguments: { to: "Ada", copies: "2" },
    })
    expect(written.messages).toEqual([
      { role: "user", content: { type: "text", text: 'Write a letter: {"to":"Ada","copies":2}' } },
    ])
    expect((await client.getPrompt({ name: "write_talk" })).messages).toEqual([
      { role: "assistant", content: { type: "text", text: "Hello." } },
    ])
  })

  test("name what is wrong with their arguments", async () => {
    await using client = await connect(await serve(), era)

    await expect(client.getPrompt({ name: "write_letter" })).rejects.toThrow("/to")
    await expect(client.getPrompt({ name: "__proto__" })).rejects.toThrow("Unknown prompt")
  })

  test("can ask their caller", async () => {
    await using client = await connect(await serve(), era, {
      capabilities: { elicitation: {} },
      prepare: (one) =>
        one.setRequestHandler("elicitation/create", async () => ({
          action: "accept",
          content: { name: "Ada" },
        })),
    })

    expect((await client.getPrompt({ name: "write_asking" })).messages).toEqual([
      { role: "user", content: { type: "text", text: 'For {"name":"Ada"}' } },
    ])
  })

  test("are completed from an enumeration, or by an operation that the caller may call", async () => {
    const complete = async (url: string, name: string, value: string) => {
      await using client = await connect(url, era)
      const ref = { type: "ref/prompt", name: "write_letter" } as const
      return (await client.complete({ ref, argument: { name, value } })).completion
    }
    const url = await serve()

    expect((await complete(url, "tone", "f")).values).toEqual(["formal", "friendly", "Frosty"])
    expect((await complete(url, "to", "A")).values).toEqual([])
    expect((await complete(url, "city", "city14")).values).toHaveLength(11)
    const cities = await complete(url, "city", "")
    expect([cities.values.length, cities.total, cities.hasMore]).toEqual([100, 150, true])
    await expect(complete(await serve([]), "city", "")).rejects.toThrow("ACCESS_DENIED")
  })
})
