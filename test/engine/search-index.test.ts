import { describe, expect, test, vi } from "vitest"
import { defineOperation } from "../../src/core/define.ts"
import { OperationRegistry } from "../../src/engine/registry.ts"
import { ExposedRegistry } from "../../src/serve/http/exposed-registry.ts"
import { toHTTP } from "../../src/serve/http/to-http.ts"
import { indexInSlices } from "../../src/engine/search-index.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { caller } from "../tools/surface-support.ts"

/** So many that one slice of a few milliseconds cannot index all. */
const MANY = 2000

const operation = (name: string) =>
  defineOperation({
    namespace: "office",
    name,
    type: "query",
    description: `Finds every ${name} of the office, with its owner and its place`,
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    handler: () => 1,
  })

function createRegistry(count: number): OperationRegistry {
  const registry = new OperationRegistry()
  registry.registerAll(Array.from({ length: count }, (_, at) => operation(`lamp${at}`)))
  return registry
}

describe("indexInSlices", () => {
  test("needs no turn of the event loop when nothing is left to index", () => {
    const registry = createRegistry(3)
    expect(registry.search("lamp2", { limit: 1 })[0]?.id).toBe("office.lamp2")
    expect(indexInSlices(registry)).toBeUndefined()
  })

  test("leaves turns to others, and indexes what is registered meanwhile", async () => {
    const registry = createRegistry(MANY)
    const indexing = indexInSlices(registry)
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    registry.register(operation("chair"))
    await indexing
    clearImmediate(timer)
    expect(turns).toBeGreaterThan(0)
    const update = vi.spyOn(registry, "updateIndex")
    expect(indexInSlices(registry)).toBeUndefined()
    expect(update.mock.results.map(({ value }) => value as unknown)).toEqual([true])
    expect(registry.search("chair").map(({ id }) => id)).toEqual(["office.chair"])
  })

  test("rejects for an operation that cannot be indexed, and continues after it", async () => {
    const registry = createRegistry(MANY)
    const update = vi.spyOn(registry, "updateIndex")
    const indexing = indexInSlices(registry)
    update.mockImplementationOnce(() => {
      throw new Error("no words")
    })
    await expect(indexing).rejects.toThrow("no words")
    await indexInSlices(registry)
    expect(registry.search("lamp7", { limit: 1 })[0]?.id).toBe("office.lamp7")
  })

  test("is left to the registry where a registry has no such method", () => {
    const own = { search: () => [] } as unknown as OperationRegistry
    expect(indexInSlices(own)).toBeUndefined()
  })
})

describe("the first search of a large registry", () => {
  test.for(["HTTP", "MCP"] as const)("leaves turns to others over %s", async (way) => {
    const registry = createRegistry(MANY)
    const update = vi.spyOn(registry, "updateIndex")
    let text: string
    if (way === "HTTP") {
      await using api = toHTTP(registry)
      const url = "http://localhost/operations?limit=1&query=lamp1999"
      text = await (await api.fetch(new Request(url))).text()
    } else {
      const view = new ExposedRegistry(registry, () => true)
      const surface = new ToolSurface(view, { expose: { mode: "search" } })
      const asked = { query: "lamp1999", limit: 1 }
      text = JSON.stringify(await surface.call("search_operations", asked, caller()))
    }
    expect(text).toContain("office.lamp1999")
    const slices = update.mock.results.map(({ value }) => value as unknown)
    expect(slices.length).toBeGreaterThan(1)
    expect(slices.at(-1)).toBe(true)
    expect(slices.slice(0, -1)).not.toContain(true)
  })
})
