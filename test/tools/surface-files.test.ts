import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { Bytes, FileStream, toFile } from "../../src/type.ts"
import { download, sum, upload, whole } from "../serve/http/files/files.ts"
import { operation } from "../support/operations.ts"
import { callOf, caller, toolOf } from "./surface-support.ts"

describe("files over MCP", () => {
  test("are base64 text in the arguments of a tool", async () => {
    const tool = toolOf(upload)
    expect(tool.inputSchema).toMatchObject({
      properties: { file: { type: "string", contentEncoding: "base64" } },
    })
    const result = await callOf(upload, { title: "T", file: btoa("abc") })
    expect(result.structuredContent).toMatchObject({ title: "T", file: { size: 3 } })
    expect((await callOf(sum, { bytes: "AQI=" })).structuredContent).toEqual(3)
  })

  test("are reported as an invalid input where the text is not base64", async () => {
    const result = await callOf(sum, { bytes: "not base64!" })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain("must be bytes")
  })

  test("are a content block of their type as a result, and promise no structure", async () => {
    expect(toolOf(whole)).not.toHaveProperty("outputSchema")
    expect(await callOf(whole, { input: "AQI=" })).toEqual({
      content: [{ type: "image", data: "AgE=", mimeType: "image/png" }],
    })
    expect(await callOf(download, { length: 3, name: "a b.bin", type: "a/b" })).toEqual({
      content: [
        {
          type: "resource",
          resource: {
            uri: "operation://files.download/a%20b.bin",
            mimeType: "a/b",
            blob: "BwcH",
          },
        },
      ],
    })
  })

  test.each(["modern", "legacy"] as const)(
    "are base64 text inside other data (%s)",
    async (era) => {
      const mixed = operation("a.b", {
        outputSchema: Type.Object({ file: FileStream(), bytes: Bytes() }),
        handler: () => ({ file: toFile("abc", { name: "n" }), bytes: new Uint8Array([1]) }),
      })
      const { structuredContent, isError } = await callOf(mixed, {}, {}, caller(era))
      expect(isError).toBeUndefined()
      expect(structuredContent).toEqual({ file: btoa("abc"), bytes: "AQ==" })
    },
  )

  test("are refused as results when they are too large", async () => {
    const result = await callOf(download, { length: 65 * 1024 * 1024 })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain("PAYLOAD_TOO_LARGE")
  })
})
