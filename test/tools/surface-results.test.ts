import fc from "fast-check"
import { Type } from "typebox"
import type { TSchema } from "typebox"
import { describe, expect, test } from "vitest"
import { httpEnvelope, mcpEnvelope } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { Logger } from "../../src/index.ts"
import { operation } from "../support/operations.ts"
import { callOf, caller, surfaceOf, textsOf } from "./surface-support.ts"

function giving(data: unknown, outputSchema: unknown = {}, parts = {}) {
  return operation("a.b", {
    outputSchema: outputSchema as TSchema,
    handler: () => data,
    ...parts,
  })
}

const object = { type: "object", properties: { a: { type: "number" } }, required: ["a"] }

describe("the result of a call", () => {
  test("is structured and the same once more as text, where the tool promises it", async () => {
    expect(await callOf(giving({ a: 1 }, object))).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
      structuredContent: { a: 1 },
    })
  })

  test("is only text where nothing is promised; texts are themselves", async () => {
    expect(await callOf(giving({ a: 1 }))).toEqual({ content: [{ type: "text", text: '{"a":1}' }] })
    expect(await callOf(giving('say "hi"'))).toEqual({
      content: [{ type: "text", text: 'say "hi"' }],
    })
    expect(await callOf(giving("hi", { type: "string" }))).toEqual({
      content: [{ type: "text", text: "hi" }],
      structuredContent: "hi",
    })
    expect(await callOf(giving(undefined))).toEqual({ content: [] })
    expect(await callOf(giving(null))).toEqual({ content: [{ type: "text", text: "null" }] })
  })

  test("keeps every JSON value, on both eras", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.constantFrom("legacy", "modern"), async (value, era) => {
        const schema = { type: ["null", "boolean", "number", "string", "array", "object"] }
        const plain: unknown = JSON.parse(JSON.stringify(value))
        const result = await callOf(giving(plain, schema), {}, {}, caller(era))
        expect(result.isError).toBeUndefined()
        expect(result.structuredContent).toEqual(era === "legacy" ? { result: plain } : plain)
        const text = textsOf(result)
        expect(typeof plain === "string" ? text : JSON.parse(text)).toEqual(plain)
      }),
      { numRuns: 50 },
    )
  })

  test("is what JSON makes of dates, bytes inside, and things that are not there", async () => {
    const data = { at: new Date(0), bytes: new Uint8Array([1, 2]), gone: undefined }
    const result = await callOf(giving(data, { type: "object" }))
    expect(result.structuredContent).toEqual({ at: "1970-01-01T00:00:00.000Z", bytes: "AQI=" })
  })

  test("that JSON cannot say is an error that names the place", async () => {
    const ring: Record<string, unknown> = {}
    ring["self"] = ring
    for (const [data, words] of [
      [{ n: 1n }, "/n is a bigint"],
      [ring, "/self is a circular reference"],
      [() => 1, "it is a function"],
    ] as const) {
      const result = await callOf(giving(data))
      expect(result.isError).toBe(true)
      expect(textsOf(result)).toContain(words)
    }
  })

  test("that is not what the tool promises is an error that still shows it", async () => {
    const result = await callOf(giving({ a: "one" }, object))
    expect(result.isError).toBe(true)
    expect(result).not.toHaveProperty("structuredContent")
    expect(textsOf(result)).toMatch(/^OUTPUT_VALIDATION_ERROR: "a.b" ran, .*\n {2}- \/a: must be/s)
    expect(textsOf(result)).toContain('{"a":"one"}')
    expect((await callOf(giving(undefined, object))).isError).toBe(true)
  })

  test("is in the words of textResult, where that has some", async () => {
    const one = giving({ a: 1 }, object)
    const prose = await callOf(one, {}, { textResult: (_, { name }) => `prose of ${name}` })
    expect(prose).toEqual({
      content: [{ type: "text", text: "prose of b" }],
      structuredContent: { a: 1 },
    })
    expect(textsOf(await callOf(one, {}, { textResult: () => undefined }))).toBe('{"a":1}')
    const errors: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (...line) => void errors.push(line) }
    const textResult = () => {
      throw new Error("no words")
    }
    expect(textsOf(await callOf(one, {}, { logger, textResult }))).toBe('{"a":1}')
    expect(errors).toHaveLength(1)
  })
})

describe("bytes", () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

  test("are a picture, a sound or a file, by what they say they are", async () => {
    const typed = (contentType: string) =>
      httpEnvelope(new Uint8Array([1]), { statusCode: 200, headers: {}, contentType })
    for (const [data, block] of [
      [
        typed("image/svg+xml; charset=utf-8"),
        { type: "image", mimeType: "image/svg+xml", data: "AQ==" },
      ],
      [typed("audio/wav"), { type: "audio", mimeType: "audio/wav", data: "AQ==" }],
      [
        typed("application/zip"),
        {
          type: "resource",
          resource: { uri: "operation://a.b/result", mimeType: "application/zip", blob: "AQ==" },
        },
      ],
      [
        new Blob(["x"], { type: "image/gif" }),
        { type: "image", mimeType: "image/gif", data: "eA==" },
      ],
    ] as const) {
      expect(await callOf(giving(data))).toEqual({ content: [block] })
    }
  })

  test("are looked at where nobody says what they are", async () => {
    for (const data of [png, png.buffer, new Blob([png])]) {
      expect((await callOf(giving(data))).content[0]).toMatchObject({ mimeType: "image/png" })
    }
    expect((await callOf(giving(new Uint8Array([0])))).content[0]).toMatchObject({
      resource: { mimeType: "application/octet-stream", blob: "AA==" },
    })
    expect((await callOf(giving(new Uint8Array()))).content[0]).toMatchObject({
      resource: { blob: "" },
    })
  })

  test.each([
    ["WEBP", { type: "image", mimeType: "image/webp" }],
    ["WAVE", { type: "audio", mimeType: "audio/wav" }],
    ["AVI ", { type: "resource" }],
  ])("in a container are what it says: %s", async (kind, block) => {
    const bytes = new TextEncoder().encode(`RIFF\0\0\0\0${kind}rest`)
    expect((await callOf(giving(bytes))).content[0]).toMatchObject(block)
  })
})

describe("blocks of an operation of our own", () => {
  const content = [
    { type: "image", data: "AA==", mimeType: "image/png", annotations: { priority: 1 } },
    { type: "hologram", depth: 3 },
  ]

  test("go out as they are, those of unknown types as texts", async () => {
    const one = giving(
      mcpEnvelope(null, { isError: false, content: content as never, _meta: { k: 1 } }),
    )
    expect(await callOf(one)).toEqual({
      content: [content[0], { type: "text", text: '{"type":"hologram","depth":3}' }],
      _meta: { k: 1 },
    })
  })

  test("come with the data that the tool promises", async () => {
    const one = giving(mcpEnvelope({ a: 1 }, { isError: false, content: [] }), object)
    expect(await callOf(one)).toEqual({ content: [], structuredContent: { a: 1 } })
    const failing = giving(
      mcpEnvelope("no", { isError: true, content: [{ type: "text", text: "no" }] }),
      object,
    )
    expect(await callOf(failing)).toEqual({
      content: [{ type: "text", text: "no" }],
      isError: true,
    })
    const without = giving(mcpEnvelope(undefined, { isError: false, content: [] }), object)
    expect(textsOf(await callOf(without))).toMatch(/^OUTPUT_VALIDATION_ERROR: "a.b" ran/)
  })
})

describe("large results", () => {
  const schema = Type.Object({ path: Type.String(), limit: Type.Number(), fields: Type.String() })

  test("are refused with their size and with what would make them smaller", async () => {
    const one = giving("x".repeat(5000), {}, { inputSchema: schema })
    const input = { path: "/", limit: 1, fields: "" }
    const result = await callOf(one, input, { maxResultBytes: 1000 })
    expect(result.isError).toBe(true)
    expect(textsOf(result)).toMatch(
      /^PAYLOAD_TOO_LARGE: The result of "a.b" has \d{4} bytes, more than the 1000 bytes .* The operation ran. Ask for less with "limit", "fields".$/,
    )
    expect((await callOf(one, input, { maxResultBytes: 6000 })).isError).toBeUndefined()
  })

  test("count as they are sent: both forms, with what has to be escaped", async () => {
    const data = { a: 'ü"\n'.repeat(100) }
    const one = giving(data, { type: "object" })
    const sent = JSON.stringify(await callOf(one))
    const bytes = new TextEncoder().encode(sent).length
    expect((await callOf(one, {}, { maxResultBytes: bytes })).isError).toBeUndefined()
    expect((await callOf(one, {}, { maxResultBytes: bytes - 1 })).isError).toBe(true)
  })

  test("are refused from 8 MB on, below what clients can read", async () => {
    const surface = surfaceOf([giving("x".repeat(9 * 1024 * 1024))])
    expect(
      textsOf(await surface.call("a_b", {}, caller("modern", undefined, { isWhole: true }))),
    ).toContain("9.0 MB")
  })
})
