// Links that have to load something before they can send a message.

import { expect, test } from "vitest"
import { NotReady } from "../../src/core/not-ready.ts"
import { localEnvelope, PendingRequestMap, serveCalls } from "../../src/index.ts"
import type { CallEvent, Transport } from "../../src/index.ts"
import type { TransportReceiver } from "../../src/protocol/transport.ts"
import { count, quietRegistry } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

/** A link that cannot send answers before something was loaded. */
class LoadingLink implements Transport {
  readonly sent: CallEvent[] = []
  isLoaded = false
  loads = 0
  receiver: TransportReceiver | undefined
  readonly #load: () => Promise<void>

  constructor(load: (link: LoadingLink) => Promise<void>) {
    this.#load = () => {
      this.loads++
      return load(this)
    }
  }

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  send(event: CallEvent): void {
    if (event.type === "call.responded" && !this.isLoaded) {
      throw new NotReady("It is not loaded.", this.#load)
    }
    this.sent.push(event)
  }

  async close(): Promise<void> {}

  /** What was sent: the numbers of items, and the types of other events. */
  get story(): unknown[] {
    return this.sent.map((event) => ("seq" in event ? event.seq : event.type))
  }

  request(): void {
    const requestId = "r"
    const kind = "stream"
    const operationId = "demo.count"
    this.receiver?.event({
      type: "call.requested",
      requestId,
      operationId,
      input: { to: 3 },
      kind,
    })
  }
}

const succeed = async (link: LoadingLink): Promise<void> => {
  await Promise.resolve()
  link.isLoaded = true
}

test("items of a stream wait until they can be sent, in their order", async () => {
  const link = new LoadingLink(succeed)
  await using _ = serveCalls(quietRegistry([count]), { transport: link })
  link.request()
  await waitFor(() => expect(link.story).toEqual([1, 2, 3, 3]))

  expect(link.loads).toBe(1)
})

test("a stream that was left meanwhile sends nothing", async () => {
  const link = new LoadingLink(async (it) => {
    it.receiver?.event({ type: "call.aborted", requestId: "r" })
    await succeed(it)
  })
  await using server = serveCalls(quietRegistry([count]), { transport: link })
  link.request()
  await waitFor(() => expect([link.loads, server.inFlight]).toEqual([1, 0]))

  expect(link.sent).toEqual([])
})

test("a stream whose items can never be sent fails", async () => {
  const link = new LoadingLink(() => Promise.reject(new Error("offline")))
  await using _ = serveCalls(quietRegistry([count]), { transport: link })
  link.request()
  await waitFor(() => expect(link.story).toEqual(["call.error"]))
})

test("an answer by hand waits as well, and is reported as undelivered if it never goes", async () => {
  const good = new LoadingLink(succeed)
  const bad = new LoadingLink(() => Promise.reject(new Error("offline")))
  for (const link of [good, bad]) {
    new PendingRequestMap(link).respond("r", localEnvelope(1, "demo.any"))
  }
  await waitFor(() => expect([good.sent.length, bad.sent.length]).toEqual([1, 1]))

  expect(good.sent).toMatchObject([{ type: "call.responded" }])
  expect(bad.sent).toMatchObject([{ type: "call.error", code: "UNAVAILABLE", message: "offline" }])
})

test("an answer by hand that cannot be sent for another reason throws", () => {
  const link = new LoadingLink(succeed)
  link.send = () => {
    throw new TypeError("broken")
  }

  expect(() => new PendingRequestMap(link).respond("r", localEnvelope(1, "demo.any"))).toThrow(
    "broken",
  )
})
