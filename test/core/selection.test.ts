import { describe, expect, test } from "vitest"
import { selectData, selectionOf } from "../../src/core/selection.ts"
import type { MCPResponseMeta, ResponseEnvelope } from "../../src/core/envelope.ts"
import { mcpEnvelope } from "../../src/index.ts"

const selection = selectionOf("a.b", {}, ["id"])
const whole = { id: 1, name: "x" }
const json = JSON.stringify(whole)
const image = { type: "image", data: "AA==", mimeType: "image/png" } as const

function select(data: unknown, meta: Partial<MCPResponseMeta>): ResponseEnvelope {
  return selectData(mcpEnvelope(data, { isError: false, content: [], ...meta }), selection)
}

function textBlock(text: string): MCPResponseMeta["content"][number] {
  return { type: "text", text }
}

describe("a selection of the result of an imported tool", () => {
  test("is made in the data, the structured result and its text", () => {
    const content = [textBlock(json), image]
    const { data, meta } = select(whole, { tool: "t", content, structuredContent: whole })
    expect(data).toEqual({ id: 1 })
    expect(meta).toMatchObject({ structuredContent: { id: 1 } })
    expect(meta).toMatchObject({ content: [textBlock('{"id":1}'), image] })
  })

  test.each([
    [json, '{"id":1}'],
    [`[${json}]`, '[{"id":1}]'],
    ["plain", "plain"],
    ["{broken", "{broken"],
    ['{"id":12345678901234567890}', '{"id":12345678901234567890}'],
  ])("is made in the text %s where there is no other data", (text, selected) => {
    const content = [textBlock(text), image]
    const { data, meta } = select(content, { tool: "t", content })
    expect(data).toEqual([textBlock(selected), image])
    expect(meta).toMatchObject({ content: data })
  })

  test("is not made if the tool failed", () => {
    const content = [textBlock(json)]
    expect(select(content, { tool: "t", content, isError: true }).data).toEqual(content)
  })
})

test("content that an operation of one's own wrote stays as it is", () => {
  const { data, meta } = select(whole, { content: [textBlock("Two fields.")] })
  expect(data).toEqual({ id: 1 })
  expect(meta).toMatchObject({ content: [textBlock("Two fields.")] })
})

test.each([
  [new Uint8Array([1])],
  [new ArrayBuffer(1)],
  [new Blob(["x"])],
  [new Date(0)],
  ["text"],
  [null],
])("a selection leaves %o whole", (data) => {
  expect(select(data, {}).data).toBe(data)
  expect(select({ id: data }, {}).data).toEqual({ id: data })
})
