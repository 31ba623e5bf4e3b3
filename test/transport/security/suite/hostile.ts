import { describe, expect, test } from "vitest"
import { createRegistry } from "../../../../src/index.ts"
import type { InputResponse } from "../../../../src/index.ts"
import type { CallEvent } from "../../../../src/core/events.ts"
import { tagOf } from "../../../../src/transport/nats/subjects.ts"
import type { CallerMessage } from "../../../../src/transport/bus/wire/messages.ts"
import { frameText, messageText } from "../../bus/messages.ts"
import { EvilWorker, eventsText } from "../evil-worker.ts"
import type { Lab } from "../lab.ts"
import { settled, until } from "../lab.ts"
import { plainOperation } from "../operations.ts"
import { failure, requestsFor, requestText, Stage } from "../stage.ts"

/** Those who may be here, and do what nobody expects. */
export function testHostile(lab: () => Lab): void {
  describe("a caller that meddles with the calls of another", () => {
    test("changes nothing, and hears nothing of them", async () => {
      await using stage = await Stage.set(lab())
      const said = await stage.observe()
      const { alice, attacked, address } = stage
      const slow = alice.call("task.slow")
      await until(() => attacked.waiting() === 1)
      const [request] = requestsFor("task.slow", said)
      const id = request?.requestId ?? ""
      const key = /"key":"(\w+)"/.exec(said.map(({ text }) => text).join("\n"))?.[1] ?? ""

      const bob = await stage.raw("bob")
      // On Redis answers to it go there; on NATS to what it says, which has to be its own.
      const from = "d".repeat(26)
      const inbox = stage.lab.at.replyTo({
        ...{ to: stage.lab.at.ask("bob"), reply: `_INBOX_bob.${from}.x` },
        text: frameText(from, []),
      })
      const { received, isPermitted } = await bob.listen(inbox)
      expect(isPermitted).toBe(true)
      const meddling: CallerMessage[] = [
        { type: "go", id, key, left: 1 },
        { type: "nogo", id, key },
        { type: "done", ids: [id] },
        { type: "ping", ids: [id], streams: { [id]: 0 } },
        { type: "event", event: { type: "call.aborted", requestId: id, reason: "by bob" } },
        { type: "event", event: { type: "call.credit", requestId: id, credit: 1_000_000 } },
      ]
      const texts = meddling.map((message) => messageText(message))
      const to = stage.lab.at.control("bob", address)
      expect(await bob.publish(to, frameText(from, texts), inbox)).toBe(true)
      // The same id, so that its outcome goes to both.
      const same = requestText(from, "task.slow", id)
      expect(await bob.publish(stage.lab.at.worker("bob", address, "task.slow"), same, inbox)).toBe(
        true,
      )
      await until(() => received.some(({ text }) => text.includes("VALIDATION_ERROR")))
      attacked.release()

      await expect(slow).resolves.toMatchObject({ data: "the real one" })
      await settled()
      expect(received.map(({ text }) => text).join("\n")).not.toContain("the real one")
      expect(stage.runs).toEqual(["task.slow"])
    })

    test("under its address changes nothing either", async () => {
      await using stage = await Stage.set(lab())
      const said = await stage.observe()
      const { alice, attacked, address } = stage
      const slow = alice.call("task.slow")
      await until(() => attacked.waiting() === 1)
      const [request] = requestsFor("task.slow", said)
      const { from = "", requestId = "" } = request ?? {}

      const bob = await stage.raw("bob")
      const abort = messageText({
        ...{ type: "event", event: { type: "call.aborted", requestId, reason: "by bob" } },
      })
      const to = stage.lab.at.control("bob", address)
      for (const reply of [`_INBOX_bob.${from}.x`, `_INBOX_alice.${from}.x`]) {
        expect(await bob.publish(to, frameText(from, [abort]), reply)).toBe(true)
      }
      await settled()
      attacked.release()

      await expect(slow).resolves.toMatchObject({ data: "the real one" })
    })
  })

  describe("a caller that answers the questions to another", () => {
    test("is not received, under its own address or that of the other", async () => {
      await using stage = await Stage.set(lab())
      const said = await stage.observe()
      let answer: ((response: InputResponse) => void) | undefined
      const requestInput = (): Promise<InputResponse> =>
        new Promise((resolve) => {
          answer = resolve
        })
      const call = stage.alice.call("task.ask", {}, { requestInput })
      await until(() => answer !== undefined)
      const [request] = requestsFor("task.ask", said)
      const { from: alice = "", requestId = "" } = request ?? {}

      const bob = await stage.raw("bob")
      const to = stage.lab.at.control("bob", stage.address)
      const response = { action: "accept", content: "of bob" } as const
      const texts = [1, 2, 3].map((question) =>
        messageText({
          ...{ type: "event", event: { type: "call.answered", requestId, question, response } },
        }),
      )
      for (const from of ["d".repeat(26), alice]) {
        for (const reply of [`_INBOX_bob.${from}.x`, `_INBOX_alice.${from}.x`]) {
          expect(await bob.publish(to, frameText(from, texts), reply)).toBe(true)
        }
      }
      await settled()
      answer?.({ action: "accept", content: "of alice" })

      expect((await call).data).toBe("of alice")
    })
  })

  describe("a caller that sends what is no message", () => {
    const from = "e".repeat(26)
    const request = { type: "request", attempt: 1 }
    const event = { type: "call.requested", requestId: "x", operationId: "task.whoami" }
    test.each<[string, string]>([
      ["nothing", ""],
      ["no JSON", "PUB x 1\r\n\r\n"],
      ["half of some", '{"from":"'],
      ["bytes", "\u0000\u0001\uFFFD"],
      ["null", "null"],
      ["a list", "[]"],
      ["a sender that is none", '{"from":"../..","messages":[]}'],
      ["a sender with a line break", '{"from":"a\\nb","messages":[]}'],
      ["messages that are none", `{"from":"${from}","messages":[null,1,"x",[],{}]}`],
      ["messages that are no list", `{"from":"${from}","messages":{"length":1}}`],
      ["many messages", `{"from":"${from}","messages":[${"0,".repeat(20_000)}0]}`],
      ["depth", `{"from":"${from}","messages":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
      ["depth of an input", deep(from)],
      ["900 kB", `{"from":"${from}","messages":["${"x".repeat(900_000)}"]}`],
      ["no event", frame(from, request)],
      ["an event of another kind", frame(from, { ...request, event: { type: "call.responded" } })],
      ["an event without its fields", frame(from, { ...request, event: { type: event.type } })],
      ["numbers for names", frame(from, { ...request, event: { ...event, requestId: 1 } })],
      ["a negative attempt", frame(from, { ...request, attempt: -1, event })],
      ["a ticket that is none", frame(from, { ...request, ticket: {}, event })],
      [
        "prototypes",
        `{"from":"${from}","messages":[{"__proto__":{"type":"who"},"constructor":1}]}`,
      ],
      ["a grant for nothing", frame(from, { type: "go", id: "x", key: "y", left: 1e18 })],
      ["a grant without a key", frame(from, { type: "go", id: "x", left: 1 })],
      ["ids that are none", frame(from, { type: "ping", ids: [1], streams: { x: -1 } })],
      ["an answer", frame(from, { type: "event", event: { ...event, type: "call.completed" } })],
      ["another operation than its address", requestText(from, "admin.drop", "y")],
    ])("leaves the worker as it was: %s", async (_, text) => {
      await using stage = await Stage.set(lab())
      const { at } = stage.lab
      const raw = await stage.raw("alice")
      const reply = `_INBOX_alice.${from}.r0`
      for (const to of [
        at.worker("alice", stage.address, "task.whoami"),
        at.any("alice", "task.whoami"),
        at.all("alice", "services.list"),
        at.control("alice", stage.address),
        at.ask("alice"),
      ]) {
        await raw.publish(to, text, reply)
      }
      const { data } = await stage.alice.call("task.whoami")

      expect(data).toEqual({ id: "alice", scopes: ["task"] })
      expect(stage.runs).toEqual(["task.whoami"])
      expect(({} as { type?: unknown }).type).toBeUndefined()
    })

    test("is counted", async () => {
      await using stage = await Stage.set(lab())
      const raw = await stage.raw("alice")
      for (let time = 0; time < 100; time++) {
        const reply = `_INBOX_alice.${from}.r0`
        await raw.publish(stage.lab.at.control("alice", stage.address), "no message", reply)
      }
      await until(() => stage.worker.stats().serving.dropped === 100)

      expect(stage.worker.stats().serving.callers).toBe(1)
    })
  })

  describe("ids that could be more than ids", () => {
    const ids = [
      ...["a.>", "a.*", "*.*", ">", "a b.c", "a.b c", "a.b\r\nPUB x 1", "a.b\u0000", "a..b", ".a"],
      ...["a.", "a.b:c", "a:b", "a.[b]", "a.b\n", "task.list\r\n", "é.ü", `a.${"b".repeat(300)}`],
      ...["task.list.", "$SYS.x", "_INBOX_alice.x", "a.\u2028"],
    ]

    test.each(ids.map((id) => [id]))("never become part of an address: %j", async (id) => {
      await using stage = await Stage.set(lab())
      const said = await stage.observe()
      const error = await failure(stage.caller("hub").call(id, {}, { timeout: 5000 }))

      expect(error.mayHaveExecuted).toBe(false)
      expect(error.code).toMatch(
        isPlain(id) ? /^(OPERATION_NOT_FOUND|TIMEOUT)$/ : "OPERATION_NOT_FOUND",
      )
      // To the last of what was said before.
      await stage.alice.call("task.list")
      await until(() => requestsFor("task.list", said).length > 0)
      for (const { to, reply = "" } of said) {
        expect(to).toMatch(/^[\w.:-]+$/)
        expect(reply).toMatch(/^[\w.:-]*$/)
      }
    })

    test("are not served", async () => {
      await using stage = await Stage.set(lab())
      const ran: string[] = []
      const registered = ids.filter((id) => {
        try {
          stage.attacked.registry.registerAll([plainOperation(id, () => ran.push(id))])
          return true
        } catch {
          return false
        }
      })
      const said = await stage.observe()
      // What is served now is announced; nothing of it can be called.
      const hub = stage.caller("hub")
      for (const id of registered.filter((one) => !isPlain(one))) {
        const { code } = await failure(hub.call(id, {}, { timeout: 5000 }))
        expect({ id, code }).toEqual({ id, code: "OPERATION_NOT_FOUND" })
      }
      expect(ran).toEqual([])
      for (const { to } of said) expect(to).toMatch(/^[\w.:-]+$/)
    })
  })

  describe("a worker that floods one call", () => {
    test("ends that one, and no other", async () => {
      await using stage = await Stage.set(lab())
      stage.worker.leave?.()
      const raw = await stage.raw("w1")
      let done: Promise<void> | undefined
      const evil = new EvilWorker(raw, stage.lab.at, {
        address: tagOf("w1") + "f".repeat(16),
        serves: "task.count",
        granted: ({ id }, reply) => {
          done = flood(id, evil.address, reply)
        },
      })
      await evil.start()
      const bob = stage.transport("bob")
      const map = stage.map(bob)
      const stream = map.subscribe("task.count", { to: 1 }, { window: 100 })
      const first = await stream.next()
      expect(first.value?.data).toBe("x".repeat(1000))
      await done

      let taken = 1
      const error = await failure(
        (async () => {
          for await (const _ of stream) taken++
        })(),
      )
      expect(error.code).toBe("SLOW_CONSUMER")
      expect(taken).toBeLessThanOrEqual(201)
      expect(bob.stats().calling.pending).toBe(0)
      stage.serve("w2", createRegistry([plainOperation("shop.buy", () => "bought")]))
      await until(() => bob.stats().calling.workers.length > 0)
      while (!(await isThere(map.call("shop.buy")))) await settled()
    })

    test("ends nothing with what makes no sense", async () => {
      await using stage = await Stage.set(lab())
      stage.worker.leave?.()
      const raw = await stage.raw("w1")
      const evil = new EvilWorker(raw, stage.lab.at, {
        address: tagOf("w1") + "g".repeat(16),
        serves: "task.slow",
        granted: ({ id }, reply) => {
          void babble(id, evil.address, reply)
        },
      })
      await evil.start()
      const bob = stage.transport("bob")
      const progress: unknown[] = []
      const options = { progress: (value: unknown) => void progress.push(value) }
      const { data } = await stage.map(bob).call("task.slow", {}, options)

      expect(data).toBe("after all")
      expect(progress.length).toBeGreaterThan(0)
      expect(bob.stats().calling.dropped).toBeGreaterThan(0)
    })
  })
}

/** Whether it is an id like any other, after all. */
function isPlain(id: string): boolean {
  return /^\w[\w-]*(\.[\w-]+)+$/.test(id) && id.length < 256
}

async function isThere(call: PromiseLike<unknown>): Promise<boolean> {
  return await call.then(
    () => true,
    () => false,
  )
}

function frame(from: string, message: unknown): string {
  return frameText(from, [JSON.stringify(message)])
}

function deep(from: string): string {
  const event = `{"type":"call.requested","requestId":"x","operationId":"task.whoami","input":${"[".repeat(50_000)}${"]".repeat(50_000)}}`
  return frameText(from, [`{"type":"request","attempt":1,"event":${event}}`])
}

/** Many more items than were granted, each of a kilobyte. */
async function flood(
  requestId: string,
  from: string,
  reply: (text: string) => Promise<boolean>,
): Promise<void> {
  let seq = 0
  for (let frames = 0; frames < 100; frames++) {
    const events = Array.from({ length: 200 }, () => item(requestId, ++seq))
    await reply(eventsText(from, events))
  }
}

function item(requestId: string, seq: number): CallEvent {
  const meta = { source: "local", operationId: "task.count", timestamp: 1 } as const
  return {
    ...{ type: "call.responded", requestId, seq },
    output: { data: "x".repeat(1000), meta },
  }
}

/** Everything that a worker should not say, and then an answer. */
async function babble(
  requestId: string,
  from: string,
  reply: (text: string) => Promise<boolean>,
): Promise<void> {
  const texts = [
    ...["", "null", "[]", '{"from":"x"', "\u0000", `{"from":"${from}","messages":[1,{}]}`],
    `{"from":"${from}","messages":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    frame(from, { type: "accepted", id: requestId, attempt: -1, key: "", isIdempotent: "yes" }),
    frame(from, { type: "pong", unknown: [requestId.slice(1)], lost: "all" }),
    frame(from, { type: "here", operations: { x: "y" } }),
    frame(from, { type: "event", event: { type: "call.error", requestId } }),
    frame(from, {
      type: "event",
      event: { type: "call.requested", requestId, operationId: "a.b" },
    }),
    frame(from, { type: "event", event: { type: "call.credit", requestId, credit: 1 } }),
    eventsText("z".repeat(26), [item(requestId, 1)]),
    eventsText(from, [{ type: "call.completed", requestId: "another" }]),
  ]
  for (const text of texts) await reply(text)
  const progress = Array.from({ length: 1000 }, (_, at): CallEvent => {
    return { type: "call.progress", requestId, progress: at }
  })
  for (let times = 0; times < 10; times++) await reply(eventsText(from, progress))
  const meta = { source: "local", operationId: "task.slow", timestamp: 1 } as const
  const output = { data: "after all", meta }
  await reply(eventsText(from, [{ type: "call.responded", requestId, output }]))
}
