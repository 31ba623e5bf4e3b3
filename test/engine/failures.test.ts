import { describe, expect, test, vi } from "vitest"
import { HIDDEN_MESSAGE } from "../../src/internal/error-text.ts"
import type { FailedCall } from "../../src/engine/failures.ts"
import {
  CallError,
  createClient,
  createRegistry,
  fromCall,
  isCallError,
  mapError,
  serveCalls,
} from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { Logger, OperationContext } from "../../src/index.ts"
import { toHTTP } from "../../src/to-http.ts"
import type { HTTPProblem } from "../../src/to-http.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

function throwing(id: string, thrown: unknown) {
  return operation(id, {
    handler: () => {
      throw thrown
    },
  })
}

async function errorOf(promise: Promise<unknown>): Promise<CallError> {
  const error = await rejection(promise)
  if (!isCallError(error)) throw error
  return error
}

function recorder(): Logger & { readonly lines: Readonly<Record<string, unknown>>[] } {
  const lines: Readonly<Record<string, unknown>>[] = []
  return { ...silentLogger, lines, error: (_, fields = {}) => void lines.push(fields) }
}

describe("an error that leaves execute", () => {
  test.each([
    ["an Error", new Error("x")],
    ["a text", "x"],
    ["a CallError", new CallError("OTHER", "x")],
    ["a frozen CallError", Object.freeze(new CallError("OTHER", "x"))],
  ])("has the ids of its call: %s", async (_, thrown) => {
    const registry = quietRegistry([throwing("a.b", thrown)])
    const error = await errorOf(registry.execute("a.b", {}, { requestId: "r1" }))
    expect(error).toMatchObject({ operationId: "a.b", requestId: "r1" })
    expect((await errorOf(registry.execute("a.b", {}))).requestId).toEqual(expect.any(String))
  })

  test.each([
    ["a.none", {}, "OPERATION_NOT_FOUND"],
    ["a.closed", {}, "ACCESS_DENIED"],
    ["a.typed", 5, "VALIDATION_ERROR"],
    ["a.stream", {}, "INVALID_OPERATION_TYPE"],
    ["a.slow", {}, "TIMEOUT"],
  ])(
    "has them when the call was refused, names it and has no stack: %s",
    async (id, input, code) => {
      const registry = quietRegistry([
        operation("a.closed", { accessControl: { requiredScopes: ["x"] }, handler: () => 1 }),
        operation("a.typed", { inputSchema: { type: "object" }, handler: () => 1 }),
        operation("a.stream", { type: "subscription", async *handler() {} }),
        operation("a.slow", { handler: () => new Promise(() => undefined) }),
      ])
      const options = { requestId: "r1", timeout: id === "a.slow" ? 1 : 30_000 }
      const error = await errorOf(registry.execute(id, input, options))
      expect(error.message).toContain(`"${id}"`)
      expect(error.stack).not.toMatch(/\n\s+at /)
      if (code === "TIMEOUT") return
      const other = await errorOf(registry.execute(id, input))
      expect(error).toMatchObject({ code, operationId: id, requestId: "r1" })
      expect(other.requestId).toEqual(expect.any(String))
    },
  )

  test("has the error of its handler, with its stack, as its cause", async () => {
    const thrown = new Error("x")
    const error = await errorOf(quietRegistry([throwing("a.b", thrown)]).execute("a.b", {}))
    expect(error.cause).toBe(thrown)
    expect(thrown.stack).toMatch(/\n\s+at .*failures\.test\.ts/)
  })

  test("has a generated request id if the caller's own is invalid", async () => {
    const registry = quietRegistry([throwing("a.b", new Error("x"))])
    const error = await errorOf(registry.execute("a.b", {}, { requestId: 5 } as never))
    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      requestId: expect.any(String) as string,
    })
  })

  test("is the very error that was thrown, the first time, and a copy of one that is thrown again", async () => {
    class Busy extends CallError {}
    const shared = new Busy("BUSY", "Later.", { details: { in: 5 }, cause: "x" })
    const registry = quietRegistry([throwing("a.b", shared), throwing("a.c", shared)])
    const first = await errorOf(registry.execute("a.b", {}, { requestId: "r1" }))
    const second = await errorOf(registry.execute("a.c", {}, { requestId: "r2" }))
    expect(first).toBe(shared)
    expect(first).toMatchObject({ operationId: "a.b", requestId: "r1" })
    expect(second).not.toBe(shared)
    expect(second).toBeInstanceOf(Busy)
    expect(second).toMatchObject({
      code: "BUSY",
      message: "Later.",
      details: { in: 5 },
      cause: "x",
      stack: shared.stack,
      operationId: "a.c",
      requestId: "r2",
    })
    expect(second.toJSON()).toEqual({ ...first.toJSON(), operationId: "a.c", requestId: "r2" })
  })

  test("of a nested call has the ids of where it happened", async () => {
    const purpose = new CallError("OTHER", "x")
    const registry = quietRegistry([
      throwing("a.inner", purpose),
      operation("a.outer", {
        handler: (_: never, context: OperationContext) => context.call("a.inner", {}),
      }),
    ])
    const error = await errorOf(registry.execute("a.outer", {}, { requestId: "r1" }))
    expect(error).toBe(purpose)
    expect(error.operationId).toBe("a.inner")
    expect(error.requestId).not.toBe("r1")
  })

  test("of a stream that breaks has them, too", async () => {
    const registry = quietRegistry([
      operation("a.s", {
        type: "subscription",
        async *handler() {
          yield 1
          throw new Error("x")
        },
      }),
    ])
    const stream = registry.subscribe("a.s", {}, { requestId: "r1" })
    await stream.next()
    expect(await errorOf(stream.next())).toMatchObject({ operationId: "a.s", requestId: "r1" })
    const missing = registry.subscribe("a.none", {}, { requestId: "r2" })
    expect(await errorOf(missing.next())).toMatchObject({ requestId: "r2" })
  })
})

describe("onError of a registry", () => {
  test("receives an error once, with its outermost call", async () => {
    const onError = vi.fn()
    const registry = quietRegistry(
      [
        throwing("a.inner", new Error("x")),
        operation("a.outer", {
          handler: (_: never, context: OperationContext) => context.call("a.inner", {}),
        }),
        operation("a.apart", { handler: () => registry.execute("a.inner", {}) }),
        operation("a.calm", {
          handler: (_: never, context: OperationContext) =>
            context.call("a.inner", {}).catch(() => "calm"),
        }),
      ],
      { onError },
    )
    const identity = { id: "ada", scopes: [] }
    const error = await errorOf(
      registry.execute("a.outer", {}, { requestId: "r1", identity, parentRequestId: "p1" }),
    )
    const call: FailedCall = {
      operationId: "a.outer",
      requestId: "r1",
      parentRequestId: "p1",
      identity,
      surface: "registry",
    }
    expect(onError.mock.calls).toEqual([[error, call]])
    await registry.execute("a.calm", {})
    expect(onError).toHaveBeenCalledTimes(1)
    await errorOf(registry.execute("a.apart", {}))
    expect(onError).toHaveBeenCalledTimes(2)
  })

  test("breaks nothing when it throws or rejects, and that is logged", async () => {
    const logger = recorder()
    const listeners = [
      () => {
        throw new Error("sync")
      },
      async () => {
        await Promise.reject(new Error("async"))
      },
    ]
    for (const onError of listeners) {
      const registry = createRegistry([throwing("a.b", new Error("x"))], { logger, onError })
      expect((await errorOf(registry.execute("a.b", {}))).message).toBe("x")
    }
    await waitFor(() => expect(logger.lines).toHaveLength(2))
  })

  test("must be a function", () => {
    expect(() => createRegistry([], { onError: "log" as never })).toThrow(TypeError)
  })
})

describe("onCall", () => {
  test("reports the error that a call ended with", async () => {
    const registry = quietRegistry([throwing("a.b", new Error("x"))])
    const seen: unknown[] = []
    registry.onCall((trace) => {
      if (trace.phase === "end") seen.push(trace.error)
    })
    const failed = await errorOf(registry.execute("a.b", {}))
    const refused = await errorOf(registry.execute("a.b", {}, { timeout: -1 }))
    expect(seen).toEqual([failed, refused])
    expect(seen[0]).toBe(failed)
  })
})

describe("an error on its way through several registries", () => {
  const hidden = { code: "EXECUTION_ERROR", message: HIDDEN_MESSAGE }

  async function chain(errors: "expose" | "hide" | undefined) {
    const [inner, outer] = [recorder(), recorder()]
    const far = createRegistry(
      [
        throwing("far.plain", new Error("secret")),
        throwing("far.own", new CallError("OWN", "Own.")),
      ],
      { logger: inner },
    )
    const { port1, port2 } = new MessageChannel()
    const server = serveCalls(far, {
      transport: createWorkerTransport(port1),
      errors,
    })
    const onError = vi.fn()
    const near = createRegistry([], { logger: outer, onError })
    await fromCall(createWorkerTransport(port2), { registry: near })
    const api = toHTTP(near, { onError })
    const post = async (id: string): Promise<HTTPProblem> => {
      const url = `http://localhost/operations/${id}`
      const headers = { "content-type": "application/json", "request-id": "front-1" }
      const response = await api.fetch(new Request(url, { method: "POST", headers, body: "{}" }))
      return (await response.json()) as HTTPProblem
    }
    const close = async (): Promise<void> => {
      await api.close()
      await server.close()
      await near.close()
      port1.close()
    }
    return { inner, outer, onError, near, post, close }
  }

  test.each(["expose", "hide", undefined] as const)(
    "is logged where it happened alone, and hidden at the last: %s",
    async (errors) => {
      const { inner, outer, onError, near, post, close } = await chain(errors)
      const problem = await post("far.plain")
      expect(problem).toMatchObject({ code: hidden.code, detail: hidden.message })
      expect(problem).toMatchObject({ requestId: "front-1", operationId: "far.plain" })
      expect(await post("far.own")).toMatchObject({ code: "OWN", detail: "Own." })
      expect(inner.lines).toHaveLength(1)
      // The id that the caller has leads to the line.
      expect(inner.lines[0]).toMatchObject({ error: "secret", parentRequestId: "front-1" })
      expect(outer.lines).toEqual([])
      expect(onError).not.toHaveBeenCalled()
      const direct = await errorOf(near.execute("far.plain", {}))
      expect(direct.message).toBe(errors === "hide" ? HIDDEN_MESSAGE : "secret")
      await close()
    },
  )
})

describe("the log of a server", () => {
  test("is the registry's logger if the server has none, and its own otherwise", async () => {
    const [ofRegistry, ofServer] = [recorder(), recorder()]
    const registry = createRegistry([throwing("a.b", new Error("x"))], { logger: ofRegistry })
    const call = async (logger?: Logger): Promise<void> => {
      const [serving, calling] = createMemoryTransports()
      const server = serveCalls(registry, { transport: serving, logger })
      const client = createClient(calling)
      await errorOf(client.call("a.b", {}))
      await client.close()
      await server.close()
    }
    await call()
    await call(ofServer)
    expect([ofRegistry.lines.length, ofServer.lines.length]).toEqual([1, 1])
  })

  test("holds no credentials, neither of messages nor of what errors carry", async () => {
    const logger = recorder()
    const thrown = Object.assign(
      new Error("GET https://u:hunter22@host failed: Bearer abcdef123456"),
      {
        config: { headers: { authorization: "Bearer zzz999zzz999" } },
        cause: Object.assign(new Error("password=hunter33"), { token: "hunter44" }),
      },
    )
    const registry = createRegistry([throwing("a.b", thrown)], { logger })
    const [serving, calling] = createMemoryTransports()
    const server = serveCalls(registry, { transport: serving })
    const client = createClient(calling)
    await errorOf(client.call("a.b", {}))
    const text = JSON.stringify(logger.lines)
    expect(text).toContain("GET https://***@host failed")
    for (const secret of ["hunter22", "abcdef123456", "zzz999", "hunter33", "hunter44"]) {
      expect(text).not.toContain(secret)
    }
    await client.close()
    await server.close()
  })

  test("survives what cannot be read", async () => {
    const logger = recorder()
    const odd = new Proxy(new Error("x"), {
      get: () => {
        throw new Error("no")
      },
    })
    const circular = new Error("c")
    circular.cause = circular
    const registry = createRegistry([throwing("a.odd", odd), throwing("a.c", circular)], { logger })
    const [serving, calling] = createMemoryTransports()
    const server = serveCalls(registry, { transport: serving })
    const client = createClient(calling)
    expect((await errorOf(client.call("a.odd", {}))).code).toMatch(/EXECUTION_ERROR|UNKNOWN_ERROR/)
    expect((await errorOf(client.call("a.c", {}))).code).toBe("EXECUTION_ERROR")
    expect(logger.lines).toHaveLength(2)
    await client.close()
    await server.close()
  })
})

describe("options of servers", () => {
  test.each([{ errors: "show" }, { errors: true }, { onError: "log" }])(
    "that make no sense are refused: %j",
    (options) => {
      const registry = quietRegistry()
      expect(() => toHTTP(registry, options as never)).toThrow(TypeError)
      const [transport] = createMemoryTransports()
      expect(() => serveCalls(registry, { transport, ...(options as object) })).toThrow(TypeError)
    },
  )
})

test("mapError marks what was not written for callers also where a handler calls it", async () => {
  const registry = quietRegistry([throwing("a.b", mapError(new Error("secret")))])
  const api = toHTTP(registry, { logger: silentLogger })
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }
  const response = await api.fetch(new Request("http://localhost/operations/a.b", init))
  expect(await response.json()).toMatchObject({ detail: HIDDEN_MESSAGE })
  await api.close()
})

describe("the log line of a failed call", () => {
  const shared = new CallError("EXECUTION_ERROR", "shared")

  test.each([
    ["an asynchronous handler", async () => await Promise.reject(new Error("x"))],
    [
      "a synchronous one",
      (): never => {
        throw new Error("x")
      },
    ],
    [
      "one that throws the same error again and again",
      (): never => {
        throw shared
      },
    ],
  ])("names the span of its outermost call: %s", async (_, handler) => {
    const logger = recorder()
    const registry = quietRegistry([
      operation("a.inner", { handler }),
      operation("a.outer", {
        handler: async (_input: never, { call }: OperationContext) => await call("a.inner", {}),
      }),
    ])
    let spans = 0
    registry.trace({
      begin: ({ operationId }) => {
        const fields = { trace_id: `t${++spans}`, span_id: operationId, trace_flags: "01" }
        return { run: (work) => work(), end: () => undefined, fields: () => fields }
      },
    })
    const api = toHTTP(registry, { logger })
    for (const path of ["a.outer", "a.inner"]) {
      const init = { method: "POST", body: "{}", headers: { "content-type": "application/json" } }
      expect(
        (await api.fetch(new Request(`http://localhost/operations/${path}`, init))).status,
      ).toBe(500)
    }

    expect(logger.lines).toMatchObject([
      { operationId: "a.outer", trace_id: "t1", span_id: "a.outer", trace_flags: "01" },
      { operationId: "a.inner", trace_id: "t3", span_id: "a.inner", trace_flags: "01" },
    ])
  })
})
