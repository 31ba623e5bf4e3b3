import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import { httpEnvelope, localEnvelope, mcpEnvelope } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { compileSchema } from "../../src/schemas.ts"
import { toTools } from "../../src/tools.ts"
import type {
  AnyOperation,
  Middleware,
  NormalizeReport,
  OutputWarning,
  RegistryOptions,
} from "../../src/index.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { runs } from "../support/nightly.ts"

const Task = Type.Object({
  id: Type.Number(),
  tags: Type.Optional(Type.Array(Type.String(), { default: [] })),
})

async function resultOf(
  value: unknown,
  parts: Partial<AnyOperation> = {},
  options: RegistryOptions = {},
): Promise<unknown> {
  const registry = quietRegistry(
    [operation("a.b", { outputSchema: Task, ...parts, handler: () => value })],
    options,
  )
  return (await registry.execute("a.b")).data
}

const passOn: Middleware = { call: (_call, next) => next(), stream: (_call, next) => next() }

async function* yieldOne(): AsyncGenerator<object> {
  yield await Promise.resolve({})
}

describe("normalising a result", () => {
  test("strips undeclared properties, fills in defaults, converts without loss", async () => {
    expect(await resultOf({ id: "12", secret: 1 })).toEqual({ id: 12, tags: [] })
  })

  test("returns conforming data as the same object", async () => {
    const data = Object.freeze({ id: 1, tags: Object.freeze(["a"]) })
    expect(await resultOf(data)).toBe(data)
  })

  test("never changes what the handler returned", async () => {
    const data = Object.freeze({ id: "12", secret: Object.freeze({}) })
    expect(await resultOf(data)).toEqual({ id: 12, tags: [] })
    expect(data).toEqual({ id: "12", secret: {} })
  })

  test("keep leaves undeclared properties; off leaves everything", async () => {
    expect(await resultOf({ id: "12", secret: 1 }, { normalize: "keep" })).toEqual({
      id: 12,
      secret: 1,
      tags: [],
    })
    const raw = { id: "12", secret: 1 }
    expect(await resultOf(raw, { normalize: "off" })).toBe(raw)
    expect(await resultOf({ id: 1, secret: 1 }, {}, { normalize: "keep" })).toEqual({
      id: 1,
      secret: 1,
      tags: [],
    })
    expect(
      await resultOf({ id: 1, secret: 1 }, { normalize: "strip" }, { normalize: "off" }),
    ).toEqual({ id: 1, tags: [] })
  })

  test("leaves an open schema's data alone", async () => {
    for (const outputSchema of [
      Type.Unknown(),
      Type.Any(),
      {},
      true,
      { description: "anything", default: 5 },
    ]) {
      const raw = { any: "thing" }
      expect(await resultOf(raw, { outputSchema: outputSchema })).toBe(raw)
    }
  })

  test("keeps and reports data that cannot be converted", async () => {
    const warnings: OutputWarning[] = []
    const onWarning = (warning: OutputWarning): void => void warnings.push(warning)
    for (const id of [null, "", "12x", "1.5.2", [], {}, undefined, "9007199254740993"]) {
      const data = await resultOf({ id }, {}, { onWarning })
      expect((data as { id: unknown }).id).toEqual(id)
    }
    expect(
      await resultOf(
        { error: "upstream down" },
        { outputSchema: Type.Object({ paid: Type.Boolean(), balance: Type.Number() }) },
        { onWarning },
      ),
    ).toEqual({})
    expect(warnings).toHaveLength(9)
    expect(warnings[0]).toEqual({
      operationId: "a.b",
      requestId: expect.any(String) as string,
      errors: [{ path: "/id", message: "must be number, got null" }],
    })
    expect(warnings.at(-1)?.errors).toHaveLength(2)
  })

  test("reports its changes to onNormalize", async () => {
    const reports: NormalizeReport[] = []
    const onNormalize = (report: NormalizeReport): void => void reports.push(report)
    await resultOf({ id: "12", secret: 1 }, {}, { onNormalize })
    await resultOf({ id: 12, tags: [] }, {}, { onNormalize })
    expect(reports).toHaveLength(1)
    expect(reports[0]?.operationId).toBe("a.b")
    expect(reports[0]?.changes.map(({ kind, path }) => `${kind} ${path}`).toSorted()).toEqual([
      "convert /id",
      "default /tags",
      "strip /secret",
    ])
  })

  test("a listener that throws has no effect on the call", async () => {
    const boom = (): never => {
      throw new Error("x")
    }
    expect(await resultOf({ id: "12" }, {}, { onNormalize: boom })).toEqual({ id: 12, tags: [] })
    expect(await resultOf({ id: null }, {}, { onWarning: boom })).toEqual({ id: null, tags: [] })
  })

  test("works inside envelopes of adapters, and leaves MCP errors alone", async () => {
    const http = { statusCode: 200, headers: {}, contentType: "application/json" }
    const registry = quietRegistry([
      operation("a.http", {
        outputSchema: Task,
        handler: () => httpEnvelope({ id: "1", x: 1 }, http),
      }),
      operation("a.mcp", {
        outputSchema: Task,
        handler: () =>
          mcpEnvelope(
            { id: "1", x: 1 },
            { isError: false, content: [], structuredContent: { id: "1", x: 1 } },
          ),
      }),
      operation("a.failed", {
        outputSchema: Task,
        output: "strict",
        handler: () => mcpEnvelope([{ type: "text", text: "no" }], { isError: true, content: [] }),
      }),
    ])
    expect(await registry.execute("a.http")).toEqual({
      data: { id: 1, tags: [] },
      meta: { source: "http", ...http },
    })
    expect(await registry.execute("a.mcp")).toMatchObject({
      data: { id: 1, tags: [] },
      meta: { structuredContent: { id: "1", x: 1 } },
    })
    expect((await registry.execute("a.failed")).data).toEqual([{ type: "text", text: "no" }])
  })
})

describe("the envelope of a handler", () => {
  const own = { data: { id: 1, tags: [] }, meta: { source: "http", statusCode: 201 } }

  test("of HTTP without headers is cached, and is a result of a tool", async () => {
    const registry = quietRegistry([
      operation("a.http", {
        type: "query",
        handler: () => own,
        resilience: { cache: { ttl: 1000 } },
      }),
    ])
    const { parts } = await toTools(registry).call("a_http", {})
    expect(parts).toEqual([{ type: "text", text: JSON.stringify(own.data) }])
    await registry.execute("a.http")
    expect((await registry.execute("a.http")).meta.cache).toMatchObject({ state: "fresh" })
  })
})

describe("validating a result", () => {
  test("warns in the log by default, at most every few seconds for an operation", async () => {
    const warn = vi.fn()
    let now = 0
    const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => undefined }
    const registry = quietRegistry(
      [operation("a.b", { outputSchema: Task, handler: () => ({}) })],
      { logger: { ...silentLogger, warn }, clock },
    )
    for (let n = 0; n < 5; n++) {
      const { data } = await registry.execute("a.b", {}, { requestId: `r${n}` })
      expect(data).toEqual({ tags: [] })
    }
    expect(warn.mock.calls).toEqual([
      [
        "Output does not match its schema",
        {
          operationId: "a.b",
          requestId: "r0",
          errors: [{ path: "/id", message: "is required" }],
        },
      ],
    ])
    now = 5000
    await registry.execute("a.b")
    expect(warn.mock.calls[1]?.[1]).toMatchObject({ sinceLastWarning: 4 })
  })

  test.each([
    ["at once", { handler: () => ({}) }],
    ["later", { handler: async () => ({}) }],
    ["as an envelope", { handler: () => localEnvelope({}, "a.b") }],
    ["behind middleware", { handler: () => ({}), use: [passOn] }],
    ["with a policy", { handler: async () => ({}), resilience: { retry: { attempts: 2 } } }],
    ["in a stream", { type: "subscription", handler: yieldOne }],
    ["in a stream behind middleware", { type: "subscription", handler: yieldOne, use: [passOn] }],
  ] as [string, Parameters<typeof operation>[1]][])(
    "a warning names the request of a result that comes %s",
    async (_, parts) => {
      const warn = vi.fn()
      const onWarning = vi.fn()
      const logger = { ...silentLogger, warn }
      const registry = quietRegistry([operation("a.b", { ...parts, outputSchema: Task })], {
        logger,
        onWarning,
      })
      const options = { requestId: "r-7" }
      if (parts.type !== "subscription") await registry.execute("a.b", {}, options)
      else for await (const _item of registry.subscribe("a.b", {}, options)) void _item
      const [[, fields] = []] = warn.mock.calls as [string, object][]
      expect(fields).toMatchObject({ operationId: "a.b", requestId: "r-7" })
      expect(onWarning.mock.calls).toMatchObject([[{ operationId: "a.b", requestId: "r-7" }]])
    },
  )

  test("strict fails the call, off reports nothing", async () => {
    const registry = quietRegistry(
      [operation("a.b", { outputSchema: Task, handler: async () => ({ id: null }) })],
      { output: "strict" },
    )
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "OUTPUT_VALIDATION_ERROR",
      message: `Output of "a.b" is invalid: /id must be number, got null.`,
      operationId: "a.b",
      details: { errors: [{ path: "/id", message: "must be number, got null" }] },
      mayHaveExecuted: true,
    })
    const warn = vi.fn()
    expect(
      await resultOf({ id: null }, { output: "off" }, { logger: { ...silentLogger, warn } }),
    ).toEqual({ id: null, tags: [] })
    expect(warn).not.toHaveBeenCalled()
    const raw = { id: null }
    expect(await resultOf(raw, { output: "off", normalize: "off" })).toBe(raw)
  })

  test("a result that cannot be read is an error of the handler, not of the library", async () => {
    const hostile = {
      get id(): number {
        throw new Error("getter")
      },
    }
    const data = await resultOf(hostile)
    expect(data).toBe(hostile)
    const proxy = new Proxy(
      {},
      {
        get() {
          throw new Error("trap")
        },
      },
    )
    expect(await rejection(resultOf(proxy))).toMatchObject({ code: "EXECUTION_ERROR" })
    const cyclic: Record<string, unknown> = { id: 1, tags: ["a"] }
    cyclic["self"] = cyclic
    expect(await resultOf(cyclic)).toEqual({ id: 1, tags: ["a"] })
  })

  test("unusual results are returned unchanged", async () => {
    class Money {
      amount = 5
    }
    const odd = [
      new Money(),
      new Map([[1, 2]]),
      new Uint8Array(3),
      () => 1,
      Symbol("s"),
      5n,
      Number.NaN,
      undefined,
    ]
    for (const value of odd) expect(await resultOf(value, { output: "off" })).toBe(value)
  })
})

describe("the result pipeline, with random results", () => {
  const schema = Type.Object({
    id: Type.Number(),
    name: Type.Optional(Type.String({ default: "n" })),
    list: Type.Array(Type.Object({ flag: Type.Boolean() })),
    either: Type.Union([
      Type.Object({ kind: Type.Literal("a"), a: Type.Number() }),
      Type.Object({ kind: Type.Literal("b"), b: Type.String() }),
    ]),
  })
  const loose = fc.oneof(
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.constant("12"),
    fc.constant("true"),
  )
  const value = fc.record(
    {
      id: loose,
      name: loose,
      list: fc.array(fc.record({ flag: loose, more: loose }, { requiredKeys: [] })),
      either: fc.record(
        { kind: fc.constantFrom("a", "b", "c"), a: loose, b: loose },
        { requiredKeys: [] },
      ),
      extra: loose,
    },
    { requiredKeys: [] },
  )

  test("valid stays valid, nothing is mutated, twice is once", async () => {
    const compiled = compileSchema(schema)
    await fc.assert(
      fc.asyncProperty(value, async (data) => {
        const before = structuredClone(data)
        const once = await resultOf(data, { outputSchema: schema, output: "off" })
        expect(data).toEqual(before)
        expect(!compiled.check(before) || compiled.check(once)).toBe(true)
        expect(await resultOf(once, { outputSchema: schema, output: "off" })).toEqual(once)
      }),
      { numRuns: runs(50) },
    )
  })
})
