import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import { waitFor } from "../support/wait-for.ts"
import * as z from "zod"
import { CallError, isCallError, localEnvelope } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  CallTrace,
  Change,
  Middleware,
  MiddlewareCall,
  MiddlewareFunction,
  ResponseEnvelope,
  Next,
  OperationContext,
} from "../../src/index.ts"
import { greet, operation, quietRegistry, rejection, thrown } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

const never = (): Promise<never> => new Promise(() => undefined)
const pass: MiddlewareFunction = (_call, next) => next()

/** A middleware that notes when it is entered and left. */
function noted(name: string, notes: string[]): MiddlewareFunction {
  return async (_call, next) => {
    notes.push(`${name} in`)
    const envelope = await next()
    notes.push(`${name} out`)
    return envelope
  }
}

/** Calls `next` with these changes, until one succeeds. */
function tries(...changes: readonly (Change | undefined)[]): MiddlewareFunction {
  return async (_call, next) => {
    let last: unknown
    for (const change of changes) {
      try {
        return await next(change)
      } catch (error) {
        last = error
      }
    }
    throw last
  }
}

describe("OperationRegistry.use", () => {
  test("runs middleware around the handler: the first is outermost, then the definition's", async () => {
    const notes: string[] = []
    const registry = quietRegistry([
      operation("a.b", {
        use: [noted("third", notes), noted("fourth", notes)],
        handler: () => void notes.push("handler"),
      }),
    ])
    registry.use(noted("first", notes))
    registry.use(noted("second", notes))
    await registry.execute("a.b")
    expect(notes).toEqual([
      ...["first in", "second in", "third in", "fourth in"],
      "handler",
      ...["fourth out", "third out", "second out", "first out"],
    ])
  })

  test("returns a function that removes the middleware, also for operations that were called before", async () => {
    const middleware = vi.fn(pass)
    const registry = quietRegistry([greet])
    const remove = registry.use(middleware)
    await registry.execute("demo.greet", { name: "Ada" })
    remove()
    remove()
    await registry.execute("demo.greet", { name: "Ada" })
    expect(middleware).toHaveBeenCalledTimes(1)
  })

  test("applies to operations that match, to later ones, and to those that replace others", async () => {
    const seen: string[] = []
    const registry = quietRegistry([
      operation("a.b", { handler: () => 1 }),
      operation("c.d", { handler: () => 1 }),
    ])
    registry.use(
      (call, next) => {
        seen.push(call.operationId)
        return next()
      },
      { match: ["a.*", "*.late"] },
    )
    registry.register(operation("x.late", { handler: () => 1 }) as never)
    registry.register(operation("a.b", { handler: () => 2 }) as never, { replace: true })
    for (const id of ["a.b", "c.d", "x.late"]) await registry.execute(id)
    expect(seen).toEqual(["a.b", "x.late"])
  })

  test("asks for() once for each operation, and passes by those for which it returns nothing", async () => {
    const asked: string[] = []
    const ran: string[] = []
    const middleware: Middleware = {
      for(spec) {
        asked.push(spec.name)
        if (spec.type === "query") return undefined
        return (call, next) => {
          ran.push(call.operationId)
          return next()
        }
      },
    }
    const registry = quietRegistry([greet, operation("a.b", { handler: () => 1 })])
    registry.use(middleware)
    for (let times = 0; times < 3; times++) {
      await registry.execute("demo.greet", { name: "Ada" })
      await registry.execute("a.b")
      // Another one makes no difference to it.
      registry.use(pass)()
    }
    expect(asked).toEqual(["greet", "b"])
    expect(ran).toEqual(["a.b", "a.b", "a.b"])
  })

  test("keeps the methods of a class bound to their object", async () => {
    class Counter implements Middleware {
      count = 0
      call: MiddlewareFunction = (_call, next) => next()
      for(): Middleware {
        return {
          call: async (_call, next) => {
            this.count++
            return await next()
          },
        }
      }
    }
    const counter = new Counter()
    const registry = quietRegistry([greet])
    registry.use(counter)
    await registry.execute("demo.greet", { name: "Ada" })
    expect(counter.count).toBe(1)
  })

  test("rejects what is not a middleware, and options that do not exist", () => {
    const registry = quietRegistry([])
    for (const wrong of [undefined, null, 1, "x", {}, [], { call: 1 }, { call: pass, stream: 2 }]) {
      expect(() => registry.use(wrong as never)).toThrow(/use\(middleware\): must be a function/)
    }
    expect(() => registry.use(pass, { mach: "a.*" } as never)).toThrow('Did you mean "match"?')
    expect(() => registry.use(pass, { match: [1] as never })).toThrow("match[0] must be")
    const bad = thrown(() => quietRegistry([operation("a.b", { use: [pass, 1 as never] })]))
    expect((bad as Error).message).toContain('Operation "a.b" cannot be registered: use.1 must be')
    expect(() => quietRegistry([operation("a.b", { use: pass as never })])).toThrow(
      "must be an array",
    )
  })

  test("does not let a changed list of a definition change what runs", async () => {
    const use = [pass]
    const registry = quietRegistry([operation("a.b", { use, handler: () => 1 })])
    use[0] = () => Promise.reject(new Error("changed"))
    expect((await registry.execute("a.b")).data).toBe(1)
  })

  test("fails a call whose for() throws, without calling its handler, and names it", async () => {
    const handler = vi.fn()
    const registry = quietRegistry([operation("a.b", { handler })])
    const remove = registry.use(
      {
        for: () => {
          throw new Error("no database.")
        },
      },
      { name: "tenants" },
    )
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: '"a.b" was not called: for() of the middleware "tenants" failed: no database.',
      mayHaveExecuted: false,
    })
    remove()
    registry.use({ for: () => 7 as never }, { name: "seven" })
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      message: expect.stringContaining('"seven" failed: what it returns must be a function'),
    })
    expect(handler).not.toHaveBeenCalled()
  })
})

describe("middleware", () => {
  test("sees the call as it was admitted, and can assign nothing", async () => {
    let seen: MiddlewareCall | undefined
    const identity = { id: "ada", scopes: ["x"] }
    const registry = quietRegistry(
      [
        operation("a.b", {
          type: "query",
          inputSchema: Type.Object({ n: Type.Number({ default: 5 }) }),
          handler: () => 1,
        }),
      ],
      { clock: new VirtualClock() },
    )
    registry.use((call, next) => {
      seen = call
      return next()
    })
    await registry.execute(
      "a.b",
      {},
      {
        identity,
        requestId: "r1",
        parentRequestId: "p1",
        metadata: { a: 1 },
        timeout: 500,
        policy: { retry: false },
        idempotencyKey: "k",
      },
    )
    expect(seen?.input).toEqual({ n: 5 })
    expect(seen?.identity).toEqual(identity)
    expect(Object.isFrozen(seen?.identity)).toBe(true)
    expect(seen?.spec.name).toBe("b")
    const { operationId, isIdempotent, requestId, parentRequestId, metadata } =
      seen as MiddlewareCall
    expect({ operationId, isIdempotent, requestId, parentRequestId, metadata }).toEqual({
      operationId: "a.b",
      isIdempotent: true,
      requestId: "r1",
      parentRequestId: "p1",
      metadata: { a: 1 },
    })
    expect(seen?.remainingMs).toBe(500)
    expect(seen?.deadline).toBe(500)
    expect(seen?.attempt).toBe(1)
    expect(seen?.policy).toEqual({ retry: false })
    expect(seen?.idempotencyKey).toBe("k")
    for (const name of ["identity", "operationId", "spec", "deadline"]) {
      expect(() => Object.assign(seen as object, { [name]: "other" })).toThrow(TypeError)
    }
  })

  test("does not run for rejected calls: no access, wrong input, unknown operation, deadline in the past", async () => {
    const middleware = vi.fn(pass)
    const registry = quietRegistry([
      operation("a.b", {
        accessControl: { requiredScopes: ["admin"] },
        inputSchema: Type.Object({ n: Type.Number() }),
        handler: () => 1,
      }),
    ])
    registry.use(middleware)
    const identity = { id: "a", scopes: ["admin"] }
    const codes = []
    for (const [id, input, context] of [
      ["a.b", { n: 1 }, {}],
      ["a.b", { n: "x" }, { identity }],
      ["a.c", { n: 1 }, { identity }],
      ["a.b", { n: 1 }, { identity, deadline: 1 }],
      ["a.b", { n: 1 }, { identity, signal: AbortSignal.abort() }],
    ] as const) {
      const error = (await rejection(registry.execute(id, input, context))) as CallError
      codes.push(error.code)
    }
    expect(codes).toEqual([
      ...["ACCESS_DENIED", "VALIDATION_ERROR", "OPERATION_NOT_FOUND", "TIMEOUT", "ABORTED"],
    ])
    expect(middleware).not.toHaveBeenCalled()
    // The application's own calls skip the access check, and nothing else.
    await registry.trusted.execute("a.b", { n: 1 })
    expect(middleware).toHaveBeenCalledTimes(1)
  })

  test("may answer without the handler; its envelope is not processed again", async () => {
    const handler = vi.fn()
    const onNormalize = vi.fn()
    const registry = quietRegistry(
      [operation("a.b", { outputSchema: Type.Object({ n: Type.Number() }), handler })],
      { onNormalize },
    )
    const envelope = localEnvelope({ n: "1", more: true }, "a.b")
    registry.use(async () => envelope)
    expect(await registry.execute("a.b")).toBe(envelope)
    expect(handler).not.toHaveBeenCalled()
    expect(onNormalize).not.toHaveBeenCalled()
  })

  test("gets results that are processed once: normalised, in an envelope", async () => {
    const onNormalize = vi.fn()
    const registry = quietRegistry(
      [
        operation("a.b", {
          outputSchema: Type.Object({ n: Type.Number() }),
          handler: () => ({ n: "1", more: true }),
        }),
      ],
      { onNormalize },
    )
    const seen: unknown[] = []
    registry.use(async (_call, next) => {
      const envelope = await next()
      seen.push(envelope.data)
      return envelope
    })
    registry.use(pass)
    const { data } = await registry.execute("a.b")
    expect(data).toEqual({ n: 1 })
    expect(seen[0]).toBe(data)
    expect(onNormalize).toHaveBeenCalledTimes(1)
  })

  test.each([undefined, null, 7, "text", {}, { data: 1 }, { data: 1, meta: {} }])(
    "that returns %j instead of an envelope fails the call, and is named",
    async (value) => {
      const registry = quietRegistry([greet])
      registry.use(pass)
      registry.use(async () => value as never, { name: "broken" })
      registry.use(pass)
      const error = (await rejection(registry.execute("demo.greet", { name: "Ada" }))) as CallError
      expect(error.code).toBe("EXECUTION_ERROR")
      expect(error.message).toContain('Middleware "broken" returned')
      expect(error.message).toContain('for "demo.greet", and must return an envelope')
      expect(error).toMatchObject({ operationId: "demo.greet", requestId: expect.any(String) })
    },
  )

  test("may return an envelope, or a thenable of it, without a promise", async () => {
    const registry = quietRegistry([greet])
    const envelope = localEnvelope({ text: "x" }, "demo.greet")
    const remove = registry.use((() => envelope) as never)
    expect(await registry.execute("demo.greet", { name: "Ada" })).toBe(envelope)
    remove()
    registry.use((() => ({ then: (done: (value: unknown) => void) => done(envelope) })) as never)
    expect(await registry.execute("demo.greet", { name: "Ada" })).toBe(envelope)
  })

  test("gets mapped errors, and its own are mapped like a handler's: declared codes, ids, internal messages", async () => {
    const onError = vi.fn()
    const registry = quietRegistry(
      [
        operation("a.b", {
          errorSchemas: [
            {
              code: "NO_STOCK",
              description: "Sold out",
              schema: Type.Object({ left: Type.Number() }),
            },
          ],
          handler: () => {
            throw Object.assign(new Error("raw"), { code: "NO_STOCK", details: { left: 0 } })
          },
        }),
      ],
      { onError },
    )
    const caught: unknown[] = []
    registry.use(async (_call, next) => {
      try {
        return await next()
      } catch (error) {
        caught.push(error)
        throw Object.assign(new Error("again"), { code: "NO_STOCK", details: { left: 1 } })
      }
    })
    const error = await rejection(registry.execute("a.b", {}, { requestId: "r9" }))
    expect(caught[0]).toSatisfy(isCallError)
    expect(caught[0]).toMatchObject({ code: "NO_STOCK", details: { left: 0 }, requestId: "r9" })
    expect(error).toMatchObject({ code: "NO_STOCK", details: { left: 1 }, operationId: "a.b" })
    expect(onError).not.toHaveBeenCalled()

    const throwing = quietRegistry([greet], { onError })
    throwing.use(() => {
      throw new Error("at once")
    })
    expect(await rejection(throwing.execute("demo.greet", { name: "Ada" }))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: "at once",
    })
    expect(onError).toHaveBeenCalledTimes(1)
  })

  test("that handles an error hides it from onError; a failed call is reported once", async () => {
    const onError = vi.fn()
    const registry = quietRegistry(
      [
        operation("a.b", {
          handler: () => {
            throw new Error("down")
          },
        }),
      ],
      { onError },
    )
    const remove = registry.use(async (call, next) => {
      try {
        return await next()
      } catch {
        return localEnvelope("instead", call.operationId)
      }
    })
    expect((await registry.execute("a.b")).data).toBe("instead")
    expect(onError).not.toHaveBeenCalled()
    remove()
    registry.use(tries({}, {}, {}))
    expect(await rejection(registry.execute("a.b"))).toMatchObject({ message: "down", attempts: 3 })
    expect(onError).toHaveBeenCalledTimes(1)
  })

  test("works for inputs that a vendor checks asynchronously", async () => {
    const inputSchema = z.object({ n: z.number().refine(async (n) => n > 0) })
    const registry = quietRegistry([
      operation("a.b", { inputSchema, handler: ({ n }: { n: number }) => n }),
    ])
    const seen: unknown[] = []
    registry.use((call, next) => {
      seen.push(call.input)
      return next({ input: { n: 7 } })
    })
    expect((await registry.execute("a.b", { n: 3 })).data).toBe(7)
    expect(seen).toEqual([{ n: 3 }])
    registry.use((_call, next) => next({ input: { n: -1 } }))
    expect(await rejection(registry.execute("a.b", { n: 3 }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("is reported by onCall as one call, whatever it does", async () => {
    const traces: CallTrace[] = []
    const registry = quietRegistry([operation("a.b", { handler: () => 1 })])
    registry.onCall((trace) => traces.push(trace))
    registry.use(async (_call, next) => {
      await next()
      return await next({})
    })
    await registry.execute("a.b", {}, { requestId: "r1" })
    expect(traces.map(({ phase, requestId }) => `${phase} ${requestId}`)).toEqual([
      ...["start r1", "end r1"],
    ])
  })

  test("runs for nested calls, with the identity of the caller and the request id of the parent", async () => {
    const seen: string[] = []
    const registry = quietRegistry([
      operation("a.outer", {
        handler: (_input: never, context: OperationContext) => context.call("a.inner", {}),
      }),
      operation("a.inner", { handler: () => 1 }),
    ])
    registry.use((call, next) => {
      seen.push(`${call.operationId} ${call.identity?.id} ${call.parentRequestId}`)
      return next({})
    })
    await registry.execute("a.outer", {}, { identity: { id: "ada", scopes: [] }, requestId: "r1" })
    expect(seen).toEqual(["a.outer ada undefined", "a.inner ada r1"])
  })

  test("makes a nested call with its call as the options: same caller, same end", async () => {
    const registry = quietRegistry([
      operation("a.b", { handler: () => 1 }),
      operation("a.admin", {
        accessControl: { requiredScopes: ["admin"] },
        handler: () => "secret",
      }),
      operation("a.hang", { handler: never }),
    ])
    registry.use(
      async (call, next) => {
        await registry.execute(call.input as string, {}, call)
        return await next()
      },
      { match: "a.b" },
    )
    expect(await rejection(registry.execute("a.b", "a.admin"))).toMatchObject({
      code: "ACCESS_DENIED",
      operationId: "a.admin",
    })
    const controller = new AbortController()
    const waiting = rejection(registry.execute("a.b", "a.hang", { signal: controller.signal }))
    controller.abort()
    expect(await waiting).toMatchObject({ code: "ABORTED", operationId: "a.b" })
  })

  test("leaves callers that are refused by a closed registry with UNAVAILABLE", async () => {
    const registry = quietRegistry([greet])
    registry.use(pass)
    await registry.close()
    expect(await rejection(registry.execute("demo.greet", { name: "x" }))).toMatchObject({
      code: "UNAVAILABLE",
    })
  })
})

describe("next", () => {
  test("may be called never, once or often: each is an attempt with its number and the same request id", async () => {
    const seen: string[] = []
    const registry = quietRegistry([
      operation("a.b", {
        handler: (_input: never, { attempt, requestId }: OperationContext) => {
          seen.push(`${attempt} ${requestId}`)
          if (attempt < 4) throw new CallError("UNAVAILABLE", "down")
          return attempt
        },
      }),
    ])
    registry.use(tries(undefined, undefined, {}, { timeout: 1000 }))
    expect((await registry.execute("a.b", {}, { requestId: "r" })).data).toBe(4)
    expect(seen).toEqual(["1 r", "2 r", "3 r", "4 r"])
  })

  test("numbers attempts over all middleware, and shows inner middleware which one it is", async () => {
    const seen: string[] = []
    const registry = quietRegistry([
      operation("a.b", {
        handler: (_input: never, { attempt }: OperationContext) => {
          seen.push(`handler ${attempt}`)
          throw new Error("x")
        },
      }),
    ])
    registry.use(tries({}, {}))
    registry.use((call, next) => {
      seen.push(`inner ${call.attempt}`)
      return next()
    })
    registry.use(tries(undefined, {}))
    expect(await rejection(registry.execute("a.b"))).toMatchObject({ attempts: 4 })
    expect(seen).toEqual([
      ...["inner 1", "handler 1", "handler 2", "inner 3", "handler 3", "handler 4"],
    ])
  })

  test("with a timeout ends the attempt with TIMEOUT and its signal; the call continues", async () => {
    const clock = new VirtualClock()
    const reasons: unknown[] = []
    const registry = quietRegistry(
      [
        operation("a.b", {
          type: "query",
          handler: (_input: never, { attempt, signal, deadline }: OperationContext) => {
            signal.addEventListener("abort", () => reasons.push([attempt, deadline, clock.now()]))
            return attempt === 1 ? never() : "done"
          },
        }),
      ],
      { clock },
    )
    const errors: unknown[] = []
    registry.use(async (_call, next) => {
      try {
        return await next({ timeout: 20 })
      } catch (error) {
        errors.push(error)
        return await next({ timeout: 20 })
      }
    })
    const running = registry.execute("a.b")
    await clock.advance(30)
    expect((await running).data).toBe("done")
    expect(errors).toMatchObject([
      {
        code: "TIMEOUT",
        retryable: true,
        mayHaveExecuted: true,
        details: { attemptTimeout: 20 },
        message: expect.stringMatching(/^Attempt 1 of "a.b" took longer than 20 ms \(request /),
      },
    ])
    expect(reasons).toEqual([[1, 20, 20]])
  })

  test("with a timeout beyond the deadline leaves the end to the deadline", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry([operation("a.b", { handler: never })], { clock, timeout: 50 })
    const after = vi.fn()
    registry.use(async (_call, next) => {
      try {
        return await next({ timeout: 500 })
      } finally {
        after()
      }
    })
    const failed = rejection(registry.execute("a.b", {}, { requestId: "r" }))
    await clock.advance(49)
    expect(after).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(await failed).toMatchObject({
      code: "TIMEOUT",
      message: 'No response to "a.b" before its deadline (request r).',
    })
    expect(after).toHaveBeenCalledTimes(1)
    expect(clock.timers).toBe(0)
  })

  test("with a signal ends the attempt; the caller's own signal ends it, too", async () => {
    const signals: AbortSignal[] = []
    const registry = quietRegistry([
      operation("a.b", {
        handler: (_input: never, { signal }: OperationContext) => {
          signals.push(signal)
          return never()
        },
      }),
    ])
    const mine = new AbortController()
    registry.use(async (call, next) => {
      const first = rejection(next({ signal: mine.signal }))
      mine.abort(new Error("mine"))
      expect(await first).toMatchObject({ code: "ABORTED", cause: { message: "mine" } })
      expect(call.signal.aborted).toBe(false)
      return await next({ signal: new AbortController().signal })
    })
    const caller = new AbortController()
    const failed = rejection(registry.execute("a.b", {}, { signal: caller.signal }))
    await waitFor(() => expect(signals).toHaveLength(2))
    caller.abort()
    expect(await failed).toMatchObject({ code: "ABORTED", attempts: 2 })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test("with an input checks it again: schema, defaults, and access to the resource that it names", async () => {
    const got: unknown[] = []
    const registry = quietRegistry([
      operation("doc.read", {
        inputSchema: Type.Object({ id: Type.String(), depth: Type.Number({ default: 1 }) }),
        accessControl: {
          requiredScopes: [],
          resourceType: "doc",
          resourceAction: "read",
          resourceIdPath: "/id",
        },
        handler: (input: never) => void got.push(input),
      }),
    ])
    let change: unknown = { id: "mine" }
    registry.use((_call, next) => next({ input: change }))
    const identity = { id: "a", scopes: [], resources: { "doc:mine": ["read"], "doc:x": ["read"] } }
    await registry.execute("doc.read", { id: "x" }, { identity })
    expect(got).toEqual([{ id: "mine", depth: 1 }])
    change = { id: "theirs" }
    expect(await rejection(registry.execute("doc.read", { id: "x" }, { identity }))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    change = { id: 7 }
    expect(await rejection(registry.trusted.execute("doc.read", { id: "x" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    // What needs no access check of the caller needs none now.
    change = { id: "theirs" }
    await registry.trusted.execute("doc.read", { id: "x" })
    expect(got).toHaveLength(2)
  })

  test("with metadata adds it to that of the caller, for the handler and inner middleware", async () => {
    const seen: unknown[] = []
    const registry = quietRegistry([
      operation("a.b", {
        handler: (_input: never, { metadata }: OperationContext) => void seen.push(metadata),
      }),
    ])
    registry.use((_call, next) => next({ metadata: { tenant: "t1", a: 2 } }))
    registry.use((call, next) => {
      seen.push(call.metadata)
      return next()
    })
    await registry.execute("a.b", {}, { metadata: { a: 1, b: 1 } })
    expect(seen).toEqual([
      { tenant: "t1", a: 2, b: 1 },
      { tenant: "t1", a: 2, b: 1 },
    ])
  })

  test("of an attempt that is over starts nothing; nor do nested calls of a failed attempt", async () => {
    const inner = vi.fn()
    let late: Promise<unknown> | undefined
    const registry = quietRegistry([
      operation("a.b", {
        handler: async (_input: never, context: OperationContext) => {
          if (context.attempt > 1) return "second"
          // A part of the handler goes on after it has failed.
          late = new Promise((resolve) => setTimeout(resolve, 0)).then(() =>
            context.call("a.inner", {}),
          )
          throw new CallError("UNAVAILABLE", "down")
        },
      }),
      operation("a.inner", { handler: inner }),
    ])
    let kept: Next | undefined
    registry.use(tries({}, {}), { match: "a.b" })
    registry.use(
      (_call, next) => {
        kept ??= next
        return next()
      },
      { match: "a.b" },
    )
    expect((await registry.execute("a.b")).data).toBe("second")
    expect(await rejection(late as Promise<unknown>)).toMatchObject({
      code: "ABORTED",
      operationId: "a.inner",
    })
    expect(await rejection((kept as Next)())).toMatchObject({
      code: "ABORTED",
      message: '"a.b" was not called: its call had ended.',
      mayHaveExecuted: false,
    })
    expect(inner).not.toHaveBeenCalled()
  })

  test("rejects changes that cannot be made: identity, operation, wrong types", async () => {
    const registry = quietRegistry([operation("a.b", { handler: () => 1 })])
    let change: object = {}
    registry.use((_call, next) => next(change))
    for (const [wrong, message] of [
      [{ identity: { id: "root", scopes: ["admin"] } }, '"identity" cannot be changed'],
      [{ operationId: "a.c" }, '"operationId" cannot be changed'],
      [{ trusted: true }, '"trusted" cannot be changed'],
      [{ timeout: "5" }, "timeout must be a number of milliseconds, got string"],
      [{ signal: {} }, "signal must be an AbortSignal"],
      [{ metadata: 7 }, "metadata must be an object"],
    ] as const) {
      change = wrong
      expect(await rejection(registry.execute("a.b"))).toMatchObject({
        code: "EXECUTION_ERROR",
        message: expect.stringContaining(message),
      })
    }
  })

  test("whose promise is not awaited, yet or ever, does not end the process", async () => {
    const registry = quietRegistry([
      operation("a.b", {
        handler: async () => {
          throw new Error("down")
        },
      }),
    ])
    registry.use(async (call, next) => {
      const outcome = next()
      void next({})
      await new Promise((resolve) => setTimeout(resolve, 1))
      await outcome.catch(() => undefined)
      return localEnvelope("survived", call.operationId)
    })
    expect((await registry.execute("a.b")).data).toBe("survived")
  })
})

describe("next({ detached: true })", () => {
  test("continues when its caller leaves, with the caller's identity and ids", async () => {
    const clock = new VirtualClock()
    const seen: unknown[] = []
    const registry = quietRegistry(
      [
        operation("a.b", {
          type: "query",
          handler: async (_input: never, { signal, identity, requestId }: OperationContext) => {
            await clock.sleep(50)
            seen.push([identity?.id, requestId, signal.aborted])
            return "done"
          },
        }),
      ],
      { clock, timeout: 100 },
    )
    let shared: Promise<unknown> | undefined
    registry.use((_call, next) => (shared = next({ detached: true })))
    const controller = new AbortController()
    const context = { identity: { id: "ada", scopes: [] }, requestId: "r1" }
    const failed = rejection(registry.execute("a.b", {}, { ...context, signal: controller.signal }))
    await clock.advance(10)
    controller.abort()
    expect(await failed).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
    await clock.advance(50)
    expect(await shared).toMatchObject({ data: "done" })
    expect(seen).toEqual([["ada", "r1", false]])
    await clock.advance(1000)
    expect(clock.timers).toBe(0)
  })

  test("tells a caller that joined the work of another one that there may be effects", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry([operation("a.b", { handler: never })], { clock, timeout: 100 })
    let shared: Promise<ResponseEnvelope> | undefined
    registry.use((_call, next) => (shared ??= next({ detached: true })))
    void rejection(registry.execute("a.b"))
    const joined = rejection(registry.execute("a.b", {}, { timeout: 10 }))
    await clock.advance(10)
    expect(await joined).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true })
    await clock.advance(100)
    await registry.close()
  })

  test("ends with its own timeout, its own signal, or with the registry", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry([operation("a.b", { handler: never })], { clock, timeout: 100 })
    const ends: Promise<unknown>[] = []
    const controller = new AbortController()
    registry.use(async (call, next) => {
      for (const change of [{ timeout: 10 }, { signal: controller.signal }, {}, { timeout: 9e9 }]) {
        ends.push(rejection(next({ detached: true, ...change })))
      }
      return localEnvelope(1, call.operationId)
    })
    await registry.execute("a.b")
    await clock.advance(10)
    expect(await ends[0]).toMatchObject({ code: "TIMEOUT", details: { attemptTimeout: 10 } })
    controller.abort()
    expect(await ends[1]).toMatchObject({ code: "ABORTED" })
    // Without a timeout of its own it has that of the operation.
    await clock.advance(90)
    expect(await ends[2]).toMatchObject({ code: "TIMEOUT" })
    await registry.close()
    expect(await ends[3]).toMatchObject({ code: "ABORTED", message: "The registry was closed." })
    expect(clock.timers).toBe(0)
  })

  test("does not let calls nest deeper than allowed", async () => {
    const registry = quietRegistry(
      [
        operation("a.b", {
          handler: (_input: never, context: OperationContext) => context.call("a.b", {}),
        }),
      ],
      { maxDepth: 5 },
    )
    registry.use((_call, next) => next({ detached: true }))
    expect(await rejection(registry.execute("a.b"))).toMatchObject({ code: "CALL_DEPTH_EXCEEDED" })
  })
})

describe("the end of a call with middleware", () => {
  test.each(["before next", "in next", "after next"])(
    "comes at the deadline, whatever middleware waits for: %s",
    async (where) => {
      const clock = new VirtualClock()
      const registry = quietRegistry(
        [operation("a.b", { handler: () => (where === "in next" ? never() : 1) })],
        { clock, timeout: 50 },
      )
      registry.use(async (_call, next) => {
        if (where === "before next") await never()
        const envelope = await next({})
        await never()
        return envelope
      })
      const failed = rejection(registry.execute("a.b"))
      await clock.advance(50)
      expect(await failed).toMatchObject({
        code: "TIMEOUT",
        mayHaveExecuted: where !== "before next",
        retryable: where === "before next",
      })
      expect(clock.timers).toBe(0)
    },
  )

  test("does not hide that an earlier attempt may have had effects", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry(
      [
        operation("a.b", {
          handler: (_input: never, { attempt }: OperationContext) => {
            if (attempt === 1) return never()
            throw new CallError("UNAVAILABLE", "down")
          },
        }),
      ],
      { clock },
    )
    const remove = registry.use(tries({ timeout: 10 }, {}))
    const failed = rejection(registry.execute("a.b"))
    await clock.advance(10)
    expect(await failed).toMatchObject({
      ...{ code: "UNAVAILABLE", attempts: 2, mayHaveExecuted: true, retryable: false },
    })
    remove()
    // The handler did run, whatever the middleware says afterwards.
    registry.use(async (_call, next) => {
      await next({ timeout: 10 }).catch(() => undefined)
      throw new CallError("RATE_LIMITED", "slow down")
    })
    const refused = rejection(registry.execute("a.b"))
    await clock.advance(10)
    expect(await refused).toMatchObject({ code: "RATE_LIMITED", mayHaveExecuted: true })
  })

  test("knows that nothing was executed between attempts that did not start", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry(
      [
        operation("a.b", {
          handler: () => {
            throw new CallError("UNAVAILABLE", "down", { mayHaveExecuted: false })
          },
        }),
      ],
      { clock, timeout: 50 },
    )
    registry.use(async (_call, next) => {
      await next().catch(() => undefined)
      return await never()
    })
    const failed = rejection(registry.execute("a.b"))
    await clock.advance(50)
    expect(await failed).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: false, retryable: true })
  })

  test("settles every promise of next, so that each finally runs, even if handlers hear no signal", async () => {
    const clock = new VirtualClock()
    const registry = quietRegistry([operation("a.b", { handler: never })], { clock, timeout: 50 })
    const left: string[] = []
    const leaving = (name: string, change?: Change): MiddlewareFunction => {
      return async (_call, next) => {
        try {
          return await next(change)
        } finally {
          left.push(name)
        }
      }
    }
    registry.use(leaving("outer"))
    registry.use(leaving("attempt", {}))
    registry.use(leaving("inner"))
    const failed = rejection(registry.execute("a.b"))
    await clock.advance(50)
    expect(await failed).toMatchObject({ code: "TIMEOUT" })
    expect(left.toSorted()).toEqual(["attempt", "inner", "outer"])
  })

  test.each([undefined, {}])(
    "settles next(%o) when the handler itself makes its caller leave, and never ends",
    async (change) => {
      const caller = new AbortController()
      const done: string[] = []
      await using registry = quietRegistry([
        operation("a.b", {
          handler: () => {
            caller.abort()
            return never()
          },
        }),
      ])
      registry.use(async (_call, next) => {
        await Promise.resolve()
        try {
          return await next(change)
        } finally {
          done.push("left")
        }
      })
      const calling = registry.execute("a.b", {}, { signal: caller.signal })
      expect(await rejection(calling)).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
      await waitFor(() => expect(done).toEqual(["left"]))
    },
  )

  test("ends attempts that are no longer needed, but not nested calls", async () => {
    const signals: AbortSignal[] = []
    let nested: Promise<unknown> | undefined
    const registry = quietRegistry([
      operation("a.b", {
        handler: async (_input: never, context: OperationContext) => {
          signals.push(context.signal)
          if (context.attempt === 1) return await never()
          // The handler does not wait for it.
          nested = context.call("a.audit", {})
          return "done"
        },
      }),
      operation("a.audit", {
        handler: () => new Promise((done) => setTimeout(done, 1, "written")),
      }),
    ])
    registry.use(async (_call, next) => Promise.race([next({}), next({})]), { match: "a.b" })
    expect((await registry.execute("a.b")).data).toBe("done")
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(await nested).toMatchObject({ data: "written" })
  })

  test("ignores what middleware returns or throws afterwards", async () => {
    const registry = quietRegistry([operation("a.b", { handler: never })])
    let finish: (() => void) | undefined
    registry.use(async (call, next) => {
      await next().catch(() => undefined)
      await new Promise<void>((resolve) => (finish = resolve))
      return localEnvelope("late", call.operationId)
    })
    const controller = new AbortController()
    const failed = rejection(registry.execute("a.b", {}, { signal: controller.signal }))
    controller.abort()
    expect(await failed).toMatchObject({ code: "ABORTED" })
    await waitFor(() => expect(finish).toBeDefined())
    finish?.()
  })

  test("removes all listeners of the caller's signal", async () => {
    const signal = new AbortController().signal
    const added = vi.spyOn(signal, "addEventListener")
    const removed = vi.spyOn(signal, "removeEventListener")
    const registry = quietRegistry([operation("a.b", { handler: async () => 1 })])
    registry.use((_call, next) => next({ timeout: 1000 }))
    await registry.execute("a.b", {}, { signal })
    await registry.execute("a.b", {}, { signal })
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length)
  })

  test("leaves a logger of the caller to middleware and handler", async () => {
    const info = vi.fn()
    const registry = quietRegistry([
      operation("a.b", {
        handler: (_input: never, { log }: OperationContext) => log.info("handler"),
      }),
    ])
    registry.use((call, next) => {
      call.log.info("middleware")
      return next({})
    })
    await registry.execute("a.b", {}, { log: { ...silentLogger, info } })
    expect(info.mock.calls.flat()).toEqual(["middleware", "handler"])
  })

  test("keeps progress and requests for input working in attempts", async () => {
    const progress = vi.fn()
    const registry = quietRegistry([
      operation("a.b", {
        handler: async (_input: never, context: OperationContext) => {
          context.progress({ progress: 1 })
          return (await context.requestInput({ type: "roots" })).content
        },
      }),
    ])
    registry.use((_call, next) => next({ timeout: 10_000 }))
    const requestInput = async () => ({ action: "accept" as const, content: "here" })
    expect((await registry.execute("a.b", {}, { progress, requestInput })).data).toBe("here")
    expect(progress).toHaveBeenCalledWith({ progress: 1 })
  })
})
