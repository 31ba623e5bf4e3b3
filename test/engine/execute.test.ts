import { Type } from "typebox"
import { afterEach, describe, expect, test, vi } from "vitest"
import {
  createRegistry,
  defineOperation,
  httpEnvelope,
  isCallError,
  localEnvelope,
} from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  CallError,
  Clock,
  InputRequest,
  OperationContext,
  ProgressUpdate,
} from "../../src/index.ts"
import { count, greet, operation, quietRegistry, rejection } from "../support/operations.ts"
import { TOO_LONG } from "../support/patience.ts"

afterEach(() => {
  vi.useRealTimers()
})

const never = (): Promise<never> => new Promise(() => undefined)

describe("OperationRegistry.execute", () => {
  test("wraps a raw handler result in a local envelope", async () => {
    const before = Date.now()
    const envelope = await quietRegistry([greet]).execute("demo.greet", { name: "Ada" })
    expect(envelope).toEqual({
      data: { text: "Hello, Ada" },
      meta: { source: "local", operationId: "demo.greet", timestamp: expect.any(Number) },
    })
    expect((envelope.meta as { timestamp: number }).timestamp).toBeGreaterThanOrEqual(before)
  })

  test("passes on an envelope of the handler unchanged", async () => {
    const envelope = httpEnvelope({ a: 1 }, { statusCode: 201, headers: {}, contentType: "x" })
    const registry = quietRegistry([
      operation("a.b", {
        outputSchema: Type.Object({ a: Type.Number() }),
        handler: () => envelope,
      }),
    ])
    expect(await registry.execute("a.b")).toBe(envelope)
  })

  test("takes synchronous results, promises and other thenables", async () => {
    const thenable = { then: (resolve: (value: string) => void) => resolve("later") }
    const registry = quietRegistry([
      operation("a.sync", { handler: () => 1 }),
      operation("a.async", { handler: async () => 2 }),
      operation("a.thenable", { handler: () => thenable }),
      operation("a.void", { handler: () => undefined }),
    ])
    expect((await registry.execute("a.sync")).data).toBe(1)
    expect((await registry.execute("a.async")).data).toBe(2)
    expect((await registry.execute("a.thenable")).data).toBe("later")
    expect(await registry.execute("a.void")).toMatchObject({
      data: undefined,
      meta: { source: "local" },
    })
  })

  test("reports an operation that is not registered, and suggests a similar id", async () => {
    const registry = quietRegistry([greet, operation("task.create", { handler: () => 1 })])
    const error = await rejection(registry.execute("task.creat"))
    expect(error).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: `Operation "task.creat" is not registered. Did you mean "task.create"?`,
      details: { operationId: "task.creat" },
    })
    expect(await rejection(registry.execute("tsak.create"))).toMatchObject({
      message: `Operation "tsak.create" is not registered. Did you mean "task.create"?`,
    })
    registry.registerAll([
      operation("task.pull", { handler: () => 1 }),
      operation("task.get_by_id", { handler: () => 1 }),
    ])
    expect(await rejection(registry.execute("task.get"))).toMatchObject({
      message: `Operation "task.get" is not registered. Did you mean "task.get_by_id"?`,
    })
    expect(await rejection(registry.execute("zzz"))).toMatchObject({
      message: `Operation "zzz" is not registered.`,
    })
    expect(
      ((await rejection(registry.execute("x".repeat(1e6)))) as Error).message.length,
    ).toBeLessThan(300)
  })

  test("suggests nothing that the caller may not know of", async () => {
    const registry = quietRegistry([
      operation("task.purge", { visibility: "internal", handler: () => 1 }),
      operation("task.admin", { accessControl: { requiredScopes: ["x"] }, handler: () => 1 }),
    ])
    for (const id of ["task.purg", "task.admi"]) {
      expect(await rejection(registry.execute(id))).toMatchObject({
        message: `Operation "${id}" is not registered.`,
      })
    }
    const identity = { id: "x", scopes: ["x"] }
    expect(await rejection(registry.execute("task.admi", 1, { identity }))).toMatchObject({
      message: expect.stringContaining("task.admin"),
    })
  })

  test("reports a spec without a handler", async () => {
    const registry = quietRegistry()
    registry.registerSpec(operation("a.b", {}))
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: `Operation "a.b" has no handler. Add one: registry.registerHandler("a.b", handler).`,
    })
  })

  test("refuses a subscription", async () => {
    expect(await rejection(quietRegistry([count]).execute("demo.count", { to: 1 }))).toMatchObject({
      code: "INVALID_OPERATION_TYPE",
      message: `"demo.count" is a subscription: call it with subscribe(), not execute().`,
    })
  })

  test("rejects, and never throws", () => {
    const registry = quietRegistry([greet])
    for (const id of [
      undefined,
      null,
      5,
      {},
      Symbol("x"),
      "",
      ".",
      "__proto__",
      "constructor.name",
    ]) {
      const promise = registry.execute(id as string)
      expect(promise).toBeInstanceOf(Promise)
      promise.catch(() => undefined)
    }
  })

  test("names every validation error of an input by its path", async () => {
    const registry = quietRegistry([
      operation("task.create", {
        inputSchema: Type.Object({ title: Type.String(), tags: Type.Array(Type.String()) }),
        handler: () => 1,
      }),
    ])
    const error = await rejection(registry.execute("task.create", { tags: [1, "a", null] }))
    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      operationId: "task.create",
      retryable: false,
      mayHaveExecuted: false,
      details: {
        errors: [
          { path: "/title", message: "is required" },
          { path: "/tags/0", message: "must be string, got number" },
          { path: "/tags/2", message: "must be string, got null" },
        ],
      },
    })
    expect((error as Error).message).toBe(
      `Input for "task.create" is invalid: /title is required; /tags/0 must be string, got number; /tags/2 must be string, got null.`,
    )
  })

  test("lists all validation errors of a large input, and puts the first into the message", async () => {
    const registry = quietRegistry([
      operation("a.b", { inputSchema: Type.Array(Type.String()), handler: () => 1 }),
    ])
    const error = (await rejection(
      registry.execute(
        "a.b",
        Array.from({ length: 60 }, (_, i) => i),
      ),
    )) as CallError
    expect((error.details as { errors: unknown[] }).errors).toHaveLength(60)
    expect(error.message).toContain("and 52 more")
  })

  test("fills the defaults that a schema declares, into a copy where one is missing", async () => {
    const seen: unknown[] = []
    const registry = quietRegistry([
      operation("a.b", {
        inputSchema: Type.Object({
          limit: Type.Optional(Type.Number({ default: 10 })),
          nested: Type.Optional(
            Type.Object({ deep: Type.Optional(Type.String({ default: "d" })) }),
          ),
        }),
        handler: (input: unknown) => void seen.push(input),
      }),
    ])
    const input = Object.freeze({ nested: Object.freeze({}) })
    await registry.execute("a.b", input)
    const full = { limit: 5, nested: { deep: "x" } }
    await registry.execute("a.b", full)
    expect(seen[0]).toEqual({ limit: 10, nested: { deep: "d" } })
    expect(seen[1]).toEqual(full)
    expect(seen[1]).toBe(full)
  })

  test("a property with a default may be left out, required or not", async () => {
    const registry = quietRegistry([
      operation("a.b", {
        inputSchema: Type.Object({ limit: Type.Integer({ default: 10 }), q: Type.String() }),
        handler: (input: unknown) => input,
      }),
      operation("a.whole", {
        inputSchema: Type.Object({ n: Type.Number() }, { default: { n: 1 } }),
        handler: (input: unknown) => input,
      }),
    ])
    expect((await registry.execute("a.b", { q: "x" })).data).toEqual({ limit: 10, q: "x" })
    expect(await rejection(registry.execute("a.b", {}))).toMatchObject({
      details: { errors: [{ path: "/q", message: "is required" }] },
    })
    expect((await registry.execute("a.whole")).data).toEqual({ n: 1 })
  })

  test("never coerces an input", async () => {
    const registry = quietRegistry([
      operation("a.b", { inputSchema: Type.Object({ n: Type.Number() }), handler: () => 1 }),
    ])
    expect(await rejection(registry.execute("a.b", { n: "12" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("leaves undeclared input properties alone unless the schema forbids them", async () => {
    const registry = quietRegistry([
      operation("a.open", { inputSchema: Type.Object({}), handler: (input: unknown) => input }),
      operation("a.closed", {
        inputSchema: Type.Object({}, { additionalProperties: false }),
        handler: () => 1,
      }),
    ])
    expect((await registry.execute("a.open", { x: 1 })).data).toEqual({ x: 1 })
    expect(await rejection(registry.execute("a.closed", { x: 1 }))).toMatchObject({
      details: { errors: [{ path: "/x" }] },
    })
  })

  test("turns everything a handler throws into a CallError", async () => {
    const thrown: unknown[] = [
      new Error("boom"),
      "text",
      undefined,
      Object.freeze(new RangeError("r")),
      { a: 1 },
    ]
    for (const value of thrown) {
      const registry = quietRegistry([
        operation("a.sync", {
          handler: () => {
            throw value
          },
        }),
        operation("a.async", {
          handler: async () => {
            throw value
          },
        }),
      ])
      for (const id of ["a.sync", "a.async"]) {
        const error = await rejection(registry.execute(id))
        expect(isCallError(error)).toBe(true)
        expect(error).toMatchObject({
          code: value instanceof Error ? "EXECUTION_ERROR" : "UNKNOWN_ERROR",
          operationId: id,
          mayHaveExecuted: true,
        })
        expect((error as Error).cause).toBe(value)
      }
    }
  })

  test("keeps a declared error's code and details", async () => {
    const registry = quietRegistry([
      operation("a.b", {
        errorSchemas: [
          { code: "GONE", description: "", schema: Type.Object({ id: Type.String() }) },
        ],
        handler: () => {
          throw Object.assign(new Error("It is gone"), { code: "GONE", details: { id: "7" } })
        },
      }),
    ])
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "GONE",
      message: "It is gone",
      details: { id: "7" },
    })
  })
})

describe("input checks of other libraries that take time", () => {
  const schema = (validate: (value: unknown) => unknown): object => ({
    "~standard": {
      version: 1,
      vendor: "slow",
      validate,
      jsonSchema: { input: () => ({}), output: () => ({}) },
    },
  })
  const slow = (
    validate: (value: unknown) => unknown,
    handler = vi.fn(() => "done"),
  ): ReturnType<typeof quietRegistry> =>
    quietRegistry([
      operation("a.call", { inputSchema: schema(validate), handler }),
      operation("a.stream", {
        type: "subscription",
        inputSchema: schema(validate),
        async *handler() {
          yield handler()
        },
      }),
    ])

  test("end with a CallError when they break", async () => {
    const registry = slow(() => Promise.reject(new Error("their bug")))
    expect(await rejection(registry.execute("a.call"))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: "their bug",
    })
    expect(await rejection(registry.subscribe("a.stream").next())).toMatchObject({
      code: "EXECUTION_ERROR",
    })
    const throwing = slow(() => {
      throw new Error("at once")
    })
    expect(isCallError(await rejection(throwing.execute("a.call")))).toBe(true)
    const empty = slow(() => undefined)
    expect(await rejection(empty.execute("a.call"))).toMatchObject({
      message: expect.stringContaining("returned no result"),
    })
    const odd = slow(() => ({ issues: "many" }))
    expect(await rejection(odd.execute("a.call"))).toMatchObject({
      code: "VALIDATION_ERROR",
      message: `Input for "a.call" is invalid: was rejected by its schema.`,
    })
  })

  test("are under the deadline and the signal of the call, and the handler is not called after", async () => {
    const handler = vi.fn(() => "done")
    let release: (value: unknown) => void = () => undefined
    const registry = slow(() => new Promise((resolve) => (release = resolve)), handler)
    expect(
      await rejection(registry.execute("a.call", {}, { deadline: Date.now() + 5 })),
    ).toMatchObject({ code: "TIMEOUT" })
    release({ value: 1 })
    expect(
      await rejection(registry.subscribe("a.stream", {}, { deadline: Date.now() + 5 }).next()),
    ).toMatchObject({ code: "TIMEOUT" })
    const controller = new AbortController()
    const call = rejection(registry.execute("a.call", {}, { signal: controller.signal }))
    controller.abort()
    expect(await call).toMatchObject({ code: "ABORTED" })
    const closing = rejection(registry.execute("a.call"))
    const items = registry.subscribe("a.stream")
    const first = items.next()
    await items.return()
    release({ value: 1 })
    expect(await first).toEqual({ done: true, value: undefined })
    await registry.close()
    expect(await closing).toMatchObject({ code: "ABORTED" })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(handler).not.toHaveBeenCalled()
  })

  test("a promise given as input is not taken for one of them", async () => {
    const registry = quietRegistry([
      operation("a.b", { handler: (input: unknown) => [input instanceof Promise] }),
    ])
    expect((await registry.execute("a.b", Promise.resolve(1))).data).toEqual([true])
  })

  test("may transform the input of the handler", async () => {
    const registry = slow(
      async () => ({ value: "checked" }),
      vi.fn((input?: unknown) => input) as never,
    )
    expect((await registry.execute("a.call", "raw")).data).toBe("checked")
    const items = registry.subscribe("a.stream", "raw")
    const results = await Promise.all([items.next(), items.next()])
    expect(results.map(({ done }) => done)).toEqual([false, true])
  })
})

describe("deadlines and signals of execute", () => {
  test("a deadline ends a call whose handler ignores it, and its signal fires", async () => {
    let signal: AbortSignal | undefined
    const registry = quietRegistry([
      operation("a.hang", {
        handler: (_input: never, context: OperationContext) => {
          signal = context.signal
          return never()
        },
      }),
    ])
    const started = performance.now()
    const error = await rejection(registry.execute("a.hang", {}, { deadline: Date.now() + 30 }))
    expect(performance.now() - started).toBeLessThan(TOO_LONG)
    expect(error).toMatchObject({
      code: "TIMEOUT",
      operationId: "a.hang",
      mayHaveExecuted: true,
      retryable: false,
    })
    expect((error as Error).message).toMatch(
      /^No response to "a\.hang" before its deadline \(request .+\)\.$/,
    )
    expect(signal?.aborted).toBe(true)
    expect(signal?.reason).toBe(error)
  })

  test("the time-out of a query may be repeated", async () => {
    const registry = quietRegistry([operation("a.q", { type: "query", handler: never })])
    expect(
      await rejection(registry.execute("a.q", {}, { deadline: Date.now() + 5 })),
    ).toMatchObject({
      code: "TIMEOUT",
      retryable: true,
    })
  })

  test("every call has a deadline of 30 seconds unless the registry or the caller sets another", async () => {
    vi.useFakeTimers()
    const seen: (number | undefined)[] = []
    const handler = ((_input: never, context: OperationContext) => {
      seen.push(context.deadline)
      return never()
    }) as never
    const standard = rejection(quietRegistry([operation("a.b", { handler })]).execute("a.b"))
    const short = rejection(
      quietRegistry([operation("a.b", { handler })], { timeout: 500 }).execute("a.b"),
    )
    const endless = quietRegistry([operation("a.b", { handler })], {
      timeout: Number.POSITIVE_INFINITY,
    })
    const waiting = rejection(endless.execute("a.b"))
    expect(seen).toEqual([Date.now() + 30_000, Date.now() + 500, undefined])
    await vi.advanceTimersByTimeAsync(500)
    expect(await short).toMatchObject({ code: "TIMEOUT" })
    await vi.advanceTimersByTimeAsync(29_499)
    const state = await Promise.race([standard, Promise.resolve("waiting")])
    expect(state).toBe("waiting")
    await vi.advanceTimersByTimeAsync(1)
    expect(await standard).toMatchObject({ code: "TIMEOUT" })
    await endless.close()
    expect(await waiting).toMatchObject({ code: "ABORTED", message: "The registry was closed." })
  })

  test("a deadline that has passed refuses the call before its handler runs", async () => {
    const handler = vi.fn()
    const registry = quietRegistry([operation("a.b", { handler })])
    for (const deadline of [0, -1, Date.now() - 1, Number.NEGATIVE_INFINITY]) {
      expect(await rejection(registry.execute("a.b", {}, { deadline }))).toMatchObject({
        code: "TIMEOUT",
        mayHaveExecuted: false,
        retryable: true,
      })
    }
    expect(handler).not.toHaveBeenCalled()
    for (const deadline of [1e18, Number.POSITIVE_INFINITY, Number.MAX_VALUE]) {
      await registry.execute("a.b", {}, { deadline })
    }
    expect(handler).toHaveBeenCalledTimes(3)
  })

  test("a far deadline does not fire early", async () => {
    const registry = quietRegistry([
      operation("a.b", {
        handler: () => new Promise((resolve) => setTimeout(resolve, 20, "done")),
      }),
    ])
    expect((await registry.execute("a.b", {}, { deadline: 1e18 })).data).toBe("done")
  })

  test("a signal ends the call at once with ABORTED", async () => {
    const registry = quietRegistry([operation("a.hang", { handler: never })])
    const controller = new AbortController()
    const call = rejection(registry.execute("a.hang", {}, { signal: controller.signal }))
    controller.abort("enough")
    expect(await call).toMatchObject({
      code: "ABORTED",
      cause: "enough",
      mayHaveExecuted: true,
      retryable: false,
    })
  })

  test("a signal that is aborted already refuses the call", async () => {
    const handler = vi.fn()
    const registry = quietRegistry([operation("a.b", { handler })])
    expect(
      await rejection(registry.execute("a.b", {}, { signal: AbortSignal.abort() })),
    ).toMatchObject({
      code: "ABORTED",
      mayHaveExecuted: false,
    })
    expect(handler).not.toHaveBeenCalled()
  })

  test("a result or error of a handler after the end of its call is ignored", async () => {
    const settle: Array<() => void> = []
    const registry = quietRegistry([
      operation("a.late", {
        handler: () =>
          new Promise((resolve, reject) =>
            settle.push(
              () => resolve(1),
              () => reject(new Error("late")),
            ),
          ),
      }),
    ])
    for (const index of [0, 1]) {
      const controller = new AbortController()
      const call = rejection(registry.execute("a.late", {}, { signal: controller.signal }))
      controller.abort()
      expect(await call).toMatchObject({ code: "ABORTED" })
      settle[2 * index + index]?.()
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  })

  test("listeners on the caller's signal are removed when the call is over", async () => {
    const controller = new AbortController()
    const add = vi.spyOn(controller.signal, "addEventListener")
    const remove = vi.spyOn(controller.signal, "removeEventListener")
    const registry = quietRegistry([
      operation("a.ok", { handler: async () => 1 }),
      operation("a.fail", {
        handler: async () => {
          throw new Error("x")
        },
      }),
    ])
    await registry.execute("a.ok", {}, { signal: controller.signal })
    await rejection(registry.execute("a.fail", {}, { signal: controller.signal }))
    expect(add).toHaveBeenCalledTimes(2)
    expect(remove).toHaveBeenCalledTimes(2)
  })

  test("a custom clock is used for all times", async () => {
    let now = 1000
    const timers: { callback: () => void; at: number }[] = []
    const clock: Clock = {
      now: () => now,
      setTimeout: (callback, delay) => timers.push({ callback, at: now + delay }),
      clearTimeout: () => undefined,
    }
    const registry = createRegistry([operation("a.hang", { handler: never })], {
      clock,
      logger: silentLogger,
    })
    const call = rejection(registry.execute("a.hang", {}, { deadline: 1500 }))
    expect(timers).toMatchObject([{ at: 1500 }])
    now = 1500
    timers[0]?.callback()
    expect(await call).toMatchObject({ code: "TIMEOUT" })
    expect(
      await registry
        .execute("a.hang", {}, { deadline: 1499 })
        .catch((error: CallError) => error.code),
    ).toBe("TIMEOUT")
  })
})

describe("the context of a handler", () => {
  const inspect = (run: (context: OperationContext) => unknown): ReturnType<typeof operation> =>
    operation("a.b", { handler: (_input: never, context: OperationContext) => run(context) })

  test("has its own request id unless the caller passed one", async () => {
    const registry = quietRegistry([inspect((context) => [context.requestId, context.requestId])])
    const [first, again] = (await registry.execute("a.b")).data as string[]
    expect(first).toBe(again)
    expect(((await registry.execute("a.b")).data as string[])[0]).not.toBe(first)
    expect(
      (await registry.execute("a.b", {}, { requestId: "mine", parentRequestId: "p" })).data,
    ).toEqual(["mine", "mine"])
  })

  test("shows the options of the caller", async () => {
    const log = { ...silentLogger }
    const metadata = { tenant: "t" }
    const registry = quietRegistry([
      inspect((context) => ({
        parent: context.parentRequestId,
        metadata: context.metadata,
        log: context.log === log,
        identity: context.identity,
      })),
    ])
    const identity = { id: "ada", scopes: ["a"], resources: { "p:1": ["r"] } }
    expect(
      (await registry.execute("a.b", {}, { parentRequestId: "p", metadata, log, identity })).data,
    ).toEqual({
      parent: "p",
      metadata,
      log: true,
      identity,
    })
    expect((await registry.execute("a.b")).data).toEqual({
      parent: undefined,
      metadata: undefined,
      log: false,
      identity: undefined,
    })
  })

  test("cannot be assigned to", async () => {
    const registry = quietRegistry([
      inspect((context) => {
        const faults: string[] = []
        for (const key of [
          "requestId",
          "identity",
          "deadline",
          "signal",
          "metadata",
          "env",
          "log",
          "call",
        ]) {
          try {
            ;(context as unknown as Record<string, unknown>)[key] = 1
          } catch {
            faults.push(key)
          }
        }
        return faults
      }),
    ])
    expect((await registry.execute("a.b")).data).toHaveLength(8)
  })

  test("can be taken apart", async () => {
    const registry = quietRegistry([
      greet,
      inspect(async ({ call, progress, env, signal }) => {
        progress({ progress: 1 })
        signal.throwIfAborted()
        return [(await call("demo.greet", { name: "a" })).data, Object.keys(env)]
      }),
    ])
    expect((await registry.execute("a.b")).data).toEqual([{ text: "Hello, a" }, ["demo", "a"]])
  })

  test("progress reaches the caller, in order, and only while the call runs", async () => {
    const seen: ProgressUpdate[] = []
    const controller = new AbortController()
    let late: (() => void) | undefined
    const registry = quietRegistry([
      inspect(async (context) => {
        context.progress({ progress: 1, total: 3 })
        context.progress({ progress: 2, total: 3, message: "two" })
        late = () => context.progress({ progress: 9 })
        controller.abort()
        return await never()
      }),
    ])
    await rejection(
      registry.execute(
        "a.b",
        {},
        { signal: controller.signal, progress: (value) => seen.push(value) },
      ),
    )
    late?.()
    expect(seen).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3, message: "two" },
    ])
  })

  test("a signal that fires before the handler first waits ends the call as any other", async () => {
    const controller = new AbortController()
    const registry = quietRegistry([
      inspect(async ({ signal }) => {
        controller.abort()
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
      }),
    ])
    const call = registry.execute("a.b", {}, { signal: controller.signal, timeout: 5000 })
    expect(await rejection(call)).toMatchObject({ code: "ABORTED" })
  })

  test("an operation may have its own timeout, which its caller can still change", async () => {
    const deadlines = (timeout: number | undefined): ReturnType<typeof operation> =>
      operation("a.b", {
        ...(timeout !== undefined && { timeout }),
        handler: (_input: never, { deadline }: OperationContext) =>
          deadline === undefined ? "none" : Math.round((deadline - Date.now()) / 1000),
      })
    const given = (timeout: number | undefined, options = {}): Promise<unknown> =>
      quietRegistry([deadlines(timeout)])
        .execute("a.b", {}, options)
        .then(({ data }) => data)

    expect(await given(undefined)).toBe(30)
    expect(await given(600_000)).toBe(600)
    expect(await given(Number.POSITIVE_INFINITY)).toBe("none")
    expect(await given(600_000, { timeout: 5000 })).toBe(5)
    expect(() => quietRegistry([deadlines(0)])).toThrow("timeout must be a positive number")
  })

  test("an operation with more time than its caller still ends with it", async () => {
    const registry = quietRegistry([
      inspect(async ({ call, deadline }) => [deadline, (await call("a.long")).data]),
      operation("a.long", {
        timeout: 600_000,
        handler: (_input: never, context: OperationContext) => context.deadline,
      }),
    ])
    const [outer, inner] = (await registry.execute("a.b")).data as [number, number]
    expect(inner).toBe(outer)
  })

  test("requestInput reaches the caller, from nested calls too, and returns its answer", async () => {
    const asked: InputRequest[] = []
    const registry = quietRegistry([
      inspect(async (context) => (await context.call("a.c")).data),
      operation("a.c", {
        handler: (_input: never, context: OperationContext) =>
          context.requestInput({ message: "Sure?", schema: {} }),
      }),
    ])
    const { data } = await registry.execute(
      "a.b",
      {},
      {
        requestInput: (request) => {
          asked.push(request)
          return Promise.resolve({ action: "accept", content: { sure: true } })
        },
      },
    )
    expect(data).toEqual({ action: "accept", content: { sure: true } })
    expect(asked).toEqual([{ message: "Sure?", schema: {} }])
  })

  test("requestInput fails immediately if the caller cannot be asked, with a hint", async () => {
    const registry = quietRegistry([
      inspect((context) => context.requestInput({ message: "Sure?", schema: {} })),
    ])
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("requestInput") as string,
      retryable: false,
      details: { reason: "INPUT_UNAVAILABLE" },
    })
  })

  test("an invalid progress value is a TypeError for the handler; a throwing listener has no effect", async () => {
    const registry = quietRegistry([
      inspect((context) => context.progress({ progress: Number.NaN })),
    ])
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      message: expect.stringContaining("context.progress(value)"),
    })
    const fine = quietRegistry([
      inspect((context) => {
        context.progress({ progress: 1 })
        return "ok"
      }),
    ])
    expect(
      (
        await fine.execute(
          "a.b",
          {},
          {
            progress: () => {
              throw new Error("x")
            },
          },
        )
      ).data,
    ).toBe("ok")
  })

  test("names the invalid option of a call", async () => {
    const registry = quietRegistry([greet])
    const cases: [unknown, string][] = [
      [5, "must be an object, got number"],
      [[], "must be an object, got array"],
      [null, "must be an object, got null"],
      [{ deadline: "soon" }, "deadline must be a number of milliseconds since 1970, got string"],
      [{ deadline: Number.NaN }, "got NaN"],
      [{ signal: {} }, "signal must be an AbortSignal, got object"],
      [{ requestId: "" }, "requestId must be a non-empty string"],
      [{ parentRequestId: 5 }, "parentRequestId must be a string"],
      [{ metadata: "x" }, "metadata must be an object"],
      [{ progress: 1 }, "progress must be a function"],
    ]
    for (const [context, message] of cases) {
      expect(
        await rejection(registry.execute("demo.greet", { name: "x" }, context as never)),
      ).toMatchObject({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(message),
      })
    }
  })

  test("is typed by the definition", async () => {
    const typed = defineOperation({
      namespace: "a",
      name: "typed",
      type: "query",
      description: "",
      inputSchema: Type.Object({ n: Type.Number() }),
      outputSchema: Type.Number(),
      accessControl: { requiredScopes: [] },
      handler: ({ n }) => localEnvelope(n + 1, "other.source"),
    })
    expect(typed.version).toBe("1.0.0")
    expect((await createRegistry([typed]).execute("a.typed", { n: 1 })).data).toBe(2)
    expect(() => defineOperation(undefined as never)).toThrow("definition must be an object")
  })
})
