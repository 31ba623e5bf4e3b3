import { describe, expect, test } from "vitest"
import { optionsOfUrl, reachOf, reachOfClient } from "../../../src/transport/redis/reach.ts"

describe("the URL of a server", () => {
  test("returns user and password decoded", () => {
    expect(optionsOfUrl("rediss://al%3Aice:p%40ss%2F@example.com:7/3")).toEqual({
      host: "example.com",
      port: 7,
      username: "al:ice",
      password: "p@ss/",
      tls: {},
    })
    expect(optionsOfUrl("redis://:100%@[::1]")).toEqual({
      host: "::1",
      port: 6379,
      password: "100%",
    })
  })

  test("is named in messages without secrets", () => {
    expect(reachOf(optionsOfUrl("rediss://a:b@example.com:7")).peer).toBe(
      "Redis at rediss://example.com:7",
    )
    expect(reachOf(optionsOfUrl("redis://[::1]")).peer).toBe("Redis at redis://[::1]:6379")
  })
})

describe("whom options reach", () => {
  test("is described for messages, whatever options are absent", () => {
    expect(reachOf({}).peer).toBe("Redis at redis://localhost:6379")
    expect(reachOf({ sentinels: [{}], name: "main" })).toMatchObject({
      peer: 'Redis "main" of 1 sentinels',
      hosts: ["localhost"],
    })
    expect(reachOf({ sentinels: [] }).hosts).toEqual([])
  })

  test("is nowhere safe for a cluster that does not say", () => {
    const client = { isCluster: true, options: {}, duplicate: () => undefined }
    expect(reachOfClient(client)).toMatchObject({ hosts: [""], hasTls: false })
    const startupNodes = ["10.0.0.1:7000", "redis://[::1]:7000", "not a host"]
    expect(reachOfClient({ ...client, startupNodes } as typeof client).hosts).toEqual([
      "10.0.0.1",
      "::1",
      "",
    ])
  })
})
