import { afterEach, describe, expect, test } from "vitest"
import { failure } from "../link.ts"
import type { ContractLink, LinkOptions, LinkTraits, OpenLink } from "../link.ts"

/** Who calls is for the receiving side to say. */
export function testIdentity(open: OpenLink, { canTrust = true }: LinkTraits): void {
  const ada = { id: "ada", scopes: ["demo:read"] }
  let link: ContractLink | undefined
  const use = async (options: LinkOptions): Promise<ContractLink> => (link = await open(options))

  describe("identity", () => {
    afterEach(async () => {
      await link?.close()
      link = undefined
    })

    test("that is only claimed counts in the same process, and nowhere else", async () => {
      const { map, countsClaims } = await use({ rule: "none", isTrusted: false })
      expect((await failure(map.call("demo.guarded"))).code).toMatch(
        /^(UNAUTHENTICATED|ACCESS_DENIED)$/,
      )
      const claimed = await map.call("demo.guarded", undefined, { identity: ada }).then(
        ({ data }) => data,
        () => "refused",
      )
      expect(claimed).toBe(countsClaims ? "ada" : "refused")
      const { data } = await map.call("demo.context", undefined, { identity: ada })
      expect(data).toMatchObject({ identity: countsClaims ? "ada" : null })
    })

    const trusted = canTrust ? ["a trusted peer"] : []
    test.each(trusted)("that %s claims counts", async () => {
      const { map } = await use({ rule: "none", isTrusted: true })
      expect((await map.call("demo.guarded", undefined, { identity: ada })).data).toBe("ada")
    })

    test("is what resolveIdentity says, whatever is claimed", async () => {
      const { map } = await use({ rule: "resolved", isTrusted: false })
      expect((await map.call("demo.guarded")).data).toBe("resolved")
      const { data } = await map.call("demo.guarded", undefined, {
        identity: { id: "root", scopes: ["*"] },
      })
      expect(data).toBe("resolved")
    })
  })
}
