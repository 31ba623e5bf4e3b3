import { describe, expect, test } from "vitest"
import { createRegistry, defineOperation, mcpEnvelope } from "../../src/index.ts"
import type { AnyOperation, CallTrace, OperationContext } from "../../src/index.ts"
import { Type } from "typebox"

const Text = Type.Object({ text: Type.String() })

function make(
  name: string,
  handler: (input: { text: string }, context: OperationContext) => unknown,
): AnyOperation {
  return defineOperation({
    namespace: "demo",
    name,
    type: "query",
    description: "",
    inputSchema: Text,
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: name === "secret" ? ["admin"] : [] },
    handler,
  })
}

const ticks = defineOperation({
  namespace: "demo",
  name: "ticks",
  type: "subscription",
  description: "",
  inputSchema: Type.Object({ count: Type.Integer() }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler({ count }) {
    for (let at = 0; at < count; at++) yield at
    if (count === 13) throw new Error("bad luck")
  },
})

function watched() {
  const registry = createRegistry([
    make("echo", ({ text }) => text),
    make("later", async ({ text }) => await Promise.resolve(text)),
    make("break", () => {
      throw new Error("broken")
    }),
    make("tool", () => mcpEnvelope("The disk is full.", { isError: true, content: [] })),
    make("secret", () => 1),
    make("outer", async (input, context) => {
      await context.call("demo.echo", input)
      return 1
    }),
    ticks,
  ])
  const traces: CallTrace[] = []
  const stop = registry.onCall((trace) => traces.push(trace))
  return { registry, traces, stop, brief: () => traces.map(inShort) }
}

function inShort(trace: CallTrace): string {
  if (trace.phase === "start") return `start ${trace.operationId}`
  const { operationId, outcome, code, items } = trace
  return [outcome, operationId, code, items || undefined]
    .filter((one) => one !== undefined)
    .join(" ")
}

describe("onCall notifies", () => {
  test("of each call, how it began and ended", async () => {
    const { registry, traces, brief } = watched()
    await registry.execute("demo.echo", { text: "a" }, { identity: { id: "ada", scopes: [] } })
    await registry.execute("demo.later", { text: "a" })

    expect(brief()).toEqual([
      "start demo.echo",
      "ok demo.echo",
      "start demo.later",
      "ok demo.later",
    ])
    const [start, end] = traces
    expect(end).toMatchObject({ requestId: start?.requestId, identity: "ada", source: "local" })
    expect((end as { durationMs: number }).durationMs).toBeGreaterThanOrEqual(0)
  })

  test("of refusals and failures, by their code, and of nothing that may be secret", async () => {
    const { registry, traces, brief } = watched()
    await registry.execute("demo.echo", { text: 7 }).catch(() => undefined)
    await registry.execute("demo.secret", { text: "canary" }).catch(() => undefined)
    await registry.execute("demo.break", { text: "canary" }).catch(() => undefined)
    await registry.execute("demo.nowhere", { text: "canary" }).catch(() => undefined)

    expect(brief()).toEqual([
      "start demo.echo",
      "error demo.echo VALIDATION_ERROR",
      "start demo.secret",
      "error demo.secret ACCESS_DENIED",
      "start demo.break",
      "error demo.break EXECUTION_ERROR",
    ])
    expect(JSON.stringify(traces)).not.toContain("canary")
  })

  test("of an MCP tool that reports a failure, as of any other failed call", async () => {
    const { registry, brief } = watched()
    const { data } = await registry.execute("demo.tool", { text: "a" })

    expect(data).toBe("The disk is full.")
    expect(brief()).toEqual(["start demo.tool", "error demo.tool EXECUTION_ERROR"])
  })

  test("of nested calls, under the one that made them", async () => {
    const { registry, traces, brief } = watched()
    await registry.execute("demo.outer", { text: "a" })

    expect(brief()).toEqual([
      "start demo.outer",
      "start demo.echo",
      "ok demo.echo",
      "ok demo.outer",
    ])
    expect(traces[1]?.parentRequestId).toBe(traces[0]?.requestId)
  })

  test("of streams: how many items, and whether they were left", async () => {
    const { registry, brief } = watched()
    for await (const item of registry.subscribe("demo.ticks", { count: 3 })) void item
    for await (const item of registry.subscribe("demo.ticks", { count: 3 })) {
      void item
      break
    }
    const broken = registry.subscribe("demo.ticks", { count: 13 })
    await (async () => {
      for await (const item of broken) void item
    })().catch(() => undefined)
    const id: string = "demo.ticks"
    await registry
      .subscribe(id, {})
      .next()
      .catch(() => undefined)

    expect(brief()).toEqual([
      "start demo.ticks",
      "ok demo.ticks 3",
      "start demo.ticks",
      "aborted demo.ticks ABORTED 1",
      "start demo.ticks",
      "error demo.ticks EXECUTION_ERROR 13",
      "start demo.ticks",
      "error demo.ticks VALIDATION_ERROR",
    ])
  })

  test("of a stream that is no longer read, when its deadline passes", async () => {
    const { registry, brief } = watched()
    const controller = new AbortController()
    const stream = registry.subscribe("demo.ticks", { count: 3 }, { signal: controller.signal })
    await stream.next()
    controller.abort()

    expect(brief()).toEqual(["start demo.ticks", "aborted demo.ticks ABORTED 1"])
  })

  test("everybody, also when one of them throws, until they have had enough", async () => {
    const errors: unknown[] = []
    const silent = {
      debug() {},
      info() {},
      warn() {},
      error: (...all: unknown[]) => errors.push(all),
    }
    const registry = createRegistry([make("echo", ({ text }) => text)], { logger: silent })
    let traces = 0
    const stops = [
      registry.onCall(() => {
        throw new Error("no")
      }),
      registry.onCall(() => traces++),
    ]
    await registry.execute("demo.echo", { text: "a" })
    for (const stop of stops) stop()
    await registry.execute("demo.echo", { text: "a" })

    expect(traces).toBe(2)
    expect(errors).toHaveLength(2)
    expect(() => registry.onCall(7 as never)).toThrow("onCall(listener): must be a function")
  })
})
