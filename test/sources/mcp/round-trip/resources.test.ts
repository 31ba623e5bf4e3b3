import fc from "fast-check"
import { Type } from "typebox"
import { expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { AnyOperation, OperationContext } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { toMCP } from "../../../../src/to-mcp.ts"
import { connect, type Era } from "../../../serve/mcp/support/clients.ts"
import { operation, quietRegistry } from "../../../support/operations.ts"

/** Serves operations, and serves them once more behind a client. */
async function gateway(operations: readonly AnyOperation[], era: Era) {
  const options = { logger: silentLogger, naming: "raw" } as const
  const first = toMCP(quietRegistry(operations), options)
  const { url } = await first.listen({ port: 0 })
  const wanted = { resources: true, prompts: true, forwardInput: true, era }
  const imported = await createMCPClient("up", { url, ...wanted, logger: silentLogger })
  const registry = quietRegistry([])
  imported.registerAll(registry)
  const second = toMCP(registry, options)
  const { url: served } = await second.listen({ port: 0 })
  return {
    first,
    urls: [url, served] as const,
    async [Symbol.asyncDispose]() {
      await second.close()
      await imported.close()
      await first.close()
    },
  }
}

const word = fc.stringMatching(/^[a-z]{1,6}$/)
const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((one) => !/[\p{C}\p{Z}]/u.test(one))
const shown = fc.record(
  {
    meta: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    icons: fc.array(fc.record({ src: fc.webUrl() }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const output = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.uint8Array({ maxLength: 8 }))

/** Operations that are served as tools, resources, templates and prompts. */
const generated = fc.uniqueArray(
  fc.record({
    name: word,
    kind: fc.constantFrom("tool", "resource", "template", "prompt"),
    title: fc.option(text, { nil: undefined }),
    description: text,
    shown,
    output,
  }),
  { selector: ({ name }) => name, maxLength: 8 },
)

type Generated = typeof generated extends fc.Arbitrary<(infer T)[]> ? T : never

function operationOf({ name, kind, title, description, shown: own, output: data }: Generated) {
  const uri = kind === "template" ? `${name}://{id}/x` : `${name}://x`
  const isResource = kind === "resource" || kind === "template"
  const as = kind === "template" ? "resource" : kind
  return operation(`gen.${name}`, {
    type: "query",
    ...(title !== undefined && { title }),
    description,
    inputSchema: Type.Object(kind === "tool" || kind === "resource" ? {} : { id: Type.String() }),
    outputSchema: Type.Unknown(),
    mcp: { ...own, as, ...(isResource && { uri }) },
    handler: () => data,
  })
}

/** All that a client can learn of a server and read from it. */
async function everythingOf(url: string, era: Era): Promise<unknown> {
  await using client = await connect(url, era)
  const { tools } = await client.listTools()
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  const { prompts } = await client.listPrompts()
  const uris = [
    ...resources.map(({ uri }) => uri),
    ...resourceTemplates.map(({ uriTemplate }) => uriTemplate.replace("{id}", "a%2Fb%20%C3%A9")),
  ]
  const essence = ({ _meta: _, ...rest }: Record<string, unknown>): object => rest
  const byName = <T extends { name: string }>(items: T[]): T[] =>
    items.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  return {
    lists: [tools, resources, resourceTemplates, prompts].map((list) =>
      byName<{ name: string }>(list),
    ),
    read: await Promise.all(
      uris.toSorted().map(async (uri) => essence(await client.readResource({ uri }))),
    ),
    got: await Promise.all(
      byName(prompts).map(async ({ name }) =>
        essence(await client.getPrompt({ name, arguments: { id: "1" } })),
      ),
    ),
  }
}

test.each(["legacy", "modern"] as const)(
  "a gateway serves what its server serves: tools, resources, templates and prompts, %s",
  async (era) => {
    await fc.assert(
      fc.asyncProperty(generated, async (specs) => {
        await using served = await gateway(specs.map(operationOf), era)
        const [direct, through] = served.urls
        expect(await everythingOf(through, era)).toEqual(await everythingOf(direct, era))
      }),
      { numRuns: 6 },
    )
  },
)

test.each(["legacy", "modern"] as const)(
  "a gateway passes subscriptions, completion and questions on, %s",
  async (era) => {
    const note = operation("note.get", {
      type: "query",
      inputSchema: Type.Object({ id: Type.Enum(["one", "two"]) }),
      mcp: { as: "resource", uri: "note://{id}" },
      handler: async ({ id }: never, { requestInput }: OperationContext) => {
        if (id === "one") return "Milk"
        const schema = { type: "object", properties: { name: { type: "string" } } }
        return JSON.stringify((await requestInput({ message: "Who?", schema })).content)
      },
    })
    await using served = await gateway([note], era)
    const heard: string[] = []
    await using client = await connect(served.urls[1], era, {
      capabilities: { elicitation: {} },
      prepare(one) {
        one.setNotificationHandler("notifications/resources/updated", ({ params }) => {
          heard.push(params.uri)
        })
        one.setRequestHandler("elicitation/create", async () => ({
          action: "accept",
          content: { name: "Ada" },
        }))
      },
    })
    const uri = "note://one"

    const ref = { type: "ref/resource", uri: "note://{id}" } as const
    const { completion } = await client.complete({ ref, argument: { name: "id", value: "t" } })
    expect(completion.values).toEqual(["two"])
    expect((await client.readResource({ uri: "note://two" })).contents).toMatchObject([
      { text: '{"name":"Ada"}' },
    ])
    if (era === "legacy") await client.subscribeResource({ uri })
    else await client.listen({ resourceSubscriptions: [uri] })
    await expect
      .poll(() => {
        served.first.notifyUpdated(uri)
        return heard.length
      })
      .toBeGreaterThan(0)
    expect(heard[0]).toBe(uri)
    await expect(client.readResource({ uri: "note://three" })).rejects.toThrow("/id")
    await expect(client.readResource({ uri: "other://1" })).rejects.toThrow("Resource not found")
  },
)
