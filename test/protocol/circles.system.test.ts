// Calls in a circle between registries: how deep they go, and how many there are.
import { once } from "node:events"
import { describe, expect, onTestFinished, test } from "vitest"
import { createClient, fromCall, serveCalls } from "../../src/index.ts"
import { createMemoryTransports } from "../../src/testing.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  CallRequestedEvent,
  OperationContext,
  OperationRegistry,
  OperationSpec,
} from "../../src/index.ts"
import { groundFor, LINKS } from "../support/links.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

type CallPeer = (context: OperationContext) => Promise<unknown>

interface Circle {
  readonly x: OperationRegistry
  readonly y: OperationRegistry
}

/** `x.a` calls `y.b` in another registry, and that calls `x.a`: each does what `run` says with its peer. */
async function circle(
  link: string,
  run: (context: OperationContext, callPeer: CallPeer) => unknown,
  limits: { readonly maxNestedCalls?: number } = {},
): Promise<Circle> {
  const ground = await groundFor(link)
  onTestFinished(() => ground[Symbol.asyncDispose]())
  const peers = new Map<string, CallPeer>()
  const registryOf = (own: string, peer: string): OperationRegistry => {
    const callPeer: CallPeer = async (context) => await peers.get(peer)?.(context)
    const handler = (_input: unknown, context: OperationContext): unknown => run(context, callPeer)
    const registry = quietRegistry([operation(own, { handler })], limits)
    ground.closers.push(() => registry.close())
    return registry
  }
  const x = registryOf("x.a", "y.b")
  const y = registryOf("y.b", "x.a")
  for (const [id, from, to] of [["y.b", x, y] as const, ["x.a", y, x] as const]) {
    const transport = await LINKS[link]?.(to, ground)
    if (transport === undefined) throw new Error(`There is no link "${link}".`)
    if (link === "HTTP client") {
      const client = createClient(transport, { logger: silentLogger })
      peers.set(id, (context) => client.call(id, {}, context))
    } else {
      const filter = ({ namespace, name }: OperationSpec): boolean => `${namespace}.${name}` === id
      await fromCall(transport, { registry: from, filter, logger: silentLogger })
      peers.set(id, (context) => context.call(id, {}))
    }
  }
  return { x, y }
}

const NAMES = Object.keys(LINKS)

describe("calls in a circle between two registries", () => {
  test.each(NAMES)("end after 16 levels over %s", async (link) => {
    let runs = 0
    const { x } = await circle(link, (context, callPeer) => {
      runs++
      return callPeer(context)
    })
    expect(await rejection(x.execute("x.a", {}))).toMatchObject({
      code: "CALL_DEPTH_EXCEEDED",
      message: expect.stringContaining("calls are nested more than 16 deep"),
    })
    // A gateway in between is a level of its own.
    expect(runs).toBe(link === "two hops" ? 8 : 16)
  })

  test.each(NAMES)("end after the maximum number in each registry over %s", async (link) => {
    let runs = 0
    const errors: unknown[] = []
    const run = async (context: OperationContext, callPeer: CallPeer): Promise<void> => {
      runs++
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => callPeer(context)))
      errors.push(
        ...outcomes.flatMap((outcome) => ("reason" in outcome ? [outcome.reason as unknown] : [])),
      )
    }
    const { x } = await circle(link, run, { maxNestedCalls: 30 })
    await x.execute("x.a", {})
    expect(errors).toContainEqual(
      expect.objectContaining({
        code: "CALL_DEPTH_EXCEEDED",
        message: expect.stringContaining("one call led to more than 30 nested calls"),
      }),
    )
    expect(runs).toBeGreaterThan(10)
    // The outermost call, and at most 30 in each registry.
    expect(runs).toBeLessThanOrEqual(61)
    runs = 0
    await x.execute("x.a", {})
    expect(runs).toBeGreaterThan(10)
  })

  test.each(NAMES)("do not continue when the outermost call has ended, over %s", async (link) => {
    let runs = 0
    let leave = (): void => undefined
    let outcome: Promise<unknown> | undefined
    const { x } = await circle(link, async (context, callPeer) => {
      if (++runs === 4) {
        leave()
        if (!context.signal.aborted) await once(context.signal, "abort")
        outcome = rejection(callPeer(context))
        return await outcome
      }
      return await callPeer(context)
    })
    const leaving = new AbortController()
    leave = () => leaving.abort()
    const outermost = rejection(x.execute("x.a", {}, { signal: leaving.signal }))
    expect(await outermost).toMatchObject({ code: "ABORTED" })
    await waitFor(() => expect(outcome).toBeDefined())
    expect(await outcome).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    expect(runs).toBe(4)
  })
})

describe("the depth of a request", () => {
  async function answerTo(fields: Partial<Record<keyof CallRequestedEvent, unknown>>) {
    const [here, there] = createMemoryTransports()
    const registry = quietRegistry([operation("a.b", { handler: () => 1 })])
    const server = serveCalls(registry, { transport: there, logger: silentLogger })
    onTestFinished(() => server.close())
    const answers: unknown[] = []
    here.open({
      event: (event) => answers.push(event),
      undelivered: () => {},
      lost: () => {},
      restored: () => {},
    })
    const about = { operationId: "a.b", kind: "call", input: {} } as const
    here.send({ type: "call.requested", requestId: "1", ...about, ...fields } as never)
    here.send({ type: "call.requested", requestId: "2", ...about })
    await waitFor(() => expect(answers).toContainEqual(expect.objectContaining({ requestId: "2" })))
    return answers.find((answer) => (answer as { requestId: string }).requestId === "1")
  }

  test.each([-1, 1.5, Number.NaN, "3", null, {}])("is not accepted as %s", async (depth) => {
    expect(await answerTo({ depth })).toMatchObject({ code: "VALIDATION_ERROR" })
  })

  test.each([[{}], [{ depth: 0 }], [{ depth: 15, rootRequestId: "r" }], [{ rootRequestId: "r" }]])(
    "%j allows the call",
    async (fields) => {
      expect(await answerTo(fields)).toMatchObject({ type: "call.responded" })
    },
  )

  test.each([16, 1e9, Number.MAX_SAFE_INTEGER])("%d refuses the call", async (depth) => {
    expect(await answerTo({ depth })).toMatchObject({ code: "CALL_DEPTH_EXCEEDED" })
  })
})
