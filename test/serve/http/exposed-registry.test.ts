import { expect, test } from "vitest"
import { defineOperation } from "../../../src/core/define.ts"
import type { CallSink } from "../../../src/engine/sink.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { exposure } from "../../../src/tools/expose.ts"
import { ExposedRegistry } from "../../../src/serve/http/exposed-registry.ts"
import type { CallOptions, OperationSpec } from "../../../src/core/types.ts"
import { base, demo } from "./support.ts"

const IDENTITY = { id: "me", scopes: [] }

function view(
  isExposed = ({ namespace, name }: OperationSpec): boolean =>
    namespace === "demo" && name === "echo",
): ExposedRegistry & { readonly whole: AnyRegistry } {
  const { registry } = demo()
  return Object.assign(new ExposedRegistry(registry, isExposed), { whole: registry })
}

function outcome(registry: ExposedRegistry, id: string): Promise<unknown> {
  return new Promise((resolve) => {
    const sink = {
      identity: IDENTITY,
      succeed: (envelope: unknown) => resolve(envelope),
      fail: (error: unknown) => resolve(error),
    }
    registry.executeInto(id, 1, sink as unknown as CallSink & CallOptions)
  })
}

test("shows what is exposed, and nothing else", () => {
  const registry = view()
  expect(registry.has("demo.echo")).toBe(true)
  expect(registry.get("demo.echo")?.name).toBe("echo")
  expect(registry.get("demo.ids")).toBeUndefined()
  expect(registry.getSpec("demo.ids")).toBeUndefined()
  expect(registry.getSpec("demo.nothing")).toBeUndefined()
  expect(registry.list().map(({ name }) => name)).toEqual(["echo"])
  expect(registry.getAllSpecs().map(({ name }) => name)).toEqual(["echo"])
  expect(registry.search("ids").map(({ spec }) => spec.name)).not.toContain("ids")
})

test("what cannot be decided is hidden", () => {
  const include = (): never => {
    throw new Error("no idea")
  }
  const registry = view(exposure({ include }))
  expect(registry.list()).toEqual([])
  expect(registry.has("demo.echo")).toBe(false)
})

test("calls what is exposed and suggests nothing for what is not", async () => {
  const registry = view()
  await expect(registry.execute("demo.echo", 7, { identity: IDENTITY })).resolves.toMatchObject({
    data: 7,
  })
  await expect(registry.execute("demo.ids")).rejects.toMatchObject({
    code: "OPERATION_NOT_FOUND",
    message: 'Operation "demo.ids" is not registered.',
  })
  expect(() => registry.subscribe("demo.ids")).toThrow('"demo.ids" is not registered')
  const long = registry.missing("x".repeat(5000))
  expect(long.details).toEqual({ operationId: "x".repeat(200) })
})

test("executes into a sink, also of registries that cannot", async () => {
  const registry = view()
  expect(await outcome(registry, "demo.echo")).toMatchObject({ data: 1 })
  expect(await outcome(registry, "demo.ids")).toMatchObject({ code: "OPERATION_NOT_FOUND" })
  const { whole } = registry
  const plain = {
    getSpec: (id: string) => whole.getSpec(id),
    execute: (id: string, input: unknown) => whole.execute(id, input, { identity: IDENTITY }),
  } as unknown as AnyRegistry
  expect(await outcome(new ExposedRegistry(plain, () => true), "demo.echo")).toMatchObject({
    data: 1,
  })
})

test("notifies only of changes of exposed operations", () => {
  const registry = view(({ name }) => name.startsWith("new"))
  const seen: string[] = []
  const stop = registry.onChange(({ spec }) => seen.push(spec.name))
  const add = (name: string): void => {
    registry.whole.registerAll([
      defineOperation({ ...base, name, type: "query", handler: () => 1 }),
    ])
  }
  add("newOne")
  add("hidden")
  stop()
  add("newTwo")
  expect(seen).toEqual(["newOne"])
})

test("is not for registering, and closes nothing", async () => {
  const registry = view()
  expect(() => registry.registerAll()).toThrow("register with the registry itself")
  expect(() => registry.unregister()).toThrow("unregister with the registry itself")
  await registry.close()
  await expect(registry.execute("demo.echo", 7, { identity: IDENTITY })).resolves.toMatchObject({
    data: 7,
  })
})
