import { describe, expect, test } from "vitest"
import { limitsFor, resolveLimits } from "../../src/transport/websocket/limits.ts"

const MIB = 1024 * 1024
const sentTo = (url: string | undefined, options = {}): number =>
  limitsFor(url, resolveLimits(options), options).maxSentBytes

describe("the largest frame that a server sends", () => {
  test("is what a client accepts, up to 32 MiB", () => {
    expect(sentTo("/ws?maxResultBytes=2000000")).toBe(2_000_000)
    expect(sentTo("/ws?maxResultBytes=99999999999")).toBe(32 * MIB)
    expect(sentTo("/ws?maxResultBytes=Infinity")).toBe(32 * MIB)
  })

  test.each([
    undefined,
    "/ws",
    "/ws?maxResultBytes=",
    "/ws?maxResultBytes=-1",
    "/ws?maxResultBytes=x",
  ])("is 1 MiB for %j", (url) => {
    expect(sentTo(url)).toBe(MIB)
  })

  test.each([{ maxFrameBytes: 64_000 }, { maxBufferedBytes: 64_000 }])(
    "is never raised at a server with %j",
    (options) => {
      const limits = resolveLimits(options)
      expect(limitsFor("/ws?maxResultBytes=2000000", limits, options)).toEqual(limits)
    },
  )
})
