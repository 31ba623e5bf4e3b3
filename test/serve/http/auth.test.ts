import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as jose from "jose"
import { beforeAll, describe, expect, test } from "vitest"
import { systemClock } from "../../../src/internal/clock.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { hashApiKey } from "../../../src/serve/http/auth/hash-api-key.ts"
import type { AuthOptions, JwtOptions } from "../../../src/serve/http/auth/options.ts"
import { Guard } from "../../../src/serve/http/guard.ts"
import { incoming, LogLines } from "./guarded.ts"

const KEY = "canary-key-0123456789abcdef"
const ada = { id: "ada", scopes: ["read"] }
const bob = { id: "bob", scopes: [] }
const ISSUER = "https://issuer.test"
const AUDIENCE = "https://api.test"

function guardWith(auth: AuthOptions, logger = new LogLines()): Guard {
  return new Guard({ auth }, systemClock, logger)
}

/** The id of who was let in, or the status of the refusal. */
async function who(guard: Guard, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const admission = await guard.admit(incoming(headers))
  if (admission.kind === "admitted") {
    admission.release()
    return admission.identity?.id ?? "nobody"
  }
  return admission.kind === "refused" ? admission.status : admission.kind
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

describe("API keys", () => {
  const apiKeys = [
    { hash: hashApiKey(KEY), identity: ada },
    { hash: hashApiKey("another-key-0123456789").toUpperCase(), identity: bob },
  ]

  test("are taken from either header, in the same turn", async () => {
    const guard = guardWith({ apiKeys })
    expect(await who(guard, { "x-api-key": KEY })).toBe("ada")
    expect(await who(guard, bearer(KEY))).toBe("ada")
    expect(await who(guard, { "x-api-key": "another-key-0123456789" })).toBe("bob")
    expect(guard.admit(incoming({ "x-api-key": KEY }))).not.toBeInstanceOf(Promise)
  })

  test.each([
    "",
    KEY.slice(0, -1),
    `${KEY}x`,
    `${KEY} `,
    KEY.toUpperCase(),
    `${KEY}, ${KEY}`,
    hashApiKey(KEY),
    "x".repeat(100_000),
    "__proto__",
  ])("near misses are refused, and never logged (SV9): %#", async (key) => {
    const log = new LogLines()
    const guard = guardWith({ apiKeys }, log)
    expect(await who(guard, { "x-api-key": key })).toBe(401)
    expect(await who(guard, bearer(key))).toBe(401)
    expect(log.text).not.toContain("canary")
    expect(log.text).not.toContain(hashApiKey(KEY))
  })

  test("a key that was right before makes no other right (SV9)", async () => {
    const guard = guardWith({ apiKeys })
    for (let i = 0; i < 3; i++) {
      expect(await who(guard, { "x-api-key": KEY })).toBe("ada")
      expect(await who(guard, { "x-api-key": `${KEY.slice(0, -1)}${i}` })).toBe(401)
    }
  })

  test("neither refusal nor log has the key (SV9)", async () => {
    const log = new LogLines()
    const wrong = "canary-wrong-0123456789"
    const refused = await guardWith({ apiKeys }, log).admit(incoming({ "x-api-key": wrong }))
    expect(JSON.stringify(refused) + log.text).not.toContain("canary")
    expect(log.lines).toHaveLength(1)
  })

  test.each([
    [{ hash: hashApiKey(KEY), identity: { id: "ada", scopes: ["staff"] } }, ["staff"]],
    [{ hash: hashApiKey(KEY), id: "ada", scopes: ["staff"] }, ["staff"]],
    [{ hash: hashApiKey(KEY).toUpperCase(), id: "ada" }, []],
  ])("a key says who it is, whole or in short: %#", async (key, scopes) => {
    const admission = await guardWith({ apiKeys: [key] }).admit(incoming({ "x-api-key": KEY }))
    expect(admission).toMatchObject({ kind: "admitted", identity: { id: "ada", scopes } })
  })

  test("a wrong key is not made good by a right one in the other header", async () => {
    const headers = { "x-api-key": "wrong-key-0123456789", ...bearer(KEY) }
    expect(await who(guardWith({ apiKeys }), headers)).toBe(401)
  })

  test("a key where its hash should be is refused without showing it (SV9)", () => {
    const start = (): Guard => guardWith({ apiKeys: [{ hash: KEY, identity: ada }] })
    expect(start).toThrow(/apiKeys\[0\]\.hash must be 64 hexadecimal digits/)
    expect(start).not.toThrow(/canary/)
  })

  test.each([
    [[]],
    [[null]],
    [[{ hash: hashApiKey(KEY) }]],
    [[{ hash: hashApiKey(KEY), identity: { id: "", scopes: [] } }]],
    [[{ hash: hashApiKey(KEY), id: "" }]],
    [[{ hash: hashApiKey(KEY), id: "ada", scopes: "staff" }]],
    [[{ hash: hashApiKey(KEY), identity: ada, id: "ada" }]],
    [[{ hash: hashApiKey(KEY), identity: ada, scopes: [] }]],
    [[apiKeys[0], { hash: hashApiKey(KEY), identity: bob }]],
  ])("lists that make no sense are refused at start: %#", (keys) => {
    expect(() => guardWith({ apiKeys: keys as never })).toThrow(TypeError)
  })

  test.each(["", "short", "with spaces in between it"])("%j cannot be a key", (key) => {
    expect(() => hashApiKey(key)).toThrow(/at least 16 visible/)
  })

  test("the hash is plain SHA-256, so that other tools can make it", () => {
    expect(hashApiKey("0123456789abcdef")).toBe(
      "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f",
    )
  })
})

describe("ways together", () => {
  const apiKeys = [{ hash: hashApiKey(KEY), identity: ada }]

  test("anonymous lets those in who claim nothing, and only those", async () => {
    const guard = guardWith({ apiKeys, anonymous: true })
    expect(await who(guard, {})).toBe("nobody")
    expect(await who(guard, { "x-api-key": KEY })).toBe("ada")
    expect(await who(guard, { "x-api-key": "wrong-key-0123456789" })).toBe(401)
    expect(await who(guard, { authorization: "Basic YTpi" })).toBe(401)
    expect(await who(guard, { authorization: "" })).toBe(401)
  })

  test("authenticate is called for callers that no key identifies", async () => {
    const guard = guardWith({
      apiKeys,
      authenticate: ({ headers }) =>
        Promise.resolve(headers["cookie"] === "user=bob" ? bob : undefined),
    })
    expect(await who(guard, { "x-api-key": KEY })).toBe("ada")
    expect(await who(guard, { cookie: "user=bob" })).toBe("bob")
    expect(await who(guard, { cookie: "user=eve" })).toBe(401)
  })

  test("auth without any way makes no sense", () => {
    expect(() => guardWith({ anonymous: true })).toThrow(/at least one of/)
  })
})

describe("tokens", () => {
  let rsa: jose.GenerateKeyPairResult
  let ed: jose.GenerateKeyPairResult
  let other: jose.GenerateKeyPairResult
  let pem: string

  beforeAll(async () => {
    rsa = await jose.generateKeyPair("RS256", { extractable: true })
    other = await jose.generateKeyPair("RS256", { extractable: true })
    ed = await jose.generateKeyPair("EdDSA", { extractable: true })
    pem = await jose.exportSPKI(rsa.publicKey)
  })

  const base = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["RS256"] }

  function token(claims: jose.JWTPayload = {}, alg = "RS256", kid = "one"): jose.SignJWT {
    const exp = Math.floor(Date.now() / 1000) + 60
    const all = { sub: "ada", iss: ISSUER, aud: AUDIENCE, exp, scope: "read write", ...claims }
    return new jose.SignJWT(JSON.parse(JSON.stringify(all))).setProtectedHeader({ alg, kid })
  }

  test("stand for their subject, with their scopes", async () => {
    const guard = guardWith({ jwt: { ...base, key: pem } })
    const admission = await guard.admit(incoming(bearer(await token().sign(rsa.privateKey))))
    expect(admission).toMatchObject({ identity: { id: "ada", scopes: ["read", "write"] } })
    const scp = await token({ scope: undefined, scp: ["a", 1, "b"] }).sign(rsa.privateKey)
    expect(await guard.admit(incoming(bearer(scp)))).toMatchObject({
      identity: { id: "ada", scopes: ["a", "b"] },
    })
  })

  test("are taken with a JWK, a key of the platform, a secret", async () => {
    const signed = bearer(await token().sign(rsa.privateKey))
    const jwk = (await jose.exportJWK(rsa.publicKey)) as never
    expect(await who(guardWith({ jwt: { ...base, key: jwk } }), signed)).toBe("ada")
    const { publicKey } = rsa
    expect(await who(guardWith({ jwt: { ...base, key: publicKey } }), signed)).toBe("ada")
    const secret = "s".repeat(32)
    const hs = guardWith({ jwt: { ...base, key: secret, algorithms: ["HS256"] } })
    const mac = await token({}, "HS256").sign(new TextEncoder().encode(secret))
    expect(await who(hs, bearer(mac))).toBe("ada")
    expect(await who(hs, signed)).toBe(401)
    const edGuard = guardWith({
      jwt: { ...base, key: await jose.exportSPKI(ed.publicKey), algorithms: ["EdDSA"] },
    })
    expect(await who(edGuard, bearer(await token({}, "EdDSA").sign(ed.privateKey)))).toBe("ada")
  })

  test("whose claims do not fit are refused, each (SV6)", async () => {
    const log = new LogLines()
    const guard = guardWith({ jwt: { ...base, key: pem } }, log)
    const now = Math.floor(Date.now() / 1000)
    const wrong: Record<string, jose.JWTPayload> = {
      "no exp": { exp: undefined as never },
      expired: { exp: now - 60 },
      "exp as text": { exp: String(now + 60) as never },
      "not yet": { nbf: now + 600 },
      "wrong aud": { aud: "https://other.test" },
      "no aud": { aud: undefined as never },
      "wrong iss": { iss: `${ISSUER}.evil.test` },
      "no iss": { iss: undefined as never },
      "no sub": { sub: undefined as never },
      "empty sub": { sub: "" },
    }
    const results: Record<string, unknown> = {}
    for (const [name, claims] of Object.entries(wrong)) {
      results[name] = await who(guard, bearer(await token(claims).sign(rsa.privateKey)))
    }
    expect(results).toEqual(Object.fromEntries(Object.keys(wrong).map((name) => [name, 401])))
    expect(log.text).not.toContain("eyJ")
  })

  test("without a signature, or with one of another key or kind, are refused (SV6)", async () => {
    const part = (value: unknown): string => jose.base64url.encode(JSON.stringify(value))
    const exp = Math.floor(Date.now() / 1000) + 60
    const claims = { sub: "ada", iss: ISSUER, aud: AUDIENCE, exp }
    const good = await token().sign(rsa.privateKey)
    const [head, , signature] = good.split(".")
    const forged = [
      new jose.UnsecuredJWT(claims).encode(),
      ...["none", "None", "NONE", ""].map((alg) => `${part({ alg })}.${part(claims)}.`),
      `${part({ alg: "none" })}.${part(claims)}.${signature}`,
      // The text of the public key as the secret of an HMAC.
      await token({}, "HS256").sign(new TextEncoder().encode(pem)),
      await token({}, "HS256").sign(new TextEncoder().encode(`${pem}\n`)),
      await token().sign(other.privateKey),
      await token({}, "EdDSA").sign(ed.privateKey),
      `${head}.${part({ ...claims, sub: "root" })}.${signature}`,
      `${head}..${signature}`,
      `${good}x`,
      "a.b.c",
      "...",
      "x".repeat(20_000),
    ]
    const guard = guardWith({ jwt: { ...base, key: pem } })
    const results: unknown[] = []
    for (const text of forged) results.push(await who(guard, bearer(text)))
    expect(results).toEqual(forged.map(() => 401))
    expect(await who(guard, bearer(good))).toBe("ada")
  })

  test("a public key in the token itself is not listened to (SV6)", async () => {
    const jwk = await jose.exportJWK(other.publicKey)
    const exp = Math.floor(Date.now() / 1000) + 60
    const claims = { sub: "root", iss: ISSUER, aud: AUDIENCE, exp }
    const signed = await new jose.SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", jwk, jku: "https://evil.test/jwks" })
      .sign(other.privateKey)
    expect(await who(guardWith({ jwt: { ...base, key: pem } }), bearer(signed))).toBe(401)
  })

  test("public keys may be PEM on one line, or a JWK as text", async () => {
    const jwk = JSON.stringify(await jose.exportJWK(rsa.publicKey))
    for (const key of [pem.replaceAll("\n", String.raw`\n`), jwk]) {
      const guard = guardWith({ jwt: { ...base, key } })
      expect(await who(guard, bearer(await token().sign(rsa.privateKey)))).toBe("ada")
    }
  })

  test("keys and algorithms that do not belong together are refused at start (SV6)", async () => {
    const privatePem = await jose.exportPKCS8(rsa.privateKey)
    const publicJwk = (await jose.exportJWK(rsa.publicKey)) as never
    const privateJwk = (await jose.exportJWK(rsa.privateKey)) as never
    const jwks = "https://issuer.test/jwks"
    const wrong: readonly Partial<JwtOptions>[] = [
      { key: pem, algorithms: ["HS256"] },
      { key: new TextEncoder().encode(pem), algorithms: ["HS256"] },
      { key: `Bag Attributes\n${pem}`, algorithms: ["HS256"] },
      { key: publicJwk, algorithms: ["HS256"] },
      { key: rsa.publicKey, algorithms: ["HS256"] },
      { key: JSON.stringify(publicJwk), algorithms: ["HS256"] },
      { key: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ", algorithms: ["HS256"] },
      { jwks, algorithms: ["HS256"] },
      { jwks, algorithms: ["RS256", "HS256"] },
      { jwks, algorithms: ["none"] },
      { jwks, algorithms: [] },
      { jwks, algorithms: undefined as never },
      { jwks, key: pem },
      {},
      { key: "s".repeat(31), algorithms: ["HS256"] },
      { key: { kty: "oct", k: "c2hvcnQ" }, algorithms: ["HS256"] },
      { key: "s".repeat(32) },
      { key: privatePem },
      { key: JSON.stringify(privateJwk) },
      { key: privateJwk },
      { key: rsa.privateKey },
      { jwks: "http://issuer.test/jwks" },
      { jwks: "https://user:canary@issuer.test/jwks" },
      { jwks: "file:///etc/passwd" },
      { jwks, issuer: "" },
      { jwks, audience: [] },
      { jwks, audience: undefined as never },
      { jwks, clockTolerance: Number.POSITIVE_INFINITY },
    ]
    for (const options of wrong) {
      const start = (): Guard => guardWith({ jwt: { ...base, ...options } })
      expect(start, JSON.stringify(options)).toThrow(TypeError)
      expect(start).not.toThrow(/canary|BEGIN [A-Z]+ KEY/)
    }
  })

  test("are turned into identities as the application says", async () => {
    const jwt: JwtOptions = {
      ...base,
      key: pem,
      identity: ({ tenant, sub }) =>
        tenant === "acme" ? { id: `acme/${String(sub)}`, scopes: [] } : undefined,
    }
    const guard = guardWith({ jwt })
    const acme = await token({ tenant: "acme" }).sign(rsa.privateKey)
    expect(await who(guard, bearer(acme))).toBe("acme/ada")
    expect(await who(guard, bearer(await token().sign(rsa.privateKey)))).toBe(401)
  })

  test("live beside API keys and a function", async () => {
    const apiKeys = [{ hash: hashApiKey(KEY), identity: bob }]
    const authenticate: AuthOptions["authenticate"] = ({ headers }) =>
      headers["authorization"] === "Bearer x.y.z" ? { id: "odd", scopes: [] } : undefined
    const guard = guardWith({ apiKeys, jwt: { ...base, key: pem }, authenticate })
    expect(await who(guard, bearer(KEY))).toBe("bob")
    expect(await who(guard, bearer(await token().sign(rsa.privateKey)))).toBe("ada")
    expect(await who(guard, bearer("x.y.z"))).toBe("odd")
    expect(await who(guard, bearer(await token().sign(other.privateKey)))).toBe(401)
    expect(await who(guard, { "x-api-key": await token().sign(rsa.privateKey) })).toBe(401)
  })

  describe("of an issuer that publishes its keys", () => {
    async function issuer(answer: {
      status: number
      body: string
    }): Promise<AsyncDisposable & { readonly url: string; readonly asked: () => number }> {
      let asked = 0
      const server = createServer((_, res) => {
        asked++
        res.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
        asked: () => asked,
        async [Symbol.asyncDispose]() {
          server.closeAllConnections()
          await new Promise<void>((resolve) => server.close(() => resolve()))
        },
      }
    }

    async function published(): Promise<string> {
      const jwk = await jose.exportJWK(rsa.publicKey)
      return JSON.stringify({ keys: [{ ...jwk, kid: "one", alg: "RS256", use: "sig" }] })
    }

    test("are checked with keys that are fetched once", async () => {
      await using server = await issuer({ status: 200, body: await published() })
      const guard = guardWith({ jwt: { ...base, jwks: server.url } })
      const good = bearer(await token().sign(rsa.privateKey))
      const all = await Promise.all(Array.from({ length: 20 }, () => who(guard, good)))
      expect(new Set(all)).toEqual(new Set(["ada"]))
      expect(await who(guard, bearer(await token().sign(other.privateKey)))).toBe(401)
      expect(server.asked()).toBe(1)
    })

    test("unknown key ids are refused and do not make us ask each time", async () => {
      await using server = await issuer({ status: 200, body: await published() })
      const guard = guardWith({ jwt: { ...base, jwks: server.url } })
      for (let i = 0; i < 10; i++) {
        const unknown = token({}, "RS256", `unknown ${i}`)
        expect(await who(guard, bearer(await unknown.sign(other.privateKey)))).toBe(401)
      }
      expect(server.asked()).toBe(1)
    })

    test.each([
      { status: 500, body: "canary" },
      { status: 200, body: "no json" },
      { status: 200, body: "[]" },
      { status: 302, body: "" },
    ])("cannot be checked while it answers %j: 503, and nothing leaks", async (answer) => {
      await using server = await issuer(answer)
      const log = new LogLines()
      const guard = guardWith({ jwt: { ...base, jwks: server.url } }, log)
      const signed = await token().sign(rsa.privateKey)
      const refused = await guard.admit(incoming(bearer(signed)))
      expect(refused).toMatchObject({
        status: 503,
        error: { code: "UNAVAILABLE", retryable: true },
        headers: { "retry-after": "5" },
      })
      expect(JSON.stringify(refused)).not.toContain(server.url)
      expect(log.text).toContain("warn Callers cannot be authenticated")
      expect(log.text).not.toContain(signed)
    })

    test("recovers when the issuer does", async () => {
      const answer = { status: 500, body: "" }
      await using server = await issuer(answer)
      const guard = guardWith({ jwt: { ...base, jwks: server.url } })
      const good = bearer(await token().sign(rsa.privateKey))
      expect(await who(guard, good)).toBe(503)
      Object.assign(answer, { status: 200, body: await published() })
      expect(await who(guard, good)).toBe("ada")
    })
  })

  test("clocks may differ by a little", async () => {
    const now = Math.floor(Date.now() / 1000)
    const late = bearer(await token({ exp: now - 20 }).sign(rsa.privateKey))
    expect(await who(guardWith({ jwt: { ...base, key: pem } }), late)).toBe(401)
    const patient = { ...base, key: pem, clockTolerance: 60 }
    expect(await who(guardWith({ jwt: patient }), late)).toBe("ada")
    // Time is the injected clock's.
    const past = { ...systemClock, wallTime: () => Date.now() - 60_000 }
    const guard = new Guard({ auth: { jwt: { ...base, key: pem } } }, past, silentLogger)
    expect(await who(guard, late)).toBe("ada")
  })
})
