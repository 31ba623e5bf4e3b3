import { describe, expect, test } from "vitest"
import { createRegistry, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type {
  CallError,
  CallEvent,
  DeliveryStatus,
  ServedOperations,
  Transport,
  TransportReceiver,
} from "../../src/index.ts"
import { greet } from "../support/operations.ts"
import { operation } from "./support.ts"

/** A link of which the other end is the test. */
class Link implements Transport {
  readonly sent: CallEvent[] = []
  receiver: TransportReceiver | undefined
  served: ServedOperations | undefined
  status: DeliveryStatus | undefined
  leaves = 0

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  send(event: CallEvent): void {
    this.sent.push(event)
  }

  serve(served: ServedOperations): void {
    this.served = served
  }

  leave(): void {
    this.leaves++
  }

  deliveryStatus(): DeliveryStatus | undefined {
    return this.status
  }

  async close(): Promise<void> {}
}

const request = (requestId: string, operationId: string, input?: unknown): CallEvent => ({
  type: "call.requested",
  requestId,
  operationId,
  input,
})

async function failure(promise: Promise<unknown>): Promise<CallError> {
  return (await promise.then(
    () => undefined,
    (error: unknown) => error,
  )) as CallError
}

describe("who sent an event, on a link to many", () => {
  const who = operation("who", "query", (_input, { identity }) => identity?.id ?? "nobody")

  test("is who calls, each time anew", async () => {
    const link = new Link()
    await using _server = serveCalls(createRegistry([who]), { transport: link })
    link.receiver?.event(request("1", "demo.who"), { identity: { id: "ada", scopes: [] } })
    link.receiver?.event(request("2", "demo.who"), { user: "bob" })
    await expect.poll(() => link.sent.length).toBe(2)
    expect(link.sent.map((event) => "output" in event && event.output.data)).toEqual([
      "ada",
      "nobody",
    ])
  })

  test("is passed to resolveIdentity", async () => {
    const link = new Link()
    await using _server = serveCalls(createRegistry([who]), {
      transport: link,
      resolveIdentity: (_event, { user = "none" }) => ({ id: `user ${user}`, scopes: [] }),
    })
    link.receiver?.event(request("1", "demo.who"), { user: "bob" })
    await expect.poll(() => link.sent.length).toBe(1)
    expect(link.sent[0]).toMatchObject({ output: { data: "user bob" } })
  })
})

describe("the served operations, for a link that announces them", () => {
  test("is what a peer may ask for, and which of it may run twice", async () => {
    const link = new Link()
    const registry = createRegistry([
      greet,
      operation("hidden", "query", () => 1, { visibility: "internal" }),
      operation("change", "mutation", () => 1),
      operation("put", "mutation", () => 1, { annotations: { idempotent: true } }),
    ])
    await using _server = serveCalls(registry, { transport: link })
    expect(link.served?.list()).toEqual([
      { id: "demo.greet", isIdempotent: true },
      { id: "demo.change", isIdempotent: false },
      { id: "demo.put", isIdempotent: true },
    ])
    let changes = 0
    const stop = link.served?.onChange(() => changes++)
    registry.unregister("demo.put")
    stop?.()
    registry.unregister("demo.change")
    expect(changes).toBe(1)
    expect(link.served?.list().map(({ id }) => id)).toEqual(["demo.greet"])
  })

  test("says when it is full", async () => {
    const link = new Link()
    let finish = (): void => undefined
    const slow = operation("slow", "mutation", () => new Promise<void>((end) => (finish = end)))
    const ticks = operation("ticks", "subscription", async function* () {
      yield 1
    })
    await using _server = serveCalls(createRegistry([slow, ticks]), {
      transport: link,
      maxInFlight: 1,
      maxQueued: 0,
      maxStreams: 0,
    })
    expect(link.served?.refuse("demo.slow")).toBeUndefined()
    expect(link.served?.refuse("demo.ticks")).toMatchObject({ code: "OVERLOADED" })
    link.receiver?.event(request("1", "demo.slow"))
    expect(link.served?.refuse("demo.slow")).toMatchObject({
      code: "OVERLOADED",
      mayHaveExecuted: false,
      retryAfterMs: 1000,
    })
    finish()
    await expect.poll(() => link.served?.refuse("demo.slow")).toBeUndefined()
  })
})

describe("the delivery status of a call that was given up", () => {
  const statuses: DeliveryStatus[] = [
    { mayHaveExecuted: false, retryable: true },
    { mayHaveExecuted: true, retryable: false },
  ]

  test.each(statuses)("is what the link knows: %o", async (status) => {
    const link = new Link()
    link.status = status
    await using map = new PendingRequestMap(link, { logger: silentLogger })
    expect(await failure(map.call("demo.greet", {}, { timeout: 1 }))).toMatchObject({
      code: "TIMEOUT",
      ...status,
    })
    const call = map.call("demo.greet", {})
    call.abort()
    expect(await failure(call)).toMatchObject({
      code: "ABORTED",
      mayHaveExecuted: status.mayHaveExecuted,
      retryable: false,
    })
  })

  test("is unknown where the link cannot know it", async () => {
    await using map = new PendingRequestMap(new Link(), { logger: silentLogger })
    expect(await failure(map.call("demo.greet", {}, { timeout: 1 }))).toMatchObject({
      code: "TIMEOUT",
      mayHaveExecuted: true,
    })
  })
})

describe("drain", () => {
  const stopped = operation(
    "slow",
    "mutation",
    (input) => new Promise((resolve) => setTimeout(resolve, input as number, "done")),
  )

  test("waits for what runs, refuses what comes, and closes", async () => {
    const [mine, theirs] = createMemoryTransports()
    const server = serveCalls(createRegistry([stopped]), { transport: theirs })
    await using map = new PendingRequestMap(mine, { logger: silentLogger })
    const before = map.call("demo.slow", 50)
    await expect.poll(() => server.inFlight).toBe(1)
    const drained = server.drain()
    const after = failure(map.call("demo.slow", 0))
    expect((await before).data).toBe("done")
    expect(await after).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
    await drained
    expect(server.inFlight).toBe(0)
  })

  test("twice at the same time waits once for both", async () => {
    const link = new Link()
    const server = serveCalls(createRegistry([stopped]), { transport: link })
    link.receiver?.event(request("1", "demo.slow", 20))
    await Promise.all([server.drain({ grace: 60_000 }), server.drain({ grace: 60_000 })])
    expect(link.sent).toMatchObject([{ requestId: "1", type: "call.responded" }])
  })

  test("ends what takes longer than its grace", async () => {
    const [mine, theirs] = createMemoryTransports()
    const server = serveCalls(createRegistry([stopped]), { transport: theirs })
    await using map = new PendingRequestMap(mine, { logger: silentLogger })
    const call = failure(map.call("demo.slow", 60_000))
    await expect.poll(() => server.inFlight).toBe(1)
    await server.drain({ grace: 1 })
    expect(await call).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
  })

  test("of nothing is over at once, and leaves a link that can leave", async () => {
    const link = new Link()
    const server = serveCalls(createRegistry([stopped]), { transport: link })
    await server.drain()
    await server.drain()
    expect(link.leaves).toBe(2)
    expect(link.served?.refuse("demo.slow")).toMatchObject({ code: "UNAVAILABLE" })
  })

  test("takes what a link that leaves still hands over", async () => {
    const link = new Link()
    const server = serveCalls(createRegistry([stopped]), { transport: link })
    link.receiver?.event(request("1", "demo.slow", 20))
    const drained = server.drain()
    link.receiver?.event(request("2", "demo.slow", 1))
    await drained
    expect(link.sent.map(({ requestId, type }) => [requestId, type])).toEqual([
      ["2", "call.responded"],
      ["1", "call.responded"],
    ])
  })
})
