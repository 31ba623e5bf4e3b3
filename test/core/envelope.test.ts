import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  collectErrors,
  httpEnvelope,
  isCallError,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  RESPONSE_SOURCES,
  ResponseEnvelopeSchema,
  unwrap,
  unwrapOrThrow,
} from "../../src/index.ts"
import { decodeEnvelope, encodeEnvelope } from "../../src/schemas.ts"
import type { ResponseEnvelope } from "../../src/index.ts"
import { thrown } from "../support/operations.ts"

const http = { statusCode: 200, headers: { etag: "x" }, contentType: "application/json" }
const mcp = { isError: false, content: [{ type: "text" as const, text: "hi" }] }

describe("the envelope factories", () => {
  test("set their source, whatever the meta contains", () => {
    expect(localEnvelope(1, "a.b")).toMatchObject({
      data: 1,
      meta: { source: "local", operationId: "a.b" },
    })
    expect(httpEnvelope(1, { ...http, source: "local" } as never).meta).toEqual({
      source: "http",
      ...http,
    })
    expect(mcpEnvelope(0, mcp).meta).toEqual({ source: "mcp", ...mcp })
    expect(RESPONSE_SOURCES).toEqual(["local", "http", "mcp"])
  })

  test("name the argument that is wrong", () => {
    expect(() => localEnvelope(1, undefined as never)).toThrow("operationId must be a string")
    expect(() => httpEnvelope(1, {} as never)).toThrow("meta.statusCode must be a number")
    expect(() => httpEnvelope(1, undefined as never)).toThrow(TypeError)
    expect(() => mcpEnvelope(1, { isError: "no" } as never)).toThrow(
      "isError (boolean) and content (array)",
    )
  })

  test("make what the schema describes", () => {
    for (const envelope of [
      localEnvelope(undefined, "a.b"),
      httpEnvelope(null, http),
      mcpEnvelope("", mcp),
    ]) {
      expect(collectErrors(ResponseEnvelopeSchema, envelope)).toEqual([])
    }
    expect(
      collectErrors(ResponseEnvelopeSchema, { data: 1, meta: { source: "local" } }),
    ).not.toEqual([])
  })
})

describe("isResponseEnvelope", () => {
  test.each([
    ["a user's own data and meta", { data: 1, meta: { page: 1 } }],
    ["a user's source field", { data: 1, meta: { source: "http" } }],
    ["local without a timestamp", { data: 1, meta: { source: "local", operationId: "a.b" } }],
    ["mcp without content", { data: 1, meta: { source: "mcp", isError: false } }],
    ["an unknown source", { data: 1, meta: { source: "ftp", statusCode: 1 } }],
    ["no data but other things", { result: 1, meta: { source: "http", statusCode: 200 } }],
    ["a null meta", { data: 1, meta: null }],
    ["null", null],
    ["a string", "x"],
    ["an array", [1]],
    ["a function", () => 1],
  ])("says no to %s", (_what, value) => {
    expect(isResponseEnvelope(value)).toBe(false)
  })

  test("returns true after a round trip through JSON, also for a void result", () => {
    const back = JSON.parse(JSON.stringify(localEnvelope(undefined, "a.b")))
    expect(isResponseEnvelope(back)).toBe(true)
    expect(unwrap(back)).toBeUndefined()
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const envelope = localEnvelope(data, "a.b")
        const parsed: unknown = JSON.parse(JSON.stringify(envelope))
        expect(isResponseEnvelope(parsed)).toBe(true)
        expect(JSON.stringify((parsed as ResponseEnvelope).data)).toBe(JSON.stringify(data))
      }),
    )
  })
})

describe("unwrap and unwrapOrThrow", () => {
  const failed = mcpEnvelope([{ type: "text", text: "disk full" }], {
    isError: true,
    content: [
      { type: "text", text: "disk full" },
      { type: "image", data: "", mimeType: "image/png" },
      { type: "text", text: "try later" },
    ],
  })

  test("unwrap returns the data of any envelope, error results included", () => {
    expect(unwrap(localEnvelope(5, "a.b"))).toBe(5)
    expect(unwrap(failed)).toHaveLength(1)
  })

  test("unwrapOrThrow throws for an MCP error result and keeps its content", () => {
    expect(unwrapOrThrow(localEnvelope(5, "a.b"))).toBe(5)
    expect(unwrapOrThrow(mcpEnvelope(0, mcp))).toBe(0)
    const error = thrown(() => unwrapOrThrow(failed))
    expect(isCallError(error, "EXECUTION_ERROR")).toBe(true)
    expect(error).toMatchObject({
      message: "disk full\ntry later",
      details: { content: failed.meta.source === "mcp" && failed.meta.content },
    })
    expect(() => unwrapOrThrow(mcpEnvelope(1, { isError: true, content: [] }))).toThrow(
      "without any text",
    )
  })

  test("name what they were given instead of an envelope", () => {
    for (const nonsense of [undefined, null, 5, {}, { data: 1, meta: {} }]) {
      expect(() => unwrap(nonsense as never)).toThrow(
        "unwrap(): envelope must be a ResponseEnvelope",
      )
      expect(() => unwrapOrThrow(nonsense as never)).toThrow(TypeError)
    }
  })
})

describe("the wire form", () => {
  const trip = (data: unknown): unknown =>
    decodeEnvelope(JSON.parse(JSON.stringify(encodeEnvelope(localEnvelope(data, "a.b"))))).data

  test("brings void and bytes back as what they were", () => {
    expect(trip(undefined)).toBeUndefined()
    expect(trip(new Uint8Array([0, 255, 7]))).toEqual(new Uint8Array([0, 255, 7]))
    expect(trip(new Uint8Array([1, 2]).buffer)).toEqual(new Uint8Array([1, 2]).buffer)
    expect(trip(Buffer.from("hi"))).toEqual(new Uint8Array([104, 105]))
    expect(trip({ a: [{ "b/~c": new Uint8Array([1]) }], __proto__: null, n: null })).toEqual({
      a: [{ "b/~c": new Uint8Array([1]) }],
      n: null,
    })
    const large = new Uint8Array(200_000).map((_, at) => at % 251)
    expect(Buffer.compare((trip({ large }) as { large: Uint8Array }).large, large)).toBe(0)
  })

  test("mistakes no text for bytes", () => {
    expect(trip({ bytes: "AAEC", binary: { "/bytes": "Uint8Array" } })).toEqual({
      bytes: "AAEC",
      binary: { "/bytes": "Uint8Array" },
    })
  })

  test("keeps keys such as __proto__ as keys", () => {
    const data = JSON.parse(`{"__proto__":{"x":1},"constructor":2}`) as Record<string, unknown>
    data["bytes"] = new Uint8Array([1])
    const back = trip(data) as object
    expect(Object.keys(back)).toEqual(["__proto__", "constructor", "bytes"])
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test("hands on an envelope that needs nothing, and mutates none that does", () => {
    const envelope = localEnvelope({ a: [1, { b: 2 }], when: new Date(0) }, "a.b")
    expect(encodeEnvelope(envelope)).toBe(envelope)
    const frozen = Object.freeze({ list: Object.freeze([new Uint8Array([1])]) })
    expect(encodeEnvelope(localEnvelope(frozen, "a.b"))).toMatchObject({
      data: { list: ["AQ=="] },
      binary: { "/list/0": "Uint8Array" },
    })
    expect(frozen.list[0]).toBeInstanceOf(Uint8Array)
  })

  test("names the place of a value without a JSON form", () => {
    const circular: Record<string, unknown> = {}
    circular["a"] = { b: circular }
    expect(() => trip(circular)).toThrow("/a/b is a circular reference")
    expect(() => trip({ n: [1n] })).toThrow("/n/0 is a bigint")
    expect(() => trip(1n)).toThrow("the value itself is a bigint")
    let deep: unknown = 1
    for (let level = 0; level < 1000; level++) deep = [deep]
    expect(() => trip(deep)).toThrow("nested more than 512 levels deep")
    expect(() => encodeEnvelope({ data: 1 } as never)).toThrow(TypeError)
  })

  test("rejects values that are not envelopes, or have a wrong binary member", () => {
    const meta = localEnvelope(1, "a.b").meta
    for (const wire of [
      undefined,
      null,
      5,
      {},
      { data: 1 },
      { data: "AA==", meta, binary: { "": "Blob" } },
      { data: "???", meta, binary: { "": "Uint8Array" } },
      { data: {}, meta, binary: { "/a": "Uint8Array" } },
      { data: { a: 1 }, meta, binary: { "/a/b": "Uint8Array" } },
      { data: { a: "AA==" }, meta, binary: { a: "Uint8Array" } },
      { data: { a: "AA==" }, meta, binary: { "/__proto__/x": "Uint8Array" } },
      { data: 1, meta, binary: 5 },
      { data: 1, meta, binary: null },
    ]) {
      expect(() => decodeEnvelope(wire)).toThrow(
        expect.objectContaining({ code: "VALIDATION_ERROR" }),
      )
    }
  })

  test("any JSON with bytes in it survives", () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array(),
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("tree")),
        fc.dictionary(fc.string(), tie("tree")),
      ),
    }))
    fc.assert(
      fc.property(tree, (data) => {
        expect(trip(data)).toEqual(data)
      }),
    )
  })
})
