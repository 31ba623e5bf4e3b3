import { describe, expect, test } from "vitest"
import { createRegistry } from "../../../../src/index.ts"
import type { Lab } from "../lab.ts"
import { settled, until } from "../lab.ts"
import { plainOperation } from "../operations.ts"
import { answerText, failure, requestsFor, requestText, Stage } from "../stage.ts"

/** Those who say that they are somebody else, or want to hear what is for somebody else. */
export function testImpostors(lab: () => Lab): void {
  describe("who speaks as another user", () => {
    test.each([["mallory"], ["bob"], ["w1"], ["w2"], ["hub"]])(
      "is stopped by the broker: %s as alice",
      async (account) => {
        await using stage = await Stage.set(lab())
        const { at } = stage.lab
        const raw = await stage.raw(account)
        const text = requestText("aaaaaaaaaaaaaaaa", "task.whoami", "forged-1")
        const reply = `_INBOX_${account}.aaaaaaaaaaaaaaaa.r0`
        const to = [
          at.any("alice", "task.whoami"),
          at.all("alice", "task.whoami"),
          at.all("alice", "services.list"),
          at.worker("alice", stage.address, "task.whoami"),
          at.control("alice", stage.address),
          at.ask("alice"),
        ]
        for (const one of to) {
          expect({ to: one, got: await raw.publish(one, text, reply) }).toEqual({
            to: one,
            got: false,
          })
        }
        await stage.alice.call("task.list")
        expect(stage.runs).toEqual(["task.list"])
      },
    )

    test.each([["mallory"], ["w2"]])(
      "is stopped with the library as well: %s as alice",
      async (account) => {
        await using stage = await Stage.set(lab())
        const impostor = stage.caller(account, { user: "alice" })
        const { code } = await failure(impostor.call("task.whoami", {}, { timeout: 5000 }))

        expect(["ACCESS_DENIED", "UNAVAILABLE", "TIMEOUT"]).toContain(code)
        expect(stage.runs).toEqual([])
      },
    )

    test("is stopped where a worker calls as itself what it may not call", async () => {
      await using stage = await Stage.set(lab())
      const worker = stage.caller("w2")

      expect((await failure(worker.call("task.whoami", {}, { timeout: 5000 }))).code).toBe(
        "ACCESS_DENIED",
      )
      expect(stage.runs).toEqual([])
    })
  })

  describe("who answers for a worker", () => {
    test.each([["mallory"], ["bob"], ["hub"]])(
      "is stopped by the broker, however much is known: %s to alice",
      async (account) => {
        await using stage = await Stage.set(lab())
        const said = await stage.observe()
        const { alice, attacked, address } = stage
        const slow = alice.call("task.slow")
        await until(() => attacked.waiting() === 1)
        const [request] = requestsFor("task.slow", said)
        if (request === undefined) throw new Error("Nothing was overheard.")
        const { received, requestId } = request

        const raw = await stage.raw(account)
        const forged = answerText(address, requestId, "the forged one")
        expect(await raw.publish(stage.lab.at.replyTo(received), forged)).toBe(false)
        const news = `{"from":"${address}","messages":[{"type":"bye"}]}`
        expect(await raw.publish(stage.lab.at.news, news)).toBe(false)
        attacked.release()

        await expect(slow).resolves.toMatchObject({ data: "the real one" })
      },
    )
  })

  describe("who listens to others", () => {
    test.each([["mallory"], ["bob"], ["hub"]])("hears nothing: %s", async (account) => {
      await using stage = await Stage.set(lab())
      const said = await stage.observe()
      await stage.alice.call("task.whoami")
      await until(() => requestsFor("task.whoami", said).length === 1)
      const [request] = requestsFor("task.whoami", said)
      const raw = await stage.raw(account)
      const tries = stage.lab.at
        .foreign("alice", request?.from ?? "", stage.address)
        .filter((to) => !to.includes(account))
      const listening = await Promise.all(tries.map((to) => raw.listen(to)))

      const permitted = tries.filter((_, at) => listening[at]?.isPermitted)
      expect(permitted).toEqual([])
      await stage.alice.call("task.whoami", { canary: 1 })
      for await (const _ of stage.alice.subscribe("task.count", { to: 3 })) await settled()
      expect(listening.flatMap(({ received }) => received)).toEqual([])
    })
  })

  describe("who wants to be a worker and is none", () => {
    test.each([["mallory"], ["bob"], ["hub"]])("is given no call: %s", async (account) => {
      await using stage = await Stage.set(lab())
      const raw = await stage.raw(account)
      for (const [to, options] of stage.lab.at.ofWorker("a".repeat(26), "task.whoami")) {
        expect({ to, ...(await raw.listen(to, options)) }).toEqual({
          to,
          isPermitted: false,
          received: [],
        })
      }
      let stolen = 0
      const thief = stage.serve(
        account,
        thieves(() => stolen++),
      )
      // It may well find out that it is not wanted here.
      await thief.whenConnected().catch(() => undefined)
      await settled()
      const found = await Promise.all(
        Array.from({ length: 20 }, () => stage.alice.call("task.whoami")),
      )

      expect(found.map(({ data }) => data)).toEqual(
        found.map(() => ({ id: "alice", scopes: ["task"] })),
      )
      expect(stolen).toBe(0)
    })
  })
}

/** A registry that has what the worker has. */
function thieves(steal: () => void) {
  return createRegistry([plainOperation("task.whoami", steal)])
}
