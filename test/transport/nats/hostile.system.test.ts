import { once } from "node:events"
import { connect as dial } from "node:net"
import type { Socket } from "node:net"
import { connect, headers } from "@nats-io/transport-node"
import type { NatsConnection } from "@nats-io/transport-node"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { provideNats, startNats } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { isUp, openBus, settled, works } from "./recorder.ts"
import type { OpenBus } from "./recorder.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("what others send over NATS", () => {
  let broker: Broker
  let worker: OpenBus
  let eve: NatsConnection
  beforeAll(async () => {
    broker = await startNats()
    eve = await connect({ servers: broker.url })
  })
  afterAll(async () => {
    await eve.close()
    await broker[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    worker = openBus(broker.url)
    worker.bus.serve(["demo.greet"])
    await isUp(worker)
    await works(worker)
    await settled(worker)
    worker.recorder.fromCallers.length = 0
  })
  afterEach(async () => {
    await worker.bus.close()
  })

  const any = "operations.call.ada.any.demo.greet"

  test.each([
    ["nowhere", undefined],
    ["somebody else", "_INBOX_bob.caller1234567.m1"],
    ["a subject of another kind", "operations.news"],
    ["a worker", "operations.call.ada.any.demo.greet"],
    ["the system", "$SYS.REQ.SERVER.PING"],
    ["a client's own inbox", "_INBOX.abc.def"],
    ["fewer parts", "_INBOX_ada.caller1234567"],
    ["more parts", "_INBOX_ada.caller1234567.m1.m2"],
    ["a wildcard", "_INBOX_ada.caller1234567.*"],
    ["all of a caller", "_INBOX_ada.>"],
    ["strange letters", "_INBOX_ada.caller-1234567.m1"],
    ["a very long address", `_INBOX_ada.${"a".repeat(65)}.m1`],
  ])("that wants its answer at %s is dropped and counted", async (_name, reply) => {
    eve.publish(any, `{"from":"x","messages":[]}`, reply === undefined ? {} : { reply })
    await expect.poll(() => worker.recorder.fromCallers).toHaveLength(1)
    // The receiver counts invalid messages: it gets nothing that could be answered.
    expect(worker.recorder.fromCallers).toEqual([
      { text: "", caller: { user: "", address: "", reply: "", operationId: undefined } },
    ])
    await works(worker)
  })

  test.each([
    ["a segment that is none", "operations.call.a💥b.any.demo.greet"],
    ["a segment that is too long", `operations.call.${"a".repeat(65)}.any.demo.greet`],
  ])("with %s is dropped", async (_name, subject) => {
    const user = subject.split(".")[2]
    eve.publish(subject, "x", { reply: `_INBOX_${user}.caller1234567.m1` })
    await expect.poll(() => worker.recorder.fromCallers.map(({ text }) => text)).toEqual([""])
  })

  test("to all, or to this worker, is taken only for what is so called", async () => {
    const own = `${worker.bus.address.slice(0, 10)}.${worker.bus.address}`
    const reply = "_INBOX_ada.caller1234567.m1"
    for (const subject of [
      "operations.call.ada.all.demo.greet",
      "operations.call.ada.all.services.list.more",
      `operations.to.ada.${own}`,
      `operations.to.ada.${own}.demo`,
      `operations.to.ada.${own}.demo..greet`,
      `operations.ctl.ada.${own}.demo.greet`,
      "operations.ask.ada.more",
    ]) {
      eve.publish(subject, "x", { reply })
    }
    eve.publish(`operations.ctl.ada.${own}`, "the last", { reply })
    await expect.poll(() => worker.recorder.fromCallers.at(-1)?.text).toBe("the last")
    expect(worker.recorder.fromCallers.slice(0, -1).filter(({ text }) => text !== "")).toEqual([])
  })

  test("can be any bytes", async () => {
    const reply = "_INBOX_ada.caller1234567.m1"
    const bytes = [new Uint8Array(0), new Uint8Array([0xff, 0xfe, 0, 0xc3]), new Uint8Array(1e6)]
    for (const one of bytes) eve.publish(any, one, { reply })
    await expect.poll(() => worker.recorder.fromCallers).toHaveLength(3)
    for (const { text } of worker.recorder.fromCallers) expect(typeof text).toBe("string")
    await works(worker)
  })

  test("to a caller's inbox is no word of the broker unless it is empty and says 503", async () => {
    const inbox = `_INBOX_anyone.${worker.bus.address}`
    eve.publish(`${inbox}.m1`, "text", { headers: headers(503, "No Responders") })
    eve.publish(`${inbox}.m2`, "", { headers: headers(408, "Timeout") })
    eve.publish(`${inbox}.m3`, "")
    await expect.poll(() => worker.recorder.fromWorkers).toEqual(["text", "", ""])
    expect(worker.recorder.unanswered).toEqual([])
  })

  test("with unreadable headers has no effect", async () => {
    const socket = dial(broker.port, "127.0.0.1")
    await once(socket, "connect")
    await say(socket, `CONNECT {"verbose":false,"headers":true,"protocol":1}`)
    const inbox = `_INBOX_anyone.${worker.bus.address}.m1`
    for (const header of [
      "NATS/1.0 503\r\n\u0001: x\r\n\r\n",
      "NATS/1.0\r\na b: x\r\n\r\n",
      "NATS/1.0 99999999999999999999 x\r\n:\r\n\r\n",
      "\r\n\r\n",
    ]) {
      await say(socket, `HPUB ${inbox} ${header.length} ${header.length}\r\n${header}`)
    }
    await say(socket, `PUB operations.news 4\r\nlast`)
    await expect.poll(() => worker.recorder.fromWorkers).toContain("last")
    await works(worker)
    expect(worker.recorder.states).toEqual(["up"])
    socket.destroy()
  })
})

async function say(socket: Socket, line: string): Promise<void> {
  await new Promise((resolve) => socket.write(`${line}\r\n`, resolve))
}
