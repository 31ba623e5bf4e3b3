import { describe, expect, onTestFinished, test } from "vitest"
import type { CallOptions, OperationContext, OperationRegistry } from "../../../src/index.ts"
import { Recorder } from "../../../src/hub/activity/recorder.ts"
import type { RecordedCall } from "../../../src/hub/activity/recorder.ts"
import type { RecordConfig } from "../../../src/config/model.ts"
import { operation, quietRegistry } from "../../support/operations.ts"

const echo = operation("t.echo", { handler: (input: unknown) => input })

const typed = operation("t.typed", {
  inputSchema: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      code: { type: "string", format: "password" },
      hidden: { type: "string", writeOnly: true },
      list: { type: "array", items: { properties: { mark: { type: "string", writeOnly: true } } } },
    },
  },
  outputSchema: {
    properties: { key: { type: "string", format: "password" }, open: { type: "string" } },
  },
  handler: () => ({ key: "k-1", open: "yes" }),
})

const nested = operation("t.nested", {
  handler: async (_: unknown, { call }: OperationContext) => (await call("t.echo", [1])).data,
})

const waits = operation("t.waits", {
  handler: (_: unknown, { signal }: OperationContext) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("left")), { once: true })
    }),
})

const stream = operation("t.stream", {
  type: "subscription",
  async *handler({ to }: { to: number }) {
    for (let at = 0; at < to; at++) yield { at, token: "secret-1" }
  },
})

const scoped = operation("t.scoped", {
  accessControl: { requiredScopes: ["pay"] },
  handler: () => "paid",
})

const ignoring = operation("t.ignoring", { handler: () => "ignored" })

const owned = operation("t.owned", {
  accessControl: {
    requiredScopes: [],
    resourceType: "project",
    resourceAction: "read",
    resourceIdPath: "/project",
  },
  handler: () => "read",
})

function recording(options?: RecordConfig): { registry: OperationRegistry; recorder: Recorder } {
  const registry = quietRegistry([echo, typed, nested, waits, stream, scoped, ignoring, owned])
  const recorder = new Recorder(options)
  onTestFinished(registry.recordCalls(recorder))
  return { registry, recorder }
}

async function recordOf(
  id: string,
  input: unknown,
  options: CallOptions = {},
): Promise<RecordedCall | undefined> {
  const { registry, recorder } = recording()
  await registry.execute(id, input, { requestId: "r", ...options }).catch(() => undefined)
  return recorder.find("r", options.identity)[0]
}

describe("Recorder", () => {
  test("keeps the input, the result and the facts of a call", async () => {
    expect(await recordOf("t.echo", { a: [1, "two", null] })).toMatchObject({
      requestId: "r",
      operationId: "t.echo",
      isHidden: false,
      input: { value: { a: [1, "two", null] }, removed: [], isOmitted: false },
      result: { value: { a: [1, "two", null] } },
      meta: { source: "local" },
    })
  })

  test("leaves out what is secret by its name, its schema or its looks, and says where", async () => {
    const record = await recordOf("t.typed", {
      name: "Bearer abcdefghijkl",
      code: "1234",
      hidden: "h",
      apiKey: "k",
      max_tokens: 5,
      list: [{ mark: "m", open: "o" }],
    })
    expect(record?.input).toEqual({
      value: { name: "Bearer ***", max_tokens: 5, list: [{ open: "o" }] },
      removed: ["/name", "/code", "/hidden", "/apiKey", "/list/0/mark"],
      isOmitted: false,
    })
    expect(record?.result).toEqual({ value: { open: "yes" }, removed: ["/key"], isOmitted: false })
  })

  test("keeps a member called __proto__ as a member", async () => {
    const record = await recordOf("t.echo", JSON.parse('{"__proto__":{"polluted":1}}'))
    expect(Object.keys(record?.input?.value as object)).toEqual(["__proto__"])
    expect(Reflect.get({}, "polluted")).toBeUndefined()
  })

  test.each([
    ["a long text", "x".repeat(300_000)],
    ["a long list", Array.from({ length: 1_000_000 }, () => 1)],
    [
      "many members",
      Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at])),
    ],
    ["many texts", Array.from({ length: 3000 }, () => ({ text: "y".repeat(100) }))],
  ])("omits %s", async (_name, value) => {
    const record = await recordOf("t.echo", value)
    expect(record).toMatchObject({ input: { isOmitted: true }, result: { isOmitted: true } })
    expect(record?.input).not.toHaveProperty("value")
  })

  test("says of bytes only how many there are", async () => {
    const record = await recordOf("t.echo", { file: new Uint8Array(5_000_000) })
    expect(record?.input?.value).toEqual({ file: "[5000000 bytes]" })
  })

  test("takes any value, and no input", async () => {
    const circular: Record<string, unknown> = {}
    circular["self"] = circular
    expect((await recordOf("t.echo", circular))?.input?.isOmitted).toBe(true)
    const odd = Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        throw new Error("no")
      },
    })
    expect((await recordOf("t.echo", odd))?.input).toMatchObject({ isOmitted: true })
    expect((await recordOf("t.echo", undefined))?.input).toEqual({ removed: [], isOmitted: false })
  })

  test("keeps an input that was refused, and the error", async () => {
    const record = await recordOf("t.typed", { name: 5 })
    expect(record).toMatchObject({
      input: { value: { name: 5 } },
      problem: { code: "VALIDATION_ERROR", status: 400 },
    })
    expect(record).not.toHaveProperty("result")
  })

  test("keeps a call that its caller has left, without a result", async () => {
    const { registry, recorder } = recording()
    const controller = new AbortController()
    const running = registry.execute("t.waits", 1, { requestId: "r", signal: controller.signal })
    expect(recorder.find("r", undefined)).toMatchObject([{ input: { value: 1 } }])
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: "ABORTED" })
    expect(recorder.find("r", undefined)).toMatchObject([{ problem: { code: "ABORTED" } }])
  })

  test("gives nested calls the trace of the outermost one", async () => {
    const { registry, recorder } = recording()
    const ids: string[] = []
    registry.onCall(({ phase, requestId }) => phase === "end" && ids.push(requestId))
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    const metadata = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
    await registry.execute("t.nested", {}, { metadata })
    const records = ids.flatMap((id) => recorder.find(id, undefined))
    expect(records).toMatchObject([
      { operationId: "t.echo", traceId: trace, result: { value: [1] } },
      { operationId: "t.nested", traceId: trace },
    ])
    for (const traceparent of ["", "x".repeat(300), 5, "00-zz-00f067aa0ba902b7-01"]) {
      const record = await recordOf("t.echo", 1, { metadata: { traceparent } })
      expect(record).not.toHaveProperty("traceId")
    }
  })

  test("keeps the last items of a stream", async () => {
    const { registry, recorder } = recording()
    const items = registry.subscribe("t.stream", { to: 50 }, { requestId: "r" })
    for await (const { data } of items) if ((data as { at: number }).at === 40) break
    const [record] = recorder.find("r", undefined)
    expect(record?.items?.map(({ value }) => value)).toEqual(
      Array.from({ length: 20 }, (_, index) => ({ at: 21 + index })),
    )
    expect(record?.items?.[0]?.removed).toEqual(["/token"])
  })

  test("keeps the last items of a stream that fit into one value", async () => {
    const { registry, recorder } = recording({ bytes: 65_536 })
    const text = operation("t.texts", {
      type: "subscription",
      async *handler() {
        for (let at = 0; at < 5; at++) yield `${at}`.repeat(3000)
      },
    })
    registry.registerAll([text])
    for await (const _ of registry.subscribe("t.texts", {}, { requestId: "r" }));
    const [record] = recorder.find("r", undefined)
    expect(record?.items?.map(({ value }) => String(value)[0])).toEqual(["3", "4"])
    expect(recorder.size.bytes).toBeLessThanOrEqual(65_536)
  })

  test("drops the oldest calls beyond its number", async () => {
    const { registry, recorder } = recording({ calls: 3 })
    for (let at = 0; at < 10; at++) await registry.execute("t.echo", at, { requestId: `r${at}` })
    expect(recorder.size.calls).toBe(3)
    expect(recorder.find("r6", undefined)).toEqual([])
    expect(recorder.find("r7", undefined)).toMatchObject([{ input: { value: 7 } }])
  })

  test("drops the oldest calls beyond its bytes, and takes no result of a dropped one", async () => {
    const { registry, recorder } = recording({ bytes: 65_536 })
    const controller = new AbortController()
    const early = registry.execute("t.waits", 1, { requestId: "early", signal: controller.signal })
    for (let at = 0; at < 100; at++) await registry.execute("t.echo", "z".repeat(2000))
    expect(recorder.size.bytes).toBeLessThanOrEqual(65_536)
    expect(recorder.size.calls).toBeGreaterThan(3)
    const { bytes } = recorder.size
    controller.abort()
    await expect(early).rejects.toMatchObject({ code: "ABORTED" })
    expect(recorder.find("early", undefined)).toEqual([])
    expect(recorder.size.bytes).toBe(bytes)
  })

  test("shows all calls of one request id, the newest first, and only so many", async () => {
    const { registry, recorder } = recording()
    for (let at = 0; at < 30; at++) await registry.execute("t.echo", at, { requestId: "same" })
    const found = recorder.find("same", undefined)
    expect(found.map(({ input }) => input?.value)).toEqual(
      Array.from({ length: 20 }, (_, index) => 29 - index),
    )
  })

  test("hides values from those who may not call the operation with this input", async () => {
    const { registry, recorder } = recording()
    const paid = { id: "a", scopes: ["pay"] }
    await registry.execute("t.scoped", { amount: 5 }, { requestId: "s", identity: paid })
    expect(recorder.find("s", paid)).toMatchObject([{ result: { value: "paid" } }])
    for (const identity of [undefined, { id: "b", scopes: ["hub:admin"] }]) {
      const [record] = recorder.find("s", identity)
      expect(record).toMatchObject({ operationId: "t.scoped", isHidden: true })
      expect(Object.keys(record ?? {})).not.toContain("input")
    }
    const one = { id: "c", scopes: [], resources: { "project:1": ["read"] } }
    await registry.execute("t.owned", { project: "1" }, { requestId: "o", identity: one })
    const two = { id: "d", scopes: [], resources: { "project:2": ["read"] } }
    expect(recorder.find("o", one)[0]?.isHidden).toBe(false)
    expect(recorder.find("o", two)[0]?.isHidden).toBe(true)
  })

  test("keeps no input of a caller who is denied access", async () => {
    const { registry, recorder } = recording()
    const admin = { id: "a", scopes: ["pay"], resources: { "project:1": ["read"] } }
    for (const [id, input] of [
      ["t.scoped", { amount: 5 }],
      ["t.owned", { project: "1" }],
    ] as const) {
      const denied = registry.execute(id, input, { requestId: id })
      await expect(denied).rejects.toMatchObject({ code: "ACCESS_DENIED" })
      const [record] = recorder.find(id, admin)
      expect([id, record?.input?.value]).toEqual([id, undefined])
      await registry.trusted.execute(id, input, { requestId: id })
      expect(recorder.find(id, admin)[0]?.input?.value).toEqual(input)
    }
  })

  test("takes options of callers that have not been checked yet", async () => {
    const { registry, recorder } = recording()
    const metadata = Object.defineProperty({}, "traceparent", {
      get: () => {
        throw new Error("no")
      },
    })
    await registry.execute("t.echo", 1, { metadata }).catch(() => undefined)
    const wrong = registry.execute("t.echo", 1, { requestId: 5 as never })
    await expect(wrong).rejects.toMatchObject({ code: "VALIDATION_ERROR" })
    expect(recorder.size.calls).toBe(2)
    expect(recorder.size.bytes).toBeLessThan(2000)
  })

  test("records nothing after it is stopped, also when another one began later", async () => {
    const registry = quietRegistry([echo])
    const [first, second] = [new Recorder(), new Recorder()]
    const stopFirst = registry.recordCalls(first)
    const stopSecond = registry.recordCalls(second)
    stopFirst()
    await registry.execute("t.echo", 1, { requestId: "r" })
    stopSecond()
    await registry.execute("t.echo", 1, { requestId: "r" })
    expect([first.size.calls, second.size.calls]).toEqual([0, 1])
  })
})

describe("a call with a hostile input", () => {
  const SIZE = 240_000
  const list = (text: string): string[] =>
    Array.from({ length: 14 }, () => text.repeat(16_000 / text.length))
  const members = (count: number, name: string): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, 1]))
  let deep: unknown = "***"
  for (let at = 0; at < 30_000; at++) deep = [deep, "***"]

  test.each<[string, unknown]>([
    ["a long name of capitals", { ["A".repeat(SIZE)]: 1 }],
    ["a long name of words", { ["aB".repeat(SIZE / 2)]: 1 }],
    ["secrets below a long name", { ["a".repeat(SIZE / 2)]: members(5000, "pin ") }],
    ["many members", members(100_000, "k")],
    ["depth", deep],
    ["texts like tokens", list("eyJ-")],
    ["texts like tokens of two parts", list("eyJaaaaaaaa.aaaaaaaa ")],
    ["texts like keys", list("sk-")],
    ["texts like schemes", list("Bearer ")],
    ["texts like addresses", list("a://")],
    ["texts like named values", list("a=")],
  ])("is recorded in linear time: %s", async (_what, input) => {
    const { registry, recorder } = recording()
    const started = process.cpuUsage().user
    for (let at = 0; at < 3; at++) await registry.execute("t.ignoring", input)
    // Any quadratic step would take longer, also on a slow machine.
    expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(20)
    expect(recorder.size.bytes).toBeLessThanOrEqual(8 * 1024 * 1024)
  })
})
