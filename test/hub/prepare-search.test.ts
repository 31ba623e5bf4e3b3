import { expect, test, vi } from "vitest"
import { defineOperation } from "../../src/core/define.ts"
import { OperationRegistry } from "../../src/engine/registry.ts"
import type { SourceStatus } from "../../src/hub/model.ts"
import { prepareSearch } from "../../src/hub/prepare-search.ts"
import { silentLogger } from "../../src/internal/logger.ts"

// No return type: it follows from the definition.
const operation = (name: string) =>
  defineOperation({
    namespace: "desk",
    name,
    type: "query",
    description: `Finds every ${name} of the office, with its owner and its place`,
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    handler: () => 1,
  })

function setUp(count: number): {
  registry: OperationRegistry
  notify: () => void
  updates: { readonly results: readonly { value: unknown }[] }
  hub: Parameters<typeof prepareSearch>[0]
} {
  const registry = new OperationRegistry()
  registry.registerAll(Array.from({ length: count }, (_, at) => operation(`lamp${at}`)))
  const listeners = new Set<(status: SourceStatus) => void>()
  const onStatus = (listener: (status: SourceStatus) => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const notify = (): void => listeners.forEach((listener) => listener({} as SourceStatus))
  const { mock } = vi.spyOn(registry, "updateIndex")
  return { registry, notify, updates: mock, hub: { registry, onStatus } }
}

const isIndexed = ({ updates }: ReturnType<typeof setUp>): boolean =>
  updates.results.at(-1)?.value === true

test("a hub's search index is made in slices, and finds what came during and after them", async () => {
  const made = setUp(3000)
  const stop = prepareSearch(made.hub, silentLogger)
  expect(made.updates.results).toHaveLength(0)
  await expect.poll(() => made.updates.results.length).toBeGreaterThan(0)

  made.registry.register(operation("chair"))
  made.registry.unregister("desk.lamp2999")
  expect(made.registry.search("chair").map(({ id }) => id)).toEqual(["desk.chair"])
  expect(made.registry.search("lamp2999", { limit: 1 })[0]?.id).not.toBe("desk.lamp2999")
  await expect.poll(() => isIndexed(made)).toBe(true)

  const before = made.updates.results.length
  made.registry.register(operation("window"))
  made.notify()
  await expect.poll(() => made.updates.results.length).toBe(before + 1)
  expect(isIndexed(made)).toBe(true)
  expect(made.registry.search("window").map(({ id }) => id)).toEqual(["desk.window"])
  stop()
})

test("indexing stops when the hub is no longer served", async () => {
  const made = setUp(10)
  const stop = prepareSearch(made.hub, silentLogger)
  stop()
  made.notify()
  await new Promise((resolve) => setImmediate(resolve))
  expect(made.updates.results).toHaveLength(0)
})

test("an operation that cannot be indexed is reported, and those after it are", async () => {
  const made = setUp(3)
  const warn = vi.fn<(message: string) => void>()
  vi.spyOn(made.registry, "updateIndex").mockImplementationOnce(() => {
    throw new Error("no words")
  })
  const stop = prepareSearch(made.hub, { ...silentLogger, warn })
  await expect.poll(() => isIndexed(made)).toBe(true)
  expect(warn).toHaveBeenCalledOnce()
  stop()
})
