import { describe, expect, test, vi } from "vitest"
import {
  createApprovals,
  createClient,
  createRegistry,
  serveCalls,
  type ApprovalList,
  type InputRequest,
  type InputResponse,
  type MiddlewareCall,
  type OperationRegistry,
} from "../../src/index.ts"
import { createManualClock } from "../../src/internal/manual-clock.ts"
import { createMemoryTransports } from "../../src/transport/memory.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { mutationNamed } from "./support.ts"

const ada = { id: "ada", scopes: [] }
const bob = { id: "bob", scopes: [] }
const ask: ApprovalList = [{ decide: "ask", reason: "It deletes." }]

function setUp(approvals: ApprovalList = ask) {
  const clock = createManualClock()
  const ran = vi.fn((input: unknown) => input)
  const registry: OperationRegistry = createRegistry(
    [
      mutationNamed("files.remove", ran),
      mutationNamed("files.clean", (input, { call }) => call("files.remove", input)),
    ],
    { approvals, clock },
  )
  const answering =
    (action: InputResponse["action"]) =>
    (_request: InputRequest): Promise<InputResponse> =>
      Promise.resolve({ action })
  return { registry, ran, clock, answering, approvals: registry.approvals! }
}

const details = (error: unknown): Record<string, unknown> =>
  (error as { details: Record<string, unknown> }).details

describe("A call that asks", () => {
  test("runs once when its caller accepts, and the question says what it is about", async () => {
    const { registry, ran } = setUp()
    const requestInput = vi.fn(async (_: InputRequest) => ({ action: "accept" }) as const)
    await registry.execute("files.remove", { n: 1 }, { requestInput })
    expect(ran).toHaveBeenCalledTimes(1)
    expect(requestInput.mock.calls[0]?.[0]).toMatchObject({
      purpose: "approval",
      message: `files.remove: run this operation?\nInput: {"n":1}\nWhy you are asked: It deletes.`,
    })
  })

  test.each(["decline", "cancel"] as const)("does not run on %s", async (action) => {
    const { registry, ran, answering } = setUp()
    const call = registry.execute("files.remove", {}, { requestInput: answering(action) })
    await expect(call).rejects.toMatchObject({ code: "DECLINED", mayHaveExecuted: false })
    expect(ran).not.toHaveBeenCalled()
  })

  test("does not run when the answer comes too late, and its own clock stops meanwhile", async () => {
    const { registry, ran, clock } = setUp()
    let answer = (_response: InputResponse): void => {}
    const requestInput = (): Promise<InputResponse> => new Promise((resolve) => (answer = resolve))
    const call = registry.execute("files.remove", {}, { requestInput, timeout: 1000 })
    const outcome = call.catch((error: unknown) => error)
    await clock.advance(299_999)
    await clock.advance(2)
    expect(await outcome).toMatchObject({ code: "APPROVAL_REQUIRED" })
    answer({ action: "accept" })
    await clock.advance(1)
    expect(ran).not.toHaveBeenCalled()
  })

  test("fits an answer after minutes into a timeout of a second", async () => {
    const { registry, ran, clock } = setUp()
    let answer = (_response: InputResponse): void => {}
    const requestInput = (): Promise<InputResponse> => new Promise((resolve) => (answer = resolve))
    const call = registry.execute("files.remove", {}, { requestInput, timeout: 1000 })
    await clock.advance(200_000)
    answer({ action: "accept" })
    await call
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("does not run with an input that was changed while a person was asked", async () => {
    const { registry, ran } = setUp()
    const input: Record<string, unknown> = { path: "/tmp/a" }
    const requestInput = async (): Promise<InputResponse> => {
      input["path"] = "/"
      return { action: "accept" }
    }
    const call = registry.execute("files.remove", input, { requestInput })
    await expect(call).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    expect(ran).not.toHaveBeenCalled()
  })

  test("does not run because its input says that it is confirmed", async () => {
    const { registry, ran } = setUp()
    const input = { confirmed: true, approved: true, approvalId: "x", dryRun: true }
    await expect(registry.execute("files.remove", input)).rejects.toMatchObject({
      code: "APPROVAL_REQUIRED",
    })
    expect(ran).not.toHaveBeenCalled()
  })

  test("shows control and direction characters, and counts what is cut", async () => {
    const { registry } = setUp()
    let shown = ""
    const requestInput = async (request: InputRequest): Promise<InputResponse> => {
      shown = (request as { message: string }).message
      return { action: "decline" }
    }
    const input = { path: "a\u202Eb\u0007\u200B\u{E0041}\u2028", text: "x".repeat(5000) }
    await registry.execute("files.remove", input, { requestInput }).catch(() => undefined)
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(shown).not.toMatch(/[\p{Cf}\p{Zl}\u0007]/u)
    expect(shown).toContain(String.raw`a\u{202e}b\u0007\u{200b}\u{e0041}\u{2028}`)
    expect(shown).toMatch(/\(\d{4} more characters are not shown\)/)
    expect(shown.length).toBeLessThan(2300)
  })
})

describe("A call whose caller cannot be asked", () => {
  test("runs once after a person approved it elsewhere", async () => {
    const { registry, ran, approvals } = setUp()
    const call = (): Promise<unknown> =>
      registry.execute("files.remove", { n: 1 }, { identity: ada, via: "mcp" })
    const error: unknown = await call().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: "APPROVAL_REQUIRED", mayHaveExecuted: false })
    expect(approvals.waiting).toMatchObject([
      { operationId: "files.remove", caller: "ada", via: "mcp", input: `{"n":1}` },
    ])
    const id = details(error)["approvalId"] as string
    expect(approvals.answer(id, { approve: true, by: "grace" })).toBe(true)
    expect(approvals.answer(id, { approve: true })).toBe(false)
    await call()
    expect(ran).toHaveBeenCalledTimes(1)
    await expect(call()).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test.each<[string, object, object]>([
    ["another caller", { n: 1 }, { identity: bob }],
    ["an anonymous caller", { n: 1 }, {}],
    ["another input", { n: 2 }, { identity: ada }],
    ["a further property", { n: 1, force: true }, { identity: ada }],
  ])("is not approved for %s", async (_name, input, options) => {
    const { registry, ran, approvals } = setUp()
    await registry.execute("files.remove", { n: 1 }, { identity: ada }).catch(() => undefined)
    approvals.answer(approvals.waiting[0]!.id, { approve: true })
    await expect(registry.execute("files.remove", input, options)).rejects.toMatchObject({
      code: "APPROVAL_REQUIRED",
    })
    expect(ran).not.toHaveBeenCalled()
  })

  test("is the same call whatever the order of its properties", async () => {
    const { registry, ran, approvals } = setUp()
    await registry.execute("files.remove", { a: 1, b: 2 }).catch(() => undefined)
    approvals.answer(approvals.waiting[0]!.id, { approve: true })
    await registry.execute("files.remove", { b: 2, a: 1 })
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("uses an approval only once, also for two calls at the same time", async () => {
    const { registry, ran, approvals } = setUp()
    await registry.execute("files.remove", {}).catch(() => undefined)
    approvals.answer(approvals.waiting[0]!.id, { approve: true })
    const calls = [1, 2, 3].map(() => registry.execute("files.remove", {}))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("gets the outcome of the call whose idempotency key it repeats, without a second approval", async () => {
    const ran = vi.fn((input: unknown) => input)
    const clock = createManualClock()
    const resilience = { idempotency: { ttl: 60_000 } }
    const denied = { decide: "deny", input: { properties: { n: { const: 3 } } } } as const
    const registry: OperationRegistry = createRegistry(
      [mutationNamed("files.remove", ran, { resilience })],
      { approvals: [denied, ...ask], clock },
    )
    const call = (n: number, identity = ada) =>
      registry.execute("files.remove", { n }, { identity, idempotencyKey: "k" })
    await call(1).catch(() => undefined)
    registry.approvals?.answer(registry.approvals.waiting[0]?.id ?? "", { approve: true })
    expect((await call(1)).data).toEqual({ n: 1 })
    expect((await call(1)).meta).toMatchObject({ replayed: true })
    // Nothing else runs without an approval of its own.
    await expect(call(2)).rejects.toMatchObject({ code: "CONFLICT" })
    await expect(call(3)).rejects.toMatchObject({ code: "DENIED_BY_RULE" })
    await expect(call(1, bob)).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    await clock.advance(60_000)
    await expect(call(1)).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("waits five minutes for a person, and an approval waits as long for the call", async () => {
    const { registry, ran, approvals, clock } = setUp()
    await registry.execute("files.remove", {}).catch(() => undefined)
    const { id } = approvals.waiting[0]!
    await clock.advance(300_000)
    expect(approvals.waiting).toEqual([])
    expect(approvals.answer(id, { approve: true })).toBe(false)
    await registry.execute("files.remove", {}).catch(() => undefined)
    approvals.answer(approvals.waiting[0]!.id, { approve: true })
    await clock.advance(300_000)
    await expect(registry.execute("files.remove", {})).rejects.toMatchObject({
      code: "APPROVAL_REQUIRED",
    })
    expect(ran).not.toHaveBeenCalled()
  })

  test("reports once declined, and is not asked about again at once", async () => {
    const { registry, approvals } = setUp()
    await registry.execute("files.remove", {}).catch(() => undefined)
    approvals.answer(approvals.waiting[0]!.id, { approve: false })
    await expect(registry.execute("files.remove", {})).rejects.toMatchObject({ code: "DECLINED" })
    expect(approvals.waiting).toEqual([])
  })

  test("runs with other inputs for an hour after an approval for the session", async () => {
    const { registry, ran, approvals, clock } = setUp()
    const call = (n: number, identity = ada): Promise<unknown> =>
      registry.execute("files.remove", { n }, { identity })
    await call(1).catch(() => undefined)
    await call(4).catch(() => undefined)
    approvals.answer(approvals.waiting[0]!.id, { approve: true, session: true })
    expect(approvals.waiting).toEqual([])
    await call(2)
    await call(3)
    await expect(call(2, bob)).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    await clock.advance(3_600_000)
    await expect(call(2)).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    expect(ran).toHaveBeenCalledTimes(2)
  })

  test("leaves room for others: each caller may have a hundred calls that wait", async () => {
    const { registry, approvals } = setUp()
    await registry.execute("files.remove", {}, { identity: bob }).catch(() => undefined)
    for (let n = 0; n < 150; n++) {
      await registry.execute("files.remove", { n }, { identity: ada }).catch(() => undefined)
    }
    expect(approvals.waiting).toHaveLength(101)
    expect(approvals.waiting[0]).toMatchObject({ caller: "bob" })
  })
})

describe("Rules", () => {
  test("apply to nested calls: deny holds, and ask was answered for the outer call", async () => {
    const { registry, ran, answering } = setUp()
    const requestInput = vi.fn(answering("accept"))
    await registry.execute("files.clean", {}, { requestInput })
    expect(requestInput).toHaveBeenCalledTimes(1)
    expect(ran).toHaveBeenCalledTimes(1)
    const other = setUp([{ match: "files.remove", decide: "deny" }, { decide: "allow" }])
    await expect(other.registry.execute("files.clean", {})).rejects.toMatchObject({
      code: "DENIED_BY_RULE",
    })
    expect(other.ran).not.toHaveBeenCalled()
  })

  test("ask about nested calls where they say so, and about those of programs", async () => {
    const { registry, answering } = setUp([
      { match: "files.remove", decide: "ask", nested: true },
      { decide: "allow" },
    ])
    const requestInput = vi.fn(answering("accept"))
    await registry.execute("files.clean", {}, { requestInput })
    expect(requestInput).toHaveBeenCalledTimes(1)
    const programs = createRegistry(
      [
        mutationNamed("files.remove", () => 1),
        mutationNamed("run.code", (_, { call }) =>
          call("files.remove", {}, { via: "code" } as never),
        ),
      ],
      { approvals: [{ match: "run.*", decide: "allow" }, { decide: "ask" }] },
    )
    await expect(programs.execute("run.code", {})).rejects.toMatchObject({
      code: "APPROVAL_REQUIRED",
    })
  })

  test("see how the outermost call came, whatever a handler claims", async () => {
    const seen: unknown[] = []
    const registry = createRegistry(
      [
        mutationNamed("a.inner", () => 1),
        mutationNamed("a.outer", (_, { call }) => call("a.inner", {}, { via: "cli" } as never)),
      ],
      {
        approvals: ({ operationId, via, isNested }) => {
          seen.push([operationId, via, isNested])
          return "allow"
        },
      },
    )
    await registry.execute("a.outer", {}, { via: "http" })
    expect(seen).toEqual([
      ["a.outer", "http", false],
      ["a.inner", "http", true],
    ])
  })

  test("see by which transport a call came", async () => {
    const seen: unknown[] = []
    const registry = createRegistry([mutationNamed("files.remove", () => 1)], {
      approvals: ({ via }) => {
        seen.push(via)
        return "allow"
      },
    })
    const { port1, port2 } = new MessageChannel()
    const [near, far] = createMemoryTransports()
    await using _worker = serveCalls(registry, { transport: createWorkerTransport(port1) })
    await using _memory = serveCalls(registry, { transport: far })
    for (const transport of [createWorkerTransport(port2), near]) {
      await using client = createClient(transport)
      await client.call("files.remove", {})
    }
    expect(seen).toEqual(["worker", "call"])
  })

  test("do not apply to the application itself, except where it passes calls on", async () => {
    const { registry, ran } = setUp([{ decide: "deny" }])
    await registry.trusted.execute("files.remove", {})
    expect(ran).toHaveBeenCalledTimes(1)
    await expect(
      registry.trusted.execute("files.remove", {}, { via: "cli" }),
    ).rejects.toMatchObject({ code: "DENIED_BY_RULE" })
    const composing = createRegistry(
      [
        mutationNamed("audit.write", () => 1),
        mutationNamed("a.run", (_, { call }) => call("audit.write", {}), {
          composes: ["audit.*"],
        }),
      ],
      { approvals: [{ match: "audit.*", decide: "deny" }, { decide: "allow" }] },
    )
    await composing.execute("a.run", {})
  })

  test("come before other middleware, which reads what was decided", async () => {
    const { registry, answering } = setUp()
    const seen: MiddlewareCall["approval"][] = []
    registry.use((call, next) => {
      seen.push(call.approval)
      return next()
    })
    await expect(registry.execute("files.remove", {})).rejects.toThrow("has to approve it")
    expect(seen).toEqual([])
    await registry.execute("files.remove", {}, { requestInput: answering("accept") })
    expect(seen).toMatchObject([
      {
        decide: "ask",
        rule: "approvals rule 1",
        approvedBy: "caller",
        approvedAt: expect.any(Number),
      },
    ])
  })

  test("apply to streams before their handler starts", async () => {
    const ran = vi.fn()
    const stream = mutationNamed(
      "a.stream",
      async function* () {
        ran()
        yield 1
      },
      { type: "subscription" },
    )
    const registry = createRegistry([stream], { approvals: [{ decide: "deny", reason: "No." }] })
    const items = registry.subscribe("a.stream", {})
    await expect(items.next()).rejects.toMatchObject({
      code: "DENIED_BY_RULE",
      details: { reason: "No." },
    })
    expect(ran).not.toHaveBeenCalled()
  })

  test("see the input as the handler gets it, after access and validation", async () => {
    const decide = vi.fn(() => "allow" as const)
    const registry = createRegistry(
      [
        mutationNamed("a.run", () => 1, {
          inputSchema: { type: "object", properties: { mode: { default: "all" } } },
        }),
        mutationNamed("a.secret", () => 1, { accessControl: { requiredScopes: ["x"] } }),
      ],
      { approvals: decide },
    )
    await registry.execute("a.run", {})
    expect(decide).toHaveBeenLastCalledWith(expect.objectContaining({ input: { mode: "all" } }))
    await expect(registry.execute("a.secret", {})).rejects.toMatchObject({
      code: "ACCESS_DENIED",
    })
    await expect(registry.execute("a.run", 1)).rejects.toMatchObject({ code: "VALIDATION_ERROR" })
    expect(decide).toHaveBeenCalledTimes(1)
  })

  test("of a shared object apply to several registries", async () => {
    const approvals = createApprovals([{ decide: "deny" }])
    for (const id of ["a.one", "b.two"]) {
      const registry = createRegistry([mutationNamed(id, () => 1)], { approvals })
      await expect(registry.execute(id, {})).rejects.toMatchObject({ code: "DENIED_BY_RULE" })
    }
  })
})
