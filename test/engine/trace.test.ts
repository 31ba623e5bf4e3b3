import { describe, expect, test, vi } from "vitest"
import { isCallError } from "../../src/index.ts"
import type {
  CallOutcome,
  CallScope,
  CallTracer,
  Logger,
  OperationContext,
  TracedCall,
} from "../../src/index.ts"
import { carrierOf } from "../../src/core/tracing.ts"
import { silentLogger } from "../../src/testing.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"

const secret = operation("t.secret", {
  accessControl: { requiredScopes: ["admin"] },
  handler: () => 1,
})
const echo = operation("t.echo", { handler: (input: unknown) => input })

/** Keeps what a tracer sees, and the scopes that are open. */
function recorder() {
  const seen: string[] = []
  const inside: string[] = []
  const ends: CallOutcome[] = []
  const tracer: CallTracer = {
    begin: ({ operationId, parent }: TracedCall) => {
      seen.push(`begin ${operationId} under ${(parent as { name?: string } | undefined)?.name}`)
      const scope: CallScope & { name: string } = {
        name: operationId,
        run: (work) => {
          inside.push(operationId)
          try {
            return work()
          } finally {
            inside.pop()
          }
        },
        end: (outcome) => {
          ends.push(outcome)
          seen.push(`end ${operationId} ${outcome.outcome} ${outcome.items}`)
        },
        fields: () => ({ trace_id: "t", span_id: operationId, trace_flags: "01" }),
        carrier: () => ({ traceparent: operationId }),
      }
      return scope
    },
    refused: ({ operationId }, error) => void seen.push(`refused ${operationId} ${error.code}`),
  }
  return { tracer, seen, inside, ends }
}

describe("registry.trace", () => {
  test("starts before access and input are checked, and learns each outcome once", async () => {
    const registry = quietRegistry([
      secret,
      operation("t.typed", { inputSchema: { type: "string" }, handler: () => 1 }),
    ])
    const { tracer, seen, ends } = recorder()
    registry.trace(tracer)

    for (const id of ["t.secret", "t.typed", "t.nothing"]) await rejection(registry.execute(id, 1))
    await rejection(registry.subscribe("t.typed", 1).next())

    expect(seen).toEqual([
      "begin t.secret under undefined",
      "end t.secret error 0",
      "begin t.typed under undefined",
      "end t.typed error 0",
      "refused t.nothing OPERATION_NOT_FOUND",
      "refused t.typed INVALID_OPERATION_TYPE",
    ])
    expect(ends.map(({ error }) => error?.code)).toEqual(["ACCESS_DENIED", "VALIDATION_ERROR"])
  })

  test("runs handlers and each pull of a stream in their scopes, and finds parents without async hooks", async () => {
    const { tracer, seen, inside } = recorder()
    const during: string[][] = []
    const registry = quietRegistry([
      echo,
      operation("t.outer", {
        handler: async (_input: never, { call }: OperationContext) => {
          during.push([...inside])
          await Promise.resolve()
          return (await call("t.echo", 1)).data
        },
      }),
      operation("t.items", {
        type: "subscription",
        async *handler(_input: never, { call }: OperationContext) {
          during.push([...inside])
          yield (await call("t.echo", 1)).data
          during.push([...inside])
          yield 2
        },
      }),
    ])
    const stop = registry.trace(tracer)
    await registry.execute("t.outer", 1)
    for await (const _ of registry.subscribe("t.items", 1)) continue
    stop()
    await registry.execute("t.echo", 1)

    expect(during).toEqual([["t.outer"], ["t.items"], ["t.items"]])
    expect(seen).toEqual([
      "begin t.outer under undefined",
      "begin t.echo under t.outer",
      "end t.echo ok 0",
      "end t.outer ok 0",
      "begin t.items under undefined",
      "begin t.echo under t.items",
      "end t.echo ok 0",
      "end t.items ok 2",
    ])
  })

  test("cannot change an outcome, whatever a tracer does, and logs one that throws once", async () => {
    const error = vi.fn<Logger["error"]>()
    let runs = 0
    const counted = operation("t.counted", { handler: () => ++runs })
    const registry = quietRegistry([counted, secret], { logger: { ...silentLogger, error } })
    const fail = (): never => {
      throw new Error("tracer")
    }
    const twice = (work: () => unknown): never => (work(), work(), "other") as never
    registry.trace({ begin: fail })
    registry.trace({ begin: () => ({ run: fail, end: fail }) })
    registry.trace({ begin: () => ({ run: twice, end: () => "x" }) })
    registry.trace({ begin: () => ({ run: () => undefined as never, end: () => undefined }) })

    for (let at = 1; at <= 3; at++) {
      expect((await registry.execute("t.counted", {})).data).toBe(at)
      expect(isCallError(await rejection(registry.execute("t.secret", {})), "ACCESS_DENIED")).toBe(
        true,
      )
    }

    expect(runs).toBe(3)
    expect(error).toHaveBeenCalledTimes(2)
  })

  test("survives tracers that are asynchronous and reject, and logs them once", async () => {
    const error = vi.fn<Logger["error"]>()
    const registry = quietRegistry([echo], { logger: { ...silentLogger, error } })
    const rejecting = async (): Promise<never> => {
      await Promise.resolve()
      throw new Error("late")
    }
    const late = rejecting as unknown as () => never
    registry.trace({ begin: late })
    registry.trace({ begin: () => ({ run: late, end: late }) })

    for (const input of [1, 2]) expect((await registry.execute("t.echo", input)).data).toBe(input)

    await expect.poll(() => error.mock.calls.length).toBe(2)
  })

  test("passes on only what is valid of what a tracer returns for requests and log lines", async () => {
    const info = vi.fn<Logger["info"]>()
    const registry = quietRegistry(
      [
        operation("t.sends", {
          handler: (_input: never, context: OperationContext) => {
            context.log.info("Hello")
            return carrierOf(context, "http")
          },
        }),
      ],
      { logger: { ...silentLogger, info } },
    )
    const fail = (): never => {
      throw new Error("tracer")
    }
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const carriers: readonly object[] = [
      { traceparent, tracestate: "a\r\nb", authorization: "Bearer x" },
      { traceparent: `${traceparent}\r\nx: y` },
      Object.defineProperty({}, "traceparent", { get: fail }),
    ]
    const sent: unknown[] = []
    for (const carrier of carriers) {
      const stop = registry.trace({
        begin: () => ({
          run: (work) => work(),
          end: () => undefined,
          carrier: () => carrier,
          fields: () => ({
            get trace_id() {
              return fail()
            },
            span_id: "s",
            trace_flags: "01",
          }),
        }),
      })
      sent.push((await registry.execute("t.sends", {})).data)
      stop()
    }

    expect(sent).toEqual([{ traceparent }, {}, undefined])
    expect(info).toHaveBeenCalledTimes(3)
  })

  test("adds the trace to log lines of handlers", async () => {
    const info = vi.fn<Logger["info"]>()
    const talks = operation("t.talks", {
      handler: (_input: never, { log }: OperationContext) => log.info("Hello", { at: 1 }),
    })
    const registry = quietRegistry([talks], { logger: { ...silentLogger, info } })
    registry.trace(recorder().tracer)
    await registry.execute("t.talks", {})
    const fields = { at: 1, trace_id: "t", span_id: "t.talks", trace_flags: "01" }
    expect(info).toHaveBeenCalledWith("Hello", fields)
  })

  test("refuses what is no tracer, and the same one twice", () => {
    const registry = quietRegistry()
    const { tracer } = recorder()
    registry.trace(tracer)
    expect(() => registry.trace(tracer)).toThrow("this tracer traces already")
    expect(() => registry.trace({} as never)).toThrow("must be an object with a function begin()")
  })

  test("harms no refusal of a call whose options are hostile", async () => {
    const registry = quietRegistry([echo])
    registry.trace(recorder().tracer)
    for (const options of [{ metadata: null }, { metadata: 5 }, 7, null]) {
      const error = await rejection(registry.execute("t.nothing", 1, options as never))
      expect(isCallError(error, "OPERATION_NOT_FOUND")).toBe(true)
    }
  })
})
