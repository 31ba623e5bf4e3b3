import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import { ConfigError, configSchema, resolveConfig } from "../../src/config.ts"
import { sourceName } from "./source-name.ts"

const CANARY = "canary-93bb-secret"
const KEY = { issuer: "hub", audience: "workers", key: "${file:./key.pem}" }

describe("a remote source", () => {
  test.each<object>([
    { remote: "https://tools.example.com", token: "${env:TOKEN}", headers: { a: "b" } },
    { remote: "wss://tools.example.com/ws", required: true },
    { remote: "http://tools.example.com", token: "${env:T}", insecure: true, blockPrivate: true },
    { remote: "nats://127.0.0.1:4222" },
    { remote: "nats://a.example:4222,nats://b.example:4222", user: "hub", password: "${env:P}" },
    { remote: "tls://nats.example", token: "${env:TOKEN}", tls: { ca: "${file:ca.pem}" } },
    { remote: "redis://127.0.0.1", password: "${env:P}", prefix: "shop" },
    { remote: "rediss://cache.example", user: "hub", password: "${env:P}", insecure: false },
    { remote: "nats://127.0.0.1", ticket: { ...KEY, keyId: "2026", scopes: ["shop.read"] } },
    { remote: "${env:BROKER}", user: "${env:BROKER_USER}", headers: { a: "b" } },
    { remote: "NATS://127.0.0.1" },
  ])("may say %j", (source) => {
    const config = { sources: { far: source } }

    expect(settle(config).sources[0]?.config).toEqual(source)
    expect(settle(config).warnings ?? []).toEqual([])
    expect(Compile(configSchema).Check(config)).toBe(true)
  })

  test.each<[string, object, string]>([
    ["no scheme that is known", { remote: "amqp://x" }, `must start with "https://"`],
    ["no address", { remote: "nats:" }, "is not an address"],
    ["half an address", { remote: "nats://" }, "is not an address"],
    ["a wrong second server", { remote: "nats://a:4222,redis://b" }, `must start with "nats://"`],
    ["a login in the address", { remote: "nats://me:x@a:4222" }, `Write them as "user"`],
    ["one in that of Redis", { remote: "redis://:x@a" }, `Write them as "user"`],
    ["headers for a broker", { remote: "nats://a", headers: { a: "b" } }, "is for another hub"],
    ["a block for a broker", { remote: "nats://a", blockPrivate: true }, "is for another hub"],
    ["a user for a hub", { remote: "https://a.b", user: "me" }, "is for a broker"],
    ["a ticket for a hub", { remote: "ws://a.b", ticket: KEY }, "is for a broker"],
    ["a token for Redis", { remote: "redis://a", token: "${env:T}" }, `Use "password"`],
    ["nobody's password", { remote: "nats://a", password: "${env:T}" }, `needs "user"`],
    ["a user that breaks out", { remote: "nats://a", user: "a.>" }, "1 to 64 letters"],
    ["an empty prefix", { remote: "nats://a", prefix: "" }, "must not be empty"],
    ["a prefix of many", { remote: "nats://a", prefix: "x".repeat(65) }, "1 to 64 letters"],
    ["half a ticket", { remote: "nats://a", ticket: { issuer: "a" } }, `needs "audience"`],
    ["a misspelt field", { remote: "nats://a", tikcet: KEY }, `Did you mean "ticket"?`],
    ["a guess", { nats: "nats://a" }, `Write "remote": "nats://…".`],
    ["a flag as text", { remote: "nats://a", insecure: "yes" }, "must be true or false"],
    ["an OpenAPI document there", { openapi: "nats://a" }, `must start with "https://"`],
  ])("says what is wrong with %s", (_, source, message) => {
    expect(errorOf({ sources: { far: source } }).message).toContain(message)
  })

  test("secrets that are written out earn warnings, and are never shown", () => {
    const sources = {
      a: { remote: "nats://a", user: "hub", password: CANARY, tls: { key: CANARY } },
      b: { remote: "tls://b", token: CANARY, ticket: { ...KEY, key: CANARY } },
    }
    const { warnings } = settle({ sources })

    expect(warnings?.map(({ path }) => path)).toEqual([
      "sources.a.password",
      "sources.a.tls.key",
      "sources.b.token",
      "sources.b.ticket.key",
    ])
    expect(JSON.stringify(warnings)).not.toContain(CANARY)
    const wrong = { far: { remote: `nats://me:${CANARY}@a`, user: `${CANARY}.>` } }
    expect(errorOf({ sources: wrong }).message).not.toContain(CANARY)
  })

  test.each([
    [{ remote: "nats://127.0.0.1:4222" }, "local"],
    [{ remote: "tls://nats.shop.example:4222" }, "shop"],
    [{ remote: "redis://localhost" }, "localhost"],
    [{ remote: "nats://a.shop.example:4222,nats://b.shop.example:4222" }, "shop"],
    [{ remote: "nats://" }, "source"],
  ])("%j is called %s", (source, name) => {
    expect(sourceName(source)).toBe(name)
  })
})

function settle(value: unknown): ReturnType<typeof resolveConfig> {
  return resolveConfig(value, { baseDir: "/project" })
}

function errorOf(value: unknown): ConfigError {
  try {
    settle(value)
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown
    throw thrown
  }
  throw new Error("It was found sound.")
}
