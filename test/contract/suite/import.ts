import { describe, expect, test } from "vitest"
import { fromCall } from "../../../src/index.ts"
import { quietRegistry } from "../../support/operations.ts"
import { drain, failure, freshKey, seen, SOON, upTo } from "../link.ts"
import type { ContractLink } from "../link.ts"

/** The peer's operations as operations of one's own. */
export function testImport(link: () => ContractLink): void {
  describe("imported operations", () => {
    test("are those that the peer shows to this caller", async () => {
      const operations = await fromCall(link().map)
      const ids = operations.map(({ namespace, name }) => `${namespace}.${name}`)
      expect(ids).toEqual(expect.arrayContaining(["demo.greet", "demo.count", "probe.log"]))
      // Neither what is internal nor what this caller may not call.
      expect(ids).not.toContain("demo.zqxwvy")
      expect(ids).not.toContain("demo.guarded")
      expect(ids.filter((id) => id.startsWith("services."))).toEqual([])
    })

    test("may be given a namespace, and chosen from", async () => {
      const operations = await fromCall(link().map, {
        namespace: "far",
        filter: (spec) => spec.name === "greet",
      })
      const registry = quietRegistry(operations)
      expect(registry.list().map(({ namespace, name }) => `${namespace}.${name}`)).toEqual([
        "far.demo.greet",
      ])
      const { data, meta } = await registry.execute("far.demo.greet", { name: "Ada" })
      expect(data).toEqual({ text: "Hello, Ada" })
      expect(meta).toMatchObject({ source: "local", operationId: "demo.greet" })
      await registry.close()
    })

    test("keep the meta of their origin and the words of their errors", async () => {
      const registry = quietRegistry(await fromCall(link().map))
      expect((await registry.execute("demo.fetched")).meta).toMatchObject({
        source: "http",
        statusCode: 203,
      })
      expect(await failure(registry.execute("demo.fail"))).toMatchObject({
        code: "SOLD_OUT",
        details: { sku: "tea" },
        retryable: true,
        mayHaveExecuted: false,
        retryAfterMs: 1500,
      })
      const bytes = new Uint8Array([1, 2, 255])
      expect((await registry.execute("demo.echo", { bytes })).data).toEqual({ bytes })
      expect((await registry.execute("demo.nothing")).data).toBeUndefined()
      await registry.close()
    })

    test("check their input before it is sent", async () => {
      const registry = quietRegistry(await fromCall(link().map))
      const error = await failure(registry.execute("demo.order", { lines: [{}] }))
      expect(error.code).toBe("VALIDATION_ERROR")
      expect(error.message).toContain("/lines/0/sku")
      await registry.close()
    })

    test("that are streams stay streams", async () => {
      const registry = quietRegistry(await fromCall(link().map))
      expect(await drain(registry.subscribe("demo.count", { to: 600 }))).toEqual({
        items: upTo(600),
        error: undefined,
      })
      const key = freshKey()
      const failing = await drain(registry.subscribe("demo.ticks", { key, to: 9, failAt: 4 }))
      expect(failing.items).toEqual([1, 2, 3])
      expect(failing.error?.code).toBe("SOLD_OUT")
      await registry.close()
    })

    test("pass cancellation on", async () => {
      const registry = quietRegistry(await fromCall(link().map))
      const key = freshKey()
      const controller = new AbortController()
      const { signal } = controller
      const call = failure(registry.execute("demo.wait", { key, depth: 2 }, { signal }))
      await seen(link(), key, "started 1")
      const from = Date.now()
      controller.abort()
      expect((await call).code).toBe("ABORTED")
      expect((await seen(link(), key, "aborted 1")) - from).toBeLessThanOrEqual(SOON)

      const other = freshKey()
      for await (const _item of registry.subscribe("demo.ticks", { key: other, to: 1e9 })) break
      const left = Date.now()
      expect((await seen(link(), other, "aborted")) - left).toBeLessThanOrEqual(SOON)
      await registry.close()
    })

    test("come and go with the peer's, once attached", async () => {
      const registry = quietRegistry()
      const operations = await fromCall(link().map, { namespace: "far" })
      const detach = await operations.attach(registry)
      expect(registry.has("far.demo.greet")).toBe(true)

      await link().map.call("probe.add", { name: "late" })
      await expect.poll(() => registry.has("far.demo.late")).toBe(true)
      expect((await registry.execute("far.demo.late", { name: "x" })).data).toEqual({
        text: "I am late",
      })
      await link().map.call("probe.remove", { name: "late" })
      await expect.poll(() => registry.has("far.demo.late")).toBe(false)

      await detach()
      await detach()
      expect(registry.list()).toEqual([])
      await operations.close()
      await registry.close()
    })
  })
}
