import { describe, expect, test } from "vitest"
import { CallError, mcpEnvelope } from "../../src/index.ts"
import type { AnyOperation, MCPContentBlock } from "../../src/index.ts"
import { mcpError } from "../../src/mcp/errors.ts"
import type { MCPToolDefinition } from "../../src/mcp/model.ts"
import { operation, rejection } from "../support/operations.ts"
import { callOf, caller, textsOf, toolOf } from "./surface-support.ts"

const tool: MCPToolDefinition = {
  name: "read_file",
  title: "Read a file",
  description: "Reads.",
  inputSchema: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { path: { type: "string", "x-mcp-header": "Path" } },
    required: ["path"],
    definitions: { unused: { type: ["string", "null"] } },
  },
  outputSchema: { type: "object", properties: { text: { type: "string" } } },
  annotations: { title: "Reader", readOnlyHint: true, idempotentHint: true },
  icons: [{ src: "https://x.test/i.png" }],
  execution: { taskSupport: "required" },
  _meta: { "vendor/key": [1] },
}

function imported(handler: () => unknown, definition: MCPToolDefinition = tool): AnyOperation {
  return operation("files.read_file", {
    handler,
    _meta: { mcp: { server: "files", kind: "tool", tool: definition } },
  })
}

describe("an imported tool", () => {
  test("is handed on as its server defines it, but for tasks, which are not", () => {
    const { execution: _, ...rest } = tool
    expect(
      toolOf(
        imported(() => 1),
        { naming: "raw" },
      ),
    ).toEqual(rest)
    expect(JSON.stringify(toolOf(imported(() => 1)).inputSchema)).toBe(
      JSON.stringify(tool.inputSchema),
    )
  })

  test("is shown without the characters that nobody sees", () => {
    const hiding = {
      ...tool,
      title: "R\u200Bead",
      description: "Reads.\u{E0049}\u{E0047}",
      annotations: { title: "x\u202Ey" },
      inputSchema: { type: "object", properties: { p: { description: "a\u200Bb" } } },
    }
    expect(toolOf(imported(() => 1, hiding))).toMatchObject({
      title: "Read",
      description: "Reads.",
      annotations: { title: "xy" },
      inputSchema: { properties: { p: { description: "ab" } } },
    })
  })

  test("whose schemas are odd does not spoil the list", () => {
    for (const inputSchema of [undefined, "text", [], { properties: {} }, { type: "string" }]) {
      const odd = { name: "odd", inputSchema, outputSchema: { type: "array" } }
      expect(
        toolOf(
          imported(() => 1, odd),
          {},
          "legacy",
        ),
      ).toMatchObject({
        inputSchema: { type: "object" },
        outputSchema: { type: "object", properties: { result: { type: "array" } } },
      })
    }
    const open = toolOf(
      imported(() => 1, { name: "odd", outputSchema: true }),
      {},
      "legacy",
    )
    expect(open).not.toHaveProperty("outputSchema")
  })
})

describe("what an imported tool answers", () => {
  const content: MCPContentBlock[] = [
    { type: "text", text: "hi", annotations: { priority: 1 }, _meta: { k: 1 } },
    { type: "resource_link", uri: "file:///a", name: "a", size: 3 },
  ]

  test("goes on as it came: blocks, data, failure, what stands beside", async () => {
    const result = { isError: true, content, structuredContent: { any: 1 }, _meta: { m: 1 } }
    const one = imported(() => mcpEnvelope({ any: 1 }, result))
    expect(await callOf(one)).toEqual(result)
    const fine = imported(() => mcpEnvelope(content, { isError: false, content }))
    expect(await callOf(fine)).toEqual({ content })
  })

  test("keeps data that is no object, in an object for those who know nothing else", async () => {
    for (const value of [null, 0, false, "", [1]]) {
      const one = imported(
        () => mcpEnvelope(value, { isError: false, content: [], structuredContent: value }),
        { ...tool, outputSchema: {} },
      )
      expect((await callOf(one)).structuredContent).toEqual(value)
      const legacy = await callOf(one, {}, {}, caller("legacy"))
      expect(legacy.structuredContent).toEqual({ result: value })
    }
  })

  test("has the data that its text was read for", async () => {
    const texts: MCPContentBlock[] = [{ type: "text", text: '{"text":"x"}' }]
    const one = imported(() =>
      mcpEnvelope({ text: "x" }, { isError: false, content: texts, structuredFrom: "text" }),
    )
    expect(await callOf(one)).toEqual({ content: texts, structuredContent: { text: "x" } })
  })

  test("has blocks of unknown types as texts", async () => {
    const odd = [{ type: "hologram" }] as unknown as MCPContentBlock[]
    const one = imported(() => mcpEnvelope(odd, { isError: false, content: odd }))
    expect((await callOf(one)).content).toEqual([{ type: "text", text: '{"type":"hologram"}' }])
  })

  test("keeps the code of an error of the protocol", async () => {
    const answered = Object.assign(new Error("quota used up"), { code: -32050, data: { left: 0 } })
    const one = imported(() => {
      throw mcpError(answered, { server: "files", tool: "read_file", phase: "call" })
    })
    expect(await rejection(callOf(one))).toMatchObject({ code: -32050, data: { left: 0 } })
  })

  test("has words of ours for an error of the protocol that came without", async () => {
    const error = new CallError("EXECUTION_ERROR", "It failed.", { details: { code: -32000 } })
    const fault = await rejection(
      callOf(
        imported(() => {
          throw error
        }),
        { path: "a" },
      ),
    )
    expect(fault).toMatchObject({ name: "ProtocolError", code: -32000, message: "It failed." })
  })

  test("says that its server is gone, in a result", async () => {
    const one = imported(() => {
      throw new CallError("UNAVAILABLE", 'MCP server "files" ended.', {
        details: { exit: { code: 1, signal: null } },
      })
    })
    const result = await callOf(one)
    expect(result.isError).toBe(true)
    expect(textsOf(result)).toBe('UNAVAILABLE: MCP server "files" ended.')
  })
})
