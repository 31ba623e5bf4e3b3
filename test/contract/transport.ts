import { afterAll, afterEach, beforeAll, describe, expect } from "vitest"
import type { ContractLink, LinkTraits, OpenLink } from "./link.ts"
import { testCalls } from "./suite/calls.ts"
import { testCancellation } from "./suite/cancellation.ts"
import { testEnd } from "./suite/end.ts"
import { testIdentity } from "./suite/identity.ts"
import { testImport } from "./suite/import.ts"
import { testQuestions } from "./suite/questions.ts"
import { testStreams } from "./suite/streams.ts"

/**
 * The contract of every transport: calls, streams, cancellation, identity, import, loss and close.
 *
 * What handlers did is asked through operations, so that the same words run wherever they live.
 */
export function testTransport(name: string, open: OpenLink, traits: LinkTraits = {}): void {
  describe(`the call protocol over ${name}`, () => {
    describe("on one link", () => {
      let link: ContractLink
      beforeAll(async () => {
        link = await open({ rule: "none", isTrusted: false })
      })
      afterAll(async () => {
        await link.close()
      })
      afterEach(async () => {
        // Nothing is left over from any test.
        await expect.poll(() => link.map.getPendingCount()).toBe(0)
        await expect.poll(() => link.inFlight?.() ?? 0).toBe(0)
      })

      testCalls(() => link)
      testStreams(() => link, traits)
      testCancellation(() => link)
      testQuestions(() => link, traits)
      if (traits.canImport !== false) testImport(() => link)
    })

    testIdentity(open, traits)
    testEnd(open, traits)
  })
}
