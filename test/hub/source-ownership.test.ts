import fc from "fast-check"
import { Type } from "typebox"
import { expect, test } from "vitest"
import type { AnyOperation } from "../../src/core/define.ts"
import { SourceOwnership } from "../../src/hub/source-ownership.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { OperationRegistry } from "../../src/engine/registry.ts"

function operation(name: string, says: string): AnyOperation {
  return {
    namespace: "n",
    name,
    version: "1.0.0",
    type: "query",
    description: says,
    inputSchema: Type.Object({}),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    handler: () => says,
  }
}

function setUp(...names: string[]): { ownership: SourceOwnership; registry: OperationRegistry } {
  const registry = new OperationRegistry({ logger: silentLogger })
  const ownership = new SourceOwnership(registry)
  ownership.setOrder(names)
  return { ownership, registry }
}

test("SourceOwnership: of two sources with one id the first in the configuration wins, whichever was opened first", () => {
  const { ownership, registry } = setUp("a", "b")
  ownership.set("b", [operation("x", "b")])
  expect(registry.getSpec("n.x")?.description).toBe("b")
  ownership.set("a", [operation("x", "a"), operation("y", "a")])
  expect(registry.getSpec("n.x")?.description).toBe("a")
  expect(ownership.unregistered("b")).toEqual([
    { id: "n.x", reason: expect.stringContaining(`source "a" has "n.x" too, and comes first`) },
  ])
  expect([ownership.count("a"), ownership.count("b")]).toEqual([2, 0])
  ownership.set("a", [])
  expect(registry.getSpec("n.x")?.description).toBe("b")
  expect(registry.has("n.y")).toBe(false)
})

test("SourceOwnership: a new order of sources decides ownership again", () => {
  const { ownership, registry } = setUp("a", "b")
  ownership.set("a", [operation("x", "a")])
  ownership.set("b", [operation("x", "b")])
  ownership.setOrder(["b", "a"])
  expect(registry.getSpec("n.x")?.description).toBe("b")
})

test("SourceOwnership: unchanged operations are not registered again", () => {
  const { ownership, registry } = setUp("a")
  const changes: string[] = []
  const [x, y] = [operation("x", "1"), operation("y", "1")]
  ownership.set("a", [x, y])
  registry.onChange(({ type, id }) => changes.push(`${type} ${id}`))
  ownership.set("a", [x, operation("y", "2")])
  expect(changes).toEqual(["replaced n.y"])
})

test("SourceOwnership: an invalid operation is reported, and does not keep others out", () => {
  const { ownership, registry } = setUp("a", "b")
  ownership.set("b", [operation("x", "b")])
  const bad = { ...operation("x", "bad"), inputSchema: { type: 7 } } as unknown as AnyOperation
  ownership.set("a", [bad, operation("y", "a")])
  expect(registry.getSpec("n.x")?.description).toBe("b")
  expect(registry.has("n.y")).toBe(true)
  expect(ownership.unregistered("a")).toEqual([
    { id: "n.x", reason: expect.stringContaining("cannot be registered") },
  ])
  ownership.set("a", [operation("x", "a")])
  expect(registry.getSpec("n.x")?.description).toBe("a")
})

test("SourceOwnership: operations that the program registered are left alone", () => {
  const { ownership, registry } = setUp("a")
  registry.registerAll([operation("x", "mine")])
  ownership.set("a", [operation("x", "a")])
  expect(registry.getSpec("n.x")?.description).toBe("mine")
  expect(ownership.unregistered("a")[0]?.reason).toContain("by the program itself")
  ownership.set("a", [])
  expect(registry.has("n.x")).toBe(true)
})

test("SourceOwnership: after any changes the registry has the operations of the first source", () => {
  const sources = ["a", "b", "c"]
  const step = fc.record({
    source: fc.constantFrom(...sources),
    names: fc.uniqueArray(fc.constantFrom("x", "y", "z", "__proto__")),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const { ownership, registry } = setUp(...sources)
      const model = new Map<string, readonly string[]>()
      for (const { source, names } of steps) {
        ownership.set(
          source,
          names.map((name) => operation(name, source)),
        )
        model.set(source, names)
        for (const name of ["x", "y", "z", "__proto__"]) {
          const owner = sources.find((one) => model.get(one)?.includes(name))
          expect(registry.getSpec(`n.${name}`)?.description).toBe(owner)
        }
      }
    }),
  )
})
