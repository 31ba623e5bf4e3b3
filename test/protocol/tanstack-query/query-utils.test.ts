import { QueryClient } from "@tanstack/react-query"
import { describe, expect, onTestFinished, test } from "vitest"
import { createClient, isCallError, serveCalls } from "../../../src/index.ts"
import { createMemoryTransports } from "../../../src/testing.ts"
import { createQueryUtils } from "../../../src/tanstack-query.ts"
import type { QueryUtils } from "../../../src/tanstack-query.ts"
import { count, greet, operation, quietRegistry } from "../../support/operations.ts"

const key = operation("key.key", { handler: () => "k" })
const fails = operation("demo.fails", { handler: () => Promise.reject(new Error("no")) })

function connect(): { readonly utils: QueryUtils<{}>; readonly cache: QueryClient } {
  const [near, far] = createMemoryTransports()
  const server = serveCalls(quietRegistry([greet, count, key, fails]), { transport: far })
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  onTestFinished(async () => {
    cache.clear()
    await server.close()
  })
  return { utils: createQueryUtils(createClient(near)), cache }
}

describe("createQueryUtils", () => {
  test("returns keys with common prefixes for a namespace and for an operation", async () => {
    const { utils, cache } = connect()
    await cache.fetchQuery(utils["demo"].greet.queryOptions({ name: "Ada" }))
    await cache.fetchQuery(utils["demo"].count.streamedOptions({ to: 2 }))
    const found = (queryKey: readonly unknown[]): number =>
      cache.getQueryCache().findAll({ queryKey }).length
    expect(found(utils.key())).toBe(2)
    expect(found(utils["demo"].key())).toBe(2)
    expect(found(utils["demo"].greet.key())).toBe(1)
    expect(found(utils["demo"].greet.queryKey({ name: "Ada" }))).toBe(1)
    expect(found(utils["demo"].greet.queryKey({ name: "Bob" }))).toBe(0)
    expect(found(utils["demo"].count.streamedKey({ to: 2 }))).toBe(1)
    expect(found(utils["other"].key())).toBe(0)
  })

  test("reaches a namespace and an operation that are called key", async () => {
    const { utils, cache } = connect()
    const namespace = utils["key"] as unknown as QueryUtils<{
      "key.key": { type: "query"; input: unknown; output: string }
    }>["key"]
    expect(await cache.fetchQuery(namespace.key.queryOptions({}))).toBe("k")
    expect(namespace.key()).toEqual([["key"]])
    expect(utils.key()).toEqual([[]])
  })

  test("passes other options through, and a key of your own", () => {
    const { utils } = connect()
    const options = utils["demo"].greet.queryOptions({ name: "x" }, { staleTime: 7, queryKey: [1] })
    expect(options).toMatchObject({ staleTime: 7, queryKey: [1] })
    expect(utils["demo"].greet.queryOptions({ name: "x" })).not.toHaveProperty("retry")
    expect(utils["demo"].count.streamedOptions({ to: 1 }, { maxItems: 2 })).not.toHaveProperty(
      "maxItems",
    )
  })

  test("keeps the last items of a stream, and starts again when it is fetched again", async () => {
    const { utils, cache } = connect()
    for (const [maxItems, items] of [
      [1, [{ at: 4 }]],
      [3, [{ at: 2 }, { at: 3 }, { at: 4 }]],
      [undefined, [{ at: 1 }, { at: 2 }, { at: 3 }, { at: 4 }]],
    ] as const) {
      const options = utils["demo"].count.streamedOptions({ to: 4 }, { maxItems })
      expect(await cache.fetchQuery(options)).toEqual(items)
      expect(cache.getQueryData(options.queryKey)).toEqual(items)
    }
  })

  test("rejects with a CallError", async () => {
    const { utils, cache } = connect()
    const error: unknown = await cache
      .fetchQuery(utils["demo"].fails.queryOptions({}))
      .catch((reason: unknown) => reason)
    expect(isCallError(error)).toBe(true)
    expect(error).toMatchObject({ code: "EXECUTION_ERROR", operationId: "demo.fails" })
  })

  test("needs a client", () => {
    expect(() => createQueryUtils({} as never)).toThrow("must be one of createClient()")
    expect(() => createQueryUtils(undefined as never)).toThrow(TypeError)
  })
})
