import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import { isCallError, localEnvelope, subscribe } from "../../src/index.ts"
import type { OperationContext, OperationRegistry } from "../../src/index.ts"
import { count, greet, operation, quietRegistry, rejection } from "../support/operations.ts"

type Handler = (input: never, context: OperationContext) => unknown

function stream(handler: Handler, parts: object = {}): OperationRegistry {
  return quietRegistry([operation("a.s", { type: "subscription", ...parts, handler: handler })])
}

async function collect(items: AsyncIterable<{ data: unknown }>): Promise<unknown[]> {
  const out: unknown[] = []
  for await (const item of items) out.push(item.data)
  return out
}

const tick = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe("OperationRegistry.subscribe", () => {
  test("wraps each item in an envelope", async () => {
    const registry = quietRegistry([count])
    const items = []
    for await (const item of registry.subscribe("demo.count", { to: 3 })) items.push(item)
    expect(items.map((item) => item.data)).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }])
    expect(items[0]?.meta).toMatchObject({ source: "local", operationId: "demo.count" })
    expect(await collect(subscribe(registry, "demo.count", { to: 1 }))).toEqual([{ at: 1 }])
  })

  test("hands envelopes on, and normalises what is in them", async () => {
    const registry = stream(
      async function* () {
        yield { at: 1, extra: true }
        yield localEnvelope({ at: "2" }, "x.y")
      },
      { outputSchema: Type.Object({ at: Type.Number() }) },
    )
    const items = []
    for await (const item of registry.subscribe("a.s")) items.push(item)
    expect(items).toMatchObject([
      { data: { at: 1 } },
      { data: { at: 2 }, meta: { operationId: "x.y" } },
    ])
    expect(items[0]?.data).toEqual({ at: 1 })
  })

  test("takes anything with an async iterator: bound, wrapped or by hand", async () => {
    async function* numbers(): AsyncGenerator<number> {
      yield 1
    }
    for (const handler of [
      numbers,
      numbers.bind(null),
      () => numbers(),
      () => ({ [Symbol.asyncIterator]: numbers }),
    ]) {
      expect(await collect(stream(handler).subscribe("a.s"))).toEqual([1])
    }
    let n = 0
    const byHand = {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: n++ > 1, value: n }) }),
    }
    expect(await collect(stream(() => byHand).subscribe("a.s"))).toEqual([1, 2])
  })

  test("does nothing before the first item is asked for", async () => {
    const handler = vi.fn(async function* () {
      yield 1
    })
    const registry = stream(handler)
    const items = registry.subscribe("a.s")
    await tick()
    expect(handler).not.toHaveBeenCalled()
    await items.return()
    expect(await items.next()).toEqual({ done: true, value: undefined })
    expect(handler).not.toHaveBeenCalled()
  })

  test("refuses what cannot be streamed when it is first asked, and is over then", async () => {
    const registry = quietRegistry([count, greet])
    const cases: [string, unknown, string][] = [
      ["demo.nothing", {}, "OPERATION_NOT_FOUND"],
      ["demo.greet", { name: "x" }, "INVALID_OPERATION_TYPE"],
      ["demo.count", { to: "x" }, "VALIDATION_ERROR"],
    ]
    for (const [id, input, code] of cases) {
      const items = registry.subscribe(id, input)
      expect(await rejection(items.next())).toMatchObject({ code })
      expect(await items.next()).toEqual({ done: true, value: undefined })
    }
  })

  test("reports a handler that returns no async iterable", async () => {
    for (const value of [undefined, 5, [1], { next: () => 1 }]) {
      expect(
        await rejection(
          stream(() => value)
            .subscribe("a.s")
            .next(),
        ),
      ).toMatchObject({
        code: "EXECUTION_ERROR",
        message: `The handler of "a.s" must return an async iterable; write async function*.`,
      })
    }
    const broken = { [Symbol.asyncIterator]: () => ({ next: async () => 5 }) }
    expect(
      await rejection(
        stream(() => broken)
          .subscribe("a.s")
          .next(),
      ),
    ).toMatchObject({ code: "EXECUTION_ERROR" })
  })

  test("what a handler throws ends the stream as a CallError", async () => {
    const seen: unknown[] = []
    const registry = stream(async function* () {
      yield 1
      throw new Error("half way")
    })
    const error = await rejection(
      (async () => {
        for await (const item of registry.subscribe("a.s")) seen.push(item.data)
      })(),
    )
    expect(seen).toEqual([1])
    expect(isCallError(error, "EXECUTION_ERROR")).toBe(true)
    expect(
      await rejection(
        stream(() => {
          throw new Error("at once")
        })
          .subscribe("a.s")
          .next(),
      ),
    ).toMatchObject({
      message: "at once",
    })
  })

  test("an item that fails its schema in strict mode ends the stream and stops the handler", async () => {
    const closed = vi.fn()
    const registry = stream(
      async function* () {
        try {
          yield { at: 1 }
          yield { at: "x" }
          yield { at: 3 }
        } finally {
          closed()
        }
      },
      { outputSchema: Type.Object({ at: Type.Number() }), output: "strict" },
    )
    expect(await rejection(collect(registry.subscribe("a.s")))).toMatchObject({
      code: "OUTPUT_VALIDATION_ERROR",
    })
    await tick()
    expect(closed).toHaveBeenCalledOnce()
  })
})

describe("leaving a stream of OperationRegistry.subscribe", () => {
  function watched(): {
    registry: OperationRegistry
    closed: ReturnType<typeof vi.fn>
    signals: AbortSignal[]
  } {
    const closed = vi.fn()
    const signals: AbortSignal[] = []
    const registry = stream(async function* (_input, context) {
      signals.push(context.signal)
      try {
        for (let at = 0; ; at++) yield at
      } finally {
        closed()
      }
    })
    return { registry, closed, signals }
  }

  test("by break stops the handler and fires its signal", async () => {
    const { registry, closed, signals } = watched()
    for await (const item of registry.subscribe("a.s")) if (item.data === 2) break
    expect(closed).toHaveBeenCalledOnce()
    expect(signals[0]?.aborted).toBe(true)
  })

  test("by a throw in the loop, by return and by dispose do the same; twice is fine", async () => {
    const { registry, closed } = watched()
    await rejection(
      (async () => {
        for await (const _item of registry.subscribe("a.s")) throw new Error("mine")
      })(),
    )
    const items = registry.subscribe("a.s")
    await items.next()
    expect(await items.return()).toEqual({ done: true, value: undefined })
    expect(await items.return()).toEqual({ done: true, value: undefined })
    const other = registry.subscribe("a.s")
    await other.next()
    await other[Symbol.asyncDispose]()
    expect(closed).toHaveBeenCalledTimes(3)
    expect(await other.next()).toEqual({ done: true, value: undefined })
  })

  test("while an item is awaited does not hang on a handler that is stuck", async () => {
    const registry = stream(async function* () {
      await new Promise(() => undefined)
      yield 1
    })
    const items = registry.subscribe("a.s")
    const waiting = items.next()
    await items.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  test("a natural end fires no signal", async () => {
    let signal: AbortSignal | undefined
    const registry = stream(async function* (_input, context) {
      signal = context.signal
      yield 1
    })
    await collect(registry.subscribe("a.s"))
    expect(signal?.aborted).toBe(false)
  })

  test("an error in the handler's finally reaches the consumer that leaves", async () => {
    const registry = stream(async function* () {
      try {
        yield 1
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- that is what is tested
        throw new Error("clean-up failed")
      }
    })
    const items = registry.subscribe("a.s")
    await items.next()
    expect(await rejection(items.return())).toMatchObject({ message: "clean-up failed" })
  })

  test("throws a CallError if the handler's finally throws", async () => {
    const registry = quietRegistry([
      operation("a.watch", {
        type: "subscription",
        handler: async function* () {
          try {
            yield 1
          } finally {
            // oxlint-disable-next-line no-unsafe-finally -- what a mistake in a handler looks like
            throw new Error("cleaning up failed")
          }
        },
      }),
    ])
    const reading = async (): Promise<void> => {
      for await (const _ of registry.subscribe("a.watch")) break
    }
    expect(await rejection(reading())).toMatchObject({
      code: "EXECUTION_ERROR",
      message: "cleaning up failed",
      operationId: "a.watch",
      mayHaveExecuted: true,
    })
  })
})

describe("deadlines and signals of streams", () => {
  const endless: Handler = async function* () {
    yield 1
    await new Promise(() => undefined)
  }

  test("a deadline ends a stream that waits", async () => {
    const items = stream(endless).subscribe("a.s", {}, { deadline: Date.now() + 20 })
    expect((await items.next()).value?.data).toBe(1)
    expect(await rejection(items.next())).toMatchObject({ code: "TIMEOUT", operationId: "a.s" })
    expect(await items.next()).toEqual({ done: true, value: undefined })
  })

  test("a signal ends a waiting stream; a stream that is not being read reports it at the next read", async () => {
    const controller = new AbortController()
    const registry = stream(endless)
    const options = { signal: controller.signal }
    const waiting = registry.subscribe("a.s", {}, options)
    const idle = registry.subscribe("a.s", {}, options)
    await waiting.next()
    await idle.next()
    const next = rejection(waiting.next())
    controller.abort()
    expect(await next).toMatchObject({ code: "ABORTED" })
    expect(await rejection(idle.next())).toMatchObject({ code: "ABORTED" })
    expect(await idle.next()).toEqual({ done: true, value: undefined })
    expect(await rejection(registry.subscribe("a.s", {}, options).next())).toMatchObject({
      code: "ABORTED",
    })
  })

  test("has no deadline by itself", async () => {
    let deadline: number | undefined = 1
    const registry = stream(async function* (_input, context) {
      deadline = context.deadline
      yield 1
    })
    await collect(registry.subscribe("a.s"))
    expect(deadline).toBeUndefined()
  })

  test("items asked for ahead of time come in order", async () => {
    const items = quietRegistry([count]).subscribe("demo.count", { to: 3 })
    const results = await Promise.all([
      items.next(),
      items.next(),
      items.next(),
      items.next(),
      items.next(),
    ])
    expect(
      results.map((result) => (result.done ? "end" : (result.value.data as { at: number }).at)),
    ).toEqual([1, 2, 3, "end", "end"])
  })

  test("when one of several awaited items fails, the others end", async () => {
    const items = stream(async function* () {
      yield 1
      throw new Error("x")
    }).subscribe("a.s")
    const results = await Promise.allSettled([items.next(), items.next(), items.next()])
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  })

  test("close ends what streams", async () => {
    const registry = stream(endless)
    const items = registry.subscribe("a.s")
    await items.next()
    const next = rejection(items.next())
    await registry.close()
    expect(await next).toMatchObject({ code: "ABORTED", message: "The registry was closed." })
    expect(await rejection(registry.subscribe("a.s").next())).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
    })
  })
})

describe("subscribe, the function", () => {
  test("wants a registry", () => {
    expect(() => subscribe(undefined as never, "a.b")).toThrow(
      "registry must be an OperationRegistry",
    )
  })
})
