import { expect, test } from "vitest"
import { asBytes, blocksOf, blockText, bytesIn, sizeText } from "../../../src/cli/result/blocks.ts"
import type { MCPContentBlock, ResponseEnvelope } from "../../../src/core/envelope.ts"

const TEXT: MCPContentBlock = { type: "text", text: "hello" }

function fromTool(data: unknown, content: readonly MCPContentBlock[], more: object = {}) {
  return { data, meta: { source: "mcp", isError: false, content, ...more } } as ResponseEnvelope
}

const local = (data: unknown): ResponseEnvelope => ({
  data,
  meta: { source: "local", operationId: "a.b", timestamp: 0 },
})

test("blocks are a result only where the result is nothing else", () => {
  expect(blocksOf(fromTool([TEXT], [TEXT]))).toEqual([TEXT])
  expect(blocksOf(fromTool([], []))).toEqual([])
  expect(blocksOf(local([TEXT]))).toBeUndefined()
  expect(blocksOf(fromTool([TEXT], [TEXT], { structuredContent: null }))).toBeUndefined()
  expect(blocksOf(fromTool([TEXT], [TEXT], { structuredFrom: "text" }))).toBeUndefined()
  expect(blocksOf(fromTool("hello", [TEXT]))).toBeUndefined()
  expect(blocksOf(fromTool([1, { type: 2 }], [TEXT]))).toBeUndefined()
  expect(blocksOf(fromTool([{ type: 2 }], [TEXT]))).toBeUndefined()
})

test("bytes are found in data and among blocks, with their type", () => {
  const bytes = new Uint8Array([1, 2])
  expect(bytesIn(local(bytes))).toEqual([{ bytes, type: "bytes" }])
  const meta = { source: "http", statusCode: 200, headers: {}, contentType: "image/png" } as const
  expect(bytesIn({ data: bytes.buffer, meta })).toEqual([{ bytes, type: "image/png" }])
  expect(bytesIn({ data: "AQI=", meta })).toEqual([])
  const content: readonly MCPContentBlock[] = [
    TEXT,
    { type: "image", data: "AQI=", mimeType: "image/png" },
    { type: "audio", data: "AQI=", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "a:b", text: "no bytes" } },
    { type: "resource", resource: { uri: "a:c", blob: "AQI=" } },
    { type: "resource", resource: { uri: "a:d", blob: "AQI=", mimeType: "x/y" } },
    { type: "resource_link", uri: "a:e", name: "e" },
  ]
  const found = bytesIn(fromTool(content, content))
  expect(found.map(({ type }) => type)).toEqual(["image/png", "audio/wav", "bytes", "x/y"])
  for (const one of found) expect([...one.bytes]).toEqual([1, 2])
})

test("asBytes is undefined for other values", () => {
  expect(asBytes([1, 2])).toBeUndefined()
  expect(asBytes(null)).toBeUndefined()
})

test.each<[MCPContentBlock, string]>([
  [TEXT, "hello"],
  [{ type: "image", data: "AQI=", mimeType: "image/png" }, "[image: image/png, 2 bytes]"],
  [{ type: "audio", data: "", mimeType: "audio/wav" }, "[audio: audio/wav, 0 bytes]"],
  [{ type: "resource", resource: { uri: "a:b", text: "" } }, ""],
  [{ type: "resource", resource: { uri: "a:b" } }, "[a:b: bytes, 0 bytes]"],
  [
    { type: "resource", resource: { uri: "a:b", blob: "AQI=", mimeType: "x/y" } },
    "[a:b: x/y, 2 bytes]",
  ],
  [{ type: "resource_link", uri: "a:e", name: "e" }, "[e: a:e]"],
  [{ type: "resource_link", uri: "a:e", name: "e", title: "E" }, "[E: a:e]"],
])("block %# in words", (block, text) => {
  expect(blockText(block)).toBe(text)
})

test.each([
  [999, "999 bytes"],
  [1000, "1.0 kB"],
  [999_940, "999.9 kB"],
  [1_500_000, "1.5 MB"],
])("%d is %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
