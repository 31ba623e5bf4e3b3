import { Type } from "typebox"
import { describe, expectTypeOf, test } from "vitest"
import {
  buildEnv,
  createClient,
  createRegistry,
  defineOperation,
  isDeclaredError,
  OperationRegistry,
} from "../../src/index.ts"
import { createMemoryTransports } from "../../src/testing.ts"
import { createQueryUtils } from "../../src/tanstack-query.ts"
import type {
  AnyRegistry,
  CallError,
  EnvelopeStream,
  OperationEnv,
  OperationsOf,
  PendingResponse,
  PendingSubscription,
  ResponseEnvelope,
} from "../../src/index.ts"

const rest = { description: "", accessControl: { requiredScopes: [] } } as const

const create = defineOperation({
  ...rest,
  type: "mutation",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ id: Type.String() }),
  errorSchemas: [{ code: "FULL", description: "", schema: Type.Object({ limit: Type.Number() }) }],
  handler: ({ title }) => ({ id: title }),
})

const watch = defineOperation({
  ...rest,
  type: "subscription",
  inputSchema: Type.Object({ since: Type.Number() }),
  outputSchema: Type.Object({ at: Type.Number() }),
  async *handler({ since }) {
    yield { at: since }
  },
})

const ping = defineOperation({
  ...rest,
  type: "query",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Number(),
  handler: () => 1,
})

const named = defineOperation({ ...ping, namespace: "system", name: "ping" })

const registry = createRegistry({
  task: { create, watch },
  shop: { orders: { get: ping, "by.day": ping, call: ping }, 1: ping },
  close: { door: ping },
  then: { then: ping },
  system: { ping: named, then: ping },
})
const [link] = createMemoryTransports()
const client = createClient<typeof registry>(link)
type Task = { id: string }

describe("types of a registry from an object", () => {
  test("its ids come from the keys", () => {
    expectTypeOf<keyof OperationsOf<typeof registry> & string>().toEqualTypeOf<
      | "task.create"
      | "task.watch"
      | "shop.orders.get"
      | "shop.orders.by.day"
      | "shop.orders.call"
      | "shop.1"
      | "close.door"
      | "then.then"
      | "system.ping"
      | "system.then"
    >()
    expectTypeOf(registry).toExtend<AnyRegistry>()
  })

  test("execute and subscribe infer input and output from the id", () => {
    expectTypeOf(registry.execute("task.create", { title: "Milk" })).toEqualTypeOf<
      Promise<ResponseEnvelope<Task>>
    >()
    expectTypeOf(registry.subscribe("task.watch", { since: 1 })).toEqualTypeOf<
      EnvelopeStream<{ at: number }>
    >()
    for (const id of ["shop.orders.get", "shop.orders.by.day", "shop.1", "then.then"] as const) {
      expectTypeOf(registry.execute(id)).toEqualTypeOf<Promise<ResponseEnvelope<number>>>()
    }
    // @ts-expect-error the title is a number
    void registry.execute("task.create", { title: 1 })
    // @ts-expect-error the input cannot be left out
    void registry.execute("task.create")
    // @ts-expect-error did you mean shop.orders.get?
    void registry.execute("shop.orders.gte")
    // @ts-expect-error this is not an operation
    void registry.execute("shop.orders")
    // @ts-expect-error a subscription is not executed
    void registry.execute("task.watch", { since: 1 })
    const id: string = "x.y"
    expectTypeOf(registry.execute(id, 1)).toEqualTypeOf<Promise<ResponseEnvelope>>()
  })

  test("clients have functions for all keys, at every depth", () => {
    expectTypeOf(client.task.create({ title: "Milk" })).toEqualTypeOf<PendingResponse<Task>>()
    expectTypeOf(client.task.watch({ since: 1 })).toEqualTypeOf<
      PendingSubscription<{ at: number }>
    >()
    expectTypeOf(client.shop.orders.get()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(client.shop.orders["by.day"]()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(client.shop[1]()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(client.call("shop.orders.call")).toEqualTypeOf<PendingResponse<number>>()
    // @ts-expect-error the title is a number
    void client.task.create({ title: 1 })
    // @ts-expect-error there is no such operation
    void client.task.creat({ title: "Milk" })
    // @ts-expect-error a nested object is not an operation
    void client.shop.orders()
  })

  test("names that a client or a function has already are reached by id", () => {
    expectTypeOf<(typeof client)["close"]>().toEqualTypeOf<() => Promise<void>>()
    expectTypeOf(client.call("close.door")).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf<Awaited<typeof client>>().toEqualTypeOf<typeof client>()
    expectTypeOf<Awaited<typeof client.system>>().toEqualTypeOf<typeof client.system>()
    expectTypeOf(client.shop.orders.call).toEqualTypeOf<undefined>()
    expectTypeOf(client.call("system.then")).toEqualTypeOf<PendingResponse<number>>()
  })

  test("an env has its queries and mutations", () => {
    const env = buildEnv({ registry })
    expectTypeOf(env.task.create({ title: "x" })).toEqualTypeOf<Promise<ResponseEnvelope<Task>>>()
    expectTypeOf(env.shop.orders.get()).toEqualTypeOf<Promise<ResponseEnvelope<number>>>()
    // @ts-expect-error a stream is not in the env
    void env.task.watch({ since: 1 })
    // @ts-expect-error there is no such namespace
    void env.nothing
  })

  test("query utils have all keys, at every depth", () => {
    const utils = createQueryUtils(client)
    expectTypeOf(utils.shop.orders.get.queryOptions().queryFn).returns.toEqualTypeOf<
      Promise<number>
    >()
    expectTypeOf(utils.task.create.mutationOptions().mutationFn).returns.toEqualTypeOf<
      Promise<Task>
    >()
    expectTypeOf(utils.shop.orders.key()).toExtend<readonly unknown[]>()
  })

  test("names with dots are nested objects for operations of lists and of generated types, too", () => {
    const dotted = { ...ping, namespace: "shop", version: "1" } as const
    const listed = createRegistry([
      defineOperation({ ...dotted, name: "orders.get" }),
      defineOperation({ ...dotted, name: "orders.lines.list" }),
      defineOperation({ ...dotted, name: "orders.call" }),
      defineOperation({ ...dotted, name: "ping" }),
    ])
    const byList = createClient<typeof listed>(link)
    expectTypeOf(byList.shop.orders.get()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(byList.shop.orders.lines.list()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(byList.shop["orders.get"]()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(byList.shop.ping()).toEqualTypeOf<PendingResponse<number>>()
    // @ts-expect-error there is no such operation
    void byList.shop.orders.gte()
    // @ts-expect-error functions have a method of this name
    void byList.shop.orders.call()
    const env = buildEnv({ registry: listed })
    expectTypeOf(env.shop.orders.get()).toEqualTypeOf<Promise<ResponseEnvelope<number>>>()
    const { queryOptions } = createQueryUtils(byList).shop.orders.lines.list
    expectTypeOf(queryOptions().queryFn).returns.toEqualTypeOf<Promise<number>>()

    interface Generated {
      "shop.orders": { type: "query"; input: undefined; output: string; errors: never }
      "shop.orders.get": { type: "query"; input: { id: string }; output: number; errors: never }
    }
    const generated = createClient<OperationRegistry<Generated>>(link)
    expectTypeOf(generated.shop.orders()).toEqualTypeOf<PendingResponse<string>>()
    expectTypeOf(generated.shop.orders.get({ id: "x" })).toEqualTypeOf<PendingResponse<number>>()
    // @ts-expect-error operations of an env have no members
    void ({} as OperationEnv<Generated>).shop.orders.get
    // @ts-expect-error the id is a string
    void generated.shop.orders.get({ id: 1 })
  })

  test("further operations add up, in the same namespace too", () => {
    const more = registry.register({ ...named, namespace: "task", name: "count", version: "1" })
    expectTypeOf(more.execute("task.count")).toEqualTypeOf<Promise<ResponseEnvelope<number>>>()
    const both = createClient<typeof more>(link)
    expectTypeOf(both.task.count()).toEqualTypeOf<PendingResponse<number>>()
    expectTypeOf(both.task.create({ title: "x" })).toEqualTypeOf<PendingResponse<Task>>()
    const chained = more.register({
      ...rest,
      namespace: "a",
      name: "b",
      version: "1.0.0",
      type: "query",
      inputSchema: Type.Unknown(),
      outputSchema: Type.String(),
      handler: async (_input, { env }) => (await env.task.create({ title: "x" })).data.id,
    })
    expectTypeOf(chained.execute("a.b")).toEqualTypeOf<Promise<ResponseEnvelope<string>>>()
  })

  test("an empty object knows nothing, and takes every id", () => {
    const none = createRegistry({})
    expectTypeOf(none.execute("task.create")).toEqualTypeOf<Promise<ResponseEnvelope>>()
    expectTypeOf(createClient<typeof none>(link)["task"].create).toBeAny()
  })

  test("operations without names are operations like others", () => {
    expectTypeOf(create.namespace).toEqualTypeOf<undefined>()
    const error: unknown = undefined
    if (isDeclaredError(create, error)) {
      expectTypeOf(error).toEqualTypeOf<CallError<"FULL", { limit: number }>>()
    }
    // @ts-expect-error it has no namespace
    createRegistry([create])
    // @ts-expect-error it has no namespace
    new OperationRegistry().register(create)
    // @ts-expect-error this is not an operation
    createRegistry({ task: { create: 1 } })
    // @ts-expect-error a handler is not an operation
    createRegistry({ task: { create: () => 1 } })
  })

  test("operations can be written in the object", () => {
    const inline = createRegistry({
      task: {
        create: defineOperation({
          ...rest,
          type: "mutation",
          inputSchema: Type.Object({ title: Type.String() }),
          outputSchema: Type.Object({ id: Type.String() }),
          handler: (input) => {
            expectTypeOf(input).toEqualTypeOf<{ title: string }>()
            return { id: input.title }
          },
        }),
      },
    })
    expectTypeOf(inline.execute("task.create", { title: "x" })).toEqualTypeOf<
      Promise<ResponseEnvelope<Task>>
    >()
  })
})
