import { describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { createNatsTransport } from "../../../src/nats.ts"
import type { NatsTransportOptions } from "../../../src/nats.ts"
import { Pace } from "../../../src/transport/nats/pace.ts"
import { resolveTarget } from "../../../src/transport/nats/servers.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"

/** What making a transport throws; one that is made is not opened, and needs no closing. */
function refused(options: NatsTransportOptions): unknown {
  try {
    createNatsTransport({ logger: silentLogger, ...options })
    return undefined
  } catch (error) {
    return error
  }
}

describe("a NATS server on another machine", () => {
  const credentials = { user: "ada", pass: "s3cret" }

  test.each([
    ["nothing", "nats://broker.example:4222", {}, "without TLS and credentials"],
    ["credentials only", "nats://broker.example", credentials, "without TLS"],
    ["credentials in its address", "nats://ada:s3cret@broker.example", {}, "without TLS"],
    ["TLS only", "tls://broker.example", {}, "without credentials"],
    ["TLS by option only", "broker.example", { tls: {} }, "without credentials"],
    ["TLS that is turned off", "broker.example", { ...credentials, tls: null }, "without TLS"],
    ["one server among safe ones", "127.0.0.1,10.0.0.1:4222", {}, `"10.0.0.1"`],
    ["an address of all", "0.0.0.0:4222", {}, "without TLS and credentials"],
    ["an address like this machine's", "127.0.0.1.example.com", {}, "is on another machine"],
  ])("is refused with %s", (_name, servers, connect, message) => {
    const error = refused({ servers, connect })
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain(message)
    expect(String(error)).toContain("insecure: true")
    expect(String(error)).not.toContain("s3cret")
    expect(refused({ servers, connect, insecure: true })).toBeUndefined()
  })

  test.each([
    ["TLS and a user", "tls://broker.example", credentials],
    ["TLS and a user in its address", "tls://ada:s3cret@broker.example:4222", {}],
    ["TLS and a token", "broker.example", { tls: {}, token: "t0ken" }],
    ["TLS and an authenticator", "tls://broker.example", { authenticator: () => undefined }],
    ["a client certificate", "broker.example", { tls: { certFile: "a", keyFile: "b" } }],
  ])("is taken with %s", (_name, servers, connect) => {
    expect(refused({ servers, connect })).toBeUndefined()
  })

  test.each(["127.0.0.1", "localhost:1", "nats://[::1]:4222", "127.9.9.9", "[::ffff:127.0.0.1]:1"])(
    "is not what %s is",
    (servers) => {
      expect(refused({ servers })).toBeUndefined()
    },
  )
})

describe("options for NATS", () => {
  test.each([
    ["http://127.0.0.1:4222"],
    ["ws://127.0.0.1:4222"],
    ["nats://127.0.0.1/path"],
    ["nats://127.0.0.1:99999"],
    ["nats://"],
    [""],
    ["nats://ada:s3cret@bad host"],
    [[]],
  ])("servers %j are refused, without their password", (servers) => {
    const error = refused({ servers })
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain("servers")
    expect(String(error)).not.toContain("s3cret")
  })

  test.each(["", "a.b", "a b", "*", ">", "ä", "x".repeat(65), "a\r\n"])(
    "user and prefix cannot be %j",
    (value) => {
      expect(String(refused({ user: value }))).toContain(
        "createNatsTransport(): user must be 1 to 64",
      )
      expect(String(refused({ prefix: value }))).toContain("createNatsTransport(): prefix must be")
    },
  )

  test("an existing connection cannot be combined with servers", () => {
    const connection = {} as NonNullable<NatsTransportOptions["connection"]>
    expect(String(refused({ connection, servers: "127.0.0.1" }))).toContain("either")
    expect(String(refused({ connection, connect: {} }))).toContain("either")
  })

  test("addresses are read as they are written everywhere", () => {
    const { servers, options } = resolveTarget("test", [
      "nats://a%40b:p%3Aw@127.0.0.1:80/",
      "localhost",
      "NATS://[::1]:1",
    ])
    expect(servers).toEqual(["127.0.0.1:80", "localhost:4222", "[::1]:1"])
    expect(options).toMatchObject({ user: "a@b", pass: "p:w" })
    expect(resolveTarget("test", "t0ken@127.0.0.1").options).toMatchObject({ token: "t0ken" })
    // What is said in so many words counts.
    const given = { user: "eve", pass: "other" }
    expect(resolveTarget("test", "a:b@127.0.0.1", given).options).toMatchObject(given)
  })

  test("servers that a broker announces are used only where they would be safe", () => {
    const safe = { user: "a", pass: "b", tls: {} }
    expect(resolveTarget("test", "127.0.0.1").options.ignoreClusterUpdates).toBe(true)
    expect(resolveTarget("test", "127.0.0.1", safe).options.ignoreClusterUpdates).toBeUndefined()
    expect(
      resolveTarget("test", "127.0.0.1", {}, true).options.ignoreClusterUpdates,
    ).toBeUndefined()
  })
})

describe("trying again", () => {
  test("is at once the first time, and then when what was drawn is over", () => {
    const clock = new VirtualClock()
    const pace = new Pace(clock, () => 0.5)
    expect(pace.next()).toBe(0)
    // Asked again at once: a slice of the wait, counted from the attempt.
    expect(pace.next()).toBe(100)
    clock.time += 100
    expect(pace.next()).toBe(200)
    clock.time += 200
    expect(pace.next()).toBe(350)
    clock.time += 50
    expect(pace.next()).toBe(0)
    expect(pace.next()).toBe(100)
    // It was there meanwhile: another time, and at once again.
    pace.reached()
    clock.time += 500
    expect(pace.next()).toBe(0)
  })

  test("is never without a pause, even where every connection is taken and dropped", () => {
    const clock = new VirtualClock()
    const pace = new Pace(clock, seeded(1))
    let attempts = 0
    for (; clock.time < 3000; clock.time += 5) {
      if (pace.next() > 0) continue
      attempts++
      pace.reached()
    }
    expect(attempts).toBeGreaterThan(5)
    expect(attempts).toBeLessThanOrEqual(16)
  })

  test("does not go on waiting long once the broker was there", () => {
    const clock = new VirtualClock()
    // In no hurry, and waiting for three seconds.
    const pace = new Pace(clock, () => 0.01)
    while (clock.time < 1600) clock.time += Math.max(1, pace.next())
    while (pace.next() > 0) clock.time += 1
    pace.reached()
    clock.time += 500
    expect(pace.next()).toBe(0)
  })

  test("brings a crowd back over two seconds, and almost everyone at once", () => {
    // Two hundred who lost the broker together; it is back after ten seconds.
    const waits = Array.from({ length: 200 }, (_item, at) => {
      const clock = new VirtualClock()
      const random = seeded(at)
      const pace = new Pace(clock, random)
      while (clock.time < 10_000) clock.time += pace.draw()
      return clock.time - 10_000
    })
    const isSoon = waits.filter((wait) => wait <= 500)
    expect(isSoon.length).toBeGreaterThan(170)
    expect(Math.max(...waits)).toBeGreaterThan(2000)
    // So long callers wait for workers that were connected before.
    expect(Math.max(...waits)).toBeLessThan(3000)
  })

  test("is never slow when the broker is gone for a moment only", () => {
    for (let at = 0; at < 200; at++) {
      const clock = new VirtualClock()
      const pace = new Pace(clock, seeded(at))
      while (clock.time < 1000) {
        const wait = pace.draw()
        expect(wait).toBeLessThanOrEqual(500)
        clock.time += wait
      }
    }
  })
})

/** Numbers between 0 and 1 that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}
