import { Type } from "typebox"
import { describe, expectTypeOf, test } from "vitest"
import {
  createRegistry,
  defineContextValue,
  defineOperation,
  localEnvelope,
} from "../../src/index.ts"
import type {
  CallError,
  Change,
  EnvelopeStream,
  Identity,
  Middleware,
  MiddlewareCall,
  MiddlewareFunction,
  Next,
  OperationSpec,
  ResponseEnvelope,
  StreamNext,
} from "../../src/index.ts"

interface Tenant {
  readonly id: string
}
const tenant = defineContextValue<Tenant>("tenant")

const add = defineOperation({
  namespace: "note",
  name: "add",
  type: "mutation",
  description: "Adds a note",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ id: Type.Number() }),
  accessControl: { requiredScopes: [] },
  use: [
    (call, next) => {
      expectTypeOf(call).toEqualTypeOf<MiddlewareCall>()
      expectTypeOf(next).toEqualTypeOf<Next>()
      return next()
    },
    {
      for(spec) {
        expectTypeOf(spec).toEqualTypeOf<OperationSpec>()
        return undefined
      },
    },
  ],
  resilience: {
    fallback: (error, call) => {
      expectTypeOf(error).toEqualTypeOf<CallError>()
      expectTypeOf(call).toEqualTypeOf<MiddlewareCall>()
      return { id: 0 }
    },
    rateLimit: { perSecond: 1, per: (call) => call.operationId },
    cache: { ttl: 1, vary: (call) => call.identity?.id ?? "" },
  },
  handler: (input, context) => {
    expectTypeOf(input).toEqualTypeOf<{ text: string }>()
    expectTypeOf(tenant.read(context)).toEqualTypeOf<Tenant>()
    return { id: input.text.length }
  },
})
const registry = createRegistry([add])

describe("middleware", () => {
  test("is inferred where it is written, and leaves the types of its operation", async () => {
    const remove = registry.use((call, next) => {
      expectTypeOf(call).toEqualTypeOf<MiddlewareCall>()
      expectTypeOf(next()).toEqualTypeOf<Promise<ResponseEnvelope>>()
      return next({ metadata: tenant.provide({ id: "a" }), timeout: 1 })
    })
    expectTypeOf(remove).toEqualTypeOf<() => void>()
    expectTypeOf((await registry.execute("note.add", { text: "" })).data).toEqualTypeOf<{
      id: number
    }>()
    const whole: Middleware = {
      call: (_call, next) => next(),
      async *stream(call, next) {
        expectTypeOf(call).toEqualTypeOf<MiddlewareCall>()
        expectTypeOf(next).toEqualTypeOf<StreamNext>()
        expectTypeOf(next()).toEqualTypeOf<EnvelopeStream>()
        yield* next()
      },
    }
    registry.use(whole, { match: ["note.*"], name: "whole" })
  })

  test("sees nothing as any", () => {
    expectTypeOf<MiddlewareCall["input"]>().toBeUnknown()
    expectTypeOf<MiddlewareCall["identity"]>().toEqualTypeOf<Identity | undefined>()
    expectTypeOf<Change["input"]>().toBeUnknown()
    expectTypeOf<Awaited<ReturnType<Next>>["data"]>().toBeUnknown()
    type Keys = keyof MiddlewareCall
    type AnyKeys = { [TKey in Keys]: 0 extends 1 & MiddlewareCall[TKey] ? TKey : never }[Keys]
    expectTypeOf<AnyKeys>().toBeNever()
  })

  test("cannot be something else", () => {
    // @ts-expect-error Data without an envelope.
    const data: MiddlewareFunction = () => Promise.resolve({ id: 1 })
    // @ts-expect-error An envelope without a promise of it.
    const early: MiddlewareFunction = (call) => localEnvelope(1, call.operationId)
    // @ts-expect-error The identity cannot be changed.
    const other: MiddlewareFunction = (_call, next) => next({ identity: { id: "b", scopes: [] } })
    const assigning: MiddlewareFunction = (call, next) => {
      // @ts-expect-error The input is changed with next({ input }).
      call.input = 1
      return next()
    }
    // @ts-expect-error A value of another type.
    tenant.provide("a")
    // @ts-expect-error A policy that does not exist.
    const unknown = { ...add, resilience: { retries: 3 } } satisfies {
      resilience: object
    } & Parameters<typeof defineOperation>[0]
    expectTypeOf([data, early, other, assigning, unknown]).toBeArray()
  })
})
