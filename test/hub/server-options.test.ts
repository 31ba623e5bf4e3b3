import { describe, expect, test } from "vitest"
import type { ServerConfig } from "../../src/config/model.ts"
import { exposureOf, rateLimitOf } from "../../src/hub/server-options.ts"

test("the rate limit of a hub is requests per window; Infinity is no limit", () => {
  expect(rateLimitOf({ rateLimit: { requests: 120 } })).toEqual({ perSecond: 2, burst: 120 })
  expect(rateLimitOf({ rateLimit: { requests: Infinity } })).toBeUndefined()
})

describe("exposure of error messages of a hub", () => {
  test.each<[ServerConfig, "expose" | "hide"]>([
    [{}, "expose"],
    [{ host: "::1" }, "expose"],
    [{ host: "localhost" }, "expose"],
    [{ host: "0.0.0.0" }, "hide"],
    [{ host: "10.0.0.3" }, "hide"],
    [{ trustedProxies: ["10.0.0.1"] }, "hide"],
    [{ allowedHosts: ["hub.example.com"] }, "hide"],
    [{ errors: "hide" }, "hide"],
    [{ host: "0.0.0.0", errors: "expose" }, "expose"],
  ])("%j without authentication: %s", (config, expected) => {
    expect(exposureOf(config, undefined)).toBe(expected)
  })

  test("is limited where callers authenticate, unless configured otherwise", () => {
    expect(exposureOf({}, { apiKeys: [] })).toBe("hide")
    expect(exposureOf({ errors: "expose" }, { apiKeys: [] })).toBe("expose")
  })
})
