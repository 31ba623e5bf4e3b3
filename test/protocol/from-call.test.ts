import { describe, expect, onTestFinished, test } from "vitest"
import { Type } from "typebox"
import {
  CallError,
  fromCall,
  localEnvelope,
  PendingRequestMap,
  serveCalls,
  unwrap,
} from "../../src/index.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import { toHTTP } from "../../src/to-http.ts"
import type {
  OperationContext,
  CallEvent,
  CallRequestedEvent,
  Clock,
  Transport,
  TransportReceiver,
  OperationRegistry,
} from "../../src/index.ts"
import { count, greet, operation, quietRegistry, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

function served(
  operations: Parameters<typeof quietRegistry>[0],
  identity?: { id: string; scopes: string[] },
): { near: Transport; registry: OperationRegistry } {
  const [near, far] = createMemoryTransports()
  const registry = quietRegistry(operations)
  serveCalls(registry, { transport: far, ...(identity && { resolveIdentity: () => identity }) })
  return { near, registry }
}

function ids(registry: OperationRegistry): string[] {
  return registry
    .list()
    .map(({ namespace, name }) => `${namespace}.${name}`)
    .toSorted()
}

describe("fromCall", () => {
  test("returns definitions whose calls are forwarded", async () => {
    const { near } = served([greet, count])
    const local = quietRegistry(await fromCall(near))
    const envelope = await local.execute("demo.greet", { name: "Ada" })
    const items: unknown[] = []
    for await (const item of local.subscribe("demo.count", { to: 3 })) items.push(unwrap(item))

    expect(envelope).toMatchObject({
      data: { text: "Hello, Ada" },
      meta: { source: "local", operationId: "demo.greet" },
    })
    expect(items).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }])
    expect(local.getSpec("demo.greet")).toMatchObject({ description: "Greets a person" })
  })

  test("namespace and filter", async () => {
    const { near } = served([greet, count])
    const operations = await fromCall(near, {
      namespace: "peer",
      filter: ({ type }) => type === "query",
    })
    const local = quietRegistry(operations)

    expect(ids(local)).toEqual(["peer.demo.greet"])
    expect((await local.execute("peer.demo.greet", { name: "x" })).meta).toMatchObject({
      operationId: "demo.greet",
    })
  })

  test("what is internal or not allowed is not there", async () => {
    const operations = [
      greet,
      operation("a.hidden", { visibility: "internal" }),
      operation("a.admin", { accessControl: { requiredScopes: ["admin"] } }),
      operation("a.mine", {
        accessControl: {
          requiredScopes: [],
          resourceType: "doc",
          resourceAction: "read",
          resourceIdPath: "/id",
        },
      }),
    ]
    const anonymous = await fromCall(served(operations).near)
    const admin = await fromCall(served(operations, { id: "root", scopes: ["admin"] }).near)
    const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name)

    expect(names(anonymous)).toEqual(["greet"])
    expect(names(admin)).toEqual(["admin", "greet"])
  })

  test("errors keep code, details and flags; deadlines and signals pass", async () => {
    const signals: AbortSignal[] = []
    const { near } = served([
      operation("a.fail", {
        handler() {
          throw new CallError("CONFLICT", "Taken", { details: { by: "Bob" } })
        },
      }),
      operation("a.hang", {
        handler: (_input: never, { signal }: { signal: AbortSignal }) => {
          signals.push(signal)
          return new Promise(() => undefined)
        },
      }),
    ])
    const local = quietRegistry(await fromCall(near))
    const controller = new AbortController()
    const hanging = rejection(local.execute("a.hang", {}, { signal: controller.signal }))
    controller.abort()

    expect(await rejection(local.execute("a.fail"))).toMatchObject({
      code: "CONFLICT",
      details: { by: "Bob" },
    })
    expect(await hanging).toMatchObject({ code: "ABORTED" })
    expect(await rejection(local.execute("a.hang", {}, { timeout: 250 }))).toMatchObject({
      code: "TIMEOUT",
    })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test.each([
    { first: "the registry", ahead: 50 },
    { first: "the link", ahead: -50 },
  ])(
    "mayHaveExecuted is reported alike when $first sees first that a call is over",
    async ({ ahead }) => {
      const handler = (): Promise<never> => new Promise(() => undefined)
      const hang = operation("demo.hang", { type: "mutation", handler })
      const { near } = served([hang])
      let status = { mayHaveExecuted: false, retryable: true }
      const link: Transport = {
        open: (receiver) => near.open(receiver),
        send: (event) => near.send(event),
        close: () => near.close(),
        deliveryStatus: () => status,
      }
      const clock: Clock = {
        now: () => Date.now() + ahead,
        setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
        clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
      }
      const local = quietRegistry(await fromCall(link), { clock })
      const run = (): Promise<unknown> =>
        rejection(local.execute("demo.hang", {}, { deadline: clock.now() + 100 }))

      expect(await run()).toMatchObject({
        code: "TIMEOUT",
        mayHaveExecuted: false,
        retryable: true,
      })
      status = { mayHaveExecuted: true, retryable: false }
      expect(await run()).toMatchObject({
        code: "TIMEOUT",
        mayHaveExecuted: true,
        retryable: false,
      })

      status = { mayHaveExecuted: false, retryable: true }
      const leaving = new AbortController()
      const left = rejection(local.execute("demo.hang", {}, { signal: leaving.signal }))
      leaving.abort()
      expect(await left).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    },
  )

  test("many operations come in pages, large ones in pieces", async () => {
    const many = Array.from({ length: 1203 }, (_, at) => operation(`many.op${at}`, {}))
    const large = Array.from({ length: 5 }, (_, at) =>
      operation(`large.op${at}`, { description: "x".repeat(200_000) }),
    )
    const { near } = served([...many, ...large])
    const operations = await fromCall(near)

    expect(operations).toHaveLength(1208)
    expect(new Set(operations.map(({ name, namespace }) => `${namespace}.${name}`)).size).toBe(1208)
  })

  test("attach follows what the peer adds, replaces and removes; close takes it all out", async () => {
    const { near, registry: remote } = served([greet])
    const local = quietRegistry([operation("own.thing", {})])
    const operations = await fromCall(near, { registry: local })
    remote.register(operation("new.thing", { handler: () => "new" }) as never)
    await waitFor(() => expect(ids(local)).toEqual(["demo.greet", "new.thing", "own.thing"]))
    remote.registerAll([operation("new.thing", { description: "Better" })], { replace: true })
    await waitFor(() => expect(local.getSpec("new.thing")?.description).toBe("Better"))
    remote.unregister("new.thing")
    await waitFor(() => expect(local.has("new.thing")).toBe(false))
    // Not visible, so nothing happens.
    remote.registerAll([operation("new.hidden", { visibility: "internal" })])
    await operations.close()
    await operations.close()

    expect(ids(local)).toEqual(["own.thing"])
  })

  test("an id that is taken: the import fails whole, a later one is left out", async () => {
    const { near, registry: remote } = served([greet])
    const taken = quietRegistry([greet])
    expect(
      await rejection(fromCall(near, { registry: taken, logger: silentLogger })),
    ).toMatchObject({ code: "CONFLICT" })
    expect(ids(taken)).toEqual(["demo.greet"])

    const local = quietRegistry([operation("own.thing", { description: "Mine" })])
    await using operations = await fromCall(near, { registry: local, logger: silentLogger })
    remote.registerAll([operation("own.thing", {}), operation("own.other", {})])
    await waitFor(() => expect(local.has("own.other")).toBe(true))

    expect(local.getSpec("own.thing")?.description).toBe("Mine")
    expect(operations).toHaveLength(1)
  })

  test("a lost peer fails its operations with UNAVAILABLE; those that only read may be repeated", async () => {
    const hang = { handler: () => new Promise(() => undefined) }
    const remote = [operation("a.read", { ...hang, type: "query" }), operation("a.write", hang)]
    const link = new Switchable()
    link.connect(quietRegistry(remote))
    const local = quietRegistry(await fromCall(link, { logger: silentLogger }))
    const outcomes = ["a.read", "a.write"].map((id) => rejection(local.execute(id)))
    link.receiver.lost(new CallError("UNAVAILABLE", "gone"))

    expect(await Promise.all(outcomes)).toMatchObject([
      { code: "UNAVAILABLE", mayHaveExecuted: true, retryable: true },
      { code: "UNAVAILABLE", mayHaveExecuted: true, retryable: false },
    ])
  })

  test("of a spec only what a spec is made of is taken over", async () => {
    const [near, far] = createMemoryTransports()
    const spec = { ...operation("a.b", {}), composes: ["*"], output: "off", handler: undefined }
    answer(far, {
      "services.list": { operations: [{ id: "a.b" }], hasMore: false },
      "services.schema": { specs: [spec], rest: [] },
    })
    const [imported] = await fromCall(near)

    expect(imported).toMatchObject({ namespace: "a", name: "b", handler: expect.any(Function) })
    expect(imported).not.toHaveProperty("composes")
    expect(imported).not.toHaveProperty("output")
  })

  test.each([
    ["services.list", undefined, {}],
    ["services.list", { operations: [null] }, {}],
    ["services.list", { operations: [{ id: 7 }] }, {}],
    ["services.schema", { operations: [{ id: "a.b" }] }, undefined],
    ["services.schema", { operations: [{ id: "a.b" }] }, { specs: ["x"], rest: [] }],
    ["services.schema", { operations: [{ id: "a.b" }] }, { specs: [], rest: ["a.b"] }],
  ])(
    "a peer whose %s answers nonsense is reported, not asked for ever",
    async (id, list, schema) => {
      const [near, far] = createMemoryTransports()
      answer(far, { "services.list": list, "services.schema": schema })

      expect(await rejection(fromCall(near))).toMatchObject({
        code: "EXECUTION_ERROR",
        message: expect.stringContaining(`"${id}"`),
      })
    },
  )

  test("a server that lists no operations is reported with what to do instead", async () => {
    const serve = toHTTP(quietRegistry([greet])).fetch
    const transport = createHTTPTransport("http://localhost", {
      fetch: async (input, init) => await serve(new Request(input, init)),
    })
    expect(await rejection(fromCall(transport))).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: expect.stringContaining("over HTTP, import its document with FromOpenAPIUrl()"),
    })
  })

  test("a call that comes before anyone serves is answered when someone does", async () => {
    const [near, far] = createMemoryTransports()
    const map = new PendingRequestMap(near)
    const early = [1, 2].map((n) => map.call("demo.greet", { name: String(n) }))
    serveCalls(quietRegistry([greet]), { transport: far })
    const late = map.call("demo.greet", { name: "3" })

    expect((await Promise.all([...early, late])).map(unwrap)).toEqual(
      [1, 2, 3].map((n) => ({ text: `Hello, ${n}` })),
    )
  })

  test("a peer that comes back is listed anew", async () => {
    const first = quietRegistry([greet, operation("old.thing", {})])
    const second = quietRegistry([greet, operation("new.thing", {})])
    const link = new Switchable()
    link.connect(first)
    const local = quietRegistry()
    await fromCall(link, { registry: local })
    expect(ids(local)).toEqual(["demo.greet", "old.thing"])
    const lost = rejection(local.subscribe("demo.count", {}).next())
    link.receiver.lost(new CallError("UNAVAILABLE", "gone"))
    expect(await lost).toBeInstanceOf(CallError)
    link.connect(second)
    link.receiver.restored()
    await waitFor(() => expect(ids(local)).toEqual(["demo.greet", "new.thing"]))

    expect(unwrap(await local.execute("demo.greet", { name: "x" }))).toEqual({ text: "Hello, x" })
  })

  test("a signal ends the import", async () => {
    const map = new PendingRequestMap()

    expect(
      await rejection(fromCall(map, { signal: AbortSignal.abort(new Error("enough")) })),
    ).toMatchObject({ code: "ABORTED" })
  })

  test("a burst of unread changes is reported as one", async () => {
    const { near, registry: remote } = served([])
    const map = new PendingRequestMap(near, { window: 1, logger: silentLogger })
    const changes = map.subscribe("services.changes")
    expect((await changes.next()).value?.data).toEqual({ type: "ready" })
    for (let at = 0; at < 1500; at++) remote.registerAll([operation(`many.op${at}`, {})])
    const seen: unknown[] = []
    for await (const { data } of changes) {
      seen.push((data as { type: string }).type)
      if (seen.includes("reset")) break
    }

    expect(seen.length).toBeLessThan(1500)
    expect(unwrap(await map.call("services.list", { limit: 2 }))).toMatchObject({ hasMore: true })
  })

  test("schemas that arrive are checked like any other", async () => {
    const { near } = served([
      operation("a.typed", { inputSchema: Type.Object({ n: Type.Number() }) }),
    ])
    const local = quietRegistry(await fromCall(near))

    expect(await rejection(local.execute("a.typed", { n: "1" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("streams come over the link of their caller, and can be left while it is awaited", async () => {
    const orders = operation("shop.count", {
      type: "subscription",
      async *handler(_input: never, { identity }: OperationContext) {
        yield identity?.id
        yield 2
      },
    })
    const link = (id: string) => {
      const [serving, calling] = createMemoryTransports()
      const resolveIdentity = () => ({ id, scopes: [] })
      const server = serveCalls(quietRegistry([orders]), { transport: serving, resolveIdentity })
      onTestFinished(() => server.close())
      return calling
    }
    await using gateway = quietRegistry()
    await fromCall(link("hub"), {
      registry: gateway,
      linkFor: ({ identity }) =>
        identity?.id === "nobody" ? new Promise(() => undefined) : link(identity?.id ?? "hub"),
    })
    const options = (id: string) => ({ identity: { id, scopes: [] } })
    const seen: unknown[] = []
    for await (const { data } of gateway.subscribe("shop.count", {}, options("ada"))) {
      seen.push(data)
    }
    expect(seen).toEqual(["ada", 2])

    const stream = gateway.subscribe("shop.count", {}, options("nobody"))
    const first = stream.next()
    await Promise.resolve()
    await stream.return()
    expect(await first).toMatchObject({ done: true })
  })

  test("says that nothing was executed if linkFor fails", async () => {
    const pay = operation("shop.pay", { handler: () => 1 })
    const [serving, calling] = createMemoryTransports()
    await using _server = serveCalls(quietRegistry([pay]), { transport: serving })
    await using gateway = quietRegistry()
    const failures = [new Error("No vault"), new CallError("UNAVAILABLE", "No vault"), "text"]
    const linkFor = async (): Promise<never> => {
      await Promise.resolve()
      throw failures[0]
    }
    await fromCall(calling, { registry: gateway, linkFor })
    for (const code of ["EXECUTION_ERROR", "UNAVAILABLE", "UNKNOWN_ERROR"]) {
      const error = await rejection(gateway.execute("shop.pay", {}))
      expect(error).toMatchObject({ code, mayHaveExecuted: false })
      failures.shift()
    }
  })

  test("says that nothing was executed if linkFor does not answer in time", async () => {
    const pay = operation("shop.pay", { handler: () => 1 })
    const [serving, calling] = createMemoryTransports()
    await using _server = serveCalls(quietRegistry([pay]), { transport: serving })
    await using gateway = quietRegistry()
    await fromCall(calling, { registry: gateway, linkFor: () => new Promise(() => undefined) })
    expect(await rejection(gateway.execute("shop.pay", {}, { timeout: 20 }))).toMatchObject({
      code: "TIMEOUT",
      mayHaveExecuted: false,
      retryable: true,
    })
  })
})

/** A peer that answers calls with the same values whatever is asked. */
function answer(far: Transport, values: Readonly<Record<string, unknown>>): void {
  far.open({
    ...inert,
    event: (event) => {
      const { type, requestId, operationId } = event as CallRequestedEvent
      if (type !== "call.requested") return
      const output = localEnvelope(values[operationId], operationId)
      far.send({ type: "call.responded", requestId, output })
    },
  })
}

/** A link whose far end can be exchanged. */
class Switchable implements Transport {
  receiver!: TransportReceiver
  #far: Transport | undefined

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  connect(registry: OperationRegistry): void {
    const [near, far] = createMemoryTransports()
    serveCalls(registry, { transport: far })
    near.open({ ...inert, event: (event) => this.receiver.event(event) })
    this.#far = near
  }

  send(event: CallEvent): void {
    this.#far?.send(event)
  }

  async close(): Promise<void> {}
}

const inert: TransportReceiver = { event() {}, undelivered() {}, lost() {}, restored() {} }
