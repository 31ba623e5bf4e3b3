import { Type } from "typebox"
import { describe, expectTypeOf, test } from "vitest"
import {
  createClient,
  createRegistry,
  defineOperation,
  fromCall,
  OperationRegistry,
  PendingRequestMap,
  serveCalls,
} from "../../src/index.ts"
import { createMemoryTransports } from "../../src/testing.ts"
import type {
  AnyOperation,
  CallLink,
  CallRequestedEvent,
  CallServer,
  Client,
  EnvelopeStream,
  Identity,
  OperationsOf,
  PendingOptions,
  PendingResponse,
  PendingSubscription,
  RemoteOperations,
  ResponseEnvelope,
  Transport,
} from "../../src/index.ts"

const access = { requiredScopes: [] as const }

const create = defineOperation({
  namespace: "task",
  name: "create",
  type: "mutation",
  description: "Creates a task",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ id: Type.String(), done: Type.Boolean() }),
  accessControl: access,
  handler: ({ title }) => ({ id: title, done: false }),
})

const watch = defineOperation({
  namespace: "task",
  name: "watch",
  type: "subscription",
  description: "Streams tasks",
  inputSchema: Type.Object({ since: Type.Number() }),
  outputSchema: Type.Object({ at: Type.Number() }),
  accessControl: access,
  async *handler({ since }) {
    yield { at: since }
  },
})

const ping = defineOperation({
  namespace: "system",
  name: "ping.deep",
  type: "query",
  description: "Answers",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Number(),
  accessControl: access,
  handler: () => 1,
})

const shut = defineOperation({ ...ping, namespace: "close", name: "door" })

const registry = createRegistry([create, watch, ping, shut])
const [link] = createMemoryTransports()
const client = createClient<typeof registry>(link)
type Task = { id: string; done: boolean }

describe("types of a client", () => {
  test("operations are functions, typed like the registry", () => {
    expectTypeOf(client.task.create({ title: "Milk" })).toEqualTypeOf<PendingResponse<Task>>()
    expectTypeOf(client.system["ping.deep"]()).toEqualTypeOf<PendingResponse<number>>()
    // @ts-expect-error the input misses its title
    void client.task.create({})
    // @ts-expect-error the title is a number
    void client.task.create({ title: 1 })
    // @ts-expect-error the input cannot be left out
    void client.task.create()
    // @ts-expect-error there is no such operation
    void client.task.creat({ title: "Milk" })
    // @ts-expect-error there is no such namespace
    void client.tusk.create({ title: "Milk" })
  })

  test("what is awaited is an envelope with the data of the operation", async () => {
    const envelope = await client.task.create({ title: "Milk" })
    expectTypeOf(envelope).toEqualTypeOf<ResponseEnvelope<Task>>()
    expectTypeOf(envelope.data.done).toEqualTypeOf<boolean>()
    const [first, second] = await Promise.all([
      client.task.create({ title: "Milk" }),
      client.system["ping.deep"](),
    ])
    expectTypeOf(first.data).toEqualTypeOf<Task>()
    expectTypeOf(second.data).toEqualTypeOf<number>()
  })

  test("subscriptions are streams", async () => {
    const stream = client.task.watch({ since: 1 })
    expectTypeOf(stream).toEqualTypeOf<PendingSubscription<{ at: number }>>()
    expectTypeOf(stream).toExtend<EnvelopeStream<{ at: number }>>()
    for await (const { data } of stream) expectTypeOf(data).toEqualTypeOf<{ at: number }>()
    // @ts-expect-error since is missing
    client.task.watch({})
    // @ts-expect-error a call is no stream
    void client.task.create({ title: "Milk" }).next
    // @ts-expect-error a stream is no promise
    void client.task.watch({ since: 1 }).then
  })

  test("call and subscribe take ids, and tell calls from streams", () => {
    expectTypeOf(client.call("task.create", { title: "Milk" })).toEqualTypeOf<
      PendingResponse<Task>
    >()
    expectTypeOf(client.subscribe("task.watch", { since: 1 })).toEqualTypeOf<
      PendingSubscription<{ at: number }>
    >()
    // @ts-expect-error the title is a number
    void client.call("task.create", { title: 1 })
    // @ts-expect-error a subscription is not called
    void client.call("task.watch", { since: 1 })
    // @ts-expect-error a mutation is not subscribed to
    client.subscribe("task.create", { title: "Milk" })
  })

  test("an id that is not known statically works with unknown", () => {
    const id: string = "task.create"
    expectTypeOf(client.call(id, 1)).toEqualTypeOf<PendingResponse>()
    expectTypeOf(client.call(`task.${id}`)).toEqualTypeOf<PendingResponse>()
    expectTypeOf(client.subscribe(id)).toEqualTypeOf<PendingSubscription>()
  })

  test("an id that is known not to be registered is refused", () => {
    // @ts-expect-error did you mean task.create?
    void client.call("task.craete", { title: "Milk" })
    // @ts-expect-error not registered
    expectTypeOf(client.subscribe("other.thing")).toEqualTypeOf<PendingSubscription>()
  })

  test("a namespace that is called like a method is reached by id", () => {
    expectTypeOf<(typeof client)["close"]>().toEqualTypeOf<() => Promise<void>>()
    expectTypeOf(client.call("close.door")).toEqualTypeOf<PendingResponse<number>>()
  })

  test("options are checked", () => {
    const { signal } = new AbortController()
    const options = { signal, timeout: 5000, metadata: { tenant: 1 } }
    expectTypeOf(client.task.create({ title: "Milk" }, options)).toExtend<PendingResponse>()
    expectTypeOf(options).toExtend<PendingOptions>()
    client.task.watch({ since: 1 }, { idleTimeout: 1000, window: 16 })
    // @ts-expect-error a deadline is a number
    void client.task.create({ title: "Milk" }, { deadline: new Date() })
    // @ts-expect-error there is no such option
    void client.task.create({ title: "Milk" }, { retries: 5 })
  })

  test("a client without a registry takes anything, and gives unknown by id", async () => {
    const untyped = createClient(link)
    expectTypeOf(untyped.call("task.create", 1)).toEqualTypeOf<PendingResponse>()
    expectTypeOf(untyped.subscribe("task.watch", 1)).toEqualTypeOf<PendingSubscription>()
    const { data } = await untyped.call("task.create", { title: "Milk" })
    expectTypeOf(data).toEqualTypeOf<unknown>()
    // Compiled with `noUncheckedIndexedAccess`: there is a function for every name.
    expectTypeOf(untyped["task"].create({ title: "Milk" })).toBeAny()
    expectTypeOf(untyped["task"].create).toBeCallableWith({ title: "Milk" }, { timeout: 1 })
    expectTypeOf<(typeof untyped)["close"]>().toEqualTypeOf<() => Promise<void>>()
  })

  test("its type can be written down", () => {
    expectTypeOf(client).toEqualTypeOf<Client<OperationsOf<typeof registry>>>()
    expectTypeOf<keyof OperationsOf<typeof registry>>().toEqualTypeOf<
      "task.create" | "task.watch" | "system.ping.deep" | "close.door"
    >()
    expectTypeOf(client).toExtend<AsyncDisposable>()
  })
})

describe("types of pending requests", () => {
  test("know their request", () => {
    expectTypeOf<PendingResponse<Task>>().toExtend<Promise<ResponseEnvelope<Task>>>()
    expectTypeOf<PendingResponse["requestId"]>().toEqualTypeOf<string>()
    expectTypeOf<PendingResponse["abort"]>().toEqualTypeOf<(reason?: string) => void>()
    expectTypeOf<PendingSubscription["requestId"]>().toEqualTypeOf<string>()
    expectTypeOf<PendingSubscription["abort"]>().toEqualTypeOf<(reason?: string) => void>()
  })

  test("of a map are unknown", () => {
    const map = new PendingRequestMap()
    expectTypeOf(map.call("task.create", {})).toEqualTypeOf<PendingResponse>()
    expectTypeOf(map.subscribe("task.watch", {})).toEqualTypeOf<PendingSubscription>()
    expectTypeOf(map.getPendingCount()).toEqualTypeOf<number>()
    // @ts-expect-error a raw value is no envelope
    map.respond("request", { id: "1" })
    // @ts-expect-error a message belongs to a code
    map.emitError("request", "SOLD_OUT")
  })
})

describe("types of links", () => {
  test("an event target, a transport and a map are links", () => {
    expectTypeOf<EventTarget>().toExtend<CallLink>()
    expectTypeOf<Transport>().toExtend<CallLink>()
    expectTypeOf<PendingRequestMap>().toExtend<CallLink>()
    // @ts-expect-error a registry is no link
    createClient<typeof registry>(registry)
  })

  test("serveCalls takes any registry, and who resolves identities is typed", () => {
    const server = serveCalls(registry, {
      transport: new EventTarget(),
      resolveIdentity: (event, peer) => {
        expectTypeOf(event).toEqualTypeOf<CallRequestedEvent>()
        expectTypeOf(peer.identity).toEqualTypeOf<Identity | undefined>()
        return peer.identity
      },
    })
    expectTypeOf(server).toEqualTypeOf<CallServer>()
    // @ts-expect-error an identity has scopes
    serveCalls(registry, { transport: new EventTarget(), resolveIdentity: () => ({ id: "ada" }) })
  })

  test("fromCall gives definitions that any registry takes", async () => {
    const remote = await fromCall(link, {
      namespace: "peer",
      filter: (spec) => spec.type === "query" && spec.visibility !== "internal",
    })
    expectTypeOf(remote).toEqualTypeOf<RemoteOperations>()
    expectTypeOf(remote[0]).toEqualTypeOf<AnyOperation | undefined>()
    new OperationRegistry().registerAll(remote)
    const detach = await remote.attach(registry)
    expectTypeOf(detach).toEqualTypeOf<() => Promise<void>>()
    // @ts-expect-error a link is needed
    void fromCall()
    // @ts-expect-error a namespace is a string
    void fromCall(link, { namespace: 1 })
  })
})

test("a client has no member `then`, which would make it a promise; such operations are called by their ids", () => {
  type Then = Client<{
    "then.go": typeof create
    "task.then": typeof create
    "task.create": typeof create
  }>
  expectTypeOf<"then" extends keyof Then ? true : false>().toEqualTypeOf<false>()
  expectTypeOf<keyof Then["task"]>().toEqualTypeOf<"create">()
  expectTypeOf<Awaited<Then>>().toEqualTypeOf<Then>()
})
