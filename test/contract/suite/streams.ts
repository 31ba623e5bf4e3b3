import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { drain, freshKey, readLog, seen, upTo } from "../link.ts"
import type { ContractLink, LinkTraits } from "../link.ts"

/** Many items for one request. */
export function testStreams(link: () => ContractLink, { hasWindow = true }: LinkTraits): void {
  const subscribe: ContractLink["map"]["subscribe"] = (...args) => link().map.subscribe(...args)

  describe("streams", () => {
    test("bring their items in order, and their end", async () => {
      expect(await drain(subscribe("demo.count", { to: 5 }))).toEqual({
        items: upTo(5),
        error: undefined,
      })
    })

    test("may be empty", async () => {
      expect(await drain(subscribe("demo.count", { to: 0 }))).toEqual({
        items: [],
        error: undefined,
      })
    })

    test("may be much longer than what is on its way", async () => {
      const { items, error } = await drain(subscribe("demo.count", { to: 5000 }))
      expect(error).toBeUndefined()
      expect(items).toEqual(upTo(5000))
    })

    test("with a window of one continue item by item", async () => {
      const { items } = await drain(subscribe("demo.count", { to: 20 }, { window: 1 }))
      expect(items).toEqual(upTo(20))
    })

    test("have a separate envelope for each item", async () => {
      const { value } = await subscribe("demo.count", { to: 1 }).next()
      expect(value).toMatchObject({
        data: { at: 1 },
        meta: { source: "local", operationId: "demo.count" },
      })
    })

    test("bring an error after the items that came before it", async () => {
      const key = freshKey()
      const stream = subscribe("demo.ticks", { key, to: 100, failAt: 51 })
      await stream.next()
      // All of it is here or on its way before it is looked at.
      await seen(link(), key, "finally 51")
      await sleep(20)
      const { items, error } = await drain(stream)
      expect(items).toEqual(upTo(50).slice(1))
      expect(error).toMatchObject({ code: "SOLD_OUT", message: "Nothing after 50." })
    })

    test("bring their end after the items that came before it", async () => {
      const key = freshKey()
      const stream = subscribe("demo.ticks", { key, to: 100 })
      await stream.next()
      await seen(link(), key, "finally 100")
      await sleep(20)
      expect(await drain(stream)).toEqual({ items: upTo(100).slice(1), error: undefined })
    })

    test("are over once they have ended", async () => {
      const stream = subscribe("demo.count", { to: 1 })
      await drain(stream)
      expect(await stream.next()).toEqual({ done: true, value: undefined })
      expect(await stream.return()).toEqual({ done: true, value: undefined })
    })

    test("ask for nothing before the first item is wanted", async () => {
      const key = freshKey()
      const stream = subscribe("demo.ticks", { key, to: 3 })
      await sleep(20)
      expect(await readLog(link(), key)).toEqual([])
      await stream.return()
      expect(await readLog(link(), key)).toEqual([])
    })

    test.each([
      ["the usual window", undefined, 256],
      ["a window of 16", 16, 16],
    ])("with a slow consumer slow their producer: %s", async (_name, window, limit) => {
      const key = freshKey()
      const stream = subscribe("demo.flood", { key, to: 100_000 }, { window })
      const ahead = hasWindow ? limit + 4 : Infinity
      const position = async (): Promise<number> => Number((await readLog(link(), key))[0]?.what)
      for (let taken = 1; taken <= 10; taken++) {
        await stream.next()
        await sleep(5)
        expect(await position()).toBeLessThanOrEqual(taken + ahead)
      }
      await sleep(100)
      expect(await position()).toBeLessThanOrEqual(10 + ahead)
      // Nothing was lost meanwhile.
      for (let at = 11; at <= 2000; at++) {
        expect((await stream.next()).value?.data).toEqual({ at })
      }
      await stream.return()
    })

    test("do not mix, nor do calls with them", async () => {
      const streams = Array.from({ length: 20 }, (_item, index) =>
        drain(subscribe("demo.count", { to: 100 + index })),
      )
      const calls = Array.from({ length: 100 }, (_item, index) =>
        link().map.call("demo.slow", { value: index, delay: index % 10 }),
      )
      const results = await Promise.all(calls)
      expect(results.map(({ data }) => data)).toEqual(upTo(100).map((item) => item - 1))
      for (const [index, stream] of streams.entries()) {
        expect(await stream).toEqual({ items: upTo(100 + index), error: undefined })
      }
    })

    test("without a reader do not block anything else", async () => {
      const frozen = subscribe("demo.flood", { key: freshKey(), to: 100_000 })
      await frozen.next()
      expect((await drain(subscribe("demo.count", { to: 2000 }))).items).toHaveLength(2000)
      expect((await link().map.call("demo.greet", { name: "Ada" })).data).toBeDefined()
      await frozen.return()
    })
  })
}
