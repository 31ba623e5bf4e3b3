import { connect } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { tagOf } from "../../../src/transport/nats/subjects.ts"
import { createNatsTransport } from "../../../src/nats.ts"
import { hashOperationId } from "../../../src/transport/bus/wire/wire.ts"
import { frameText } from "../bus/messages.ts"
import { provideNats } from "../../support/brokers.ts"
import { natsLab, settled, until } from "./lab.ts"
import type { Lab } from "./lab.ts"
import { answerText, failure, requestText, Stage } from "./stage.ts"
import { testHostile } from "./suite/hostile.ts"
import { testIdentity } from "./suite/identity.ts"
import { testImpostors } from "./suite/impostors.ts"
import { testPermitted } from "./suite/permitted.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("NATS with the permissions of the guide", () => {
  let lab: Lab

  beforeAll(async () => {
    lab = await natsLab()
  })

  afterAll(() => lab[Symbol.asyncDispose]())

  testPermitted(() => lab)
  testImpostors(() => lab)
  testIdentity(() => lab)
  testHostile(() => lab)

  describe("a worker that was broken into", () => {
    const ours = tagOf("w1")

    test.each([
      ["ops.call.*.any.task.whoami", "workers"],
      ["ops.call.*.any.task.whoami", undefined],
      ["ops.call.*.any.shop.buy", undefined],
      ["ops.call.*.any.shop.buy", "others"],
      ["ops.call.*.any.>", "workers"],
      ["ops.call.*.>", "workers"],
      ["ops.call.*.all.>", undefined],
      ["ops.call.>", undefined],
      [`ops.to.*.${ours}.>`, undefined],
      ["ops.to.*.*.>", undefined],
      ["ops.to.>", undefined],
      [`ops.ctl.*.${ours}.*`, undefined],
      ["ops.ctl.*.*.*", undefined],
      ["ops.ctl.>", undefined],
      ["ops.news", undefined],
      ["_INBOX_alice.>", undefined],
      ["_INBOX_w1.>", undefined],
      [">", undefined],
      ["$SYS.>", undefined],
    ])("does not hear what is for other workers: %s as one of %s", async (to, group) => {
      await using stage = await Stage.set(lab)
      const raw = await stage.raw("w2")

      expect((await raw.listen(to, { group })).isPermitted).toBe(false)
    })

    test("cannot answer for another, since it never learns enough", async () => {
      await using stage = await Stage.set(lab)
      const { attacked, address } = stage
      const raw = await stage.raw("w2")
      const received = await Promise.all(
        [
          ...["ops.call.*.any.shop.> workers", "ops.call.*.all.services.*", "ops.ask.*"],
          ...[`ops.to.*.${tagOf("w2")}.*.>`, `ops.ctl.*.${tagOf("w2")}.*`],
        ].map(async (one) => {
          const [to = "", group] = one.split(" ")
          const listening = await raw.listen(to, { group })
          expect(listening.isPermitted).toBe(true)
          return listening.received
        }),
      )
      // Bob asks who is there, so that it may answer him.
      const bob = stage.caller("bob")
      await bob.call("services.list", {})
      const slow = bob.call("task.slow")
      await until(() => attacked.waiting() === 1)
      await settled()
      const all = received.flat()
      const texts = all.map((one) => `${one.to} ${one.reply} ${one.text}`).join("\n")
      expect(texts).not.toContain(address)
      expect(texts).not.toContain("task.slow")

      const listed = /"requestId":"(\w+)-(\w+)"/.exec(texts)
      // It can guess the number of the call, and says that it is who it is, or nobody.
      const ids = Array.from({ length: 20 }, (_, at) => `${listed?.[1]}-${at.toString(36)}`)
      for (const { reply = "" } of all) {
        for (const from of [tagOf("w2") + "a".repeat(16), tagOf("w1") + "a".repeat(16)]) {
          const forged = ids.map((id) => answerText(from, id, "forged")).join("\n")
          for (const text of forged.split("\n")) {
            expect(await raw.publish(reply, text)).toBe(true)
          }
        }
      }
      attacked.release()
      await expect(slow).resolves.toMatchObject({ data: "the real one" })
    })

    test("is given no call of others by saying that it serves them", async () => {
      await using stage = await Stage.set(lab)
      const raw = await stage.raw("w2")
      const { received } = await raw.listen(`ops.to.*.${tagOf("w2")}.*.>`)
      const bob = stage.caller("bob")
      await bob.call("task.list")
      const marks = { [hashOperationId("task.whoami")]: 0, [hashOperationId("task.list")]: 1 }
      const here = JSON.stringify({ type: "here", operations: marks })
      for (const letter of ["x", "y", "z"]) {
        const from = tagOf("w2") + letter.repeat(16)
        expect(await raw.publish("ops.news", frameText(from, [here]))).toBe(true)
      }
      for (let time = 0; time < 20; time++) {
        await expect(bob.call("task.whoami")).resolves.toMatchObject({ data: { id: "bob" } })
      }
      // Nobody else is left who says so.
      stage.worker.leave?.()
      for (const operationId of ["task.whoami", "task.list"]) {
        const error = await failure(bob.call(operationId, {}, { timeout: 5000 }))
        expect(error.code).toBe("UNAVAILABLE")
        expect(error.mayHaveExecuted).toBe(false)
      }

      expect(received).toEqual([])
    })
  })

  describe("where answers go", () => {
    test.each([
      ["_INBOX_bob.aaaaaaaaaaaaaaaa.r0"],
      ["ops.news"],
      ["ops.call.bob.any.task.whoami"],
      ["ops.ctl.bob.x.y"],
      ["_INBOX_alice.aaaaaaaaaaaaaaaa"],
      ["_INBOX_alice.aaaaaaaaaaaaaaaa.r0.x"],
      ["_INBOX.aaaaaaaaaaaaaaaa.r0"],
      ["$SYS.REQ.SERVER.PING"],
      [undefined],
    ])("is never %s", async (reply) => {
      await using stage = await Stage.set(lab)
      const said = await stage.observe()
      const raw = await stage.raw("alice")
      const text = requestText("a".repeat(16), "task.list", "elsewhere", { now: true })
      expect(await raw.publish(lab.at.any("alice", "task.list"), text, reply)).toBe(true)
      await until(() => stage.worker.stats().serving.dropped > 0)
      await settled()

      expect(stage.runs).toEqual([])
      expect(said.filter(({ to }) => to === reply)).toEqual([])
    })
  })

  describe("a client without credentials", () => {
    test("does not get in", async () => {
      await expect(connect({ servers: lab.broker.url, reconnect: false })).rejects.toThrow(
        /Authorization/i,
      )
    })

    test("gets an error that says what to check", async () => {
      const transport = createNatsTransport({
        ...{ servers: lab.broker.url, prefix: "ops", user: "alice", logger: silentLogger },
        connect: { user: "alice", pass: "wrong-canary" },
      })
      transport.open({ event() {}, undelivered() {}, lost() {}, restored() {} })
      const error: unknown = await transport.whenConnected().catch((thrown: unknown) => thrown)
      await transport.close()

      expect(error).toMatchObject({ code: "UNAUTHENTICATED" })
      expect(String(error)).not.toContain("canary")
    })
  })
})
