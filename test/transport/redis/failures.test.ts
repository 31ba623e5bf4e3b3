import { describe, expect, test } from "vitest"
import { MissingPackage } from "../../../src/internal/import-peer.ts"
import { permanentFailure, reasonOf } from "../../../src/transport/redis/failures.ts"

describe("what went wrong", () => {
  test.each<[unknown, string | undefined]>([
    [
      new Error("NOAUTH HELLO must be called with the client already authenticated"),
      "UNAUTHENTICATED",
    ],
    [new Error("WRONGPASS invalid username-password pair"), "UNAUTHENTICATED"],
    [new Error("ERR invalid password"), "UNAUTHENTICATED"],
    [new Error("DENIED Redis is running in protected mode"), "UNAVAILABLE"],
    [new MissingPackage("transport/redis", "ioredis", undefined), "UNAVAILABLE"],
    [new Error("LOADING Redis is loading the dataset in memory"), undefined],
    [new Error("ERR max number of clients reached"), undefined],
    [Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }), undefined],
    ["thrown", undefined],
  ])("lasts or not: %s", (error, code) => {
    expect(permanentFailure(error, "Redis at redis://x")?.code).toBe(code)
  })

  test("is said in a few words", () => {
    expect(reasonOf(undefined)).toBe("it was closed")
    expect(reasonOf(new Error(""))).toBe("it was closed")
    expect(reasonOf(new Error("one\ntwo"))).toBe("one")
    expect(reasonOf(Object.assign(new Error("connect to x"), { code: "ENOTFOUND" }))).toBe(
      "ENOTFOUND",
    )
  })
})
