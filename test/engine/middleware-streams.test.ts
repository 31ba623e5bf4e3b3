import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import { waitFor } from "../support/wait-for.ts"
import { CallError, localEnvelope } from "../../src/index.ts"
import type {
  AnyOperation,
  Middleware,
  MiddlewareCall,
  OperationContext,
  OperationRegistry,
  StreamNext,
} from "../../src/index.ts"
import { count, operation, quietRegistry, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

type Handler = (input: never, context: OperationContext) => unknown

function stream(handler: Handler, parts: Partial<AnyOperation> = {}): OperationRegistry {
  return quietRegistry([operation("a.s", { type: "subscription", ...parts, handler })])
}

async function collect(items: AsyncIterable<{ data: unknown }>): Promise<unknown[]> {
  const out: unknown[] = []
  for await (const item of items) out.push(item.data)
  return out
}

const forward: Middleware = { stream: (_call, next) => next() }

/** Opens the stream again until it has had an item. */
const reopening: Middleware = {
  async *stream(_call, next) {
    for (let times = 1; ; times++) {
      let hasItem = false
      try {
        for await (const item of next({})) {
          hasItem = true
          yield item
        }
        return
      } catch (error) {
        if (hasItem || times === 3) throw error
      }
    }
  },
}

describe("middleware of streams", () => {
  test("runs at the first item, around the handler, in the order of use", async () => {
    const notes: string[] = []
    const noted = (name: string): Middleware => ({
      async *stream(_call, next) {
        notes.push(`${name} in`)
        yield* next()
        notes.push(`${name} out`)
      },
    })
    const registry = stream(
      async function* () {
        notes.push("handler")
        yield 1
      },
      { use: [noted("inner")] },
    )
    registry.use(noted("outer"))
    const items = registry.subscribe("a.s")
    expect(notes).toEqual([])
    expect(await collect(items)).toEqual([1])
    expect(notes).toEqual(["outer in", "inner in", "handler", "inner out", "outer out"])
  })

  test("is not the middleware of calls: a plain function does not apply to subscriptions", async () => {
    const call = vi.fn()
    const registry = quietRegistry([count])
    registry.use(call)
    registry.use({ call })
    expect(await collect(registry.subscribe("demo.count", { to: 2 }))).toHaveLength(2)
    expect(call).not.toHaveBeenCalled()
  })

  test("may leave items out, add some, change the input, or answer without the handler", async () => {
    const registry = quietRegistry([count])
    registry.use({
      async *stream(call, next) {
        yield localEnvelope("first", call.operationId)
        for await (const item of next({ input: { to: 4 } })) {
          if ((item.data as { at: number }).at % 2 === 0) yield item
        }
      },
    })
    expect(await collect(registry.subscribe("demo.count", { to: 1 }))).toEqual([
      ...["first", { at: 2 }, { at: 4 }],
    ])
    registry.use({
      async *stream(call) {
        yield localEnvelope({ at: 2 }, call.operationId)
      },
    })
    expect(await collect(registry.subscribe("demo.count", { to: 1 }))).toEqual(["first", { at: 2 }])
  })

  test("gets items that are processed once, and checks a changed input again", async () => {
    const onNormalize = vi.fn()
    const registry = quietRegistry(
      [
        operation("a.s", {
          type: "subscription",
          inputSchema: Type.Object({ n: Type.Number() }),
          outputSchema: Type.Object({ n: Type.Number() }),
          async *handler() {
            yield { n: "1", more: true }
          },
        }),
      ],
      { onNormalize },
    )
    registry.use(forward)
    expect(await collect(registry.subscribe("a.s", { n: 1 }))).toEqual([{ n: 1 }])
    expect(onNormalize).toHaveBeenCalledTimes(1)
    registry.use({ stream: (_call, next) => next({ input: { n: "x" } }) })
    expect(await rejection(collect(registry.subscribe("a.s", { n: 1 })))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("that yields something other than envelopes fails the stream, and is named in the error", async () => {
    const registry = stream(async function* () {
      yield 1
    })
    const broken = vi.fn(async function* (): AsyncGenerator<never> {
      yield 7 as never
    })
    const remove = registry.use({ stream: broken }, { name: "broken" })
    registry.use(forward)
    expect(await rejection(collect(registry.subscribe("a.s")))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringContaining('Middleware "broken" returned number for "a.s"'),
    })
    remove()
    registry.use({ stream: () => 7 as never }, { name: "seven" })
    expect(await rejection(collect(registry.subscribe("a.s")))).toMatchObject({
      message:
        'Middleware "seven" must return an async iterable for "a.s"; write async *stream(call, next).',
    })
  })

  test("can open the stream again: attempts are counted, and errors arrive mapped", async () => {
    const attempts: number[] = []
    const registry = stream(async function* (_input, { attempt }) {
      attempts.push(attempt)
      if (attempt < 3) throw new CallError("UNAVAILABLE", "down")
      yield attempt
    })
    registry.use(reopening)
    expect(await collect(registry.subscribe("a.s"))).toEqual([3])
    expect(attempts).toEqual([1, 2, 3])
  })

  test("that gives up reports how often it tried, and what may have happened", async () => {
    const onError = vi.fn()
    const registry = quietRegistry(
      [
        operation("a.s", {
          type: "subscription",
          // oxlint-disable-next-line eslint/require-yield -- it fails before it could
          async *handler(_input: never, { attempt }: OperationContext) {
            throw attempt === 2 ? new Error("broken") : new CallError("UNAVAILABLE", "down")
          },
        }),
      ],
      { onError },
    )
    registry.use(reopening)
    expect(await rejection(collect(registry.subscribe("a.s")))).toMatchObject({
      ...{ code: "UNAVAILABLE", attempts: 3, mayHaveExecuted: true, retryable: false },
    })
    expect(onError).not.toHaveBeenCalled()
  })

  test("is left with its reader: the handler's finally has run when return() resolves", async () => {
    const notes: string[] = []
    const registry = stream(async function* (_input, { signal }) {
      signal.addEventListener("abort", () => notes.push("signal"))
      try {
        yield 1
        yield 2
      } finally {
        await Promise.resolve()
        notes.push("handler left")
      }
    })
    registry.use({
      async *stream(_call, next) {
        try {
          yield* next({})
        } finally {
          notes.push("middleware left")
        }
      },
    })
    registry.use(forward)
    for await (const _item of registry.subscribe("a.s")) break
    expect(notes).toEqual(["signal", "handler left", "middleware left"])
  })

  test("is left while it waits for an item that never comes", async () => {
    const signals: AbortSignal[] = []
    const registry = stream(async function* (_input, { signal }) {
      signals.push(signal)
      yield 1
      await new Promise(() => undefined)
    })
    let isLeft = false
    registry.use({
      async *stream(_call, next) {
        try {
          for await (const item of next()) yield item
        } finally {
          isLeft = true
        }
      },
    })
    const items = registry.subscribe("a.s")
    await items.next()
    const pending = items.next()
    await items.return()
    expect(await pending).toEqual({ done: true, value: undefined })
    await waitFor(() => expect(isLeft).toBe(true))
    expect(signals[0]?.aborted).toBe(true)
  })

  test("ends with the deadline, the caller's signal, an attempt's timeout and the registry", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry(
      [
        operation("a.s", {
          type: "subscription",
          async *handler() {
            yield 1
            await new Promise(() => undefined)
          },
        }),
      ],
      { clock },
    )
    let change = {}
    registry.use({ stream: (_call, next) => next(change) })
    const opened = async (options: object): Promise<Promise<unknown>> => {
      const items = registry.subscribe("a.s", {}, options)
      await items.next()
      return rejection(items.next())
    }
    const controller = new AbortController()
    const byDeadline = opened({ timeout: 50 })
    const bySignal = opened({ signal: controller.signal })
    await clock.advance(50)
    controller.abort()
    expect(await await byDeadline).toMatchObject({ code: "TIMEOUT" })
    expect(await await bySignal).toMatchObject({ code: "ABORTED" })
    change = { timeout: 20 }
    const byAttempt = opened({})
    await clock.advance(20)
    expect(await await byAttempt).toMatchObject({
      ...{ code: "TIMEOUT", details: { attemptTimeout: 20 } },
    })
    change = {}
    const byClose = opened({})
    await clock.advance(1)
    await registry.close()
    expect(await await byClose).toMatchObject({ code: "ABORTED" })
    expect(clock.timers).toBe(0)
  })

  test("cannot be detached, and starts nothing after its call has ended", async () => {
    const handler = vi.fn(async function* () {
      yield 1
    })
    const registry = stream(handler)
    const remove = registry.use({ stream: (_call, next) => next({ detached: true }) })
    expect(await rejection(collect(registry.subscribe("a.s")))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringContaining("a stream belongs to its reader"),
    })
    remove()
    let kept: [MiddlewareCall, StreamNext] | undefined
    registry.use({
      stream: (call, next) => {
        kept = [call, next]
        return next()
      },
    })
    await collect(registry.subscribe("a.s"))
    expect(handler).toHaveBeenCalledTimes(1)
    expect(await rejection(collect((kept as [MiddlewareCall, StreamNext])[1]()))).toMatchObject({
      code: "ABORTED",
    })
    expect(handler).toHaveBeenCalledTimes(1)
  })

  test("does not run for rejected callers", async () => {
    const open = vi.fn((_call: MiddlewareCall, next: StreamNext) => next())
    const registry = stream(
      async function* () {
        yield 1
      },
      { accessControl: { requiredScopes: ["x"] } },
    )
    registry.use({ stream: open })
    expect(await rejection(collect(registry.subscribe("a.s")))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    expect(open).not.toHaveBeenCalled()
    expect(await collect(registry.trusted.subscribe("a.s"))).toEqual([1])
  })

  test("can replace the input by null", async () => {
    const echo = operation("a.echo", {
      type: "subscription",
      handler: async function* (input: unknown) {
        yield input
      },
    })
    const registry = quietRegistry([echo])
    const around: Middleware = {
      async *stream(_call, next) {
        yield* next({ input: null })
      },
    }
    registry.use(around)
    const { value } = await registry.subscribe("a.echo", { old: true }).next()
    expect(value?.data).toBeNull()
  })
})
