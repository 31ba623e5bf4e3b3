import { getEventListeners } from "node:events"
import { types } from "node:util"
import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import { buildEnv } from "../../src/index.ts"
import type { OperationContext } from "../../src/index.ts"
import { count, greet, operation, quietRegistry, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

type Handler = (input: never, context: OperationContext) => unknown

const nest = (id: string, handler: Handler, parts: object = {}): ReturnType<typeof operation> =>
  operation(id, { ...parts, handler: handler })

const ids = nest("x.ids", (_input, context) => [context.requestId, context.parentRequestId])

describe("composition with context.env and context.call", () => {
  test("env and call run other operations and return envelopes", async () => {
    const registry = quietRegistry([
      greet,
      nest(
        "a.env",
        async (_input, { env }) => (await env["demo"]?.["greet"]?.({ name: "env" }))?.data,
      ),
      nest("a.call", async (_input, { call }) => (await call("demo.greet", { name: "call" })).data),
      nest("a.dots", async (_input, { env }) => (await env["x"]?.["y.z"]?.())?.data),
      operation("x.y.z", { handler: () => "dotted" }),
    ])
    expect((await registry.execute("a.env")).data).toEqual({ text: "Hello, env" })
    expect((await registry.execute("a.call")).data).toEqual({ text: "Hello, call" })
    expect((await registry.execute("a.dots")).data).toBe("dotted")
  })

  test("a nested call has its own request id and names its parent", async () => {
    const registry = quietRegistry([
      ids,
      nest("a.b", async (_input, context) => [
        context.requestId,
        (await context.call("x.ids")).data,
        (await context.env["x"]?.["ids"]?.())?.data,
        (await registry.execute("x.ids", {}, context)).data,
      ]),
    ])
    const [own, ...children] = (await registry.execute("a.b", {}, { requestId: "root" })).data as [
      string,
      ...[string, string][],
    ]
    expect(own).toBe("root")
    expect(children.map(([, parent]) => parent)).toEqual(["root", "root", "root"])
    expect(new Set([own, ...children.map(([id]) => id)]).size).toBe(4)
  })

  test("metadata is not handed down; the log is", async () => {
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const registry = quietRegistry([
      nest("x.see", (_input, context) => [context.metadata, context.log === log]),
      nest("a.b", async (_input, context) => [
        (await context.call("x.see")).data,
        (await context.call("x.see", {}, { metadata: { own: 1 } })).data,
      ]),
    ])
    expect((await registry.execute("a.b", {}, { metadata: { secret: 1 }, log })).data).toEqual([
      [undefined, true],
      [{ own: 1 }, true],
    ])
  })

  test("sees operations registered later, also through a namespace taken before", async () => {
    const registry = quietRegistry()
    const env = buildEnv({ registry })
    const { demo } = env
    registry.register(greet)
    expect((await demo?.["greet"]?.({ name: "x" }))?.data).toEqual({ text: "Hello, x" })
  })

  test("an unknown name is a function that rejects with the unknown id", async () => {
    const env = buildEnv({ registry: quietRegistry([greet]) })
    expect(await rejection(env["demo"]?.["gret"]?.({}) ?? Promise.resolve())).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: expect.stringContaining(`Did you mean "demo.greet"?`),
    })
  })

  test("a stream through env is the wrong way; context.subscribe is the right one", async () => {
    const registry = quietRegistry([
      count,
      nest("a.env", async (_input, { env }) => await env["demo"]?.["count"]?.({ to: 1 })),
      nest("a.sum", async (_input, { subscribe }) => {
        let sum = 0
        for await (const item of subscribe("demo.count", { to: 4 }))
          sum += (item.data as { at: number }).at
        return sum
      }),
    ])
    expect(await rejection(registry.execute("a.env"))).toMatchObject({
      code: "INVALID_OPERATION_TYPE",
    })
    expect((await registry.execute("a.sum")).data).toBe(10)
  })

  test("an env is not a promise, and can be inspected", async () => {
    const env = buildEnv({ registry: quietRegistry([greet, count, ids]) })
    expect(await Promise.resolve(env)).toBe(env)
    expect(Object.keys(env)).toEqual(["demo", "x"])
    expect(Object.keys(env["demo"] ?? {})).toEqual(["greet"])
    expect("demo" in env && !("nothing" in env)).toBe(true)
    expect(Object.getOwnPropertyDescriptor(env, "nothing")).toBeUndefined()
    expect(Object.getOwnPropertyDescriptor(env, Symbol.iterator)).toBeUndefined()
    expect((env as Record<string | symbol, unknown>)[Symbol.toPrimitive]).toBeUndefined()
    for (const key of ["then", "toJSON", "constructor", "__proto__", "hasOwnProperty"]) {
      expect(env[key]).toBeUndefined()
      expect(env["demo"]?.[key]).toBeUndefined()
    }
    expect(env["demo"]).toBe(env["demo"])
    for (const change of [
      () => ((env as Record<string, unknown>)["demo"] = 1),
      () => Object.defineProperty(env, "x", { value: 1 }),
      () => delete (env as Record<string, unknown>)["demo"],
      () => Object.setPrototypeOf(env, {}),
    ]) {
      expect(change).toThrow(TypeError)
    }
  })

  test("names that every object has work where they are registered", async () => {
    const registry = quietRegistry([
      operation("constructor.then", { handler: () => 1 }),
      operation("__proto__.toString", { handler: () => 2 }),
    ])
    const env = buildEnv({ registry })
    expect((await env["constructor"]?.["then"]?.())?.data).toBe(1)
    expect((await env["__proto__"]?.["toString"]?.())?.data).toBe(2)
    expect(Object.keys(env)).toEqual(["constructor", "__proto__"])
  })
})

describe("buildEnv", () => {
  test("shows only allowed namespaces", async () => {
    const registry = quietRegistry([greet, ids])
    const env = buildEnv({ registry, allowedNamespaces: ["demo"] })
    expect(Object.keys(env)).toEqual(["demo"])
    expect(env["x"]).toBeUndefined()
    expect((await env["demo"]?.["greet"]?.({ name: "x" }))?.data).toEqual({ text: "Hello, x" })
  })

  test("calls with the identity of the context", async () => {
    const registry = quietRegistry([
      operation("a.secret", { accessControl: { requiredScopes: ["s"] }, handler: () => "gold" }),
      ids,
      nest("x.meta", (_input, context) => [context.metadata, context.deadline]),
    ])
    const anonymous = buildEnv({ registry, context: { trusted: true } as never })
    expect(await rejection(anonymous["a"]?.["secret"]?.() ?? Promise.resolve())).toMatchObject({
      code: "ACCESS_DENIED",
    })
    const deadline = Date.now() + 1e6
    const env = buildEnv({
      registry,
      context: {
        identity: { id: "x", scopes: ["s"] },
        requestId: "outer",
        metadata: { m: 1 },
        deadline,
      },
    })
    expect((await env["a"]?.["secret"]?.())?.data).toBe("gold")
    const [id, parent] = ((await env["x"]?.["ids"]?.())?.data ?? []) as string[]
    expect(parent).toBe("outer")
    expect(id).not.toBe("outer")
    expect((await env["x"]?.["meta"]?.())?.data).toEqual([{ m: 1 }, deadline])
    expect(
      (await env["x"]?.["meta"]?.({}, { deadline: deadline - 1, metadata: { m: 2 } }))?.data,
    ).toEqual([{ m: 2 }, deadline - 1])
  })

  test("in a handler makes nested calls", async () => {
    const registry = quietRegistry([
      ids,
      nest("a.b", async (_input, context) => {
        const env = buildEnv({ registry, context })
        return [context.requestId, (await env["x"]?.["ids"]?.())?.data]
      }),
    ])
    const [own, child] = (await registry.execute("a.b")).data as [string, [string, string]]
    expect(child[1]).toBe(own)
  })

  test("names what is wrong with its arguments", () => {
    expect(() => buildEnv(undefined as never)).toThrow("options must be an object")
    expect(() =>
      buildEnv({ registry: quietRegistry(), allowedNamespaces: "demo" as never }),
    ).toThrow("allowedNamespaces must be an array")
  })
})

describe("the signals of a plain context and of a call", () => {
  const hang = nest("x.hang", async (_input, { signal }) => {
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error))
    })
  })
  const registry = quietRegistry([greet, hang])

  test.each(["context", "call"])("the one of the %s aborts the call", async (which) => {
    const controllers = { context: new AbortController(), call: new AbortController() }
    const env = buildEnv({ registry, context: { signal: controllers.context.signal } })
    const options = { signal: controllers.call.signal }
    const running = rejection(env["x"]?.["hang"]?.({}, options))
    const reason = new Error("enough")
    controllers[which as "context" | "call"].abort(reason)
    expect(await running).toMatchObject({ code: "ABORTED", cause: reason })
    const later = rejection(env["x"]?.["hang"]?.({}, options))
    expect(await later).toMatchObject({ code: "ABORTED", cause: reason })
  })

  test("a value that is not a signal is rejected", async () => {
    const { signal } = new AbortController()
    const env = buildEnv({ registry, context: { signal } })
    const refused = rejection(env["demo"]?.["greet"]?.({ name: "a" }, { signal: 1 }))
    expect(await refused).toMatchObject({ message: expect.stringContaining("an AbortSignal") })
  })

  test("calls that are over leave nothing on the signal of the context", async () => {
    const { signal } = new AbortController()
    const env = buildEnv({ registry, context: { signal } })
    for (let n = 0; n < 100; n++) {
      const own = new AbortController()
      await env["demo"]?.["greet"]?.({ name: "a" }, { signal: own.signal })
      const aborted = rejection(env["x"]?.["hang"]?.({}, { signal: own.signal }))
      own.abort()
      await aborted
    }
    // Node.js keeps signals that depend on this one in a set behind a symbol.
    const kept = Reflect.ownKeys(signal).map((key) => Reflect.get(signal, key) as unknown)
    expect(kept.filter((value) => types.isSet(value) && value.size > 0)).toEqual([])
    expect(getEventListeners(signal, "abort")).toEqual([])
  })
})

describe("nested calls, when their parent ends", () => {
  test("an abort reaches every level below, at once", async () => {
    const reached: string[] = []
    const level = (n: number): ReturnType<typeof operation> =>
      nest(`deep.l${n}`, async (_input, context) => {
        context.signal.addEventListener("abort", () => reached.push(`l${n}`))
        if (n < 5) return await context.call(`deep.l${n + 1}`)
        return await new Promise(() => undefined)
      })
    const registry = quietRegistry([1, 2, 3, 4, 5].map(level))
    const controller = new AbortController()
    const call = rejection(registry.execute("deep.l1", {}, { signal: controller.signal }))
    await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort()
    expect(await call).toMatchObject({ code: "ABORTED", operationId: "deep.l1" })
    expect(reached.toSorted()).toEqual(["l1", "l2", "l3", "l4", "l5"])
  })

  test("streams under a call stop with it, and calls under a stream", async () => {
    const closed = vi.fn()
    const registry = quietRegistry([
      nest(
        "s.endless",
        async function* (_input, context) {
          context.signal.addEventListener("abort", closed)
          for (;;) {
            yield 1
            await new Promise(() => undefined)
          }
        },
        { type: "subscription" },
      ),
      nest("a.reads", async (_input, context) => {
        for await (const _item of context.subscribe("s.endless"));
      }),
      nest(
        "s.calls",
        async function* (_input, context) {
          yield 1
          yield (await context.call("a.reads")).data
        },
        { type: "subscription" },
      ),
    ])
    const controller = new AbortController()
    const call = rejection(registry.execute("a.reads", {}, { signal: controller.signal }))
    await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort()
    expect(await call).toMatchObject({ code: "ABORTED" })
    expect(closed).toHaveBeenCalledTimes(1)
    const items = registry.subscribe("s.calls")
    await items.next()
    const second = items.next()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await items.return()
    expect(await second).toEqual({ done: true, value: undefined })
    expect(closed).toHaveBeenCalledTimes(2)
  })

  test("a child has no more time than its parent, and may have less", async () => {
    const registry = quietRegistry([
      nest("x.due", (_input, context) => context.deadline),
      nest("a.b", async (_input, context) => [
        (await context.call("x.due", {}, { deadline: 1e15 })).data,
        (await context.call("x.due")).data,
        (await context.call("x.due", {}, { deadline: Date.now() + 50 })).data,
        context.deadline,
      ]),
    ])
    const deadline = Date.now() + 1000
    const [long, same, short, own] = (await registry.execute("a.b", {}, { deadline }))
      .data as number[]
    expect([long, same, own]).toEqual([deadline, deadline, deadline])
    expect(short).toBeLessThan(deadline)
    const [capped, , , standard] = (await registry.execute("a.b")).data as number[]
    expect(capped).toBe(standard)
    expect(standard).toBeLessThanOrEqual(Date.now() + 30_000)
  })

  test("a nested call may have its own signal", async () => {
    const registry = quietRegistry([
      nest("x.hang", () => new Promise(() => undefined)),
      nest("a.b", async (_input, context) => {
        const error = await rejection(
          context.call("x.hang", {}, { signal: AbortSignal.timeout(5) }),
        )
        return (error as { code: string }).code
      }),
    ])
    expect((await registry.execute("a.b")).data).toBe("ABORTED")
  })

  test("a handler whose call has ended starts nothing new", async () => {
    const child = vi.fn()
    let after: Promise<unknown> | undefined
    const registry = quietRegistry([
      nest("x.child", child),
      nest("a.b", async (_input, context) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        after = rejection(context.call("x.child"))
      }),
    ])
    await rejection(registry.execute("a.b", {}, { deadline: Date.now() + 5 }))
    await waitFor(() => expect(after).toBeDefined())
    expect(await after).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    expect(child).not.toHaveBeenCalled()
  })
})

describe("limits of nested calls", () => {
  test("is bounded in depth: an operation that calls itself ends", async () => {
    let runs = 0
    const registry = quietRegistry([
      nest("a.loop", async (_input, context) => {
        runs++
        return await context.call("a.loop")
      }),
      nest("a.direct", async (_input, context) => {
        runs++
        return await registry.execute("a.direct", {}, context)
      }),
    ])
    expect(await rejection(registry.execute("a.loop"))).toMatchObject({
      code: "CALL_DEPTH_EXCEEDED",
      message: `"a.loop" was not called: calls are nested more than 16 deep. Is it calling itself?`,
    })
    expect(runs).toBe(16)
    runs = 0
    expect(await rejection(registry.execute("a.direct"))).toMatchObject({
      code: "CALL_DEPTH_EXCEEDED",
    })
    expect(runs).toBe(16)
  })

  test("is bounded in number under one root", async () => {
    const leaf = vi.fn()
    const registry = quietRegistry(
      [
        nest("a.leaf", leaf),
        nest("a.fan", async (_input, context) => {
          for (let n = 0; n < 3; n++) await context.call("a.leaf")
        }),
        nest("a.root", async (_input, context) => {
          for (let n = 0; n < 100; n++) await context.call("a.fan")
        }),
      ],
      { maxNestedCalls: 10, maxDepth: 3 },
    )
    expect(await rejection(registry.execute("a.root"))).toMatchObject({
      code: "CALL_DEPTH_EXCEEDED",
      message: expect.stringContaining("more than 10 nested calls"),
    })
    expect(leaf.mock.calls.length).toBeLessThanOrEqual(10)
    await registry.execute("a.fan")
  })

  test("validates nested input as any other", async () => {
    const registry = quietRegistry([
      operation("x.strict", { inputSchema: Type.Object({ a: Type.String() }), handler: () => 1 }),
      nest("a.b", async (_input, context) => await context.call("x.strict", {})),
    ])
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "VALIDATION_ERROR",
      operationId: "x.strict",
    })
  })
})
