import { describe, expect, test } from "vitest"
import { createRegistry, fromCall } from "../../../../src/index.ts"
import type { Lab } from "../lab.ts"
import { plainOperation } from "../operations.ts"
import { failure, Stage } from "../stage.ts"

/** What the permissions allow works as if there were none, and nothing else does. */
export function testPermitted(lab: () => Lab): void {
  describe("what is permitted", () => {
    test("calls, and is who the broker says", async () => {
      await using stage = await Stage.set(lab())
      const { data } = await stage.alice.call("task.whoami")

      expect(data).toEqual({ id: "alice", scopes: ["task"] })
    })

    test("reads streams, longer than one window", async () => {
      await using stage = await Stage.set(lab())
      const items: unknown[] = []
      for await (const { data } of stage.alice.subscribe("task.count", { to: 2000 })) {
        items.push(data)
      }

      expect(items).toEqual(Array.from({ length: 2000 }, (_, at) => at + 1))
    })

    test("lists what there is for this very caller, of all workers, and imports it", async () => {
      await using stage = await Stage.set(lab())
      stage.serve("w2", shop())
      const idsOf = async (account: string): Promise<readonly unknown[]> => {
        const { data } = await stage.caller(account).call("services.list", {})
        return (data as { operations: { id: string }[] }).operations.map(({ id }) => id)
      }
      while ((await idsOf("bob")).length < 7) await stage.alice.call("task.list")

      expect(await idsOf("bob")).toEqual([
        ...["admin.drop", "shop.buy", "task.ask", "task.count", "task.list"],
        ...["task.slow", "task.whoami"],
      ])
      const registry = createRegistry(await fromCall(stage.alice))
      await expect(registry.execute("task.list", "imported")).resolves.toMatchObject({
        data: "imported",
      })
    })

    test("finds a worker that comes later", async () => {
      await using stage = await Stage.set(lab())
      const bob = stage.caller("bob")

      // Nobody is there for it, or somebody who does not have it; it is permitted all the same.
      expect(["UNAVAILABLE", "OPERATION_NOT_FOUND"]).toContain(
        (await failure(bob.call("shop.buy"))).code,
      )
      stage.serve("w2", shop())
      const bought = async (): Promise<unknown> =>
        await bob.call("shop.buy").then(
          ({ data }) => data,
          () => undefined,
        )
      let data: unknown
      // It takes the worker a moment to be there.
      while (data === undefined) data = await bought()
      expect(data).toBe("bought")
    })

    test("drains a worker without a failed call", async () => {
      await using stage = await Stage.set(lab())
      const { alice, attacked } = stage
      const slow = alice.call("task.slow")
      while (attacked.waiting() === 0) await alice.call("task.list")
      stage.worker.leave?.()
      attacked.release()

      await expect(slow).resolves.toMatchObject({ data: "the real one" })
    })
  })

  describe("what is not permitted", () => {
    test("is not called, and says who has to permit it", async () => {
      await using stage = await Stage.set(lab())
      const error = await failure(stage.alice.call("admin.drop"))

      expect(error).toMatchObject({
        code: "ACCESS_DENIED",
        retryable: false,
        mayHaveExecuted: false,
      })
      expect(error.message).toContain("admin.drop")
      expect(stage.runs).toEqual([])
    })

    test("is not listed or described either, where its workers say so", async () => {
      await using stage = await Stage.set(lab())
      const { data } = await stage.alice.call("services.list", {})

      expect(JSON.stringify(data)).not.toContain("task.secret")
      expect((await failure(stage.alice.call("task.secret"))).code).toBe("ACCESS_DENIED")
    })
  })
}

function shop() {
  return createRegistry([plainOperation("shop.buy", () => "bought")])
}
