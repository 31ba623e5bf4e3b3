import { describe, expect, test } from "vitest"
import { refusal } from "../../../src/core/errors.ts"
import type { TicketVerifier } from "../../../src/transport/bus/tickets/model.ts"
import type { Identity } from "../../../src/core/types.ts"
import { Harness } from "./worker-harness.ts"

const ann: Identity = { id: "ann", scopes: ["orders"] }
const claim: Identity = { id: "root", scopes: ["*"] }
const unauthenticated = {
  ...{ type: "refused", id: "r1", elsewhere: false },
  error: { code: "UNAUTHENTICATED", mayHaveExecuted: false, retryable: false },
}

class Verifier implements TicketVerifier {
  readonly seen: unknown[] = []
  async verify(ticket: string, subject: object): Promise<Identity> {
    this.seen.push({ ticket, ...subject })
    if (ticket === "good") return ann
    if (ticket === "odd") throw new Error("the secret reason")
    throw refusal("UNAUTHENTICATED", "The ticket does not hold.", { cause: "expired" })
  }
}

async function run(it: Harness, key: string): Promise<unknown> {
  it.say({ type: "go", id: "r1", key, left: 1000 })
  return it.events[0]?.peer
}

describe("the identity of a caller", () => {
  test("is anonymous without proof: the claim of a request is ignored", async () => {
    const it = new Harness()
    const key = await it.accepted({ identity: claim })
    expect(await run(it, key)).toEqual({ identity: undefined, user: "ann" })
  })

  test("is that of the user in the address", async () => {
    const it = new Harness({ identify: (user) => ({ id: user, scopes: [] }) })
    expect(await run(it, await it.accepted())).toEqual({
      ...{ identity: { id: "ann", scopes: [] }, user: "ann" },
    })
  })

  test("may be found asynchronously, and the request waits for it", async () => {
    let found: (identity: Identity | undefined) => void = () => {}
    const it = new Harness({ identify: () => new Promise((resolve) => (found = resolve)) })
    it.request()
    it.request({}, { attempt: 2 })
    it.say({ type: "ping", ids: ["r1"], streams: {} })
    expect(await it.received()).toMatchObject([{ type: "pong", unknown: [], lost: [] }])
    found(ann)
    expect(await it.received()).toMatchObject([{ type: "accepted", attempt: 2 }])
    expect(it.runs).toEqual([])
  })

  test("that cannot be found refuses the request, without the reason", async () => {
    for (const identify of [
      () => {
        throw new Error("secret")
      },
      () => Promise.reject(new Error("secret")),
    ]) {
      const it = new Harness({ identify })
      it.request()
      const received = await it.received()
      expect(received).toMatchObject([unauthenticated])
      expect(JSON.stringify(received)).not.toContain("secret")
      expect(it.worker.stats()).toMatchObject({ waiting: 0, refused: 1 })
      expect(it.logged).toHaveLength(1)
    }
  })
})

describe("tickets", () => {
  test("a valid one identifies the caller of this request, whatever the request claims", async () => {
    const verifier = new Verifier()
    const it = new Harness({ verifier, identify: () => claim })
    const key = await it.accepted({ identity: claim }, { ticket: "good" })
    expect(await run(it, key)).toEqual({ identity: ann, user: "ann" })
    expect(it.events[0]?.event).not.toHaveProperty("identity")
    expect(verifier.seen).toEqual([
      expect.objectContaining({
        ...{ ticket: "good", operationId: "orders.add", requestId: "r1", user: "ann" },
      }),
    ])
  })

  test("a used one starts no second call, after its first is over and forgotten", async () => {
    const it = new Harness({ verifier: new Verifier() })
    await run(it, await it.accepted({}, { ticket: "good" }))
    expect(it.runs).toHaveLength(1)
    it.say({ type: "event", event: { type: "call.aborted", requestId: "r1" } })
    await it.received()
    it.request({}, { ticket: "good" })
    expect(await it.received()).toMatchObject([unauthenticated])
    expect(it.runs).toHaveLength(1)
  })

  test("a used one may repeat an idempotent call", async () => {
    const it = new Harness({ verifier: new Verifier() })
    for (const round of [1, 2]) {
      it.request({ operationId: "orders.get" }, { ticket: "good", now: true })
      await it.received()
      expect(it.runs).toHaveLength(round)
      it.say({ type: "event", event: { type: "call.aborted", requestId: "r1" } })
      await it.received()
    }
  })

  test("an invalid one is refused, instead of falling back to another identity", async () => {
    for (const ticket of ["bad", "odd", ""]) {
      const it = new Harness({ verifier: new Verifier(), identify: () => ann })
      it.request({ operationId: "orders.get" }, { ticket, now: true })
      const received = await it.received()
      expect(received).toMatchObject([unauthenticated])
      expect(JSON.stringify(received)).not.toMatch(/secret|expired/)
      expect(it.runs).toEqual([])
    }
  })

  test("one at a worker without a verifier is refused", async () => {
    const it = new Harness({ identify: () => ann })
    it.request({}, { ticket: "good" })
    expect(await it.received()).toMatchObject([
      { ...unauthenticated, error: { message: expect.stringContaining("verifier") } },
    ])
  })

  test("without one the caller has the identity of its user", async () => {
    const it = new Harness({ verifier: new Verifier() })
    expect(await run(it, await it.accepted())).toEqual({ identity: undefined, user: "ann" })
  })

  test("a caller that leaves while its ticket is verified: nothing runs", async () => {
    const it = new Harness({ verifier: new Verifier() })
    it.request({ operationId: "orders.get" }, { ticket: "good", now: true })
    it.say({ type: "event", event: { type: "call.aborted", requestId: "r1" } })
    expect(await it.received()).toEqual([])
    expect(it.runs).toEqual([])
    expect(it.aborts).toEqual([])
  })

  test("a worker that leaves, or a deadline that passes, while a ticket is verified: nothing runs", async () => {
    const it = new Harness({ verifier: new Verifier() })
    it.request({}, { ticket: "good" })
    it.worker.leave()
    expect(await it.received()).toMatchObject([{ type: "refused", elsewhere: true }])
    const slow = new Harness({ verifier: new Verifier() })
    slow.request({ operationId: "orders.get", timeout: 100 }, { ticket: "good", now: true })
    slow.clock.time += 200
    await slow.received()
    expect(slow.runs).toEqual([])
    expect(slow.worker.stats()).toMatchObject({ waiting: 0, running: 0 })
  })
})
