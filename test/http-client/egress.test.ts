import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { originOf, sameOrigin } from "../../src/http-client/egress.ts"
import { isPrivateHost } from "../../src/internal/private-host.ts"

describe("isPrivateHost", () => {
  test.each([
    "2130706433",
    "0x7f.1",
    "0",
    "127.0.0.1",
    "127.1",
    "017700000001",
    "①②⑦.0.0.1",
    "10.255.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.1.1",
    "198.19.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "::1",
    "[::ffff:127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fdab::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2606::5efe:10.0.0.1]",
    "localhost",
    "LOCALHOST.",
    "a.b.localhost",
    "printer.local",
    "metadata.google.internal",
    "nas.home.arpa",
    "ip6-localhost",
    "",
    "a b",
    "[nonsense",
  ])("%j is private", (host) => {
    expect(isPrivateHost(host)).toBe(true)
  })

  test.each([
    "example.com",
    "8.8.8.8",
    "172.15.255.255",
    "172.32.0.1",
    "100.128.0.1",
    "223.255.255.255",
    "[2606:4700::1111]",
    "2606:4700::1111",
    "[::ffff:8.8.8.8]",
    "[64:ff9b::808:808]",
    "[2002:808:808::]",
    "mylocal",
    "localhost.example.com",
    "internal.example.com",
    "bücher.example",
  ])("%j is public", (host) => {
    expect(isPrivateHost(host)).toBe(false)
  })

  test("an IPv4 address is judged the same in every spelling", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (address) => {
        const dotted = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".")
        const expected = isPrivateHost(dotted)
        const spellings = [String(address), `0x${address.toString(16)}`, `[::ffff:${dotted}]`]
        return spellings.every((spelling) => isPrivateHost(spelling) === expected)
      }),
    )
  })
})

describe("sameOrigin", () => {
  test.each([
    ["https://a.test/x", "https://A.test:443/y", true],
    ["https://a.test", "http://a.test", false],
    ["https://a.test", "https://a.test:444", false],
    ["https://a.test", "https://a.test.evil.test", false],
    ["https://a.test", "https://b@a.test/", true],
    ["data:,x", "data:,x", false],
    ["/x", "/x", false],
  ])("%s and %s: %s", (one, other, expected) => {
    expect(sameOrigin(one, other)).toBe(expected)
  })

  test("originOf knows a URL object", () => {
    expect(originOf(new URL("http://a.test:80/x"))).toBe("http://a.test")
  })
})
