import { Cluster, Redis } from "ioredis"
import type { RedisOptions } from "ioredis"
import { describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { createRedisTransport } from "../../../src/redis.ts"
import type { RedisTransportOptions } from "../../../src/redis.ts"

const make = (options: RedisTransportOptions): Promise<void> =>
  createRedisTransport({ logger: silentLogger, ...options }).close()

describe("createRedisTransport", () => {
  test.each<[string, RedisTransportOptions]>([
    ["without TLS and password", { url: "redis://redis.example.com:6379" }],
    ["without TLS", { url: "redis://user:secret@redis.example.com" }],
    ["without a password", { url: "rediss://redis.example.com" }],
    ["by an address", { url: "redis://192.0.2.1" }],
    ["by an address of IPv6", { url: "redis://[2001:db8::1]:6379" }],
    ["that only looks like this machine", { url: "redis://127.0.0.1.example.com" }],
    ["that only begins like this machine", { url: "redis://localhost.example.com" }],
    ["in options", { connect: { host: "redis.example.com", password: "secret" } }],
    ["behind sentinels", { connect: { sentinels: [{ host: "10.0.0.1" }], name: "main" } }],
    [
      "behind sentinels with TLS for these alone",
      { connect: { sentinels: [{ host: "10.0.0.1" }], name: "main", tls: {}, password: "secret" } },
    ],
    ["of a client", { client: new Redis("redis://redis.example.com", { lazyConnect: true }) }],
    [
      "of a cluster",
      { client: new Cluster([{ host: "redis.example.com" }], { lazyConnect: true }) },
    ],
    ["of a cluster by URL", { client: new Cluster(["redis://10.0.0.1:1"], { lazyConnect: true }) }],
  ])("refuses a broker on another machine %s, unless insecure is set", async (_what, options) => {
    const create = (): unknown => createRedisTransport(options)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/on another machine.*insecure: true/)
    expect(create).not.toThrow(/secret/)
    await make({ ...options, insecure: true })
  })

  test.each<[string, RedisTransportOptions]>([
    ["nothing", {}],
    ["this machine", { url: "redis://localhost:1" }],
    ["this machine, in IPv6", { url: "redis://[::1]:1" }],
    ["Valkey", { url: "valkey://127.0.0.1:1" }],
    ["a Unix socket", { connect: { path: "/tmp/no-such-redis.sock" } }],
    ["TLS and a password", { url: "rediss://:secret@redis.example.com" }],
    [
      "TLS and a password, in options",
      { url: "redis://redis.example.com", connect: { tls: {}, password: "secret" } },
    ],
    ["a client here", { client: new Redis({ lazyConnect: true }) }],
    ["a cluster here", { client: new Cluster([7000, { port: 1 }], { lazyConnect: true }) }],
  ])("takes %s", async (_what, options) => {
    await expect(make(options)).resolves.toBeUndefined()
  })

  test.each<[string, unknown, RegExp]>([
    ["a user with a colon", { user: "a:b" }, /user.*letters, digits/],
    ["a user with a star", { user: "a*" }, /user/],
    ["an empty user", { user: "" }, /user/],
    ["a user of 65 letters", { user: "a".repeat(65) }, /user/],
    ["a user with a line", { user: "a\r\nPUBLISH x y" }, /user/],
    ["a prefix with a star", { prefix: "a*" }, /prefix/],
    ["a prefix with a question correlationId", { prefix: "a?[b]" }, /prefix/],
    ["no URL", { url: "localhost" }, /not a URL/],
    ["a URL of something else", { url: "http://:canary@localhost" }, /"http:" is not a protocol/],
    [
      "two servers",
      { url: "redis://:can,ary@10.0.0.1:6379,10.0.0.2:6379" },
      /one server.*sentinels/,
    ],
    ["two servers by name", { url: "redis://a,b" }, /one server.*Cluster/],
    ["a URL without a host", { url: "redis:///0" }, /no host/],
    ["options in a URL", { url: "redis://localhost?enableOfflineQueue=true" }, /"connect"/],
    [
      "a client and a URL",
      { client: new Redis({ lazyConnect: true }), url: "redis://x" },
      /either/,
    ],
    ["a client that is none", { client: { isCluster: false } }, /of the package "ioredis"/],
    ["a payload of no number", { maxPayload: Number.NaN }, /maxPayload/],
    ["a tiny payload", { maxPayload: 1 }, /maxPayload/],
    ["an endless payload", { maxPayload: Number.POSITIVE_INFINITY }, /maxPayload/],
    ["a guard of no number", { guard: { pingMs: "1" } }, /pingMs/],
  ])("refuses %s", (_what, options, message) => {
    const create = (): unknown => createRedisTransport(options as RedisTransportOptions)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
    expect(create).not.toThrow(/canary/)
  })

  test("takes the options of ioredis as they are typed there", () => {
    const connect: RedisOptions = { host: "127.0.0.1", port: 1, tls: { ca: "x" } }
    const options: RedisTransportOptions = { connect }
    expect(options.connect).toBe(connect)
  })
})
