import { describe, expect, test } from "vitest"
import { compileSchema } from "../../../../src/schema/compiled.ts"
import type { MCPToolDefinition } from "../../../../src/mcp/model.ts"
import {
  promptEnvelope,
  resourceEnvelope,
  toolEnvelope,
  type ToolAnswerOrigin,
} from "../../../../src/sources/mcp/result.ts"

const SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
const PEER = {
  era: "modern",
  protocolVersion: "2026-07-28",
  serverInfo: { name: "Weather", version: "2" },
} as const

function about(tool: Partial<MCPToolDefinition> = {}): ToolAnswerOrigin {
  const definition = { name: "now", ...tool }
  return {
    server: "weather",
    tool: definition,
    peer: PEER,
    durationMs: 12,
    isOutput: (value) => compileSchema(definition.outputSchema).check(value),
  }
}

const text = (value: string) => ({ type: "text", text: value })

describe("toolEnvelope", () => {
  test.each([[0], [""], [false], [null], [[]], [[{ n: 1 }]], [{ n: "warm" }]])(
    "structured content %j is the data as it came",
    (structuredContent) => {
      const { data, meta } = toolEnvelope(
        { content: [text("other")], structuredContent },
        about({ outputSchema: SCHEMA }),
      )

      expect(data).toBe(structuredContent)
      expect(meta).toMatchObject({ structuredContent, content: [text("other")], isError: false })
      expect(meta).not.toHaveProperty("structuredFrom")
    },
  )

  test("says where it is from", () => {
    const { meta } = toolEnvelope({ content: [], _meta: { trace: 1 } }, about())

    expect(meta).toEqual({
      source: "mcp",
      isError: false,
      content: [],
      _meta: { trace: 1 },
      server: "weather",
      tool: "now",
      serverInfo: PEER.serverInfo,
      protocolVersion: "2026-07-28",
      era: "modern",
      durationMs: 12,
    })
  })

  test("the only text is data where a schema was declared and it fits", () => {
    const { data, meta } = toolEnvelope(
      { content: [text('{"n":1}'), { type: "image", data: "", mimeType: "image/png" }] },
      about({ outputSchema: SCHEMA }),
    )

    expect(data).toEqual({ n: 1 })
    expect(meta).toMatchObject({ structuredFrom: "text" })
    expect(meta).not.toHaveProperty("structuredContent")
  })

  test("the only text is data where the declared schema takes anything", () => {
    const { data } = toolEnvelope({ content: [text("1")] }, about({ outputSchema: {} }))

    expect(data).toBe(1)
  })

  test.each([
    ["no schema was declared", { content: [text('{"n":1}')] }, {}],
    ["it does not fit", { content: [text('{"n":"1"}')] }, { outputSchema: SCHEMA }],
    ["it is no JSON", { content: [text("{n:1}")] }, { outputSchema: SCHEMA }],
    ["there are two", { content: [text('{"n":1}'), text("")] }, { outputSchema: SCHEMA }],
    ["it failed", { content: [text('{"n":1}')], isError: true }, { outputSchema: SCHEMA }],
    ["there is none", { content: [] }, { outputSchema: SCHEMA }],
    [
      "a stranger is beside it",
      { content: [text('{"n":1}'), { type: "new" }] },
      { outputSchema: SCHEMA },
    ],
  ])("a text stays a text when %s", (_, result, tool) => {
    const { data, meta } = toolEnvelope(result, about(tool))

    expect(data).toBe((meta as { content: unknown }).content)
    expect(meta).not.toHaveProperty("structuredFrom")
  })

  test("a failure is an envelope, with its structured content", () => {
    const { data, meta } = toolEnvelope(
      { content: [text("no")], isError: true, structuredContent: { why: 1 } },
      about({ outputSchema: SCHEMA }),
    )

    expect(data).toEqual({ why: 1 })
    expect(meta).toMatchObject({ isError: true })
  })

  test("only `true` is a failure, and only an object is `_meta`", () => {
    const { meta } = toolEnvelope({ content: "hi", isError: "false", _meta: 3 }, about())

    expect(meta).toMatchObject({ isError: false, content: [text('"hi"')], unknownBlocks: ["hi"] })
    expect(meta).not.toHaveProperty("_meta")
  })

  test("keeps strangers among the blocks", () => {
    const stranger = { type: "new", x: 1 }

    const { data, meta } = toolEnvelope({ content: [stranger] }, about())

    expect(data).toEqual([text('{"type":"new","x":1}')])
    expect(meta).toMatchObject({ unknownBlocks: [stranger] })
  })

  test("works for a peer of which nothing is known", () => {
    const { meta } = toolEnvelope({}, { ...about(), peer: undefined })

    expect(meta).toEqual(expect.not.objectContaining({ era: expect.anything() }))
  })
})

describe("resourceEnvelope", () => {
  test("gives the contents, and the same as blocks", () => {
    const contents = [
      { uri: "a:b", text: "x" },
      { uri: "a:c", blob: "AA==" },
    ]

    const { data, meta } = resourceEnvelope({ contents, ttlMs: 5, _meta: { a: 1 } }, about())

    expect(data).toEqual({ contents })
    expect(meta).toMatchObject({
      content: contents.map((resource) => ({ type: "resource", resource })),
      _meta: { a: 1 },
    })
  })

  test("survives a result without contents", () => {
    expect(resourceEnvelope({ contents: "x" }, about()).data).toEqual({ contents: [] })
  })
})

describe("promptEnvelope", () => {
  test("gives description and messages, and their content as blocks", () => {
    const messages = [{ role: "user", content: text("hi") }, "odd"]

    const { data, meta } = promptEnvelope({ description: "D", messages }, about())

    expect(data).toEqual({ description: "D", messages })
    expect(meta).toMatchObject({ content: [text("hi"), text('"odd"')] })
  })
})
