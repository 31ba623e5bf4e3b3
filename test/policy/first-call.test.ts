// @isolated: it asks what is loaded before the first use.
// The code of the policies is loaded when an operation that has some is first called.
import { expect, test } from "vitest"
import { CallError, createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyRegistry } from "../../src/index.ts"
import { operation } from "../support/operations.ts"

/** A stream that fails when it is first opened, and ends after two items. */
function counting(): { registry: AnyRegistry; opened: () => number; closed: () => number } {
  let [opened, closed] = [0, 0]
  const watch = operation("api.watch", {
    type: "subscription",
    annotations: { idempotent: true },
    resilience: { retry: { delay: 0 }, concurrency: { max: 1 } },
    handler: async function* () {
      if (++opened === 1) throw new CallError("UNAVAILABLE", "away")
      try {
        yield "a"
        yield "b"
      } finally {
        closed++
      }
    },
  })
  const registry = createRegistry([watch], { logger: silentLogger })
  return { registry, opened: () => opened, closed: () => closed }
}

async function read(registry: AnyRegistry, most = Infinity): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const { data } of registry.subscribe("api.watch")) {
    items.push(data)
    if (items.length === most) break
  }
  return items
}

test("the first stream of a registry has its policies: it is opened again, and holds its place", async () => {
  const { registry, opened } = counting()
  const [first, second] = await Promise.allSettled([read(registry), read(registry)])
  expect(first).toMatchObject({ value: ["a", "b"] })
  expect(second).toMatchObject({ reason: { code: "OVERLOADED", mayHaveExecuted: false } })
  expect(opened()).toBe(2)
  expect(await read(registry)).toEqual(["a", "b"])
  await registry.close()
})

test("leaving the first stream of an operation with policies ends its handler", async () => {
  const { registry, closed } = counting()
  expect(await read(registry, 1)).toEqual(["a"])
  expect(closed()).toBe(1)
  // The place is free again.
  expect(await read(registry, 1)).toEqual(["a"])
  await registry.close()
})

test("a registry that is closed while the policies are loaded starts nothing", async () => {
  const { registry, opened } = counting()
  const reading = read(registry).catch((error: unknown) => error)
  await registry.close()
  expect(await reading).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
  expect(opened()).toBe(0)
})

test("a policy that does not apply to a subscription does not change the first stream", async () => {
  const watch = operation("api.watch", {
    type: "subscription",
    handler: async function* () {
      yield 1
    },
  })
  const policies = [{ match: "*", cache: { ttl: 1_000 }, fallback: () => 0 }]
  await using registry = createRegistry([watch], { logger: silentLogger, policies })
  expect(await read(registry)).toEqual([1])
})
