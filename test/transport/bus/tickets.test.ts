import { createHmac, generateKeyPairSync, randomUUID, webcrypto } from "node:crypto"
import type { KeyObject } from "node:crypto"
import * as fc from "fast-check"
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose"
import type { JWTHeaderParameters } from "jose"
import { describe, expect, test } from "vitest"
import { isCallError } from "../../../src/core/errors.ts"
import type { CallError } from "../../../src/core/errors.ts"
import type { Logger } from "../../../src/internal/logger.ts"
import type { Clock } from "../../../src/internal/platform.ts"
import { createTicketSigner } from "../../../src/transport/bus/tickets/signer.ts"
import { createTicketVerifier } from "../../../src/transport/bus/tickets/verifier.ts"
import type { TicketJwk, TicketKey } from "../../../src/transport/bus/tickets/keys.ts"
import type { TicketSignerOptions } from "../../../src/transport/bus/tickets/signer.ts"
import type { TicketVerifierOptions } from "../../../src/transport/bus/tickets/verifier.ts"
import type { TicketSigner } from "../../../src/transport/bus/tickets/model.ts"
import type { Identity } from "../../../src/core/types.ts"
import { runs } from "../../support/nightly.ts"
import { codePoint } from "../../support/code-point.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const other = generateKeyPairSync("ed25519")
const NOW = 1_800_000_000_000
const ISSUER = "hub"
const AUDIENCE = "operations"
const ada: Identity = { id: "ada", scopes: ["task.read", "task.write"] }
const subject = { operationId: "task.create", requestId: "r-1", timeout: 5000 }

/** A clock that stands where it is put. */
class Standing implements Clock {
  time = NOW
  now(): number {
    return this.time
  }
  setTimeout(): unknown {
    throw new Error("a ticket needs no timer")
  }
  clearTimeout(): void {}
}

interface Line {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

class Kept implements Logger {
  readonly lines: Line[] = []
  debug(message: string, fields = {}): void {
    this.lines.push({ message, fields })
  }
  info(message: string, fields = {}): void {
    this.lines.push({ message, fields })
  }
  warn(message: string, fields = {}): void {
    this.lines.push({ message, fields })
  }
  error(message: string, fields = {}): void {
    this.lines.push({ message, fields })
  }
}

function setup(
  signing: Partial<TicketSignerOptions> = {},
  checking: Partial<TicketVerifierOptions> = {},
) {
  const clock = new Standing()
  const logger = new Kept()
  const pinned = { issuer: ISSUER, audience: AUDIENCE, clock }
  const signer = createTicketSigner({ ...pinned, key: privateKey, ...signing })
  const verifier = createTicketVerifier({
    ...{ ...pinned, keys: publicKey, senders: "any", logger },
    ...checking,
  })
  return { clock, logger, signer, verifier }
}

/** Signs anything whatever, as somebody would who has a key and no scruples. */
async function forge(
  claims: Readonly<Record<string, unknown>> = {},
  header: Partial<JWTHeaderParameters> = {},
  key: KeyObject | Uint8Array = privateKey,
): Promise<string> {
  const payload = { ...goodClaims(), ...claims }
  return await new SignJWT(payload)
    .setProtectedHeader({ alg: "EdDSA", typ: "operations-ticket+jwt", ...header })
    .sign(key)
}

function goodClaims(): Record<string, unknown> {
  const seconds = NOW / 1000
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: "ada",
    scp: ["task.read"],
    op: subject.operationId,
    rid: subject.requestId,
    // SHA-256 of nothing: there is no input.
    inp: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    iat: seconds,
    nbf: seconds,
    exp: seconds + 35,
    jti: randomUUID(),
  }
}

function base64url(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString(
    "base64url",
  )
}

async function failure(promise: Promise<unknown>): Promise<CallError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isCallError(error)) throw new Error(`Expected a CallError, got ${String(error)}`)
  return error
}

/** Expects the same error as for any refused ticket, and this reason in the log. */
async function expectRefused(
  ticket: string,
  reason: string,
  { verifier, logger } = setup(),
): Promise<void> {
  const error = await failure(verifier.verify(ticket, subject))

  expect(error.toJSON()).toEqual({
    code: "UNAUTHENTICATED",
    message: '"task.create" was not called: the ticket for its caller is not valid.',
    retryable: false,
    mayHaveExecuted: false,
    operationId: "task.create",
    requestId: "r-1",
  })
  expect(error.cause).toBeUndefined()
  expect(logger.lines).toEqual([
    {
      message: "A call was refused: its ticket is not valid",
      fields: { reason, operationId: "task.create", requestId: "r-1" },
    },
  ])
}

describe("a ticket", () => {
  test("contains the identity of the caller", async () => {
    const { signer, verifier, logger } = setup()
    const identity = { ...ada, resources: { "project:1": ["read"], "project:2": [] } }

    const found = await verifier.verify(await signer.sign(identity, subject), subject)

    expect(found).toEqual(identity)
    expect(logger.lines).toEqual([])
  })

  test("is for one request of one operation, and over 30 seconds after it has to be", async () => {
    const { signer } = setup()
    const ticket = await signer.sign(ada, subject)

    expect(decodeProtectedHeader(ticket)).toEqual({
      alg: "EdDSA",
      typ: "operations-ticket+jwt",
      kid: expect.stringMatching(/^[\w-]{43}$/) as string,
    })
    expect(decodeJwt(ticket)).toEqual({
      iss: "hub",
      aud: "operations",
      sub: "ada",
      scp: ["task.read", "task.write"],
      op: "task.create",
      rid: "r-1",
      inp: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      iat: NOW / 1000,
      nbf: NOW / 1000,
      exp: NOW / 1000 + 35,
      jti: expect.stringMatching(/^[\w-]{36}$/) as string,
    })
    expect(decodeJwt(await signer.sign(ada, subject)).jti).not.toBe(decodeJwt(ticket).jti)
  })

  test("is for one input, whatever the order of its keys and however it was written", async () => {
    const { signer, verifier, logger } = setup()
    const input = { b: [1, { y: -0, x: undefined }], a: new Date(0), __proto__: null }
    const ticket = await signer.sign(ada, { ...subject, input })
    const sent: unknown = JSON.parse(`{"a":"1970-01-01T00:00:00.000Z","b":[1,{"y":0}]}`)

    expect(await verifier.verify(ticket, { ...subject, input: sent })).toMatchObject({ id: "ada" })
    for (const changed of [undefined, null, {}, { ...(sent as object), c: 1 }, [sent], "x"]) {
      await expect(verifier.verify(ticket, { ...subject, input: changed })).rejects.toMatchObject({
        code: "UNAUTHENTICATED",
      })
      expect(JSON.stringify(logger.lines.at(-1))).toContain("another input")
    }
  })

  test("binds bytes, and what is written beside them", async () => {
    const { signer, verifier } = setup()
    const bytes = new Uint8Array([1, 2, 3])
    for (const body of [bytes, bytes.buffer, Buffer.from(bytes)]) {
      const ticket = await signer.sign(ada, { ...subject, input: { body } })
      const arrived = body instanceof ArrayBuffer ? body.slice() : new Uint8Array(bytes)
      const sent = { ...subject, input: { body: arrived } }
      expect(await verifier.verify(ticket, sent)).toMatchObject({ id: "ada" })
      const others = [new Uint8Array([1, 2, 4]), new Uint8Array([1, 2, 4]).buffer, "AQID", {}]
      for (const changed of others) {
        await expect(
          verifier.verify(ticket, { ...subject, input: { body: changed } }),
        ).rejects.toMatchObject({ code: "UNAUTHENTICATED" })
      }
    }
  })

  test("is for the files of an input, with their names, which the handler reads afterwards", async () => {
    const { signer, verifier } = setup()
    const file = (text: string, name: string): File =>
      new File([text], name, { type: "text/plain" })
    const ticket = await signer.sign(ada, { ...subject, input: { photo: file("meow", "ä.txt") } })
    const photo = file("meow", "ä.txt")
    expect(await verifier.verify(ticket, { ...subject, input: { photo } })).toMatchObject(ada)
    expect(await photo.text()).toBe("meow")
    for (const changed of [file("woof", "ä.txt"), file("meow", "b.txt")]) {
      await expect(
        verifier.verify(ticket, { ...subject, input: { photo: changed } }),
      ).rejects.toMatchObject({ code: "UNAUTHENTICATED" })
    }
  })

  test("is not valid for an input that cannot be read completely", async () => {
    const { signer, verifier } = setup()
    const ticket = await signer.sign(ada, subject)
    let deep: unknown = {}
    for (let depth = 0; depth < 100_000; depth++) deep = { deep }
    await expect(verifier.verify(ticket, { ...subject, input: deep })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    })
  })

  test("needs a verifier with senders", () => {
    const options = { issuer: ISSUER, audience: AUDIENCE, keys: publicKey }
    expect(() => createTicketVerifier(options as unknown as TicketVerifierOptions)).toThrow(
      /senders/,
    )
  })

  test("holds nothing of an identity but what one is made of", async () => {
    const { signer } = setup()
    const claimed = { ...ada, password: "canary", expiresAt: 1 } as Identity

    expect(JSON.stringify(decodeJwt(await signer.sign(claimed, subject)))).not.toContain("canary")
  })

  test.each([
    [Number.POSITIVE_INFINITY, 3600],
    [1e18, 3600],
    [Number.NaN, 3600],
    [-1, 3600],
    [0, 0],
    [1, 0],
  ])("of a call of %s ms covers %s seconds and 30 more", async (timeout, seconds) => {
    const { signer } = setup()
    const { exp, iat } = decodeJwt(await signer.sign(ada, { ...subject, timeout }))

    expect((exp as number) - (iat as number)).toBe(seconds + 30)
  })

  test("never covers more than its lifetime", async () => {
    const { signer } = setup({ lifetime: 1000 })
    const { exp } = decodeJwt(await signer.sign(ada, subject))

    expect(exp).toBe(NOW / 1000 + 31)
  })

  test("carries names that mean something to JavaScript, and any letters", async () => {
    const { signer, verifier } = setup()
    const resources = JSON.parse(
      '{"__proto__":["read"],"constructor":["x"]}',
    ) as Identity["resources"]
    const identity: Identity = { id: "Ä🙂\u0000", scopes: ["", "__proto__", "ß"], resources }

    const found = await verifier.verify(await signer.sign(identity, subject), subject)

    expect(found.id).toBe("Ä🙂\u0000")
    expect(found.scopes).toEqual(["", "__proto__", "ß"])
    expect(Object.entries(found.resources ?? {})).toEqual([
      ["__proto__", ["read"]],
      ["constructor", ["x"]],
    ])
    expect(Object.getPrototypeOf(found.resources)).toBe(Object.prototype)
  })

  test("survives with any identity", async () => {
    const { signer, verifier } = setup()
    const texts = fc.array(fc.string({ maxLength: 20 }), { maxLength: 5 })
    const identities = fc.record({
      id: fc
        .string({ minLength: 1, unit: codePoint })
        .filter((id) => Buffer.from(id).toString() === id),
      scopes: texts,
      resources: fc.dictionary(fc.string({ maxLength: 20 }), texts, { maxKeys: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(identities, async (identity) => {
        const found = await verifier.verify(await signer.sign(identity, subject), subject)
        expect(JSON.stringify(found)).toBe(JSON.stringify(identity))
      }),
      { numRuns: runs(40) },
    )
  })

  test("that would be too long is refused before it is sent, with what to do", async () => {
    const { signer } = setup()
    const scopes = Array.from({ length: 5000 }, (_, at) => `scope-number-${at}`)
    const error = await failure(signer.sign({ id: "ada", scopes }, subject))

    expect(error.code).toBe("PAYLOAD_TOO_LARGE")
    expect(error.message).toContain("Give the caller fewer scopes or resources.")
    expect(error.mayHaveExecuted).toBe(false)
  })

  test.each([[undefined], [null], [{}], [{ id: "", scopes: [] }], [{ id: "a", scopes: "x" }]])(
    "is for nobody who is %j",
    async (identity) => {
      await expect(setup().signer.sign(identity as never, subject)).rejects.toThrow(TypeError)
    },
  )
})

describe("a ticket that is refused", () => {
  test("is for another request", async () => {
    await expectRefused(await forge({ rid: "r-2" }), "another request")
  })

  test("is for another operation", async () => {
    await expectRefused(await forge({ op: "task.createX" }), "another operation")
  })

  test("that was taken from one request for another, although it held there", async () => {
    const parts = setup()
    const ticket = await parts.signer.sign(ada, { ...subject, requestId: "r-0" })
    await parts.verifier.verify(ticket, { ...subject, requestId: "r-0" })

    await expectRefused(ticket, "another request", parts)
  })

  test("is sent by a user who is not one of the senders", async () => {
    const { signer, verifier, logger } = setup({}, { senders: ["hub", "hub-2"] })
    const ticket = await signer.sign(ada, subject)

    await expect(verifier.verify(ticket, { ...subject, user: "hub" })).resolves.toEqual(ada)
    await expect(verifier.verify(ticket, { ...subject, user: "hub-2" })).resolves.toEqual(ada)
    for (const user of ["mallory", "", "hub ", undefined, "__proto__"]) {
      expect((await failure(verifier.verify(ticket, { ...subject, user }))).code).toBe(
        "UNAUTHENTICATED",
      )
    }
    expect(logger.lines).toHaveLength(5)
    expect(logger.lines[0]?.fields).toMatchObject({ reason: "sender", user: "mallory" })
  })

  test("is expired", async () => {
    const parts = setup()
    const ticket = await parts.signer.sign(ada, subject)
    parts.clock.time += 40_000

    await expectRefused(ticket, "expired", parts)
  })

  test("was valid a moment ago and is expired now", async () => {
    const parts = setup()
    const ticket = await parts.signer.sign(ada, subject)
    parts.clock.time += 39_000
    await expect(parts.verifier.verify(ticket, subject)).resolves.toEqual(ada)
    parts.clock.time += 1000

    await expectRefused(ticket, "expired", parts)
  })

  test("is not yet valid", async () => {
    await expectRefused(await forge({ nbf: NOW / 1000 + 6 }), "not yet valid")
  })

  test("was valid until the clock was set back", async () => {
    const parts = setup()
    const ticket = await parts.signer.sign(ada, subject)
    await parts.verifier.verify(ticket, subject)
    parts.clock.time -= 10_000

    await expectRefused(ticket, "not yet valid", parts)
  })

  test("has a lifetime of days", async () => {
    await expectRefused(await forge({ exp: NOW / 1000 + 86_500 }), "holds too long")
  })

  test.each([["someone"], [["operations2"]], [""], [null], [undefined]])(
    "for the audience %j",
    async (aud) => {
      await expectRefused(await forge({ aud }), "audience")
    },
  )

  test.each([["Hub"], [["hub"]], [""], [undefined], [{ hub: true }]])(
    "of the issuer %j",
    async (iss) => {
      await expectRefused(await forge({ iss }), "issuer")
    },
  )

  test.each([
    [{ sub: undefined }],
    [{ sub: "" }],
    [{ sub: 1 }],
    [{ scp: undefined }],
    [{ scp: "task.read" }],
    [{ scp: [1] }],
    [{ res: [] }],
    [{ res: "all" }],
    [{ res: { "project:1": "read" } }],
    [{ op: undefined }],
    [{ op: ["task.create"] }],
    [{ rid: undefined }],
    [{ jti: undefined }],
    [{ jti: 1 }],
    [{ iat: undefined }],
    [{ nbf: undefined }],
    [{ nbf: "now" }],
    [{ exp: undefined }],
    [{ exp: "never" }],
  ])("that says %j", async (claims) => {
    await expectRefused(await forge(claims), "claims")
  })

  test("is signed by another key", async () => {
    await expectRefused(await forge({}, {}, other.privateKey), "signature")
  })

  test("of another key that brings itself along", async () => {
    const jwk = other.publicKey.export({ format: "jwk" }) as Record<string, string>

    await expectRefused(await forge({}, { jwk }, other.privateKey), "signature")
  })

  test("of another key by the name of ours", async () => {
    const { kid } = decodeProtectedHeader(await setup().signer.sign(ada, subject))

    await expectRefused(await forge({}, { kid: kid as string }, other.privateKey), "signature")
  })

  test("is signed with an unknown key id, and all keys have ids", async () => {
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "2026" } as TicketKey
    const parts = setup({}, { keys: jwk })

    await expectRefused(await forge({}, { kid: "2025" }), "unknown key", parts)
  })

  test.each([["none"], ["None"], ["NONE"]])("without a signature, as %j", async (alg) => {
    const head = base64url({ alg, typ: "operations-ticket+jwt" })

    await expectRefused(`${head}.${base64url(goodClaims())}.`, "algorithm")
  })

  test.each([["pem"], ["der"], ["raw"]])(
    "signed with the public key as a secret (%s)",
    async (form) => {
      const secret =
        form === "raw"
          ? Buffer.from(publicKey.export({ format: "jwk" }).x as string, "base64url")
          : form === "pem"
            ? publicKey.export({ type: "spki", format: "pem" })
            : publicKey.export({ type: "spki", format: "der" })
      const signed = `${base64url({ alg: "HS256", typ: "operations-ticket+jwt" })}.${base64url(goodClaims())}`
      const mac = createHmac("sha256", secret).update(signed).digest("base64url")

      await expectRefused(`${signed}.${mac}`, "algorithm")
    },
  )

  test("that calls its algorithm by its newer name", async () => {
    await expectRefused(await forge({}, { alg: "Ed25519" }), "algorithm")
  })

  test.each([["JWT"], ["at+jwt"], [undefined], ["OPERATIONS-TICKET+JWT"]])(
    "that is another token of the same key: %j",
    async (typ) => {
      await expectRefused(await forge({}, { typ: typ as string }), "type")
    },
  )

  test("that asks for an extension", async () => {
    const head = base64url({ alg: "EdDSA", typ: "operations-ticket+jwt", crit: ["x"], x: 1 })

    await expectRefused(`${head}.${base64url(goodClaims())}.AAAA`, "malformed")
  })

  test.each([
    [""],
    ["."],
    [".."],
    ["a.b.c"],
    ["{}"],
    ["a.b.c.d.e"],
    ["\u0000"],
    ["🙂.🙂.🙂"],
    [`${base64url("null")}.${base64url("null")}.AAAA`],
    [`${base64url("[]")}.${base64url("{}")}.AAAA`],
  ])("that is %j", async (text) => {
    const parts = setup()
    await failure(parts.verifier.verify(text, subject))

    expect(parts.logger.lines[0]?.fields["reason"]).toMatch(/^(malformed|algorithm)$/)
  })

  test.each([[undefined], [null], [1], [{}], [["a"]]])("that is no text: %j", async (value) => {
    await expectRefused(value as never, "malformed")
  })

  test("is too long", async () => {
    await expectRefused("a".repeat(10_000_000), "too long")
  })

  test("of which one character was changed, whichever", async () => {
    const parts = setup()
    const ticket = await parts.signer.sign(ada, subject)
    await parts.verifier.verify(ticket, subject)
    await fc.assert(
      fc.asyncProperty(
        // Some bits of the last letter stand for nothing.
        fc.nat(ticket.length - 2),
        fc.constantFrom("A", "Z", "a", "z", "0", "9", "-", "_", ".", "=", "+", "/", " "),
        async (at, letter) => {
          fc.pre(ticket[at] !== letter)
          const changed = ticket.slice(0, at) + letter + ticket.slice(at + 1)
          expect((await failure(parts.verifier.verify(changed, subject))).code).toBe(
            "UNAUTHENTICATED",
          )
        },
      ),
      { numRuns: runs(40) },
    )
  })

  test("of which the claims were exchanged", async () => {
    const { signer } = setup()
    const [head, , signature] = (await signer.sign(ada, subject)).split(".")
    const claims = base64url({ ...goodClaims(), sub: "root", scp: ["*"] })

    await expectRefused(`${head}.${claims}.${signature}`, "signature")
  })

  test("appears in no error and no log, nor do its claims", async () => {
    const parts = setup()
    const ticket = await forge({ sub: "canary", scp: ["canary"], iss: "canary" })
    const error = await failure(parts.verifier.verify(ticket, subject))
    const shown = JSON.stringify([error, error.message, error.stack, parts.logger.lines])

    expect(shown).not.toContain("canary")
    expect(shown).not.toContain(ticket.slice(0, 20))
  })
})

describe("verified tickets", () => {
  test("are remembered, with an identity that cannot be changed", async () => {
    const { signer, verifier } = setup()
    const ticket = await signer.sign({ ...ada, resources: { "a:1": ["read"] } }, subject)
    const first = await verifier.verify(ticket, subject)

    expect(await verifier.verify(ticket, subject)).toBe(first)
    expect(() => (first.scopes as string[]).push("root")).toThrow(TypeError)
    expect(() => Object.assign(first, { id: "root" })).toThrow(TypeError)
    expect(Object.isFrozen(first.resources?.["a:1"])).toBe(true)
  })

  test("are evicted from the cache after a thousand others, and still valid", async () => {
    const { signer, verifier } = setup()
    const first = await signer.sign(ada, subject)
    const known = await verifier.verify(first, subject)
    for (let at = 0; at < 1000; at++) {
      const one = { ...subject, requestId: `r-${at}` }
      await verifier.verify(await signer.sign(ada, one), one)
    }

    const again = await verifier.verify(first, subject)
    expect(again).toEqual(known)
    expect(again).not.toBe(known)
  })

  test("of many calls at once are valid, each for its own call", async () => {
    const { signer, verifier } = setup()
    const all = Array.from({ length: 100 }, async (_, at) => {
      const one = { operationId: `a.b${at}`, requestId: `r-${at}`, timeout: 1 }
      return await verifier.verify(await signer.sign({ id: `u${at}`, scopes: [] }, one), one)
    })

    expect((await Promise.all(all)).map(({ id }) => id)).toEqual(all.map((_, at) => `u${at}`))
  })
})

describe("keys", () => {
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string
  const spki = publicKey.export({ type: "spki", format: "pem" }) as string
  const jwk = privateKey.export({ format: "jwk" }) as TicketJwk
  const publicJwk = publicKey.export({ format: "jwk" }) as TicketJwk

  async function expectTrusted(signer: TicketSigner, keys: TicketVerifierOptions["keys"]) {
    const { verifier } = setup({}, { keys })
    await expect(verifier.verify(await signer.sign(ada, subject), subject)).resolves.toEqual(ada)
  }

  test.each<[string, TicketKey, TicketKey]>([
    ["PEM", pem, spki],
    [
      "PEM on one line",
      pem.replaceAll("\n", String.raw`\n`),
      spki.replaceAll("\n", String.raw`\n`),
    ],
    ["PEM with blanks around it", `\n  ${pem}\n`, `\r\n${spki}`],
    ["a JWK", jwk, publicJwk],
    ["a JWK as text", JSON.stringify(jwk, undefined, 2), JSON.stringify(publicJwk)],
    ["a KeyObject", privateKey, publicKey],
  ])("may be %s", async (_, own, shown) => {
    await expectTrusted(setup({ key: own }).signer, shown)
    await expectTrusted(setup({ key: own }).signer, spki)
    await expectTrusted(setup({ key: pem }).signer, [shown])
  })

  test("may be a CryptoKey, also one that must not leave the platform", async () => {
    const { subtle } = webcrypto
    const pair = (await subtle.generateKey("Ed25519", false, ["sign", "verify"])) as {
      readonly privateKey: CryptoKey
      readonly publicKey: CryptoKey
    }
    const { signer } = setup({ key: pair.privateKey })

    expect(decodeProtectedHeader(await signer.sign(ada, subject)).kid).toBeUndefined()
    await expectTrusted(signer, pair.publicKey)
    await expectTrusted(signer, [spki, other.publicKey, pair.publicKey])
  })

  test("can be rotated: tickets of both are valid meanwhile", async () => {
    const old = setup({ key: pem }).signer
    const next = setup({ key: other.privateKey }).signer

    await expectTrusted(old, [spki, other.publicKey])
    await expectTrusted(next, [spki, other.publicKey])
    const { verifier } = setup({}, { keys: [other.publicKey] })
    await expect(verifier.verify(await old.sign(ada, subject), subject)).rejects.toThrow(
      "is not valid",
    )
  })

  test("are found by their ids, which both sides know", async () => {
    const named = { ...jwk, kid: "2026" }
    const publicNamed = { ...publicJwk, kid: "2026" }

    expect(decodeProtectedHeader(await setup({ key: named }).signer.sign(ada, subject)).kid).toBe(
      "2026",
    )
    await expectTrusted(setup({ key: named }).signer, [other.publicKey, publicNamed])
    await expectTrusted(setup({ key: pem, keyId: "2026" }).signer, publicNamed)
    await expectTrusted(setup({ key: pem, keyId: "2026" }).signer, [other.publicKey, spki])
    // By its thumbprint, whatever it calls itself.
    await expectTrusted(setup({ key: pem }).signer, publicNamed)
  })

  test("stay what they were when they are changed later", async () => {
    const mine = { ...jwk } as Record<string, unknown>
    const { signer } = setup({ key: mine as TicketJwk })
    Object.assign(mine, { d: "A".repeat(43) })

    await expectTrusted(signer, spki)
  })

  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const x25519 = generateKeyPairSync("x25519")

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "not a private Ed25519 key"],
    ["null", null, "not a private Ed25519 key"],
    ["a number", 5, "not a private Ed25519 key"],
    ["an empty text", "", "not a private Ed25519 key"],
    ["any text", "canary-canary", "not a private Ed25519 key"],
    ["broken JSON", '{"d":"canary', "not a private Ed25519 key"],
    ["JSON that is no key", '{"d":"canary"}', "not a private Ed25519 key"],
    ["a secret", { kty: "oct", k: "canary" }, "not a private Ed25519 key"],
    ["a JWK of another curve", { ...jwk, crv: "X25519" }, "not a private Ed25519 key"],
    ["a JWK of another length", { ...jwk, d: "canary" }, "not a private Ed25519 key"],
    ["a JWK with an odd name", { ...jwk, kid: 5 }, '"kid" of a JWK must be text'],
    ["a KeyObject of RSA", rsa.privateKey, "not a private Ed25519 key"],
    ["a KeyObject of EC", ec.privateKey, "not a private Ed25519 key"],
    ["bytes", new Uint8Array(32), "not a private Ed25519 key"],
    ["a public PEM", spki, "is a public key; signing needs the private one"],
    ["a public JWK", publicJwk, "is a public key; signing needs the private one"],
    ["a public KeyObject", publicKey, "is a public key; signing needs the private one"],
    [
      "an encrypted PEM",
      privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
      'is a PEM of "ENCRYPTED PRIVATE KEY"',
    ],
    [
      "a PEM of EC",
      ec.privateKey.export({ type: "sec1", format: "pem" }),
      'is a PEM of "EC PRIVATE KEY"',
    ],
  ])("that sign cannot be %s", (_, key, message) => {
    const make = () => createTicketSigner({ issuer: "a", audience: "b", key: key as TicketKey })
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
    expect(make).not.toThrow("canary")
  })

  test.each<[string, unknown, string]>([
    ["none", [], "must be 1 to 32 public keys"],
    ["nothing", undefined, "number 1 is not a public Ed25519 key"],
    [
      "a private PEM",
      [spki, pem],
      "number 2 is a private key; verifying needs only the public one",
    ],
    ["a private JWK", jwk, "is a private key; verifying needs only the public one"],
    ["a private KeyObject", privateKey, "is a private key; verifying needs only the public one"],
    ["a secret", "canary", "not a public Ed25519 key"],
    ["too many", Array.from({ length: 33 }, () => spki), "must be 1 to 32 public keys"],
    ["a certificate", "-----BEGIN CERTIFICATE-----\n", 'is a PEM of "CERTIFICATE"'],
  ])("that check cannot be %s", (_, keys, message) => {
    const make = () =>
      createTicketVerifier({
        ...{ issuer: "a", audience: "b", keys: keys as TicketKey[] },
        senders: "any",
      })
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
    expect(make).not.toThrow("canary")
  })

  test.each([
    ["RSA", rsa.privateKey.export({ type: "pkcs8", format: "pem" }) as string],
    ["X25519", x25519.privateKey.export({ type: "pkcs8", format: "pem" }) as string],
    ["nothing", "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----"],
  ])(
    "in PEM that turn out to be of %s fail each call in words, without the key",
    async (_, key) => {
      const { signer } = setup({ key })
      for (let time = 0; time < 2; time++) {
        const error = await failure(signer.sign(ada, subject))

        expect(error).toMatchObject({
          code: "UNAVAILABLE",
          retryable: false,
          mayHaveExecuted: false,
        })
        expect(error.message).toContain("createTicketSigner({ key }) is not a private Ed25519 key.")
        const body = key.split("\n")[1] as string
        expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toContain(
          body,
        )
      }
    },
  )

  test("that cannot be loaded are reported as UNAVAILABLE, not as the caller's error", async () => {
    const keys = rsa.publicKey.export({ type: "spki", format: "pem" }) as string
    const { signer, verifier, logger } = setup({}, { keys })
    const error = await failure(verifier.verify(await signer.sign(ada, subject), subject))

    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
    expect(error.message).not.toContain("key")
    expect(logger.lines).toMatchObject([
      {
        message: "Tickets cannot be verified",
        fields: {
          reason: expect.stringContaining("number 1 is not a public Ed25519 key") as string,
        },
      },
    ])
  })
})

describe("options", () => {
  test.each([
    [{ issuer: "" }, "issuer"],
    [{ issuer: undefined }, "issuer"],
    [{ audience: "" }, "audience"],
    [{ audience: ["a"] }, "audience"],
    [{ audience: "a".repeat(257) }, "audience"],
    [{ keyId: "" }, "keyId"],
    [{ lifetime: 0 }, "lifetime"],
    [{ lifetime: Number.POSITIVE_INFINITY }, "lifetime"],
    [{ lifetime: 86_400_001 }, "lifetime"],
    [{ lifetime: "1h" }, "lifetime"],
  ])("of a signer cannot be %j", (options, name) => {
    expect(() => setup(options as never)).toThrow(
      new RegExp(`^createTicketSigner\\(.*${name}.* (must be|is required)`),
    )
  })

  test.each([
    [{ issuer: "" }, "issuer"],
    [{ audience: undefined }, "audience"],
    [{ senders: [] }, "senders"],
    [{ senders: [""] }, "senders"],
    [{ senders: "" }, "senders"],
    [{ senders: [1] }, "senders"],
    [{ senders: new Set(["hub"]) }, "senders"],
    [{ clockTolerance: -1 }, "clockTolerance"],
    [{ clockTolerance: 301 }, "clockTolerance"],
    [{ clockTolerance: "5" }, "clockTolerance"],
  ])("of a verifier cannot be %j", (options, name) => {
    expect(() => setup({}, options as never)).toThrow(
      new RegExp(`^createTicketVerifier\\(.*${name}.* (must be|is required)`),
    )
  })

  test("say by how much clocks may differ", async () => {
    const parts = setup({}, { clockTolerance: 60 })
    const ticket = await parts.signer.sign(ada, subject)
    parts.clock.time -= 60_000
    await expect(parts.verifier.verify(ticket, subject)).resolves.toEqual(ada)
    parts.clock.time -= 1000
    await expectRefused(ticket, "not yet valid", parts)
  })
})
