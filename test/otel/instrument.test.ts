import { metrics, SpanKind, trace } from "@opentelemetry/api"
import fc from "fast-check"
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { CallError, fromCall, mcpEnvelope, serveCalls } from "../../src/index.ts"
import type { CallOptions, OperationContext } from "../../src/index.ts"
import { traceExchange, type CallEntry } from "../../src/core/tracing.ts"
import { METRIC } from "../../src/otel/conventions.ts"
import { instrument } from "../../src/otel.ts"
import { createMemoryTransports } from "../../src/testing.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { collect, measure } from "./collect.ts"

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
const SENT = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`, baggage: "team=blue" }
const CANARY = "canary-7f3a"

afterEach(() => vi.useRealTimers())

/** A tree of calls: what each does after its nested calls. */
interface Tree {
  readonly name: string
  readonly end: "ok" | "throw" | "hang"
  readonly children: readonly Tree[]
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: fc.uuid(),
    end: fc.constantFrom("ok", "throw", "hang"),
    children: fc.oneof(
      { maxDepth: 3, depthIdentifier: "tree" },
      fc.constant([]),
      fc.array(tie("tree"), { maxLength: 2 }),
    ),
  }),
}))

const walk = operation("t.walk", {
  handler: async (input: Tree, { call, signal }: OperationContext) => {
    await Promise.allSettled(input.children.map((child) => call("t.walk", child as never)))
    if (input.end === "throw") throw new Error("thrown")
    if (input.end === "hang")
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
    return 1
  },
})

function edges(at: Tree, parent: string | undefined): string[] {
  return [`${parent} > ${at.name}`, ...at.children.flatMap((child) => edges(child, at.name))]
}

describe("instrument", () => {
  test("makes spans that form the tree of the calls, each of which ends once", async () => {
    const { spans, tracerProvider, reset } = collect()
    const { meterProvider, read } = measure()
    const registry = quietRegistry([walk])
    const record = { inputs: (value: unknown) => (value as Tree).name }
    instrument(registry, { tracerProvider, meterProvider, record })
    await fc.assert(
      fc.asyncProperty(tree, async (root) => {
        reset()
        await registry.execute("t.walk", root, { timeout: 20 }).catch(() => undefined)
        const nameOf = new Map(
          spans().map((span) => [
            span.spanId,
            JSON.parse(String(span.attributes["gen_ai.tool.call.arguments"])) as string,
          ]),
        )
        const seen = spans().map(
          ({ spanId, parent }) => `${nameOf.get(parent ?? "")} > ${nameOf.get(spanId)}`,
        )
        const all = new Set(edges(root, undefined))
        // A call that ended early does not start further ones; no edge is another one, and none comes twice.
        expect(seen.filter((edge) => !all.has(edge))).toEqual([])
        expect(new Set(seen).size).toBe(seen.length)
        const isComplete = seen.length === all.size || JSON.stringify(root).includes("hang")
        expect(isComplete).toBe(true)
      }),
      { numRuns: 40 },
    )
    const active = (await read())["operations.call.active"] ?? []
    expect(active.map(({ value }) => value)).toEqual([0])
    await registry.close()
  })

  test("reports each refusal as one span and one point with its code", async () => {
    const { spans, tracerProvider } = collect()
    const { meterProvider, read } = measure()
    const registry = quietRegistry([
      operation("t.secret", { accessControl: { requiredScopes: ["admin"] }, handler: () => 1 }),
      operation("t.typed", { inputSchema: { type: "string" }, handler: () => 1 }),
      operation("t.tool", { handler: () => mcpEnvelope("full", { isError: true, content: [] }) }),
    ])
    instrument(registry, { tracerProvider, meterProvider })
    const gone = AbortSignal.abort()
    const call = (id: string, options?: CallOptions): Promise<unknown> =>
      rejection(registry.execute(id, 1, options))
    await call("t.nothing")
    await call("t.secret")
    await call("t.typed")
    await call("t.typed", { deadline: 1 })
    await registry.execute("t.typed", "a", { deadline: 1 }).catch(() => undefined)
    await registry.execute("t.typed", "a", { signal: gone }).catch(() => undefined)
    await registry.execute("t.tool", 1)
    await rejection(registry.subscribe("t.typed", "a").next())
    await registry.close()
    await registry.execute("t.typed", "a").catch(() => undefined)

    const codes = spans().map(({ attributes }) => attributes["error.type"])
    expect(codes.slice(0, 8)).toEqual([
      ...[
        "OPERATION_NOT_FOUND",
        "ACCESS_DENIED",
        "VALIDATION_ERROR",
        "VALIDATION_ERROR",
        "TIMEOUT",
      ],
      ...[undefined, "tool_error", "INVALID_OPERATION_TYPE"],
    ])
    expect(spans()[0]).toMatchObject({
      name: "_OTHER",
      attributes: { "rpc.method": "_OTHER", "rpc.method_original": "t.nothing" },
    })
    expect(spans()[5]?.attributes["operations.outcome"]).toBe("aborted")
    expect(spans()).toHaveLength(9)
    const points = (await read())["operations.call.duration"] ?? []
    expect(points.reduce((sum, { value }) => sum + (value.count ?? 0), 0)).toBe(9)
  })

  test("measures a call that waits two seconds of faked time", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] })
    // The SDK has kept the platform's `performance`.
    const now = vi.spyOn(performance, "now").mockImplementation(() => Date.now())
    onTestFinished(() => now.mockRestore())
    const { spans, tracerProvider } = collect()
    const { meterProvider, read } = measure()
    const waits = operation("t.waits", {
      handler: () => new Promise((done) => setTimeout(done, 2000, 1)),
    })
    const registry = quietRegistry([waits])
    instrument(registry, { tracerProvider, meterProvider })
    const running = registry.execute("t.waits", {})
    await vi.advanceTimersByTimeAsync(2000)
    await running
    vi.useRealTimers()
    expect(spans()[0]?.ms).toBeCloseTo(2000, 0)
    expect((await read())["operations.call.duration"]?.[0]?.value.sum).toBeCloseTo(2, 2)
  })

  test("ends the span of a stream once, however it ends, and makes none for items", async () => {
    const { spans, tracerProvider } = collect()
    const registry = quietRegistry([
      operation("t.count", {
        type: "subscription",
        async *handler(input: number) {
          for (let at = 0; at < input; at++) yield at
          if (input === 3) throw new Error("three")
        },
      }),
    ])
    instrument(registry, { tracerProvider, metrics: false })
    for await (const _ of registry.subscribe("t.count", 10_000)) continue
    for await (const _ of registry.subscribe("t.count", 10)) break
    await rejection(
      (async () => {
        for await (const _ of registry.subscribe("t.count", 3)) continue
      })(),
    )
    expect(spans().map(({ attributes }) => attributes["operations.stream.items"])).toEqual([
      10_000, 1, 3,
    ])
    expect(spans().map(({ attributes }) => attributes["error.type"])).toEqual([
      undefined,
      undefined,
      "EXECUTION_ERROR",
    ])
  })

  test.each([
    [
      "links a stranger",
      { id: undefined, incoming: undefined },
      { parent: undefined, links: 1, out: undefined },
    ],
    [
      "believes a known caller",
      { id: "ada", incoming: undefined },
      { parent: "b7ad6b7169203331", links: 0, out: "team=blue" },
    ],
    [
      "believes everybody if told to",
      { id: undefined, incoming: "continue" },
      { parent: "b7ad6b7169203331", links: 0, out: "team=blue" },
    ],
    [
      "ignores all if told to",
      { id: "ada", incoming: "ignore" },
      { parent: undefined, links: 0, out: undefined },
    ],
  ] as const)("%s", async (_, { id, incoming }, expected) => {
    const { spans, tracerProvider } = collect()
    let out: unknown
    const registry = quietRegistry([
      operation("t.out", {
        handler: (_input: never, context: OperationContext) => {
          const { tracing } = context as { tracing?: { carrier(to: string): { baggage?: string } } }
          out = tracing?.carrier("remote").baggage
        },
      }),
    ])
    instrument(registry, { tracerProvider, metrics: false, incoming })
    const entry: CallEntry = { isPublic: true }
    const identity = id === undefined ? undefined : { id, scopes: [] }
    const options = { metadata: SENT, via: "http", entry, identity } as const
    await registry.execute("t.out", {}, options)
    const [span] = spans()
    expect({ parent: span?.parent, links: span?.links.length, out }).toEqual(expected)
    expect(span?.kind).toBe(SpanKind.SERVER)
  })

  test.each([
    ["a stranger", { id: undefined, outgoing: undefined }, ["traceparent"]],
    [
      "a known caller",
      { id: "ada", outgoing: undefined },
      ["traceparent", "tracestate", "baggage"],
    ],
    [
      "a known caller, without baggage",
      { id: "ada", outgoing: "trace" },
      ["traceparent", "tracestate"],
    ],
    ["a known caller, if nothing leaves", { id: "ada", outgoing: "none" }, []],
  ] as const)(
    "sends to a registry only what leaves of the trace of %s",
    async (_, { id, outgoing }, sent) => {
      const [serving, calling] = createMemoryTransports()
      const show = operation("far.show", {
        handler: (_input: never, { metadata }: OperationContext) => metadata,
      })
      await using _server = serveCalls(quietRegistry([show]), { transport: serving })
      await using registry = quietRegistry()
      await fromCall(calling, { registry })
      const { tracerProvider } = collect()
      instrument(registry, { tracerProvider, metrics: false, outgoing })
      const entry: CallEntry = { isPublic: true }
      const identity = id === undefined ? undefined : { id, scopes: [] }
      const metadata = { ...SENT, tracestate: "vendor=1", note: "kept" }
      const options = { metadata, via: "http", entry, identity } as const
      const { data } = await registry.execute("far.show", {}, options)
      expect(Object.keys(data as object).toSorted()).toEqual([...sent, "note"].toSorted())
    },
  )

  test("records neither inputs, results, messages nor identities unless asked, and masks secrets then", async () => {
    const fails = operation("t.fails", {
      handler: (input: { fail: boolean }) => {
        if (input.fail) throw new Error(CANARY)
        return { text: CANARY, password: CANARY }
      },
    })
    const run = async (record?: object): Promise<string> => {
      const { spans, tracerProvider } = collect()
      const { meterProvider, read } = measure()
      const registry = quietRegistry([fails])
      instrument(registry, { tracerProvider, meterProvider, record })
      const identity = { id: CANARY, scopes: [CANARY] }
      const metadata = { note: CANARY }
      for (const fail of [false, true]) {
        const input = { fail, token: CANARY }
        await registry.execute("t.fails", input, { identity, metadata }).catch(() => undefined)
      }
      return JSON.stringify([spans(), await read()])
    }
    expect(await run()).not.toContain(CANARY)
    expect(await run({ inputs: true })).not.toContain(CANARY)
    const all = await run({ inputs: true, outputs: true, messages: true, identity: true })
    expect(all).toContain(`"user.id":"${CANARY}"`)
    expect(all).not.toContain(`password\\":\\"${CANARY}`)
    const throwing = (): never => {
      throw new Error(CANARY)
    }
    expect(await run({ inputs: throwing, outputs: throwing })).not.toContain(CANARY)
    const late = (): Promise<never> => Promise.reject(new Error(CANARY))
    expect(await run({ inputs: late, outputs: late })).not.toContain("gen_ai.tool.call")
  })

  test("carries a trace on through a call that it ignores", async () => {
    const { spans, tracerProvider } = collect()
    const { meterProvider, read } = measure()
    const registry = quietRegistry([
      operation("quiet.outer", {
        handler: async (_input: never, context: OperationContext) => {
          await traceExchange(context, "GET /x", "http", {}, async () => undefined)
          return (await context.call("t.inner", {})).data
        },
      }),
      operation("t.inner", { handler: () => 1 }),
    ])
    instrument(registry, { tracerProvider, meterProvider, ignore: ["quiet.*"] })
    const entry: CallEntry = { isPublic: true }
    const identity = { id: "ada", scopes: [] }
    await registry.execute("quiet.outer", {}, { metadata: SENT, entry, identity } as CallOptions)
    await registry.execute("quiet.outer", {}, { metadata: SENT, entry } as CallOptions)

    expect(spans().map(({ name, parent }) => [name, parent])).toEqual([
      ["t.inner", "b7ad6b7169203331"],
      ["t.inner", undefined],
    ])
    const points = (await read())[METRIC.duration] ?? []
    expect(points.map(({ attributes }) => attributes["rpc.method"])).toEqual(["t.inner"])
  })

  test("bounds series, however many unknown ids and codes there are", async () => {
    const { meterProvider, read } = measure()
    const registry = quietRegistry([
      operation("t.a", { handler: () => 1 }),
      operation("t.b", { handler: () => 1 }),
    ])
    instrument(registry, { meterProvider, metrics: { operations: 1 } })
    for (let at = 0; at < 10_000; at++) await registry.execute(`x.${at}`, 1).catch(() => undefined)
    await registry.execute("t.a", 1)
    await registry.execute("t.b", 1)
    const methods = ((await read())["operations.call.duration"] ?? []).map(
      ({ attributes }) => attributes["rpc.method"],
    )
    expect(new Set(methods)).toEqual(new Set(["_OTHER", "t.a"]))
  })

  test("works without an SDK, carries on what came, and can be stopped and started again", async () => {
    let out: unknown
    const registry = quietRegistry([
      operation("t.out", {
        handler: (_input: never, context: OperationContext) => {
          out = (context as { tracing?: { carrier(to: string): unknown } }).tracing?.carrier("http")
        },
      }),
    ])
    const first = instrument({ registry })
    expect(() => instrument(registry)).toThrow("is instrumented already")
    await registry.execute("t.out", {}, { metadata: SENT })
    expect(out).toEqual({ traceparent: SENT.traceparent })
    first.stop()
    first.stop()
    instrument(registry).stop()
    expect(() => instrument(undefined as never)).toThrow("must be an OperationRegistry")
  })

  test("follows calls of an application that starts its SDK after the first one, and describes none before", async () => {
    const { meterProvider, read } = measure()
    const { spans, tracerProvider } = collect()
    const registry = quietRegistry([operation("t.one", { handler: () => 1 })])
    const attributes = vi.fn<() => { tenant: string }>(() => ({ tenant: "blue" }))
    instrument(registry, { attributes })
    onTestFinished(() => {
      metrics.disable()
      trace.disable()
    })
    await registry.execute("t.one", {})
    expect(attributes).not.toHaveBeenCalled()

    metrics.setGlobalMeterProvider(meterProvider)
    trace.setGlobalTracerProvider(tracerProvider)
    await registry.execute("t.one", {})
    trace.disable()
    await registry.execute("t.one", {})

    const points = (await read())[METRIC.duration] ?? []
    expect(points.map(({ value }) => value.count)).toEqual([2])
    expect(spans().map((span) => span.attributes["tenant"])).toEqual(["blue"])
    await registry.close()
  })

  test("reports retries and caches as events and metrics", async () => {
    const { spans, tracerProvider } = collect()
    const { meterProvider, read } = measure()
    let runs = 0
    const flaky = operation("t.flaky", {
      type: "query",
      resilience: { retry: { attempts: 2, delay: 1 }, cache: { ttl: 10_000 } },
      handler: () => {
        if (++runs === 1) throw new CallError("UNAVAILABLE", "busy", { retryable: true })
        return 1
      },
    })
    const registry = quietRegistry([flaky])
    instrument(registry, { tracerProvider, meterProvider })
    await registry.execute("t.flaky", {})
    await registry.execute("t.flaky", {})
    expect(spans().map(({ events }) => events)).toEqual([
      ["operations.cache", "operations.retry"],
      ["operations.cache"],
    ])
    expect(spans()[0]?.status.code).toBe(0)
    const points = await read()
    const results = points["operations.cache.requests"]?.map(
      ({ attributes }) => attributes["operations.cache.result"],
    )
    expect(results).toEqual(["miss", "hit"])
    expect(points["operations.attempts"]?.[0]?.value).toBe(1)
  })

  test("reports hedges and waits for answers as events", async () => {
    const { spans, tracerProvider } = collect()
    const { meterProvider, read } = measure()
    let runs = 0
    const registry = quietRegistry([
      operation("t.hedged", {
        type: "query",
        resilience: { hedge: { after: 1 } },
        // Only the second attempt answers.
        handler: (_: never, { signal }: OperationContext) =>
          ++runs === 1
            ? new Promise((_resolve, reject) => {
                signal.addEventListener("abort", () => reject(new Error("left")), { once: true })
              })
            : runs,
      }),
      operation("t.asks", {
        handler: (_: never, { requestInput }: OperationContext) =>
          requestInput({ message: "Sure?", schema: { type: "object" } }),
      }),
    ])
    instrument(registry, { tracerProvider, meterProvider })
    await registry.execute("t.hedged", {})
    const requestInput = (): Promise<{ action: "decline" }> =>
      Promise.resolve({ action: "decline" })
    await registry.execute("t.asks", {}, { requestInput })
    expect(spans().map(({ name, events }) => [name, ...events])).toEqual([
      ["t.hedged", "operations.hedge"],
      ["t.asks", "operations.question"],
    ])
    const [attempt] = (await read())["operations.attempts"] ?? []
    expect(attempt).toMatchObject({
      value: 1,
      attributes: { "operations.attempt.reason": "hedge" },
    })
  })

  test("measures open streams, queues, breakers, refused calls and transports when it is asked", async () => {
    const { meterProvider, read } = measure()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const registry = quietRegistry([
      operation("t.narrow", {
        type: "query",
        resilience: { concurrency: { max: 1, maxQueue: 9 } },
        handler: () => held,
      }),
      operation("t.rare", {
        type: "query",
        resilience: { rateLimit: { perSecond: 0.01 } },
        handler: () => 1,
      }),
      operation("t.broken", {
        type: "query",
        resilience: { breaker: { minimumCalls: 1, failureRate: 1 } },
        handler: () => {
          throw new CallError("UNAVAILABLE", "down", { retryable: true })
        },
      }),
      operation("t.items", {
        type: "subscription",
        async *handler() {
          yield 1
          await held
        },
      }),
    ])
    let reads = 0
    const bus = {
      isConnected: true,
      calling: { pending: 3, repeats: 4, workersLost: 1, dropped: 2 },
      serving: { running: 5, waiting: 6, refused: 7, dropped: 8 },
    }
    const telemetry = instrument(registry, {
      meterProvider,
      spans: "none",
      transports: {
        jobs: {
          stats: () => {
            reads++
            return bus
          },
        },
      },
    })
    const waiting = [registry.execute("t.narrow", {}), registry.execute("t.narrow", {})]
    const stream = registry.subscribe("t.items", {})[Symbol.asyncIterator]()
    await stream.next()
    await registry.execute("t.rare", {})
    await rejection(registry.execute("t.rare", {}))
    await rejection(registry.execute("t.broken", {}))
    await expect.poll(() => values("operations.queue.size")).toMatchObject({ "t.narrow": 1 })
    async function values(metric: string): Promise<Readonly<Record<string, number>>> {
      const all = (await read())[metric] ?? []
      const names = ["rpc.method", "operations.breaker", "operations.transport"]
      return Object.fromEntries(
        all.map(({ attributes, value }) => [
          names.map((name) => (attributes[name] as string | undefined) ?? "").join(""),
          value,
        ]),
      )
    }
    expect(await values("operations.stream.active")).toMatchObject({ "t.items": 1, "t.narrow": 0 })
    expect(await values("operations.limit.refused")).toEqual({ "t.rare": 1 })
    expect(Object.values(await values("operations.breaker.state"))).toEqual([2])
    const ofBus = Object.entries(await read()).filter(([name]) =>
      name.startsWith("operations.bus."),
    )
    expect(
      Object.fromEntries(ofBus.map(([name, [point]]) => [name.slice(15), point?.value])),
    ).toEqual({
      connected: 1,
      pending: 3,
      running: 5,
      waiting: 6,
      repeats: 4,
      "workers.lost": 1,
      refused: 7,
      dropped: 10,
    })
    release()
    await Promise.all([...waiting, stream.return?.()])
    expect(await values("operations.stream.active")).toMatchObject({ "t.items": 0 })
    telemetry.stop()
    const before = reads
    await read()
    expect(reads).toBe(before)
  })

  test("measures MCP requests at both ends, with tools from a bounded set", async () => {
    const { meterProvider, read } = measure()
    const tool = operation("t.tool", {
      type: "query",
      handler: async (input: string, context: OperationContext) => {
        const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": input }
        await traceExchange(context, `tools/call ${input}`, "mcp", attributes, () => {
          throw new CallError("TIMEOUT", "late")
        }).catch(() => undefined)
      },
    })
    const registry = quietRegistry([tool])
    instrument(registry, { meterProvider, spans: "none", metrics: { operations: 2 } })
    const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": "here" }
    const entry = { isPublic: true, attributes: { ...attributes, "jsonrpc.request.id": "7" } }
    for (const name of ["a", "b", "c"]) {
      await registry.execute("t.tool", name, { via: "mcp", entry } as CallOptions)
    }
    const points = await read()
    expect(points["mcp.server.operation.duration"]?.map((point) => point.attributes)).toEqual([
      attributes,
    ])
    const client = points["mcp.client.operation.duration"]?.map((point) => point.attributes)
    const failed = { "mcp.method.name": "tools/call", "error.type": "TIMEOUT" }
    expect(client).toEqual([
      { ...failed, "gen_ai.tool.name": "a" },
      { ...failed, "gen_ai.tool.name": "_OTHER" },
    ])
  })
})
