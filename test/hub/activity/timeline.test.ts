import { describe, expect, test } from "vitest"
import { traceExchange } from "../../../src/core/tracing.ts"
import { CallError } from "../../../src/index.ts"
import type {
  AnyOperation,
  Clock,
  OperationContext,
  OperationRegistry,
} from "../../../src/index.ts"
import { Timelines, type Timeline } from "../../../src/hub/activity/timeline.ts"
import { instrument } from "../../../src/otel.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { collect } from "../../otel/collect.ts"

const SENT = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }
const CANARY = "canary-90ab"

interface Observed {
  readonly clock: VirtualClock
  readonly registry: OperationRegistry
  readonly timelines: Timelines
}

async function observe(
  operationsAt: (clock: VirtualClock) => readonly AnyOperation[],
  keepsTexts = true,
): Promise<Observed> {
  const clock = new VirtualClock()
  const warm = operation("s.warm", {
    type: "query",
    resilience: { retry: {} },
    handler: () => 1,
  })
  const registry = quietRegistry([warm, ...operationsAt(clock)], { clock })
  // Policies are loaded on first use, which takes real time.
  await registry.execute("s.warm", {})
  const sourceOf = (id: string): string => id.slice(0, 1)
  const timelines = new Timelines({ clock, sourceOf, keepsTexts })
  registry.trace(timelines)
  return { clock, registry, timelines }
}

const only = (timelines: Timelines, id = "r"): Timeline["calls"] =>
  timelines.find(id, () => true)[0]?.calls ?? []

describe("the timeline of a call", () => {
  test("has nested calls, attempts, the cache, questions, exchanges and log lines", async () => {
    let runs = 0
    const { clock, registry, timelines } = await observe((time) => [
      operation("s.price", {
        type: "query",
        resilience: { retry: { attempts: 2, delay: 0 }, cache: { ttl: 10_000 } },
        handler: async () => {
          await time.sleep(40)
          if (++runs === 1) throw new CallError("UNAVAILABLE", "busy", { retryable: true })
          return 1
        },
      }),
      operation("s.order", {
        handler: async (_input: never, context: OperationContext) => {
          await time.sleep(5)
          await context.call("s.price", {})
          context.log.info(`reserved ${CANARY}`)
          await context.requestInput({ message: "Sure?", schema: { type: "object" } })
          const known = { "server.address": "api.example" }
          await traceExchange(context, "GET /pets/{id}", "http", known, async (_, note) => {
            await time.sleep(30)
            note({ "http.response.status_code": 503 })
          })
        },
      }),
    ])
    const running = registry.execute(
      "s.order",
      {},
      {
        requestId: "r",
        identity: { id: "ada", scopes: [] },
        metadata: SENT,
        requestInput: async () => {
          await clock.sleep(500)
          return { action: "accept", content: {} }
        },
      },
    )
    await clock.advance(20)
    expect(only(timelines)[0]).toMatchObject({ operationId: "s.order", outcome: undefined })
    await clock.advance(10_000)
    await running
    const [order, price, ...more] = only(timelines)
    expect(more).toEqual([])
    expect(order).toMatchObject({
      ...{ requestId: "r", parent: undefined, source: "s", identity: "ada", via: "call" },
      ...{ traceId: "0af7651916cd43dd8448eb211c80319c", outcome: "ok", durationMs: 615, items: 0 },
      parts: [
        { kind: "log", at: 85, durationMs: 0, name: "info", text: `reserved ${CANARY}` },
        { kind: "answer", at: 85, durationMs: 500 },
        {
          ...{ kind: "exchange", at: 585, durationMs: 30, name: "GET /pets/{id} (api.example)" },
          ...{ code: "503", isFailed: true },
        },
      ],
    })
    const hidden = timelines.find("r", (id) => id !== "s.order")
    expect(JSON.stringify(hidden)).not.toContain(CANARY)
    expect(price).toMatchObject({
      ...{ parent: 0, operationId: "s.price", outcome: "ok", durationMs: 80 },
      parts: [
        { kind: "cache", at: 0, name: "cache miss" },
        { kind: "attempt", at: 0, durationMs: 40, name: "attempt 1", code: "UNAVAILABLE" },
        { kind: "attempt", at: 40, durationMs: 40, name: "attempt 2" },
      ],
    })
  })

  test("has the time in a queue, and the code of a failure", async () => {
    const { clock, registry, timelines } = await observe((time) => [
      operation("s.one", {
        type: "query",
        resilience: { concurrency: { max: 1, maxQueue: 9 } },
        handler: async () => {
          await time.sleep(100)
          throw new CallError("NO_PETS", CANARY)
        },
      }),
    ])
    const calls = ["a", "b"].map((requestId) => registry.execute("s.one", {}, { requestId }))
    const settled = Promise.allSettled(calls)
    await clock.advance(1000)
    await settled
    const [second] = only(timelines, "b")
    expect(second).toMatchObject({
      ...{ outcome: "error", code: expect.any(String), durationMs: 200 },
      parts: [{ kind: "queue", at: 0, durationMs: 100 }],
    })
  })

  test("keeps its order while the date is set back", async () => {
    const clock = new VirtualClock()
    let date = 1_000_000
    const dated: Clock = {
      now: () => clock.now(),
      wallTime: () => date,
      setTimeout: (callback, milliseconds) => clock.setTimeout(callback, milliseconds),
      clearTimeout: (timer) => clock.clearTimeout(timer),
    }
    const registry = quietRegistry(
      [
        operation("s.inner", { handler: () => 1 }),
        operation("s.outer", {
          handler: async (_input: never, { call }: OperationContext) => {
            await clock.sleep(20)
            date -= 60_000
            await call("s.inner", {})
          },
        }),
      ],
      { clock: dated },
    )
    const timelines = new Timelines({ clock: dated, keepsTexts: true })
    registry.trace(timelines)
    const running = registry.execute("s.outer", {}, { requestId: "r" })
    await clock.advance(20)
    await running
    expect(only(timelines).map(({ operationId, at }) => [operationId, at])).toEqual([
      ["s.outer", 1_000_000],
      ["s.inner", 1_000_020],
    ])
  })

  test("never has inputs, results or messages of errors, and texts of log lines only if asked", async () => {
    const operations = [
      operation("s.leak", {
        handler: (_input: never, { log }: OperationContext) => {
          log.warn(CANARY, { of: CANARY })
          throw new Error(CANARY)
        },
      }),
      operation("s.echo", { handler: (input: never) => input }),
    ]
    const { registry, timelines } = await observe(() => operations, false)
    for (const id of ["s.leak", "s.echo"]) {
      const options = { requestId: "r", metadata: { of: CANARY } }
      await registry.execute(id, { of: CANARY }, options).catch(() => undefined)
    }
    expect(timelines.find("r", () => true)).toHaveLength(2)
    expect(JSON.stringify(timelines.find("r", () => true))).not.toContain(CANARY)
    const [leak] = timelines
      .find("r", () => true)
      .flatMap(({ calls }) => calls.filter(({ code }) => code))
    expect(leak?.parts).toEqual([{ kind: "log", at: 0, durationMs: 0, name: "warn" }])
  })

  test("is kept longer if it failed or was slow, and all in bounded memory", async () => {
    const { clock, registry, timelines } = await observe((time) => [
      operation("s.ok", { handler: () => 1 }),
      operation("s.bad", { handler: () => Promise.reject(new Error("bad")) }),
      operation("s.slow", { handler: () => time.sleep(1500) }),
      operation("s.many", {
        handler: async (_input: never, { call, log }: OperationContext) => {
          for (let at = 0; at < 500; at++) await call("s.ok", {})
          for (let at = 0; at < 500; at++) log.info("line")
        },
      }),
    ])
    const call = (id: string): Promise<unknown> =>
      registry.execute(id, {}, { requestId: id }).catch(() => undefined)
    await call("s.bad")
    const slow = call("s.slow")
    await clock.advance(2000)
    await slow
    await call("s.many")
    const [many] = timelines.find("s.many", () => true)
    expect(many).toMatchObject({ dropped: 301 })
    expect(many?.calls).toHaveLength(200)
    expect(many?.calls[0]?.parts).toHaveLength(100)
    expect(many?.calls[0]?.dropped).toBe(400)
    for (let at = 0; at < 1000; at++) await call("s.ok")
    expect(
      ["s.bad", "s.slow", "s.many"].map((id) => timelines.find(id, () => true).length),
    ).toEqual([1, 1, 0])
    // Clients choose request ids.
    expect(timelines.find("s.ok", () => true)).toHaveLength(20)
  })

  test("names the trace of a tracer, which keeps its exchanges and log fields", async () => {
    const lines: unknown[] = []
    const note = (_: string, fields?: object): void => void lines.push(fields)
    const logger = { debug: note, info: note, warn: note, error: note }
    const registry = quietRegistry(
      [
        operation("t.outer", {
          handler: async (_: never, { call }: OperationContext) => (await call("t.inner", {})).data,
        }),
        operation("t.inner", {
          handler: async (_: never, context: OperationContext) => {
            context.log.info("inside")
            await traceExchange(context, "GET /", "http", {}, async () => undefined)
          },
        }),
      ],
      { logger },
    )
    const timelines = new Timelines({ clock: new VirtualClock(), keepsTexts: false })
    registry.trace(timelines)
    const { spans, tracerProvider } = collect()
    instrument(registry, { tracerProvider, metrics: false, ignore: ["t.inner"] })
    await registry.execute("t.outer", {}, { requestId: "r" })
    // The nested call is not traced: what it does belongs to the span of its caller.
    expect(spans().map(({ name }) => name)).toEqual(["GET /", "t.outer"])
    const [outer, inner] = only(timelines)
    expect([outer?.traceId, inner?.traceId]).toEqual([spans()[0]?.traceId, spans()[0]?.traceId])
    expect(inner?.parts.map(({ kind }) => kind)).toEqual(["log", "exchange"])
    expect(lines).toEqual([expect.objectContaining({ trace_id: spans()[0]?.traceId })])
  })
})
