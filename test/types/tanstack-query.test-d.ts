import { QueryClient, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query"
import type { InfiniteData } from "@tanstack/react-query"
import { Type } from "typebox"
import { describe, expectTypeOf, test } from "vitest"
import { createClient, createRegistry, defineOperation } from "../../src/index.ts"
import type { CallError, CallLink } from "../../src/index.ts"
import { createQueryUtils } from "../../src/tanstack-query.ts"
import type { OperationKey } from "../../src/tanstack-query.ts"

const base = { description: "", accessControl: { requiredScopes: [] } } as const

const find = defineOperation({
  ...base,
  namespace: "task",
  name: "find",
  type: "query",
  inputSchema: Type.Object({ after: Type.Integer() }),
  outputSchema: Type.Object({ titles: Type.Array(Type.String()), next: Type.Integer() }),
  handler: () => ({ titles: [], next: 0 }),
})
const ping = defineOperation({
  ...base,
  namespace: "task",
  name: "ping",
  type: "query",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Boolean(),
  handler: () => true,
})
const create = defineOperation({
  ...base,
  namespace: "task",
  name: "create",
  type: "mutation",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ id: Type.Integer() }),
  handler: () => ({ id: 1 }),
})
const watch = defineOperation({
  ...base,
  namespace: "task",
  name: "watch",
  type: "subscription",
  inputSchema: Type.Object({ since: Type.Integer() }),
  outputSchema: Type.Object({ at: Type.Integer() }),
  async *handler() {
    yield { at: 1 }
  },
})

const registry = createRegistry([find, ping, create, watch])
declare const link: CallLink
const utils = createQueryUtils(createClient<typeof registry>(link))
const cache = new QueryClient()

interface Page {
  titles: string[]
  next: number
}

describe("createQueryUtils", () => {
  test("types data and errors of queries", async () => {
    const query = useQuery(utils.task.find.queryOptions({ after: 1 }))
    expectTypeOf(query.data).toEqualTypeOf<Page | undefined>()
    expectTypeOf(query.error).toEqualTypeOf<CallError | null>()
    const fresh = useQuery(utils.task.find.queryOptions({ after: 1 }, { staleTime: 5, retry: 2 }))
    expectTypeOf(fresh.data).toEqualTypeOf<Page | undefined>()
    expectTypeOf(await cache.fetchQuery(utils.task.ping.queryOptions())).toEqualTypeOf<boolean>()
  })

  test("types what select gets and gives", () => {
    const query = useQuery(
      utils.task.find.queryOptions(
        { after: 1 },
        {
          select: (page) => {
            expectTypeOf(page).toEqualTypeOf<Page>()
            return page.titles.length
          },
        },
      ),
    )
    expectTypeOf(query.data).toEqualTypeOf<number | undefined>()
  })

  test("types pages", () => {
    const query = useInfiniteQuery(
      utils.task.find.infiniteOptions((after: number) => ({ after }), {
        initialPageParam: 0,
        getNextPageParam: (last) => {
          expectTypeOf(last).toEqualTypeOf<Page>()
          return last.next
        },
      }),
    )
    expectTypeOf(query.data?.pages).toEqualTypeOf<Page[] | undefined>()
    expectTypeOf(query.data).toExtend<InfiniteData<Page> | undefined>()
  })

  test("types the input, result and error of mutations", () => {
    const mutation = useMutation(
      utils.task.create.mutationOptions({
        onSuccess: (data, input) => {
          expectTypeOf(data).toEqualTypeOf<{ id: number }>()
          expectTypeOf(input).toEqualTypeOf<{ title: string }>()
        },
      }),
    )
    expectTypeOf(mutation.data).toEqualTypeOf<{ id: number } | undefined>()
    expectTypeOf(mutation.error).toEqualTypeOf<CallError | null>()
    mutation.mutate({ title: "x" })
    // @ts-expect-error -- the title is a string
    mutation.mutate({ title: 1 })
  })

  test("types the items of streams", () => {
    const stream = useQuery(utils.task.watch.streamedOptions({ since: 1 }, { maxItems: 3 }))
    expectTypeOf(stream.data).toEqualTypeOf<{ at: number }[] | undefined>()
    expectTypeOf(stream.error).toEqualTypeOf<CallError | null>()
  })

  test("types keys", () => {
    expectTypeOf(utils.key()).toEqualTypeOf<OperationKey>()
    expectTypeOf(utils.task.key()).toEqualTypeOf<OperationKey>()
    expectTypeOf(utils.task.create.key()).toEqualTypeOf<OperationKey>()
    expectTypeOf(utils.task.find.queryKey({ after: 1 })).toEqualTypeOf<OperationKey>()
    expectTypeOf(utils.task.watch.streamedKey({ since: 1 })).toEqualTypeOf<OperationKey>()
  })

  test("offers an operation only what fits its type, and checks inputs", () => {
    expectTypeOf(utils.task.create).not.toHaveProperty("queryOptions")
    // @ts-expect-error -- a mutation is no query
    void utils.task.create.queryOptions
    // @ts-expect-error -- a query is no mutation
    void utils.task.find.mutationOptions
    // @ts-expect-error -- a subscription is collected
    void utils.task.watch.queryOptions
    // @ts-expect-error -- there is no such operation
    void utils.task.remove
    // @ts-expect-error -- the input is required
    utils.task.find.queryOptions()
    // @ts-expect-error -- a number is needed
    utils.task.find.queryOptions({ after: "1" })
  })

  test("accepts any name where nothing is known of the operations", () => {
    const loose = createQueryUtils(createClient(link))
    void loose["any"].thing.queryOptions({ a: 1 })
    expectTypeOf(loose.key()).toEqualTypeOf<OperationKey>()
  })
})
