import { Type } from "typebox"
import { describe, expectTypeOf, test } from "vitest"
import {
  buildEnv,
  createRegistry,
  defineOperation,
  isDeclaredError,
  OperationRegistry,
  OperationType,
  subscribe,
} from "../../src/index.ts"
import type {
  AnyOperation,
  AnyRegistry,
  CallError,
  EnvelopeStream,
  NotCallable,
  OperationsOf,
  ResponseEnvelope,
} from "../../src/index.ts"
import type { Executable, Subscribable } from "../../src/core/infer.ts"

const create = defineOperation({
  namespace: "task",
  name: "create",
  version: "1.0.0",
  type: OperationType.MUTATION,
  description: "Creates a task",
  inputSchema: Type.Object({
    title: Type.String(),
    tags: Type.Optional(Type.Array(Type.String())),
  }),
  outputSchema: Type.Object({ id: Type.String(), done: Type.Boolean() }),
  errorSchemas: [
    { code: "TITLE_TAKEN", description: "", schema: Type.Object({ takenBy: Type.String() }) },
    { code: "QUOTA", description: "", schema: Type.Object({ limit: Type.Number() }) },
  ],
  accessControl: { requiredScopes: ["task.write"] },
  handler: (input, context) => {
    expectTypeOf(input).toEqualTypeOf<{ title: string; tags?: string[] }>()
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
    return { id: input.title, done: false }
  },
})

const watch = defineOperation({
  namespace: "task",
  name: "watch",
  type: "subscription",
  description: "Streams tasks",
  inputSchema: { type: "object", properties: { since: { type: "number" } }, required: ["since"] },
  outputSchema: { type: "object", properties: { at: { type: "number" } }, required: ["at"] },
  accessControl: { requiredScopes: [] },
  async *handler(input) {
    expectTypeOf(input.since).toEqualTypeOf<number>()
    yield { at: input.since }
  },
})

const ping = defineOperation({
  namespace: "system",
  name: "ping.deep",
  type: "query",
  description: "Answers",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: () => 1,
})

const registry = createRegistry([create, watch, ping])
type Task = { id: string; done: boolean }

describe("types of a registry", () => {
  test("execute infers input and output from the id", () => {
    expectTypeOf(registry.execute("task.create", { title: "Milk" })).toEqualTypeOf<
      Promise<ResponseEnvelope<Task>>
    >()
    expectTypeOf(registry.trusted.execute("task.create", { title: "Milk" })).toEqualTypeOf<
      Promise<ResponseEnvelope<Task>>
    >()
    // @ts-expect-error the input misses its title
    void registry.execute("task.create", {})
    // @ts-expect-error the title is a number
    void registry.execute("task.create", { title: 1 })
    // @ts-expect-error the input cannot be left out
    void registry.execute("task.create")
    // @ts-expect-error a subscription is not executed
    void registry.execute("task.watch", { since: 1 })
  })

  test("an input that admits undefined can be left out", () => {
    expectTypeOf(registry.execute("system.ping.deep")).toEqualTypeOf<
      Promise<ResponseEnvelope<number>>
    >()
  })

  test("an id that is not known statically works with unknown", () => {
    const id: string = "task.create"
    expectTypeOf(registry.execute(id, 1)).toEqualTypeOf<Promise<ResponseEnvelope>>()
    expectTypeOf(registry.execute(`task.${id}`)).toEqualTypeOf<Promise<ResponseEnvelope>>()
    expectTypeOf(registry.subscribe(id, 1)).toEqualTypeOf<EnvelopeStream>()
  })

  test("one of several known ids gives one of their results", () => {
    const id = "task.create" as "task.create" | "system.ping.deep"
    expectTypeOf(registry.execute(id, { title: "Milk" })).toEqualTypeOf<
      Promise<ResponseEnvelope<Task | number>>
    >()
  })

  test("an id that is known not to be registered is refused", () => {
    // @ts-expect-error did you mean task.create?
    void registry.execute("task.craete", { title: "Milk" })
    // @ts-expect-error not registered
    void registry.execute("other.thing")
    // @ts-expect-error not registered
    void registry.trusted.execute("other.thing")
    // @ts-expect-error did you mean task.watch?
    registry.subscribe("task.wach", { since: 1 })
    // @ts-expect-error did you mean task.watch?
    expectTypeOf(subscribe(registry, "task.watchs", { since: 1 })).toExtend<EnvelopeStream>()
  })

  test("where nothing is known statically, every id is taken", () => {
    const untyped = new OperationRegistry()
    expectTypeOf(untyped.execute("task.create")).toEqualTypeOf<Promise<ResponseEnvelope>>()
    expectTypeOf(untyped.subscribe("task.watch")).toEqualTypeOf<EnvelopeStream>()
    const imported: AnyOperation[] = []
    const some = createRegistry([create, ...imported])
    expectTypeOf(some.execute("other.thing")).toEqualTypeOf<Promise<ResponseEnvelope>>()
  })

  test("the compiler says why it refuses an id", () => {
    type Known = OperationsOf<typeof registry>
    expectTypeOf<Executable<Known, "task.craete">>().toEqualTypeOf<
      NotCallable<"task.craete is not registered: did you mean task.create?">
    >()
    expectTypeOf<Executable<Known, "task.creat">>().toEqualTypeOf<
      NotCallable<"task.creat is not registered: did you mean task.create?">
    >()
    expectTypeOf<Executable<Known, "tasks.create">>().toEqualTypeOf<
      NotCallable<"tasks.create is not registered: did you mean task.create?">
    >()
    expectTypeOf<Executable<Known, "tusk.create">>().toEqualTypeOf<
      NotCallable<"tusk.create is not registered: did you mean task.create?">
    >()
    expectTypeOf<Executable<Known, "task.delete">>().toEqualTypeOf<
      NotCallable<"task.delete is not registered">
    >()
    expectTypeOf<Executable<Known, "task.watch">>().toEqualTypeOf<
      NotCallable<"task.watch is a subscription: use subscribe()">
    >()
    expectTypeOf<Subscribable<Known, "task.create">>().toEqualTypeOf<
      NotCallable<"task.create is not a subscription: use execute()">
    >()
    expectTypeOf<Executable<Known, "task.create">>().toEqualTypeOf<Known["task.create"]>()
    expectTypeOf<Executable<Known, string>>().toEqualTypeOf<unknown>()
  })

  test("subscribe infers its items", () => {
    expectTypeOf(registry.subscribe("task.watch", { since: 1 })).toEqualTypeOf<
      EnvelopeStream<{ at: number }>
    >()
    expectTypeOf(subscribe(registry, "task.watch", { since: 1 })).toEqualTypeOf<
      EnvelopeStream<{ at: number }>
    >()
    // @ts-expect-error since is missing
    registry.subscribe("task.watch", {})
    // @ts-expect-error a mutation is not a stream
    registry.subscribe("task.create", { title: "x" })
  })

  test("chained registrations add up", () => {
    const chained = new OperationRegistry().register(create).register(ping)
    expectTypeOf(chained.execute("task.create", { title: "x" })).toEqualTypeOf<
      Promise<ResponseEnvelope<Task>>
    >()
    // @ts-expect-error the title is a number
    void chained.execute("task.create", { title: 1 })
    expectTypeOf(chained.execute("system.ping.deep")).toEqualTypeOf<
      Promise<ResponseEnvelope<number>>
    >()
  })

  test("a handler registered on a typed registry has a typed env", () => {
    registry.register({
      namespace: "task",
      name: "copy",
      version: "1.0.0",
      type: "mutation",
      description: "Copies a task",
      inputSchema: Type.Object({ title: Type.String() }),
      outputSchema: Type.Object({ id: Type.String() }),
      accessControl: { requiredScopes: [] },
      handler: async (input, context) => {
        expectTypeOf(context.env.task.create({ title: "x" })).toEqualTypeOf<
          Promise<ResponseEnvelope<Task>>
        >()
        expectTypeOf(context.call("task.create", { title: "x" })).toEqualTypeOf<
          Promise<ResponseEnvelope<Task>>
        >()
        expectTypeOf(context.subscribe("task.watch", { since: 1 })).toEqualTypeOf<
          EnvelopeStream<{ at: number }>
        >()
        // @ts-expect-error the title is a number
        void context.env.task.create({ title: 1 })
        // @ts-expect-error there is no such operation
        void context.env.task.craete({ title: "x" })
        // @ts-expect-error did you mean task.create?
        void context.call("task.craete", { title: "x" })
        // @ts-expect-error did you mean task.watch?
        context.subscribe("task.wacth", { since: 1 })
        // @ts-expect-error a stream is not in the env
        void context.env.task.watch({ since: 1 })
        expectTypeOf(context.env.system["ping.deep"]()).toEqualTypeOf<
          Promise<ResponseEnvelope<number>>
        >()
        return { id: input.title }
      },
    })
  })

  test("buildEnv is typed by its registry", () => {
    const env = buildEnv({ registry })
    expectTypeOf(env.task.create({ title: "x" })).toEqualTypeOf<Promise<ResponseEnvelope<Task>>>()
    // @ts-expect-error there is no such namespace
    void env.nothing
  })

  test("declared errors are told apart by their code", () => {
    const error: unknown = undefined
    if (isDeclaredError(create, error)) {
      expectTypeOf(error).toEqualTypeOf<
        CallError<"TITLE_TAKEN", { takenBy: string }> | CallError<"QUOTA", { limit: number }>
      >()
      if (error.code === "QUOTA") {
        expectTypeOf(error.details).toEqualTypeOf<{ limit: number } | undefined>()
      }
    }
  })

  test("a handler must give what its output schema says", () => {
    const wrong = defineOperation({
      namespace: "a",
      name: "b",
      type: "query",
      description: "",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Object({ id: Type.String() }),
      accessControl: { requiredScopes: [] },
      // @ts-expect-error the id is a number
      handler: () => ({ id: 1 }),
    })
    expectTypeOf(wrong.name).toEqualTypeOf<"b">()
  })

  test("an env of which nothing is known can be called, whatever the compiler checks of indexes", () => {
    defineOperation({
      ...ping,
      name: "env",
      handler: async (_input, context) => {
        const { data } = await context.env["task"].create({ title: "x" })
        expectTypeOf(data).toBeAny()
        return 1
      },
    })
  })

  test("a typed registry is still a registry", () => {
    expectTypeOf(registry).toExtend<AnyRegistry>()
    expectTypeOf(new OperationRegistry()).toExtend<AnyRegistry>()
  })
})
