import { generateKeyPairSync } from "node:crypto"
import { decodeJwt } from "jose"
import { describe, expect, test } from "vitest"
import { silentLogger } from "../../../../src/testing.ts"
import type { Identity } from "../../../../src/index.ts"
import type { BusOptions } from "../../../../src/transport/bus/options.ts"
import { createTicketSigner } from "../../../../src/transport/bus/tickets/signer.ts"
import { createTicketVerifier } from "../../../../src/transport/bus/tickets/verifier.ts"
import type { Lab } from "../lab.ts"
import { settled, until } from "../lab.ts"
import { failure, requestsFor, requestText, Stage } from "../stage.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const pinned = { issuer: "hub", audience: "ops" }
const signer = createTicketSigner({ ...pinned, key: privateKey })
const zoe: Identity = { id: "zoe", scopes: ["root"], resources: { "project:1": ["read"] } }

/** A verifier, and what it says of tickets that do not hold. */
function checking(more: Partial<Parameters<typeof createTicketVerifier>[0]> = {}) {
  const reasons: unknown[] = []
  const logger = {
    ...silentLogger,
    warn: (_: string, fields?: Readonly<Record<string, unknown>>) => {
      reasons.push(fields?.["reason"])
    },
  }
  const options = { ...pinned, keys: publicKey, senders: "hub", logger, ...more }
  const verifier: BusOptions["verifier"] = createTicketVerifier(options)
  return { verifier, reasons }
}

/** Who a call is for: what the broker or a ticket says, and nothing that a message says of itself. */
export function testIdentity(lab: () => Lab): void {
  describe("what a message says of its sender", () => {
    test("is not believed", async () => {
      await using stage = await Stage.set(lab())
      const identity = { id: "root", scopes: ["root", "*"] }
      const { data } = await stage.alice.call("task.whoami", { identity }, { identity })

      expect(data).toEqual({ id: "alice", scopes: ["task"] })
      const error = await failure(stage.alice.call("task.secret", { trusted: true }, { identity }))
      expect(error.code).toBe("ACCESS_DENIED")
      expect(stage.runs).toEqual(["task.whoami"])
    })

    test("is not believed of one who writes messages by hand", async () => {
      await using stage = await Stage.set(lab())
      const raw = await stage.raw("alice")
      const claim = { id: "root", scopes: ["root"] }
      const own = { identity: claim, trusted: true, isTrusted: true, user: "root" }
      const text = requestText("a".repeat(26), "task.secret", "by-hand-1", {
        ...{ now: true, trusted: true, identity: claim, user: "root" },
        event: { ...own, metadata: own },
      })
      const reply = `_INBOX_alice.${"a".repeat(26)}.r0`
      expect(
        await raw.publish(stage.lab.at.worker("alice", stage.address, "task.secret"), text, reply),
      ).toBe(true)
      await until(() => stage.worker.stats().serving.callers > 1)

      await settled()
      expect(stage.runs).toEqual([])
    })
  })

  describe("a hub that calls for others", () => {
    test("brings a ticket, and the worker sees whom it speaks for", async () => {
      const { verifier, reasons } = checking()
      await using stage = await Stage.set(lab(), { verifier })
      const hub = stage.caller("hub", { signer })

      const { data } = await hub.call("task.whoami", {}, { identity: zoe })
      expect(data).toEqual(zoe)
      await expect(hub.call("task.secret", {}, { identity: zoe })).resolves.toMatchObject({
        data: "canary",
      })
      const { code } = await failure(
        hub.call("task.secret", {}, { identity: { id: "yan", scopes: [] } }),
      )
      expect(code).toBe("ACCESS_DENIED")
      expect(reasons).toEqual([])
    })

    test("reads streams and lists for them as well", async () => {
      const { verifier } = checking()
      await using stage = await Stage.set(lab(), { verifier })
      const hub = stage.caller("hub", { signer })
      let items = 0
      for await (const _ of hub.subscribe("task.count", { to: 300 }, { identity: zoe })) items++

      expect(items).toBe(300)
      const listed = async (identity?: Identity): Promise<string> =>
        JSON.stringify((await hub.call("services.list", {}, { identity })).data)
      expect(await listed(zoe)).toContain("task.secret")
      expect(await listed({ id: "yan", scopes: [] })).not.toContain("task.secret")
      expect(await listed()).not.toContain("task.secret")
    })

    test("is anonymous without a ticket", async () => {
      const { verifier } = checking()
      await using stage = await Stage.set(lab(), { verifier })
      const hub = stage.caller("hub", { signer })

      expect((await hub.call("task.whoami")).data).toBe(null)
      const plain = stage.caller("hub")
      expect((await plain.call("task.whoami", {}, { identity: zoe })).data).toBe(null)
    })

    test("says nothing of whom it speaks for but in the ticket, and that not in the clear twice", async () => {
      const { verifier } = checking()
      await using stage = await Stage.set(lab(), { verifier })
      const said = await stage.observe()
      await stage.caller("hub", { signer }).call("task.whoami", {}, { identity: zoe })
      await until(() => requestsFor("task.whoami", said).length > 0)
      const [request] = requestsFor("task.whoami", said)

      expect(request?.message.event.identity).toBeUndefined()
      expect(decodeJwt(request?.message.ticket ?? "")).toMatchObject({
        ...{ iss: "hub", aud: "ops", sub: "zoe", scp: ["root"], op: "task.whoami" },
        rid: request?.requestId,
      })
    })

    test.each<[string, Partial<Parameters<typeof createTicketVerifier>[0]>, string]>([
      ["is over", { clock: clockAt(3_600_000) }, "expired"],
      ["is not good yet", { clock: clockAt(-3_600_000) }, "not yet valid"],
      [
        "is of a key that was withdrawn",
        { keys: generateKeyPairSync("ed25519").publicKey },
        "signature",
      ],
      ["is of another issuer", { issuer: "another" }, "issuer"],
      ["is for another audience", { audience: "another" }, "audience"],
      ["comes by way of somebody else", { senders: ["another"] }, "sender"],
    ])("is refused with a ticket that %s", async (_, more, reason) => {
      const { verifier, reasons } = checking(more)
      await using stage = await Stage.set(lab(), { verifier })
      const hub = stage.caller("hub", { signer })
      const error = await failure(hub.call("task.whoami", {}, { identity: zoe }))

      expect(error).toMatchObject({ code: "UNAUTHENTICATED", mayHaveExecuted: false })
      expect(error.message).not.toContain(reason)
      expect(reasons).toEqual([reason])
      expect(stage.runs).toEqual([])
    })

    test("is refused by a worker that cannot check tickets, rather than taken for the hub", async () => {
      await using stage = await Stage.set(lab(), {
        identify: () => ({ id: "any", scopes: ["root"] }),
      })
      const hub = stage.caller("hub", { signer })

      expect((await failure(hub.call("task.whoami", {}, { identity: zoe }))).code).toBe(
        "UNAUTHENTICATED",
      )
      expect(stage.runs).toEqual([])
    })
  })

  describe("a ticket that somebody got hold of", () => {
    test.each([
      ["for the same request", {}],
      ["for another request", { requestId: "another" }],
      ["for another operation", { operationId: "task.secret" }],
    ])("is of no use %s", async (_, more) => {
      const { verifier, reasons } = checking()
      await using stage = await Stage.set(lab(), { verifier })
      const said = await stage.observe()
      await stage.caller("hub", { signer }).call("task.whoami", {}, { identity: zoe })
      await until(() => requestsFor("task.whoami", said).length > 0)
      const [request] = requestsFor("task.whoami", said)
      const { ticket } = request?.message ?? {}
      const wanted = { operationId: "task.whoami", requestId: request?.requestId ?? "", ...more }

      const raw = await stage.raw("alice")
      const from = "b".repeat(26)
      const { operationId, requestId } = wanted
      const to = stage.lab.at.worker("alice", stage.address, operationId)
      // With a new id as well, in case the old one is still known.
      for (const id of [requestId, `${requestId}-2`]) {
        const text = requestText(from, operationId, id, { ticket, now: true })
        expect(await raw.publish(to, text, `_INBOX_alice.${from}.r0`)).toBe(true)
      }
      await stage.alice.call("task.list")
      await until(() => reasons.length > 0)
      await settled()

      expect(stage.runs).toEqual(["task.whoami", "task.list"])
    })

    test("is of no use to those who may use tickets, for anything else", async () => {
      const { verifier, reasons } = checking()
      await using stage = await Stage.set(lab(), { verifier })
      const ticket = await signer.sign(zoe, {
        ...{ operationId: "task.whoami", requestId: "first", timeout: 5000, input: {} },
      })
      const raw = await stage.raw("hub")
      const from = "c".repeat(26)
      const attempts = [
        ["task.secret", "first", {}],
        ["task.whoami", "second", {}],
        ["task.whoami", "first", { amount: 1_000_000 }],
      ] as const
      for (const [at, [operationId, requestId, input]] of attempts.entries()) {
        const to = stage.lab.at.worker("hub", stage.address, operationId)
        const text = requestText(from, operationId, requestId, { ticket, event: { input } })
        expect(await raw.publish(to, text, `_INBOX_hub.${from}.r0`)).toBe(true)
        // A request whose id is still being checked is the same one, sent again.
        await until(() => reasons.length > at)
      }

      expect(reasons).toEqual(["another operation", "another request", "another input"])
      expect(stage.runs).toEqual([])
    })
  })
}

function clockAt(offset: number) {
  return {
    now: () => Date.now() + offset,
    setTimeout: (): unknown => undefined,
    clearTimeout: (): void => undefined,
  }
}
