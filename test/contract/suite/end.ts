import { afterEach, describe, expect, test } from "vitest"
import { failure, freshKey, readLog, seen, SOON } from "../link.ts"
import type { ContractLink, LinkTraits, OpenLink } from "../link.ts"
import { endpointOver } from "../../../src/protocol/pending/requests.ts"

/** Where the link itself is gone with the peer. */
const AT_ONCE = { code: "UNAVAILABLE", within: SOON }

/** The peer is gone, or the link is closed: nothing hangs, nothing is left. */
export function testEnd(
  open: OpenLink,
  { hasPeer = true, hasTransport = true, lost = AT_ONCE }: LinkTraits,
): void {
  let link: ContractLink | undefined
  const use = async (): Promise<ContractLink> => {
    await link?.close()
    return (link = await open({ rule: "none", isTrusted: false }))
  }
  afterEach(async () => {
    await link?.close()
    link = undefined
  })
  /** A call and a stream, whose handlers are at work. */
  const begin = async ({ map }: ContractLink, key: string) => {
    const one = link as ContractLink
    const call = map.call("demo.wait", { key, depth: 5 })
    const stream = map.subscribe("demo.ticks", { key: `${key} stream`, to: 9, waitAt: 2 })
    const called = failure(call)
    await stream.next()
    const read = failure(stream.next())
    // Looked at later, or not at all when something else fails before.
    for (const promise of [called, read]) promise.catch(() => undefined)
    await seen(one, key, "started 1")
    return { called, read }
  }
  const expectStopped = async (one: ContractLink, key: string, from: number): Promise<void> => {
    // In a thread of its own that is gone there is nobody left to ask, and nothing left to stop.
    if (one.log === undefined) return
    for (const depth of [1, 2, 3, 4, 5]) {
      expect((await seen(one, key, `aborted ${depth}`)) - from).toBeLessThanOrEqual(SOON)
    }
    expect((await seen(one, `${key} stream`, "finally 2")) - from).toBeLessThanOrEqual(SOON)
  }

  // A link to oneself has no peer that could get lost.
  const cases = hasPeer ? ["a lost peer"] : []
  describe.each(cases)("%s", () => {
    test("fails what it owed, soon, and stops what it wanted", async () => {
      const one = await use()
      const key = freshKey()
      const { called, read } = await begin(one, key)
      const from = Date.now()
      await one.lose?.()
      for (const error of [await called, await read]) {
        expect(error).toMatchObject({ code: lost.code, mayHaveExecuted: true })
        expect(Date.now() - from).toBeLessThanOrEqual(lost.within)
      }
      expect(one.map.getPendingCount()).toBe(0)
      await expectStopped(one, key, from)
      await expect.poll(() => one.inFlight?.() ?? 0).toBe(0)
    })

    test("leaves items that had come, before the error", async () => {
      const one = await use()
      const key = freshKey()
      const stream = one.map.subscribe("demo.ticks", { key, to: 9, waitAt: 6 })
      await stream.next()
      await seen(one, key, "waiting")
      // What answers this comes after the items.
      await one.map.call("demo.greet", { name: "Ada" })
      await one.lose?.()
      const items: unknown[] = []
      const error = await failure(
        (async () => {
          for await (const { data } of stream) items.push(data)
        })(),
      )
      expect(items).toEqual([2, 3, 4, 5].map((at) => ({ at })))
      expect(error.code).toBe(lost.code)
    })
  })

  describe("closing", () => {
    test("ends pending calls, notifies the other side, and leaves nothing", async () => {
      const one = await use()
      const key = freshKey()
      const { called, read } = await begin(one, key)
      const from = Date.now()
      await one.map.close()
      expect((await called).code).toBe("ABORTED")
      expect((await read).code).toBe("ABORTED")
      expect(Date.now() - from).toBeLessThanOrEqual(SOON)
      expect(one.map.getPendingCount()).toBe(0)
      await expectStopped(one, key, from)
    })

    const alone = hasTransport ? ["the transport alone"] : []
    test.each(alone)("of %s fails what is pending, soon", async () => {
      const one = await use()
      const key = freshKey()
      const { called, read } = await begin(one, key)
      const from = Date.now()
      await endpointOver(one.map).link.close()
      for (const error of [await called, await read]) {
        expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
      }
      expect(Date.now() - from).toBeLessThanOrEqual(SOON)
      expect(one.map.getPendingCount()).toBe(0)
    })

    test("refuses what comes after it, and may be done twice", async () => {
      const one = await use()
      await one.map.call("demo.greet", { name: "Ada" })
      await one.map.close()
      await one.map.close()
      expect(await failure(one.map.call("demo.greet", { name: "Ada" }))).toMatchObject({
        code: "UNAVAILABLE",
        mayHaveExecuted: false,
      })
      const stream = one.map.subscribe("demo.count", { to: 1 })
      expect((await failure(stream.next())).code).toBe("UNAVAILABLE")
      expect(one.map.getPendingCount()).toBe(0)
    })

    test("of the whole link leaves no handler behind", async () => {
      const one = await use()
      const key = freshKey()
      const { called, read } = await begin(one, key)
      const before = (await readLog(one, key)).length
      expect(before).toBe(5)
      const from = Date.now()
      await one.close()
      expect((await called).code).toMatch(/^(ABORTED|UNAVAILABLE)$/)
      expect((await read).code).toMatch(/^(ABORTED|UNAVAILABLE)$/)
      expect(one.map.getPendingCount()).toBe(0)
      await expectStopped(one, key, from)
    })
  })
}
