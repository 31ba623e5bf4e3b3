import { describe, expect, test } from "vitest"
import { isCallError } from "../../../../src/core/errors.ts"
import type { ServerModel } from "../../../../src/sources/openapi/model.ts"
import { chooseServer, type ServerOptions } from "../../../../src/sources/openapi/request/server.ts"
import { planOf, serverOf } from "./plan.ts"

const ROOT = serverOf("https://api.test/v1")
const UPLOADS = serverOf("https://uploads.test/up")

describe("under the user's baseUrl", () => {
  test.each<[string, ServerModel[], ServerModel[], string, string]>([
    ["the document's server", [ROOT], [ROOT], "http://localhost:1", "http://localhost:1"],
    ["a path of its own", [ROOT], [ROOT], "http://localhost:1/x/", "http://localhost:1/x"],
    ["no servers at all", [], [], "https://b.test", "https://b.test"],
    [
      "a relative root",
      [serverOf("/api/v3")],
      [serverOf("/api/v3")],
      "https://b.test/z",
      "https://b.test/z",
    ],
    [
      "another path on the same origin",
      [serverOf("https://api.test/v2")],
      [ROOT],
      "https://b.test",
      "https://b.test/v2",
    ],
    [
      "another path, below a proxy",
      [serverOf("https://api.test/v2")],
      [ROOT],
      "https://b.test/proxy/v1",
      "https://b.test/proxy/v2",
    ],
    ["an own relative server", [serverOf("/v2")], [ROOT], "https://b.test/v1", "https://b.test/v2"],
    [
      "an own relative server of a relative document",
      [serverOf("/other")],
      [serverOf("/api")],
      "https://b.test/api",
      "https://b.test/other",
    ],
    ["no root, an own one", [UPLOADS], [], "https://b.test", "https://b.test/up"],
    [
      "no root, an own one that is there",
      [UPLOADS],
      [serverOf("/")],
      "https://b.test/x/up",
      "https://b.test/x/up",
    ],
    [
      "the second of the document's servers",
      [serverOf("https://eu.test/v1")],
      [ROOT, serverOf("https://eu.test/v1")],
      "https://b.test/q",
      "https://b.test/q",
    ],
    [
      "the origin the user points at anyway",
      [UPLOADS],
      [ROOT],
      "https://uploads.test",
      "https://uploads.test/up",
    ],
    [
      "an unusable own server",
      [serverOf("ftp://x.test")],
      [ROOT],
      "https://b.test",
      "https://b.test",
    ],
  ])("%s", (_what, servers, rootServers, baseUrl, expected) => {
    const { base, origin } = chooseServer(planOf({ servers, rootServers }), { baseUrl })

    expect(base).toBe(expected)
    expect(origin).toBe(new URL(expected).origin)
  })

  test("an own server elsewhere needs to be allowed, and then is used as it is", () => {
    const plan = planOf({ servers: [UPLOADS], rootServers: [ROOT] })
    const baseUrl = "https://b.test"

    expect(codeOf(plan, { baseUrl })).toBe("EGRESS_BLOCKED")
    expect(messageOf(plan, { baseUrl })).toBe(
      'Operation "demo.op" was not sent: the document gives it a server of its own at ' +
        'https://uploads.test; if that is intended, add "https://uploads.test" to `allowedOrigins`.',
    )
    const allowedOrigins = ["https://uploads.test/"]
    expect(chooseServer(plan, { baseUrl, allowedOrigins })).toEqual({
      base: "https://uploads.test/up",
      origin: "https://uploads.test",
    })
    // Another scheme or port is another origin.
    for (const other of ["http://uploads.test", "https://uploads.test:444", "uploads.test", ""]) {
      expect(codeOf(plan, { baseUrl, allowedOrigins: [other] })).toBe("EGRESS_BLOCKED")
    }
  })

  test.each([
    ["not-a-url", "not an absolute URL"],
    ["/v1", "not an absolute URL"],
    ["ftp://a.test", "only http: and https:"],
    ["javascript:alert(1)", "only http: and https:"],
    ["file:///etc/passwd", "only http: and https:"],
    ["https://user:canary@a.test", "credentials in `auth`"],
    ["https://a.test/?key=canary", "query or a fragment"],
    ["https://a.test/#x", "query or a fragment"],
  ])("refuses %s as baseUrl", (baseUrl, reason) => {
    const message = messageOf(planOf(), { baseUrl })

    expect(message).toContain(reason)
    expect(message).not.toContain("canary")
  })

  // OA9
  test.each([
    "http://2130706433",
    "http://0x7f.1",
    "http://0",
    "http://[::ffff:127.0.0.1]",
    "http://[64:ff9b::7f00:1]",
    "http://localhost:8080",
    "http://169.254.169.254",
    "http://[::1]",
  ])("%s is fine for a user who points there, and blocked by blockPrivate", (baseUrl) => {
    expect(chooseServer(planOf(), { baseUrl }).base).toBe(new URL(baseUrl).origin)
    expect(codeOf(planOf(), { baseUrl, blockPrivate: true })).toBe("EGRESS_BLOCKED")
  })

  test("blockPrivate holds for allowed origins too", () => {
    const plan = planOf({ servers: [serverOf("http://10.0.0.1")], rootServers: [ROOT] })
    const options = { baseUrl: "https://b.test", allowedOrigins: ["http://10.0.0.1"] }

    expect(chooseServer(plan, options).base).toBe("http://10.0.0.1")
    expect(codeOf(plan, { ...options, blockPrivate: true })).toBe("EGRESS_BLOCKED")
  })
})

describe("the document's servers", () => {
  const servers = "document" as const

  test("no server is configured", () => {
    expect(messageOf(planOf({ servers: [ROOT], rootServers: [ROOT] }), {})).toBe(
      'Operation "demo.op" cannot be sent: no server is configured; set `baseUrl`, or ' +
        '`servers: "document"` to use the document\'s servers.',
    )
  })

  test("the first usable one counts", () => {
    const list = [serverOf("wss://a.test"), serverOf("https://{x}.test"), ROOT]

    expect(chooseServer(planOf({ servers: list, rootServers: list }), { servers }).base).toBe(
      "https://api.test/v1",
    )
    const second = planOf({
      servers: [serverOf("https://b.test")],
      rootServers: [ROOT, serverOf("https://b.test")],
    })
    expect(chooseServer(second, { servers }).base).toBe("https://b.test")
    expect(chooseServer(planOf({ rootServers: [ROOT] }), { servers }).base).toBe(
      "https://api.test/v1",
    )
  })

  test("variables take the user's values, else their defaults", () => {
    const server = serverOf("https://{region}.api.test:{port}/{base}", {
      region: { default: "us", enum: ["us", "eu"] },
      port: { default: "443" },
      base: { default: "v2" },
    })
    const plan = planOf({ servers: [server], rootServers: [server] })

    expect(chooseServer(plan, { servers }).base).toBe("https://us.api.test/v2")
    expect(
      chooseServer(plan, { servers, serverVariables: { region: "eu", port: "8443" } }).base,
    ).toBe("https://eu.api.test:8443/v2")
    expect(messageOf(plan, { servers, serverVariables: { region: "evil" } })).toContain(
      '`serverVariables` has "evil" for "region", which must be one of "us", "eu"',
    )
  })

  test("relative ones start where the document came from", () => {
    const list = [serverOf("../api")]
    const plan = planOf({ servers: list, rootServers: list })

    expect(chooseServer(plan, { servers, documentUrl: "https://d.test/docs/x.json" }).base).toBe(
      "https://d.test/api",
    )
    for (const options of [{ servers }, { servers, documentUrl: "file:///tmp/x.json" }]) {
      expect(messageOf(plan, options)).toContain(
        '"../api" is relative, and the address of the document is unknown); set `baseUrl`',
      )
    }
  })

  test("a document without servers means the place it came from", () => {
    expect(chooseServer(planOf(), { servers, documentUrl: "https://d.test/x/y.json" }).base).toBe(
      "https://d.test",
    )
    expect(messageOf(planOf(), { servers })).toContain("it has none")
  })

  test("an own server elsewhere needs to be allowed here as well", () => {
    const plan = planOf({ servers: [UPLOADS], rootServers: [ROOT] })

    expect(codeOf(plan, { servers })).toBe("EGRESS_BLOCKED")
    expect(chooseServer(plan, { servers, allowedOrigins: ["https://uploads.test"] }).base).toBe(
      "https://uploads.test/up",
    )
  })

  // OA8
  test.each([
    "http://169.254.169.254/latest",
    "http://localhost:3000",
    "http://127.0.0.1",
    "http://[::1]:80",
    "http://10.1.2.3",
    "//192.168.0.1/x",
    "http://{host}",
  ])("%s is blocked, unless the user names it or loaded the document from there", (url) => {
    const server = serverOf(url, { host: { default: "127.0.0.2" } })
    const plan = planOf({ servers: [server], rootServers: [server] })
    const origin = new URL(url.replace("{host}", "127.0.0.2"), "https://d.test").origin
    const documentUrl = "https://d.test/openapi.json"

    expect(codeOf(plan, { servers, documentUrl })).toBe("EGRESS_BLOCKED")
    expect(messageOf(plan, { servers, documentUrl })).toContain("`allowedOrigins`")
    expect(chooseServer(plan, { servers, documentUrl, allowedOrigins: [origin] }).origin).toBe(
      new URL(url.replace("{host}", "127.0.0.2"), documentUrl).origin,
    )
    expect(chooseServer(plan, { servers, documentUrl: `${origin}/openapi.json` }).origin).toBe(
      new URL(origin).origin,
    )
  })

  test("a password in a server is not repeated", () => {
    const list = [serverOf("https://user:canary@a.test/x?key=canary")]
    const message = messageOf(planOf({ servers: list, rootServers: list }), { servers })

    expect(message).toContain("contains a user name or a password")
    expect(message).not.toContain("canary")
  })
})

function thrownBy(plan: ReturnType<typeof planOf>, options: ServerOptions): unknown {
  try {
    return chooseServer(plan, options)
  } catch (thrown) {
    return thrown
  }
}

function codeOf(plan: ReturnType<typeof planOf>, options: ServerOptions): string | undefined {
  const thrown = thrownBy(plan, options)
  return isCallError(thrown) ? thrown.code : undefined
}

function messageOf(plan: ReturnType<typeof planOf>, options: ServerOptions): string {
  const thrown = thrownBy(plan, options)
  return isCallError(thrown) ? thrown.message : `no error: ${JSON.stringify(thrown)}`
}
